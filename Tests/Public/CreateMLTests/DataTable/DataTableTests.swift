import CoreML
import CreateML
import Foundation
import TabularData
import Testing

/// The operations on a table.
@Suite struct DataTableTests {
    private func sales() throws -> MLDataTable {
        try MLDataTable(dictionary: [
            "city": ["Rome", "Oslo", "Rome", "Bern", "Oslo"],
            "item": ["tea", "tea", "milk", "milk", "tea"],
            "count": [3, 1, 4, 1, 5],
            "price": [2.5, 3.0, 1.5, 2.0, 3.5],
        ])
    }

    private func texts(_ column: MLUntypedColumn) -> [String] { (0..<column.count).map { column[$0].description } }

    private func message(_ table: MLDataTable) -> String { table.error.map { "\($0)" } ?? "" }

    @Test func columnsHaveNamesAndTypes() throws {
        let table = try sales()
        #expect(table.size == (5, 4) && table.isValid && table.error == nil)
        #expect(Array(table.columnNames) == ["city", "count", "item", "price"])
        #expect(table.columnTypes == ["city": .string, "count": .int, "item": .string, "price": .double])
        #expect(table.columnNames.description == #"["city", "count", "item", "price"]"#)
        #expect(table["count", Int.self]?.sum() == 14 && table["count", String.self] == nil)
        #expect(table["none", Int.self] == nil)
        let counts: MLDataColumn<Int> = table["count"]
        #expect(counts.max() == 5 && counts.min() == 1 && counts.mean() == 2.8)
        let wrong: MLDataColumn<String> = table["count"]
        #expect(!wrong.isValid && "\(wrong.error!)".contains("map(to:)"))
        #expect(MLDataTable().size == (0, 0) && MLDataTable().isValid)
        let mixed = try MLDataTable(namedColumns: ["a": MLUntypedColumn(0..<3), "b": MLUntypedColumn(["x", "y", "z"])])
        #expect(mixed.columnTypes == ["a": .int, "b": .string])
    }

    @Test func rowsAreCollections() throws {
        let rows = try sales().rows
        #expect(rows.count == 5)
        let row = rows[2]
        #expect(row.count == 4 && row["item"] == .string("milk") && row["count", Int.self] == 4)
        #expect(row["price", String.self] == nil && row["none"] == nil)
        #expect(row.index(forKey: "price") == 3 && row[3] == ("price", .double(1.5)))
        #expect(row.description == #"{"city": "Rome", "count": 4, "item": "milk", "price": 1.5}"#)
        #expect(row == rows[2] && row != rows[3])
        #expect(Array(row.keys) == ["city", "count", "item", "price"])
        #expect(Array(row.values) == [.string("Rome"), .int(4), .string("milk"), .double(1.5)])
    }

    @Test func rowsAreChosen() throws {
        let table = try sales()
        #expect(table[table["price"] > 2].size.rows == 3)
        #expect(texts(table[table["city"] == "Oslo" && table["count"] > 2]["count"]) == ["5"])
        let prices: MLDataColumn<Double> = table["price"]
        #expect(table[prices >= 3.0]["city"].strings.map { [$0[0], $0[1]] } == ["Oslo", "Oslo"])
        #expect(texts(table[1..<3]["item"]) == ["tea", "milk"] && texts(table[3...]["count"]) == ["1", "5"])
        #expect(table.prefix(2).size.rows == 2 && table.prefix().size.rows == 5)
        #expect(texts(table.suffix(2)["count"]) == ["1", "5"])
        #expect(texts(table.intersect("Rome", "Bern", of: "city")["count"]) == ["3", "4", "1"])
        #expect(texts(table.exclude("Rome", "Bern", of: "city")["count"]) == ["1", "5"])
        #expect(texts(table.sort(columnNamed: "price")["price"]) == ["1.5", "2.0", "2.5", "3.0", "3.5"])
        #expect(texts(table.sort(columnNamed: "city", byIncreasingOrder: false)["count"]) == ["3", "4", "1", "5", "1"])
        #expect(table[["city", "item"]].dropDuplicates().size.rows == 4)
        let products = table.map { row in (row["price", Double.self] ?? 0) * Double(row["count", Int.self] ?? 0) }
        #expect(products.sum() == 7.5 + 3 + 6 + 2 + 17.5)
    }

    @Test func columnsAreChanged() throws {
        var table = try sales()
        let (price, count): (MLDataColumn<Double>, MLDataColumn<Int>) = (table["price"], table["count"])
        table.addColumn(price * MLDataColumn<Double>(column: count), named: "total")
        #expect(table["total"].doubles?.sum() == 36)
        table.renameColumn(named: "total", to: "sum")
        table["price"] = table["price"] * 2
        #expect(table["price"].doubles?.max() == 7 && table.columnNames.last == "sum")
        table.removeColumn(named: "sum")
        let more = try MLDataTable(dictionary: ["price": [9.0], "item": ["oil"], "count": [7], "city": ["Rome"]])
        table.append(contentsOf: more)
        #expect(table.size == (6, 4) && table.rows[5]["item"] == .string("oil"))
        var empty = MLDataTable()
        empty.append(contentsOf: more)
        #expect(empty.size == (1, 4))
        table["item"] = MLDataColumn(repeating: "x", count: 6)
        #expect(texts(table["item"].dropDuplicates()) == ["x"])
    }

    @Test func missingValuesAreDroppedOrFilled() throws {
        let column = MLUntypedColumn([MLDataValue.int(1), .invalid, .int(3)])
        let table = try MLDataTable(namedColumns: ["a": column, "b": MLUntypedColumn(["x", "y", "z"])])
        #expect(texts(table.dropMissing()["b"]) == ["x", "z"])
        #expect(texts(table.fillMissing(columnNamed: "a", with: .int(0))["a"]) == ["1", "0", "3"])
        #expect(message(table.fillMissing(columnNamed: "a", with: .string("?"))).contains("'?'"))
        #expect(texts(table[table["a"] >= 1]["b"]) == ["x", "z"])
        #expect(texts(table.sort(columnNamed: "a", byIncreasingOrder: true)["b"]) == ["y", "x", "z"])
    }

    @Test func groupsAreSummarised() throws {
        let all = MLDataTable.Aggregator(
            operations: .count,
            .sum,
            .mean,
            .min,
            .max,
            .stdev,
            .variance,
            .distinctCount,
            .sequenceMerge,
            of: "count"
        )
        let others = MLDataTable.Aggregator(
            operations: .argmax(outputColumn: "item"),
            .argmin(outputColumn: "count"),
            of: "price"
        )
        let merged = MLDataTable.Aggregator(operations: .dictionaryMerge(valueColumn: "price"), of: "item")
        let table = try sales().group(columnsNamed: "city", aggregators: [all, others, merged])
        #expect(message(table).isEmpty)
        #expect(texts(table["city"]) == ["Rome", "Oslo", "Bern"])
        #expect(texts(table["Count of count"]) == ["2", "2", "1"])
        #expect(texts(table["Sum of count"]) == ["7", "6", "1"])
        #expect(texts(table["Avg of count"]) == ["3.5", "3.0", "1.0"])
        #expect(texts(table["Min of count"]) == ["3", "1", "1"] && texts(table["Max of count"]) == ["4", "5", "1"])
        #expect(texts(table["Stdv of count"]) == ["0.5", "2.0", "0.0"])
        #expect(texts(table["Var of count"]) == ["0.25", "4.0", "0.0"])
        #expect(texts(table["Count Distinct of count"]) == ["2", "2", "1"])
        #expect(texts(table["List of count"]) == ["[3, 4]", "[1, 5]", "[1]"])
        #expect(texts(table["Argmax item of price"]) == ["tea", "tea", "milk"])
        #expect(texts(table["Argmin count of price"]) == ["4", "1", "1"])
        #expect(
            texts(table["Dict price of item"]) == [#"{"milk": 1.5, "tea": 2.5}"#, #"{"tea": 3.5}"#, #"{"milk": 2.0}"#]
        )
        let pairs = try sales().group(columnsNamed: "city", "item", aggregators: [])
        #expect(pairs.size == (4, 2))
        let one = MLDataTable.Aggregator(operations: .randomlySelectOne, of: "count")
        let chosen = try sales().group(columnsNamed: "city", aggregators: [one])["Select One of count"]
        #expect(["3", "4"].contains(texts(chosen)[0]) && texts(chosen)[2] == "1")
    }

    @Test func tablesAreJoined() throws {
        let cities = try MLDataTable(dictionary: ["city": ["Rome", "Oslo", "Nice"], "price": [1, 2, 3]])
        let table = try sales()[["city", "price"]]
        let inner = table.join(with: cities, on: "city")
        #expect(Array(inner.columnNames) == ["city", "price", "price.1"])
        #expect(texts(inner["city"]) == ["Rome", "Oslo", "Rome", "Oslo"])
        #expect(texts(inner["price.1"]) == ["1", "2", "1", "2"])
        #expect(texts(table.join(with: cities, on: "city", type: .left)["price.1"]) == ["1", "2", "1", "null", "2"])
        let right = table.join(with: cities, on: "city", type: .right)
        #expect(texts(right["city"]) == ["Rome", "Rome", "Oslo", "Oslo", "Nice"])
        #expect(texts(right["price"]).last == "null")
        let outer = table.join(with: cities, on: "city", type: .outer)
        #expect(texts(outer["city"]) == ["Rome", "Oslo", "Rome", "Bern", "Oslo", "Nice"])
        let codes = try MLDataTable(dictionary: ["city": ["Rome", "Rome"], "item": ["tea", "milk"], "code": [1, 2]])
        #expect(texts(try sales().join(with: codes, on: "city", "item")["code"]) == ["1", "2"])
        #expect(message(table.join(with: cities, on: "town")).contains("'town'"))
        #expect(message(table.join(with: cities, on: "price")).contains("convert"))
    }

    @Test func splitsFollowFromTheirSeed() throws {
        let table = try MLDataTable(dictionary: [
            "n": Array(0..<100), "kind": (0..<100).map { $0 < 80 ? "a" : "b" }, "session": (0..<100).map { $0 / 5 },
        ])
        let (first, second) = table.randomSplit(by: 0.3, seed: 4)
        #expect(first.size.rows == 30 && second.size.rows == 70)
        #expect(Set(texts(first["n"]) + texts(second["n"])).count == 100)
        #expect(texts(table.randomSplit(by: 0.3, seed: 4).0["n"]) == texts(first["n"]))
        #expect(texts(table.randomSplit(by: 0.3, seed: 5).0["n"]) != texts(first["n"]))
        #expect(table.randomSample(by: 0.25).size.rows == 25)
        #expect(message(table.randomSplit(by: 1.5).0).contains("1.5"))

        let (part, rest) = table.randomSplitBySequence(proportion: 0.25, by: "session", on: "kind")
        #expect(part.size.rows == 25 && rest.size.rows == 75)
        #expect(Set(texts(part["session"])).isDisjoint(with: texts(rest["session"])))

        let parts = try table.stratifiedSplit(proportions: [0.5, 0.25, 0.25], on: "kind", seed: 1)
        for (number, rows) in [(0, 50), (1, 25), (2, 25)] {
            let part = parts[parts["partition"] == number]
            #expect(part.size.rows == rows && part.intersect("b", of: "kind").size.rows == rows / 5)
        }
        let sessions = try table.stratifiedSplitBySequence(proportions: [0.5, 0.5], by: "session", on: "kind", seed: 1)
        let half = sessions[sessions["partition"] == 0]
        #expect(half.size.rows == 50 && half.intersect("b", of: "kind").size.rows == 10)
        #expect(Set(texts(half["session"])).count == 10)
        // A share may be 0, and the sum need not be 1.
        let thirds = try table.stratifiedSplit(proportions: [0.5, 0, 1], on: "kind", seed: 1)
        #expect((0..<3).map { thirds[thirds["partition"] == $0].size.rows } == [34, 0, 66])
        for proportions in [[], [0, 0], [0.5, 1.5], [-0.5, 0.5], [.nan, 1]] {
            #expect(throws: MLCreateError.self) { try table.stratifiedSplit(proportions: proportions, on: "kind") }
        }
        #expect(throws: MLCreateError.self) { try table.stratifiedSplit(proportions: [1], on: "type") }
    }

    @Test func columnsArePackedAndUnpacked() throws {
        let table = try sales()
        let packed = table.pack(columnsNamed: "count", "price", to: "both")
        #expect(Array(packed.columnNames) == ["city", "item", "both"] && texts(packed["both"])[0] == "[3, 2.5]")
        let back = packed.unpack(columnNamed: "both")
        #expect(Array(back.columnNames) == ["city", "item", "both.0", "both.1"])
        #expect(texts(back["both.1"]) == texts(table["price"]) && back["both.0"].type == .int)
        let named = table.pack(columnsNamed: "count", "price", to: "both", type: .dictionary)
        #expect(texts(named["both"])[1] == #"{"count": 1, "price": 3.0}"#)
        let subset = named.unpack(columnNamed: "both", valueTypes: [.double], keySubset: ["count"])
        #expect(Array(subset.columnNames) == ["city", "item", "both.count"] && subset["both.count"].type == .double)
        #expect(message(table.unpack(columnNamed: "city")).contains("String"))

        let lists = try MLDataTable(dictionary: ["id": [1, 2, 3], "tags": [["a", "b"], [], ["c"]]])
        let expanded = lists.expand(columnNamed: "tags", to: "tag")
        #expect(texts(expanded["id"]) == ["1", "1", "2", "3"] && texts(expanded["tag"]) == ["a", "b", "null", "c"])
        let condensed = expanded.condense(columnNamed: "tag", to: "tags")
        #expect(texts(condensed["tags"]) == [#"["a", "b"]"#, "[]", #"["c"]"#] && condensed.size == (3, 2))
        #expect(message(table.expand(columnNamed: "city", to: "c")).contains("sequences"))
    }

    @Test func errorsAreCarriedOn() throws {
        let table = try sales()
        let missing = table["none"]
        #expect(!missing.isValid && missing.isEmpty && "\(missing.error!)".contains("no table's column 'none'"))
        #expect("\((missing + table["price"]).error!)".contains("'none'"))
        #expect(message(table[["city", "none"]]).contains("'none'"))
        #expect(message(table[["city", "none"]].sort(columnNamed: "city").prefix(1)).contains("'none'"))
        #expect(message(table[table["none"] > 1]).contains("'none'"))
        #expect(message(table[MLDataColumn([true, false])]).contains("2 rows"))
        #expect(message(table[3..<9]).contains("3..<9"))
        #expect(message(table[9...]).contains("9..<5") && message(table[..<(-1)]).contains("0..<-1"))
        #expect(message(table[2...7]).contains("2..<8") && table[5...].size.rows == 0 && table[...1].size.rows == 2)
        #expect(message(table.prefix(-1)).contains("maxLength is -1"))
        #expect(message(table.suffix(-2)).contains("maxLength is -2"))
        #expect(!table["price"].prefix(-1).isValid && !MLDataColumn([1, 2]).suffix(-1).isValid)
        #expect(message(table[MLUntypedColumn(["a", "b", "c", "d", "e"])]).contains("mask"))
        #expect(message(table.group(columnsNamed: "none", aggregators: [])).contains("'none'"))
        let text = MLDataTable.Aggregator(operations: .mean, of: "city")
        #expect(message(table.group(columnsNamed: "item", aggregators: [text])).contains("'city'"))
        #expect(message(table.intersect(3, of: "city")).contains("'3'"))
        var changed = table
        changed["city"] = MLUntypedColumn([1, 2])
        #expect(message(changed).contains("2 rows") && changed.size == (0, 0) && changed.rows.isEmpty)
        changed = table
        changed.addColumn(MLDataColumn([1, 2, 3, 4, 5]), named: "city")
        #expect(message(changed).contains("two columns 'city'"))
        changed = table
        changed.removeColumn(named: "none")
        #expect(message(changed).contains("'none'"))
        changed = table
        changed.renameColumn(named: "city", to: "item")
        #expect(message(changed).contains("'item'"))
        changed = table
        changed.append(contentsOf: table[["city"]])
        #expect(message(changed).contains("do not fit"))
        let lists = try MLDataTable(dictionary: ["l": [[1], [2]]])
        #expect(message(lists.sort(columnNamed: "l")).contains("no order"))
        #expect(changed.description.contains("Not valid"))

        func thrown(_ body: () throws -> MLDataTable) -> String {
            do { return try body().description } catch { return "\(error)" }
        }
        #expect(thrown { try MLDataTable(dictionary: ["a": [1, 2], "b": [1]]) }.contains("'b' has 1 rows"))
        #expect(thrown { try MLDataTable(dictionary: ["a": 1]) }.contains("array of values"))
        #expect(thrown { try MLDataTable(namedColumns: ["a": missing]) }.contains("'none'"))
    }

    @Test func recordingsAreSharedOut() throws {
        let rows = 0..<120
        let frame = DataFrame(columns: [
            Column<Double>(name: "x", contents: rows.map { Double($0) }).eraseToAnyColumn(),
            Column<String>(name: "label", contents: rows.map { $0 < 60 ? "run" : "walk" }).eraseToAnyColumn(),
            Column<String>(name: "session", contents: rows.map { "s\($0 / 6)" }).eraseToAnyColumn(),
        ])
        let source = MLActivityClassifier.DataSource.dataFrame(frame)
        let table = try source.labeledSensorData(featureColumns: ["x"], recordingFileColumn: "session")
        #expect(table.size == (120, 3) && Set(table.columnNames) == ["x", "label", "session"])
        #expect(texts(table["x"]) == rows.map { "\(Double($0))" })
        func split(_ seed: Int) throws -> MLDataTable {
            try source.stratifiedSplit(
                proportions: [0.8, 0.2],
                seed: seed,
                featureColumns: ["x"],
                labelColumn: "label",
                recordingFileColumn: "session"
            )
        }
        let parts = try split(3)
        let held = parts[parts["partition"] == 1]
        #expect(held.size.rows == 24, "two sessions of each label, six rows each")
        #expect(Set(texts(held["session"])).count == 4)
        #expect(held.intersect("run", of: "label").size.rows == 12)
        #expect(try texts(split(3)["partition"]) == texts(parts["partition"]))
        #expect(throws: MLCreateError.self) { try source.labeledSensorData(featureColumns: ["y"]) }
    }
}
