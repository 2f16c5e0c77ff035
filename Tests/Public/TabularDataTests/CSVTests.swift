import Foundation
import TabularData
import Testing

struct CSVTests {
    static func read(_ text: String, _ options: CSVReadingOptions = .init()) throws -> DataFrame {
        try DataFrame(csvData: Data(text.utf8), options: options)
    }

    @Test(arguments: [
        ("a\n1\n2\n", "Int", ["1", "2"]), ("a\n1\n2.5\n", "Double", ["1.0", "2.5"]),
        ("a\n1\ntrue\n", "Bool", ["true", "true"]), ("a\nx\n1\n", "String", ["x", "1"]),
        ("a\n0\nfalse\nTRUE\n", "Bool", ["false", "false", "true"]), ("a\n1\n\n3\n", "Int", ["1", "3"]),
        ("a\n1\nNA\n3\n", "Int", ["1", "nil", "3"]), ("a\nnull\nn/a\n", "String", ["nil", "nil"]),
        ("a\n9223372036854775808\n", "Double", ["9.223372036854776e+18"]),
        ("a\n-9223372036854775808\n", "Int", ["-9223372036854775808"]), ("a\n+5\n", "Int", ["5"]),
        ("a\n1e3\n-.5\n3.\n", "Double", ["1000.0", "-0.5", "3.0"]), ("a\n 1\n", "String", [" 1"]),
        ("a\n\"1\"\n\"2\"\n", "Int", ["1", "2"]), ("a\n\"x,\"\"y\"\"\nz\"\n", "String", ["x,\"y\"\nz"]),
        ("a\r\n1\r\n2\r\n", "Int", ["1", "2"]), ("a\r1\r2\r", "Int", ["1", "2"]), ("a\n1\n2", "Int", ["1", "2"]),
        ("\u{FEFF}a\n1\n", "Int", ["1"]), ("a\n2001-01-01T00:00:00Z\n", "Date", ["2001-01-01 00:00:00 +0000"]),
        ("a\n2001-01-01\n", "String", ["2001-01-01"]), ("a\nnan\n", "Double", ["nan"]),
        ("a\n1-2\n", "String", ["1-2"]), ("a\n0x10\n", "Double", ["16.0"]), ("a\n\"\"\n", "String", ["nil"]),
        (
            "a\nü\nvery long text that does not fit a view\n", "String",
            ["ü", "very long text that does not fit a view"]
        ),
        ("a\n12345678\n123456789\n1234567\n", "Int", ["12345678", "123456789", "1234567"]),
    ])
    func inferredTypes(_ text: String, _ type: String, _ cells: [String]) throws {
        let frame = try Self.read(text)
        #expect(frame.columns.map(\.name) == ["a"])
        #expect("\(frame["a"].wrappedElementType)" == type)
        #expect(frame["a"].map { $0.map { "\($0)" } ?? "nil" } == cells)
    }

    @Test func typesChangeLateInTheFile() throws {
        for (last, type) in [("1.5", "Double"), ("true", "String"), ("x", "String")] {
            let text = "a,b\n" + String(repeating: "5,7\n", count: 300_000) + "\(last),8\n"
            let frame = try Self.read(text)
            #expect("\(frame["a"].wrappedElementType)" == type && frame["b"].wrappedElementType == Int.self)
            #expect(frame.shape.rows == 300_001)
        }
    }

    /// A file's memory is let go of behind the reader, in pages that other threads read at the same time.
    @Test(arguments: ["\n", "\r"])
    func filesReadAsTheirTextsDo(_ newline: String) throws {
        var random = Seeded(11)
        let rows = (0..<60_000).map { row in
            let text = String(repeating: "w\(row) ", count: Int.random(in: 0..<20, using: &random))
            let quoted = row % 3 == 0 ? "\"\(text)\"\"x\"\"\(newline)\"" : text
            return "\(row),\(quoted),\(Double(row) / 8),2020-01-02T03:04:05Z\(newline)"
        }
        let text = Data(("n,t,x,d" + newline + rows.joined()).utf8)
        #expect(text.count > 5 << 20, "several pieces are read at the same time")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).csv")
        defer { try? FileManager.default.removeItem(at: file) }
        try text.write(to: file)
        let whole = try DataFrame(contentsOfCSVFile: file)
        #expect(whole.shape == (60_000, 4) && whole["d"].wrappedElementType == Date.self)
        #expect(whole["x", Double.self][59_999] == 59_999.0 / 8)
        #expect(try whole == DataFrame(csvData: text))
        let escaping = CSVReadingOptions(usesEscaping: true)
        #expect(try whole == DataFrame(contentsOfCSVFile: file, options: escaping))
        let some = try DataFrame(contentsOfCSVFile: file, columns: ["t", "n"], rows: 55_000..<55_010)
        #expect(Array(some["n", Int.self]) == Array(55_000..<55_010))
        #expect(Array(some["t", String.self]) == Array(whole["t", String.self][55_000..<55_010]))
        #expect(try DataFrame(contentsOfCSVFile: file, rows: 0..<0).shape == (0, 4))
        #expect(throws: CSVReadingError.self) { try DataFrame(contentsOfCSVFile: file, rows: 0..<60_001) }
    }

    @Test func headers() throws {
        #expect(try Self.read("a,a,,\n1,2,3,4\n").columns.map(\.name) == ["a", "a.1", "", ".1"])
        let options = CSVReadingOptions(hasHeaderRow: false)
        let frame = try Self.read("1,x\n2,y\n", options)
        #expect(frame.columns.map(\.name) == ["Column 0", "Column 1"] && frame.shape.rows == 2)
        #expect(try Self.read("").shape == (0, 0))
        #expect(try Self.read("a,b\n").shape == (0, 2))
        #expect(try Self.read("\n\na,b\n1,2\n").shape == (1, 2))
    }

    @Test func options() throws {
        var options = CSVReadingOptions(
            nilEncodings: ["-1", "missing"],
            trueEncodings: ["yes"],
            falseEncodings: ["no"],
            floatingPointType: .float,
            usesEscaping: true,
            delimiter: ";"
        )
        let frame = try Self.read("a;b;c;d\n-1;yes;1.5;x\\;y\n2;missing;2;\\\"\n", options)
        #expect(Array(frame["a", Int.self]) == [nil, 2])
        #expect(Array(frame["b", Bool.self]) == [true, nil])
        #expect(Array(frame["c", Float.self]) == [1.5, 2])
        #expect(Array(frame["d", String.self]) == ["x;y", "\""])
        options = CSVReadingOptions(usesQuoting: false)
        #expect(Array(try Self.read("a\n\"x\n", options)["a", String.self]) == ["\"x"])
        options = CSVReadingOptions(ignoresEmptyLines: false)
        #expect(Array(try Self.read("a,b\n1,2\n\n3,4\n", options)["a", Int.self]) == [1, nil, 3])
        options = CSVReadingOptions(delimiter: "→")
        #expect(Array(try Self.read("a→b\n1→2\n", options)["b", Int.self]) == [2])
    }

    @Test func columnsRowsAndTypes() throws {
        let data = Data("a,b,c\n1,2,x\n3,4,y\n5,6,z\n".utf8)
        let some = try DataFrame(csvData: data, columns: ["c", "a"], rows: 1..<3, types: ["a": .string])
        #expect(some.columns.map(\.name) == ["c", "a"] && Array(some["a", String.self]) == ["3", "5"])
        let typed = try DataFrame(csvData: data, columns: ColumnID("a", Double.self), ColumnID("c", String.self))
        #expect(typed["a", Double.self][2] == 5)
        #expect(throws: CSVReadingError.self) { try DataFrame(csvData: data, columns: ["d"]) }
        #expect(throws: CSVReadingError.self) { try DataFrame(csvData: data, rows: 0..<9) }
        #expect(throws: CSVReadingError.self) { try DataFrame(csvData: data, columns: ColumnID("a", [Int].self)) }
        let raw = try DataFrame(csvData: Data([97, 10, 0xFF, 10]), types: ["a": .data])
        #expect(raw["a", Data.self][0] == Data([0xFF]))
    }

    @Test func dates() throws {
        var options = CSVReadingOptions()
        options.addDateParseStrategy(
            Date.ParseStrategy(
                format: "\(year: .defaultDigits)/\(month: .twoDigits)/\(day: .twoDigits)",
                locale: Locale(identifier: "en_US"),
                timeZone: TimeZone(identifier: "GMT")!
            )
        )
        let text = "d,s\n2020/02/29,x\n,y\n2021/01/01,2021/01/01\n"
        let frame = try Self.read(text, options)
        #expect(frame["d", Date.self].map { $0.map { $0.timeIntervalSince1970 } }[0] == 1_582_934_400)
        #expect(frame["d"].isNil(at: 1) && frame["s"].wrappedElementType == String.self)
        let plain = try DataFrame(csvData: Data("d\n2020-02-29\n".utf8), types: ["d": .date])
        #expect(plain["d", Date.self][0]?.timeIntervalSince1970 == 1_582_934_400)
        #expect(throws: CSVReadingError.self) {
            try DataFrame(csvData: Data("d\n2021-02-29\n".utf8), types: ["d": .date])
        }
        let zones = try Self.read("d\n1999-12-31T23:00:00-01:00\n2000-01-01T00:00:00.250Z\n")
        #expect(zones["d", Date.self].map { $0?.timeIntervalSince1970 }[1] == 946_684_800.25)
        #expect(zones["d", Date.self][0]?.timeIntervalSince1970 == 946_684_800)
    }

    @Test func errorsNameTheirPlace() {
        func error(_ text: String, types: [String: CSVType] = [:]) -> String {
            do {
                _ = try DataFrame(csvData: Data(text.utf8), types: types)
                return "none"
            } catch {
                return "\(error)"
            }
        }
        #expect(error("a,b\n1,2\n3\n").hasPrefix("row 1 has 1 columns, not 2"))
        #expect(error("a,b\n1,2\n3,4,5\n").hasPrefix("row 1 has 3 columns, not 2"))
        #expect(error("a,b\n1,x\"y\n").hasPrefix("row 0, column 1: a quote"))
        #expect(error("a,b\n1,\"x\"y\n").hasPrefix("row 0, column 1: a quote"))
        #expect(error("a,b\n1,2\n3,\"x\n").hasPrefix("row 1, column 1: a quote"))
        #expect(error("a,b\n1,2\nx,4\n", types: ["a": .integer]) == "row 1, column 0: 'x' cannot be read as integer")
        let long = "a,b\n" + String(repeating: "1,\"2\"\n", count: 300_000)
        #expect(error(long + "y,1\n", types: ["a": .integer]).hasPrefix("row 300000, column 0: 'y'"))
        #expect(error(long + "y\n").hasPrefix("row 300000 has 1 columns"))
        #expect(error(long + "1,\"a\"b\n").hasPrefix("row 300000, column 1: a quote"))
        #expect(throws: CSVReadingError.self) { try DataFrame(csvData: Data([0xFF, 0xFE, 97, 0])) }
        do {
            _ = try DataFrame(csvData: Data([97, 10, 98, 10, 0xC3, 0x28, 10]))
        } catch let CSVReadingError.badEncoding(row, column, contents) {
            #expect((row, column, contents) == (1, 0, Data([0xC3, 0x28])))
        } catch {
            Issue.record(error)
        }
    }

    @Test func fileErrors() {
        #expect(throws: (any Error).self) {
            try DataFrame(contentsOfCSVFile: URL(fileURLWithPath: "/no/such/file.csv"))
        }
        #expect(throws: (any Error).self) { try DataFrame(contentsOfCSVFile: URL(fileURLWithPath: "/tmp")) }
    }

    @Test func numbersAreReadExactly() throws {
        var random = Seeded(3)
        var texts: [String] = []
        for _ in 0..<4000 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: texts.append("\(Double.random(in: -1...1, using: &random))")
            case 1: texts.append("\(Double(bitPattern: random.next() & 0x7FEF_FFFF_FFFF_FFFF))")
            case 2: texts.append("\(Double.random(in: -1e6...1e6, using: &random))")
            case 3:
                let digits = (0..<Int.random(in: 1...25, using: &random)).map { _ in
                    String(Int.random(in: 0...9, using: &random))
                }.joined()
                texts.append("0.\(digits)e\(Int.random(in: -30...30, using: &random))")
            case 4:
                texts.append("\(random.next())e\(Int.random(in: -40...40, using: &random))")
            default:
                texts.append("\(Int.random(in: -99...99, using: &random)).\(Int.random(in: 0...99, using: &random))")
            }
        }
        let frame = try DataFrame(csvData: Data(("x\n" + texts.joined(separator: "\n")).utf8), types: ["x": .double])
        for (row, text) in texts.enumerated() {
            #expect(frame["x", Double.self][row]?.bitPattern == Double(text)!.bitPattern, "\(text)")
        }
    }

    /// Written tables are read again.
    @Test func roundTrip() throws {
        var frame = GroupingTests.frame(11, rows: 5000)
        frame.append(
            column: Column<String>(
                name: "odd, \"name\"",
                contents: (0..<5000).map { ["a,b", "say \"hi\"", "two\nlines", "\r", "ü→😀", "x"][$0 % 6] }
            )
        )
        frame.append(
            column: Column<Date>(
                name: "when",
                contents: (0..<5000).map { Date(timeIntervalSince1970: Double($0) * 1e5) }
            )
        )
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("tabular-\(UUID()).csv")
        defer { try? FileManager.default.removeItem(at: url) }
        try frame.writeCSV(to: url)
        #expect(try DataFrame(contentsOfCSVFile: url) == frame)
        let data = try frame.csvRepresentation()
        #expect(try Data(contentsOf: url) == data)
        #expect(try DataFrame(csvData: data) == frame)
        let options = CSVWritingOptions(
            includesHeader: false,
            nilEncoding: "none",
            trueEncoding: "T",
            falseEncoding: "F",
            newline: "\r\n",
            delimiter: "\t"
        )
        let small: DataFrame = ["a": [true, nil]]
        #expect(try small.csvRepresentation(options: options) == Data("T\r\nnone\r\n".utf8))
        let bytes: DataFrame = ["d": [Data([0xFF])]]
        #expect(throws: CSVWritingError.self) { try bytes.csvRepresentation() }
    }

    /// A table written through a symbolic link replaces the file it leads to, and the link stays.
    @Test func linksAreFollowed() throws {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("tabular-\(UUID())")
        try files.createDirectory(at: folder.appendingPathComponent("inner"), withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
        func write(_ frame: DataFrame, _ name: String) throws {
            try frame.writeCSV(to: folder.appendingPathComponent(name))
        }
        func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
        let long: DataFrame = ["age": Array(100..<200)]
        let short: DataFrame = ["age": [7]]
        let odd: DataFrame = ["age": [Data([0xFF])]]
        try write(long, "inner/table.csv")
        try files.createSymbolicLink(atPath: path("first.csv"), withDestinationPath: "inner/second.csv")
        try files.createSymbolicLink(atPath: path("inner/second.csv"), withDestinationPath: path("inner/table.csv"))
        // A reader with the old file open keeps it whole.
        let old = try FileHandle(forReadingFrom: folder.appendingPathComponent("inner/table.csv"))
        try write(short, "first.csv")
        #expect(try text("inner/table.csv") == "age\n7\n" && text("first.csv") == "age\n7\n")
        #expect(try old.readToEnd() == long.csvRepresentation())
        #expect(try files.destinationOfSymbolicLink(atPath: path("first.csv")) == "inner/second.csv")
        #expect(throws: CSVWritingError.self) { try write(odd, "first.csv") }
        #expect(try text("inner/table.csv") == "age\n7\n")
        #expect(try Set(files.contentsOfDirectory(atPath: path("inner"))) == ["table.csv", "second.csv"])
        // A link to a file that is not there yet makes it, a circle of links is an error.
        try files.createSymbolicLink(atPath: path("new.csv"), withDestinationPath: "inner/new.csv")
        try write(short, "new.csv")
        #expect(try text("inner/new.csv") == "age\n7\n")
        try files.createSymbolicLink(atPath: path("circle.csv"), withDestinationPath: "circle.csv")
        #expect(throws: POSIXError.self) { try write(short, "circle.csv") }
        // A pipe, by its name and by a link.
        #expect(mkfifo(path("pipe"), 0o600) == 0)
        try files.createSymbolicLink(atPath: path("pipe.csv"), withDestinationPath: "pipe")
        let pipe = FileHandle(fileDescriptor: open(path("pipe"), O_RDWR), closeOnDealloc: true)
        for name in ["pipe", "pipe.csv"] {
            try write(short, name)
            #expect(try pipe.read(upToCount: 6) == Data("age\n7\n".utf8))
        }
        // A file that the process has open.
        try write(long, "open.csv")
        let own = try FileHandle(forUpdating: folder.appendingPathComponent("open.csv"))
        try short.writeCSV(to: URL(fileURLWithPath: "/proc/self/fd/\(own.fileDescriptor)"))
        #expect(try own.readToEnd() == Data("age\n7\n".utf8))
    }

    /// Rows have at most 4 GiB; the test takes a smaller limit.
    @Test func rowsThatAreTooLongAreNamed() {
        let long = String(repeating: "x", count: 300)
        let text = Data("a,b,c\n1,2,3\n4,\(long),6\n7,8,9\n".utf8)
        for usesEscaping in [false, true] {
            var options = CSVReadingOptions(usesEscaping: usesEscaping)
            options.maximumByteCount = 200
            let error = #expect(throws: CSVReadingError.self) { try DataFrame(csvData: text, options: options) }
            #expect(error?.row == 1 && error?.column == 1)
            #expect(
                error?.description.hasPrefix(
                    "row 1 is longer than 4 GiB, the most that can be read; its longest cell is that of column 1, 'xxx"
                ) == true
            )
        }
    }

    @Test func moreRowsThanAFrameHoldsAreSaidToBe() {
        let most = Int(UInt32.max) - 1
        #expect(
            CSVReadingError.outOfBounds(requested: most + 7, actual: most).description
                == "the file has 4294967301 rows, a data frame holds at most 4294967294"
        )
        #expect(
            CSVReadingError.outOfBounds(requested: 7, actual: 3).description
                == "row 7 was requested, the file has 3 rows"
        )
    }
}
