import Foundation
import TabularData
import Testing

/// A folder that goes when the test ends.
final class SFrameFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("sframe-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The one file whose name ends so.
    func file(_ ending: String) throws -> URL {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path).filter { $0.hasSuffix(ending) }
        return url.appendingPathComponent(try #require(names.first))
    }

    func write(_ columns: [(name: String, contents: SFrameContents)]) throws {
        try SFrameWriter.write(columns, to: url)
    }

    func read(_ columns: [String]? = nil, _ rows: Range<Int>? = nil) throws -> DataFrame {
        try DataFrame(contentsOfSFrameDirectory: url, columns: columns, rows: rows)
    }

    /// Writes a frame of one column whose blocks are made by hand.
    func write(kind: Int, rows: Int, blocks: [(bytes: [UInt8], rows: Int, flags: UInt64)]) throws {
        func words(_ numbers: [Int]) -> [UInt8] {
            numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        }
        var data: [UInt8] = []
        var description = words([1, blocks.count])
        for block in blocks {
            let size = block.bytes.count
            description += words([data.count, size, size, block.rows, Int(block.flags), 0])
            data += block.bytes
        }
        data += description + words([description.count])
        try Data(data).write(to: url.appendingPathComponent("m_1.0000"))
        try write(
            index: #"{"sarray": {"version": 2, "num_segments": 1}, "segment_files": ["m_1.0000"], "columns": "#
                + #"[{"metadata": {"__type__": \#(kind)}, "segment_sizes": [\#(rows)]}]}"#,
            rows: rows
        )
    }

    func write(index: String, rows: Int) throws {
        let texts = [
            "m_1.sidx": index,
            "m_1.frame_idx":
                "[sframe]\nversion = 0\nnum_columns=1\nnrows=\(rows)\n\n; names\n[column_names]\n0000= x \n"
                + "[column_files]\n0000=m_1.sidx:0\n",
            "dir_archive.ini":
                "[archive]\r\nversion=1\r\nnum_prefixes=3\r\n[metadata]\r\ncontents=sframe\r\n[prefixes]\r\n"
                + "0000=dir_archive.ini\r\n0001=objects.bin\r\n0002=m_1\r\n",
        ]
        for (name, text) in texts { try Data(text.utf8).write(to: url.appendingPathComponent(name)) }
    }

    func error(_ columns: [String]? = nil, _ rows: Range<Int>? = nil) -> String {
        do {
            _ = try read(columns, rows)
            return ""
        } catch let error as SFrameReadingError {
            return "\(error)"
        } catch { return "another error: \(error)" }
    }
}

struct SFrameTests {
    /// Integers of all magnitudes, in runs of every kind.
    static func integers(_ count: Int, _ random: inout Seeded) -> [Int?] {
        var values: [Int?] = []
        while values.count < count {
            let length = Int.random(in: 1...400, using: &random)
            let shift = Int.random(in: 0...63, using: &random)
            let base = Int(truncatingIfNeeded: random.next()) >> Int.random(in: 0...63, using: &random)
            let form = Int.random(in: 0..<4, using: &random)
            let mostMissing = Int.random(in: 0..<4, using: &random) == 0 ? 3 : Int.max
            var last = base
            for _ in 0..<length {
                let step = Int(truncatingIfNeeded: random.next() >> UInt64(shift))
                switch form {
                case 0: last = base
                case 1: last = base &+ step
                case 2: last = last &+ step
                default: last = last &+ (random.next() & 1 == 0 ? step : 0 &- step)
                }
                values.append(random.next() % UInt64(mostMissing) == 0 && mostMissing < 9 ? nil : last)
            }
        }
        return Array(values.prefix(count))
    }

    static func strings(_ count: Int, _ random: inout Seeded) -> [String?] {
        let pieces = ["", "a", "Ünï", "😀", "e\u{301}", "\u{E9}", "twelve bytes", "more than twelve bytes", "\n\0"]
        return (0..<count).map { row in
            if random.next() % 11 == 0 { return nil }
            // Few different ones for a while, then many.
            if row / 9000 % 2 == 0 { return pieces[Int(random.next() % UInt64(pieces.count))] }
            return (0..<random.next() % 5).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }.joined()
                + "\(row)"
        }
    }

    @Test func whatIsWrittenIsRead() throws {
        var random = Seeded(7)
        let count = 30_000
        let integers = Self.integers(count, &random)
        let floats = (0..<count).map { row -> Double? in
            switch row / 8192 % 3 {
            case 0: return random.next() % 9 == 0 ? nil : Double(Int(truncatingIfNeeded: random.next()) >> 20)
            case 1: return Double(bitPattern: random.next())
            default: return [-0.0, 0, .infinity, -.infinity, 0.1, 1e300, nil][Int(random.next() % 7)]
            }
        }
        let strings = Self.strings(count, &random)
        let folder = try SFrameFolder()
        try folder.write([
            ("integers", .integers(Column(name: "", contents: integers))),
            ("floats = ünï", .floats(Column(name: "", contents: floats))),
            ("[s;]", .strings(Column(name: "", contents: strings))),
            ("nothing", .floats(Column(name: "", contents: [Double?](repeating: nil, count: count)))),
        ])
        let frame = try folder.read()
        #expect(frame.columns.map(\.name) == ["integers", "floats = ünï", "[s;]", "nothing"])
        #expect(Array(frame["integers", Int.self]) == integers)
        #expect(frame["floats = ünï", Double.self].map { $0?.bitPattern } == floats.map { $0?.bitPattern })
        #expect(
            frame["[s;]", String.self].map { $0.map { Array($0.utf8) } } == strings.map { $0.map { Array($0.utf8) } }
        )
        #expect(frame["nothing"].missingCount == count)
        #expect(frame["integers"].missingCount == integers.count { $0 == nil })
        for rows in [0..<0, 0..<1, count - 1..<count, 8191..<8193, 100..<20_000, 5000..<5000] {
            let part = try folder.read(["[s;]", "integers", "[s;]"], rows)
            #expect(part.columns.map(\.name) == ["[s;]", "integers"])
            #expect(Array(part["integers", Int.self]) == Array(integers[rows]))
            #expect(Array(part["[s;]", String.self]) == Array(strings[rows]))
        }
    }

    @Test func valuesOfEveryType() throws {
        let lists: [SFrameValue] = [
            .list([.integer(1), .string("ü"), .undefined, .list([.float(0.5)]), .vector([1, 2])]), .undefined,
            .list([]),
        ]
        let dictionaries: [SFrameValue] = [
            .dictionary([(.string("k"), .integer(1)), (.integer(2), .list([])), (.float(0.5), .undefined)]),
            .dictionary([]), .undefined,
        ]
        let dates = [Date(timeIntervalSince1970: 1.25), Date(timeIntervalSince1970: -1e9 + 0.5)]
        let array = ShapedData(shape: [2, 3], strides: [3, 1], contents: [1.5, 2, 3, 4, 5, 6])
        let folder = try SFrameFolder()
        try folder.write([
            ("l", .values(.list, lists)), ("d", .values(.dictionary, dictionaries)),
            ("t", .values(.date, [.date(dates[0]), .undefined, .date(dates[1])])),
            ("v", .values(.vector, [.vector([1, 2.5]), .vector([]), .undefined])),
            ("w", .values(.vector, [.vector([]), .vector([]), .undefined])),
            (
                "a",
                .values(
                    .array,
                    [.undefined, .array(array), .array(ShapedData(shape: [0], strides: [1], contents: []))]
                )
            ),
        ])
        let frame = try folder.read()
        let list = try #require(frame["l", [Any?].self][0])
        #expect("\(list)" == #"[Optional(1), Optional("ü"), nil, Optional([Optional(0.5)]), Optional([1.0, 2.0])]"#)
        #expect(frame["l", [Any?].self][1] == nil && frame["l", [Any?].self][2]?.isEmpty == true)
        let dictionary = try #require(frame["d", [AnyHashable: Any?].self][0])
        #expect(dictionary.count == 3 && dictionary["k"] as? Int == 1 && dictionary[0.5] != nil)
        #expect((dictionary[2] as? [Any?])?.isEmpty == true)
        #expect(Array(frame["t", Date.self]) == [dates[0], nil, dates[1]])
        #expect(Array(frame["v", [Double].self]) == [[1, 2.5], [], nil])
        #expect(Array(frame["w", [Double].self]) == [[], [], nil])
        #expect(frame["a", ShapedData<Double>.self][1] == array && frame["a", ShapedData<Double>.self][0] == nil)
        #expect(frame["a", ShapedData<Double>.self][1]?[1, 2] == 6)
        #expect(Array(try folder.read(["v", "a"], 1..<2)["v", [Double].self]) == [[]])
        #expect(try folder.read(["a"], 1..<2)["a", ShapedData<Double>.self][0] == array)
        #expect(try folder.read(["l"], 2..<3)["l", [Any?].self][0]?.isEmpty == true)
    }

    @Test func emptyFrames() throws {
        let folder = try SFrameFolder()
        try folder.write([])
        #expect(try folder.read().shape == (0, 0))
        let typed = try SFrameFolder()
        try typed.write([("i", .integers(Column<Int>(name: "", capacity: 0))), ("l", .values(.list, []))])
        let frame = try typed.read()
        #expect(frame.shape == (0, 2) && frame.containsColumn("i", Int.self) && frame.containsColumn("l", [Any?].self))
    }

    @Test func longStrings() throws {
        let texts = [
            "", String(repeating: "ä", count: 300_000), "short", String(repeating: "0123456789", count: 50_000),
        ]
        let folder = try SFrameFolder()
        try folder.write([("s", .strings(Column(name: "", contents: texts)))])
        #expect(try folder.read()["s", String.self].map { $0 } == texts)
    }

    // MARK: What the writer never makes

    /// The bytes follow the description of the format in Documentation/SFrame.md.
    @Test func integersInEveryCoding() throws {
        let folder = try SFrameFolder()
        func read(_ bytes: [UInt8], _ rows: Int, kind: Int = 0, flags: UInt64 = 2) throws -> DataFrame {
            try folder.write(kind: kind, rows: rows, blocks: [(bytes, rows, flags)])
            return try folder.read()
        }
        // Five numbers of one bit above 10: the first byte begins with three zeros.
        #expect(try Array(read([1, 0, 1 << 2, 20, 0b1_1_0_1_0_000], 5)["x", Int.self]) == [10, 11, 10, 11, 11])
        // Steps of two bits from 7: 3, 0, 1.
        #expect(try Array(read([1, 0, 2 << 2 | 1, 14, 0b01_00_11_00], 4)["x", Int.self]) == [7, 10, 10, 11])
        // Steps of four bits, either way, from -1 (nine bytes): -2, +3.
        let minusOne = [UInt8(127)] + [UInt8](repeating: 255, count: 8)
        #expect(try Array(read([1, 0, 3 << 2 | 2] + minusOne + [0x63], 3)["x", Int.self]) == [-1, -3, 0])
        // 64 bits above 0.
        let wide = (1...8).map { UInt8($0) }
        #expect(try Array(read([1, 0, 7 << 2, 0] + wide, 1)["x", Int.self]) == [0x0807_0605_0403_0201])
        // Two bytes of a variable number: 300.
        #expect(try Array(read([1, 0, 0, 0b1011_0001, 0b0000_0100], 3)["x", Int.self]) == [300, 300, 300])
        // Floats as older versions write them: 1.0, its sign below.
        let one = Double(1).bitPattern << 1
        let oldOne = [UInt8(127)] + (0..<8).map { UInt8(truncatingIfNeeded: one >> UInt64(8 * $0)) }
        #expect(try Array(read([1, 1, 0] + oldOne, 2, kind: 1)["x", Double.self]) == [1, 1])
        // A block of integers, and one of several types, in a column of floats.
        #expect(try Array(read([1, 0, 0, 10], 2, kind: 1)["x", Double.self]) == [5, 5])
        let several: [UInt8] = [3, 3, 0, 0, 0, 0, 0, 0, 0, 128, 4, 0, 0, 0, 0, 0, 0, 0, 135, 7, 0, 0, 0, 0]
        #expect(try Array(read(several, 3, kind: 1, flags: 6)["x", Double.self]) == [4, nil, nil])
        // Vectors as older versions write them.
        #expect(try Array(read([1, 3, 0, 4, 0] + oldOne, 1, kind: 3)["x", [Double].self]) == [[1, 1]])
        // A date of half an hour's zone without microseconds.
        #expect(
            try Array(read([1, 6, 5, 0, 0, 0, 0, 0, 0, 3], 1, kind: 6)["x", Date.self])
                == [Date(timeIntervalSince1970: 5)]
        )
    }

    @Test func segmentsOfOtherFiles() throws {
        let (folder, other) = (try SFrameFolder(), try SFrameFolder())
        try folder.write(kind: 0, rows: 2, blocks: [([1, 0, 0, 2], 2, 2)])
        try other.write(kind: 0, rows: 3, blocks: [([1, 0, 0, 4], 1, 2), ([1, 7], 2, 2)])
        try folder.write(
            index: #"{"sarray": {"version": 2, "num_segments": "2"}, "segment_files": {"0001": "\#(other.url.path)"#
                + #"/m_1.0000:0", "0000": "m_1.0000"}, "columns": [{"metadata": {"__type__": "0"}, "segment_sizes": "#
                + #"{"0000": "2", "0001": "3"}}]}"#,
            rows: 5
        )
        #expect(Array(try folder.read()["x", Int.self]) == [1, 1, 2, nil, nil])
        // The second file is not looked at for rows of the first.
        try FileManager.default.removeItem(at: other.url)
        #expect(Array(try folder.read(nil, 1..<2)["x", Int.self]) == [1])
        #expect(folder.error().contains("m_1.0000 is missing"))
    }

    // MARK: Errors

    @Test func whatIsWrongIsNamed() throws {
        let folder = try SFrameFolder()
        #expect(folder.error().contains("dir_archive.ini"))
        func block(_ bytes: [UInt8], kind: Int = 0, rows: Int = 2, flags: UInt64 = 2) throws -> String {
            try folder.write(kind: kind, rows: rows, blocks: [(bytes, rows, flags)])
            return folder.error()
        }
        #expect(try block([1, 0, 0]).contains("column 'x'"))
        #expect(try block([1, 0, 0]).contains("ends too early"))
        #expect(try block([1, 2, 1, 2, 2, 0xC3, 0, 0], kind: 2).contains("UTF-8"))
        #expect(try block([1, 2, 0, 0, 2, 0xC3, 0xA4], kind: 2).contains("UTF-8"))
        #expect(try block([1, 2, 1, 2, 0, 0, 2], kind: 2).contains("string 1 of 1"))
        #expect(try block([1, 2, 0, 0, 2], kind: 0).contains("strings in a column of integers"))
        #expect(try block([1, 0, 3 | 4, 0, 0]).contains("unknown encoding 3"))
        #expect(try block([9, 0, 0]).contains("9 types"))
        #expect(try block([1, 0, 0, 2], flags: 0).contains("other things than values"))
        #expect(try block([1, 0, 0, 2], flags: 3).contains("compressed block is damaged"))
        #expect(try block([1, 7], rows: 1 << 21).contains("at most"))
        #expect(try block([1, 0, 0, 2], kind: 8).contains("type 8"))
        #expect(try block([1, 0, 0, 2], kind: 77).contains("type 77"))
        _ = try block([1, 0, 0, 2])
        #expect(folder.error(["y"]).contains("no column 'y'"))
        #expect(folder.error(nil, 1..<3).contains("it has 2 rows"))
        #expect(folder.error(nil, -1..<1).contains("it has 2 rows"))
        func edited(_ ending: String, _ old: String, _ new: String) throws -> String {
            _ = try block([1, 0, 0, 2])
            let file = try folder.file(ending)
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.contains(old))
            try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: file)
            return folder.error()
        }
        #expect(try edited(".ini", "version=1", "version=2").contains("version is 2"))
        #expect(try edited(".ini", "contents=sframe", "contents=sarray").contains("'sarray'"))
        #expect(try edited(".ini", "0002=m_1", "0002=m_2").contains("m_2.frame_idx is missing"))
        #expect(try edited(".ini", "num_prefixes=3", "num_prefixes=4").contains("4 are announced"))
        #expect(try edited(".frame_idx", "nrows=2", "nrows=3").contains("than the frame's 3"))
        #expect(try edited(".frame_idx", "nrows=2", "nrows=-2").contains("'-2'"))
        #expect(try edited(".frame_idx", "sidx:0", "sidx:1").contains("number 1"))
        #expect(try edited(".frame_idx", "m_1.sidx", "s3://a/m_1.sidx").contains("s3://a"))
        #expect(try edited(".sidx", #""version": 2"#, #""version": 1"#).contains("version 1"))
        #expect(try edited(".sidx", "{", "[").contains("not JSON"))
        #expect(try edited(".sidx", "[2]", "[3]").contains("different number of rows"))
        #expect(throws: SFrameWritingError.self) { try folder.write([("two\nlines", .values(.list, []))]) }
        #expect(throws: SFrameWritingError.self) { try folder.write([(" blank", .values(.list, []))]) }
    }

    /// Readers never stop the program, whatever the bytes are, and take no memory for what cannot be there.
    @Test(arguments: 0..<4) func damagedFiles(seed: UInt64) throws {
        var random = Seeded(seed + 3)
        let folder = try SFrameFolder()
        let count = 700
        func values(_ kind: SFrameKind, _ make: (Int) -> SFrameValue) -> SFrameContents {
            .values(kind, (0..<count).map { $0 % 7 == 3 ? .undefined : make($0) })
        }
        try folder.write([
            ("i", .integers(Column(name: "", contents: Self.integers(count, &random)))),
            ("f", .floats(Column(name: "", contents: (0..<count).map { Double($0) / 3 }))),
            ("s", .strings(Column(name: "", contents: Self.strings(count, &random)))),
            ("t", .strings(Column(name: "", contents: (0..<count).map { "\($0) is a long text" }))),
            ("v", values(.vector) { .vector([Double](repeating: 0.5, count: $0 % 5)) }),
            ("l", values(.list) { .list([.integer($0), .list([.string("x"), .undefined])]) }),
            ("d", values(.dictionary) { .dictionary([(.integer($0), .float(1))]) }),
            ("z", values(.date) { .date(Date(timeIntervalSince1970: Double($0))) }),
            (
                "a",
                values(.array) {
                    .array(
                        ShapedData(
                            shape: [1, $0 % 3],
                            strides: [$0 % 3, 1],
                            contents: [Double](repeating: 1.5, count: $0 % 3)
                        )
                    )
                }
            ),
        ])
        let whole = FuzzTests.outcome { try folder.read() }
        #expect(whole.contains("is a long text"))
        var failures = 0
        for ending in [".0000", ".0000", ".0000", ".sidx", ".frame_idx", ".ini"] {
            let file = try folder.file(ending)
            let good = try Data(contentsOf: file)
            for _ in 0..<30 {
                var bad = good
                switch random.next() % 4 {
                case 0: bad = bad.prefix(Int(random.next() % UInt64(bad.count)))
                case 1:
                    for _ in 0...random.next() % 4 {
                        bad[Int(random.next() % UInt64(bad.count))] = UInt8(truncatingIfNeeded: random.next())
                    }
                case 2:
                    bad[bad.count - 1 - Int(random.next() % UInt64(min(bad.count, 800)))] ^=
                        1 << UInt8(random.next() % 8)
                default: bad[Int(random.next() % UInt64(bad.count))] ^= 1 << UInt8(random.next() % 8)
                }
                try bad.write(to: file)
                if FuzzTests.outcome({ try folder.read() }) != whole { failures += 1 }
            }
            try good.write(to: file)
        }
        #expect(failures > 40)
        #expect(FuzzTests.outcome { try folder.read() } == whole)
    }
}
