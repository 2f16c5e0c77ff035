import CreateML
import Foundation
import TabularData
import Testing

/// Tables in files.
@Suite struct DataTableFileTests {
    private func read(
        _ text: String,
        _ options: MLDataTable.ParsingOptions = .init(),
        name: String = "table.csv"
    ) throws -> MLDataTable {
        let folder = try TemporaryFolder()
        try Data(text.utf8).write(to: folder.file(name))
        return try MLDataTable(contentsOf: folder.file(name), options: options)
    }

    private func rows(_ table: MLDataTable) -> [String] { table.rows.map(\.values.description) }

    @Test func plainFiles() throws {
        let table = try read("a,b,c,d\n1,2.5,x,true\n2,NA,\"y, z\",false\n,3,,true\n")
        #expect(table.columnTypes == ["a": .int, "b": .double, "c": .string, "d": .string])
        #expect(
            rows(table) == [
                #"[1, 2.5, "x", "true"]"#, #"[2, null, "y, z", "false"]"#, #"[null, 3.0, null, "true"]"#,
            ]
        )
        #expect(try read("d\n2020-01-02T03:04:05Z\n").columnTypes == ["d": .string])
    }

    @Test(arguments: [
        ("a, b\n 1, x y\n2,  \"q, r\"\n", MLDataTable.ParsingOptions()),
        ("a;b\n1;x y\n2;q, r\n", MLDataTable.ParsingOptions(delimiter: ";")),
        ("a||b\n1||x y\n2||q, r\n", MLDataTable.ParsingOptions(delimiter: "||")),
        ("# by hand\na,b# names\n1,x y\n\n2,'q, r'\n", MLDataTable.ParsingOptions(comment: "#", quote: "'")),
        ("a,b\n1,x y\n2,q\\, r\n", MLDataTable.ParsingOptions()),
        ("a,b/1,x y/2,\"q, r\"/", MLDataTable.ParsingOptions(lineTerminator: "/")),
        ("title\nsource\na,b\n1,x y\n2,\"q, r\"", MLDataTable.ParsingOptions(skipRows: 2)),
        ("c,a,b\n9,1,x y\n8,2,\"q, r\"\n", MLDataTable.ParsingOptions(selectColumns: ["a", "b"])),
        ("a,b\r\n1, x y\r\n2,\"q, r\"\r\n3,s\r\n", MLDataTable.ParsingOptions(maxRows: 2)),
        ("a,b\n1,x y\n2,\"q, r\"\n", MLDataTable.ParsingOptions(doubleQuote: false, maxRows: 9)),
    ])
    func dialects(text: String, options: MLDataTable.ParsingOptions) throws {
        let table = try read(text, options)
        #expect(table.columnTypes == ["a": .int, "b": .string])
        #expect(rows(table) == [#"[1, "x y"]"#, #"[2, "q, r"]"#])
    }

    @Test func quotesAndSpaces() throws {
        let quotes = try read("a|b\n\"say \"\"hi\"\"\"| x\n", .init(delimiter: "|"))
        #expect(rows(quotes) == [#"["say \"hi\"", "x"]"#])
        let kept = try read("a,b\n1, x\n", .init(skipInitialSpaces: false))
        #expect(rows(kept) == [#"[1, " x"]"#])
        let missing = try read("a, b\n-, x\n2, none\n", .init(missingValues: ["-", "none"]))
        #expect(rows(missing) == [#"[null, "x"]"#, "[2, null]"])
        #expect(Array(try read("1,2\n3,4\n", .init(containsHeader: false)).columnNames) == ["Column 0", "Column 1"])
        let lines = try read("a, b\n\"two\nlines\", 'x'\n")
        #expect(rows(lines) == [#"["two\nlines", "'x'"]"#])
    }

    @Test func listsAndObjectsInCells() throws {
        let table = try read("id,list,object,text\n1,\"[1, 2]\",\"{\"\"a\"\": 1.5}\",[x\n2,[],{},[y]\n")
        #expect(table.columnTypes == ["id": .int, "list": .sequence, "object": .dictionary, "text": .string])
        let lists: MLDataColumn<[Int]> = table["list"]
        #expect(lists[0] == [1, 2] && lists[1].isEmpty)
        let objects: MLDataColumn<[String: Double]> = table["object"]
        #expect(objects[0] == ["a": 1.5])
    }

    @Test func jsonFiles() throws {
        let text = #"[{"n": 1, "t": "x", "l": ["a"], "o": {"k": 2}, "f": true}, {"n": 2.5, "t": null, "l": []}]"#
        let table = try read(text, name: "table.json")
        #expect(
            table.columnTypes == ["n": .double, "t": .string, "l": .sequence, "o": .dictionary, "f": .int]
        )
        #expect(rows(table) == [#"[1.0, "x", ["a"], {"k": 2}, 1]"#, "[2.5, null, [], null, null]"])
        #expect(try read(text, .init(selectColumns: ["t"], maxRows: 1), name: "table.json").size == (1, 1))
    }

    @Test func writtenTablesAreReadBack() throws {
        let folder = try TemporaryFolder()
        let table = try MLDataTable(dictionary: [
            "a": [1, 2], "b": [0.5, 2.0], "c": ["x, \"y\"", "z"], "d": [["k": 1], [:]], "e": [[1, 2], []],
        ])
        try table.writeCSV(to: folder.file("t.csv"))
        let again = try MLDataTable(contentsOf: folder.file("t.csv"))
        #expect(again.columnTypes == table.columnTypes && rows(again) == rows(table))
        try table.prefix(1).writeCSV(toFile: folder.file("t.csv").path)
        #expect(try MLDataTable(contentsOf: folder.file("t.csv")).size == (1, 5))
        #expect(message { try table[["q"]].writeCSV(to: folder.file("u.csv")) }.contains("'q'"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("u.csv").path))
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }

    @Test func badFilesAreNamed() throws {
        let folder = try TemporaryFolder()
        func message(_ text: String, _ options: MLDataTable.ParsingOptions = .init(), name: String = "t.csv") -> String
        {
            self.message { _ = try read(text, options, name: name) }
        }
        #expect(self.message { _ = try MLDataTable(contentsOf: folder.file("none.csv")) }.contains("none.csv"))
        #expect(self.message { _ = try MLDataTable(contentsOf: folder.url) }.contains("folder"))
        #expect(message("a\n1\n", name: "t.xls").contains("t.xls"))
        #expect(message("a,b\n1\n").contains("1 columns, not 2"))
        #expect(message("a, b\n\"1, 2\n").contains("line 2 has no end"))
        #expect(message("a,b\n\"x\"\"y\",1\n", .init(doubleQuote: false)).contains("doubleQuote"))
        #expect(message("a\n1\n", .init(selectColumns: ["b"])).contains("'b'"))
        #expect(message("a\n1\n", .init(delimiter: "")).contains("delimiter"))
        #expect(message("a\n1\n", .init(lineTerminator: "")).contains("terminator"))
        #expect(message("a\n1\n", .init(quote: "''")).contains("quote"))
        #expect(message("a\n1\n", .init(maxRows: -1)).contains("maxRows"))
        #expect(message("a\n1\n", .init(skipRows: -1)).contains("skipRows"))
        #expect(!message("{}", name: "t.json").isEmpty)
        #expect(try read("").size == (0, 0) && read("a,b\n").size == (0, 2))
        #expect(try read("a\n1\n", .init(skipRows: 9)).size == (0, 0))
    }

    @Test func damagedFilesNeverTrap() throws {
        var maker = TableMaker(seed: 7)
        let bytes = Array("ab1,\" \n\\#'|[{}]:\r".utf8)
        for round in 0..<300 {
            let text = (0..<40).map { _ in bytes[maker.integer(bytes.count)] }
            let folder = try TemporaryFolder()
            let name = round % 5 == 0 ? "t.json" : "t.csv"
            try Data(text).write(to: folder.file(name))
            let options = MLDataTable.ParsingOptions(
                delimiter: [",", "|", "1,"][round % 3],
                comment: round % 2 == 0 ? "#" : "",
                doubleQuote: round % 7 != 0,
                quote: ["\"", "'", ""][round % 3],
                skipRows: round % 4 == 0 ? 1 : 0
            )
            // Either a table, or an error that says something.
            do {
                let table = try MLDataTable(contentsOf: folder.file(name), options: options)
                #expect(table.isValid && table.columnNames.count == table.size.columns)
            } catch { #expect(!"\(error)".isEmpty) }
        }
    }
}
