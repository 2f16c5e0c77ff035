import Foundation
import TabularData
import Testing

struct DataFrameTests {
    let frame: DataFrame = [
        "id": [1, 2, 3, 4, 5], "name": ["a", "b", nil, "d", "e"], "x": [0.5, nil, 1.5, 2.5, 3.5],
    ]

    @Test func literalTypes() {
        let types = frame.columns.map { "\($0.wrappedElementType)" }
        #expect(types == ["Int", "String", "Double"])
    }

    @Test func literalOfMixedElementsIsAny() {
        let mixed: DataFrame = ["m": [1, "a", nil]]
        #expect(mixed["m"].wrappedElementType == Any.self)
        #expect(mixed["m", Any.self][1] as? String == "a" && mixed["m"].isNil(at: 2))
    }

    @Test func accessInAllForms() {
        var frame = frame
        #expect(frame["id", Int.self][2] == 3)
        #expect(frame[ColumnID("x", Double.self)][1] == nil)
        #expect(frame.id[0] as? Int == 1)
        #expect(frame[row: 3]["name"] as? String == "d")
        #expect(frame[column: 0, Int.self].count == 5 && frame[column: 1].name == "name")
        let array: [Int?] = frame["id"]
        #expect(array == [1, 2, 3, 4, 5])
        frame["id"] = [9, nil, 7, 6, 5] as [Int?]
        #expect(frame["id", Int.self][1] == nil)
        frame["id", Int.self][1] = 8
        frame[row: 0]["name"] = "A"
        frame.rows[1]["x", Double.self] = 4.5
        #expect(frame["id", Int.self][1] == 8 && frame["name", String.self][0] == "A")
        #expect(frame["x", Double.self][1] == 4.5)
        frame["new"] = frame["id", Int.self].map { $0.map { $0 * 2 } }.eraseToAnyColumn()
        #expect(frame.shape == (5, 4) && frame["new", Int.self][0] == 18)
        #expect(self.frame["id", Int.self][1] == 2)
        #expect(frame[["x", "id"]].columns.map(\.name) == ["x", "id"])
    }

    @Test func writingInPlaceDoesNotCopy() {
        func address(_ frame: DataFrame) -> Int? {
            frame["x", Int.self].withContiguousStorageIfAvailable { (elements: UnsafeBufferPointer<Int>) in
                Int(bitPattern: elements.baseAddress)
            }
        }
        var frame = DataFrame()
        frame.append(column: Column(name: "x", contents: Array(repeating: 0, count: 2000)))
        // Others hold the column no longer, so the first write may be the last that copies.
        frame["x", Int.self][0] = 0
        let place = address(frame)
        #expect(place != nil)
        var moved = 0
        for row in 0..<2000 {
            frame["x", Int.self][row] = row
            if address(frame) != place { moved += 1 }
            frame[row: row]["x"] = -row
            if address(frame) != place { moved += 1 }
            frame.rows[row]["x", Int.self] = row
            if address(frame) != place { moved += 1 }
        }
        #expect(moved == 0)
        #expect(Array(frame["x", Int.self]) == Array(0..<2000))
        let copy = frame
        frame["x", Int.self][0] = 7
        #expect(address(copy) == place && address(frame) != place)
        #expect(copy["x", Int.self][0] == 0)
    }

    @Test func columns() {
        var frame = frame
        frame.renameColumn("name", to: "label")
        frame.addAlias("title", forColumn: "label")
        #expect(frame.indexOfColumn("title") == 1 && frame.columnNames(forAlias: "title") == ["label"])
        frame.replaceColumn("title", with: Column<Bool>(name: "flag", contents: [true, false, nil, true, true]))
        #expect(frame.containsColumn("flag", Bool.self) && !frame.containsColumn("label"))
        let x = frame.removeColumn(ColumnID("x", Double.self))
        #expect(x[0] == 0.5 && frame.shape.columns == 2)
        frame.insert(column: x, at: 0)
        #expect(frame.columns.map(\.name) == ["x", "id", "flag"])
        frame.transformColumn("id") { (id: Int) in "#\(id)" }
        #expect(frame["id", String.self][4] == "#5")
        frame.combineColumns("id", "x", into: "both") { (id: String?, x: Double?) in x.map { "\(id ?? "")=\($0)" } }
        #expect(frame.columns.map(\.name) == ["flag", "both"] || frame.columns.map(\.name) == ["both", "flag"])
        #expect(frame["both", String.self][1] == nil && frame["both", String.self][2] == "#3=1.5")
    }

    @Test func rows() {
        var frame = frame
        frame.append(row: 6, "f", 4.5)
        frame.append(valuesByColumn: ["name": "g", "id": 7])
        frame.appendEmptyRow()
        frame.insert(row: frame[row: 0], at: 2)
        #expect(Array(frame["id", Int.self]) == [1, 2, 1, 3, 4, 5, 6, 7, nil])
        frame.removeRow(at: 0)
        #expect(frame[row: 1] == self.frame[row: 0])
        frame.append(self.frame.selecting(columnNames: "x", "id"))
        #expect(frame.shape.rows == 13 && frame["name", String.self][12] == nil)
        frame.append(rowsOf: self.frame)
        #expect(frame["name", String.self][17] == "e")
        #expect(Array(frame.rows.suffix(2).map(\.index)) == [16, 17])
        #expect(frame.prefix(2).shape.rows == 2 && frame.suffix(30).shape.rows == 18)
    }

    @Test func filters() {
        let byColumn = frame.filter(on: "x", Double.self) { ($0 ?? 0) > 1 }
        let byRow = frame.filter { ($0["x", Double.self] ?? 0) > 1 }
        let byMask = frame[frame["x", Double.self].filled(with: 0) > 1]
        #expect(byColumn == byRow && byColumn == byMask)
        #expect(byColumn.rows.map(\.index) == [2, 3, 4])
        #expect(Array(byColumn["id", Int.self]) == [3, 4, 5])
        #expect(DataFrame(byColumn)["id", Int.self][0] == 3)
        let twice = byColumn.filter(on: ColumnID("name", String.self)) { $0 != nil }
        #expect(Array(twice["id", Int.self]) == [4, 5])
        #expect(twice.prefix(through: 3).shape.rows == 1 && twice.suffix(from: 4).shape.rows == 1)
        #expect(frame[1..<3].shape.rows == 2 && frame[3...].shape.rows == 2)
        var changed = frame
        changed[0..<2] = frame[3..<5]
        #expect(Array(changed["id", Int.self]) == [4, 5, 3, 4, 5])
    }

    @Test func explode() {
        var frame = DataFrame()
        frame.append(column: Column(name: "k", contents: [1, 2, 3]))
        frame.append(column: Column<[String]>(name: "v", contents: [["a", "b"], [], nil]))
        frame.explodeColumn("v", [String].self)
        #expect(Array(frame["k", Int.self]) == [1, 1, 2, 3])
        #expect(Array(frame["v", String.self]) == ["a", "b", nil, nil])
    }

    @Test func equality() {
        #expect(frame == frame.selecting(columnNames: "id", "name", "x"))
        var other = frame
        other["x", Double.self][0] = 7
        #expect(frame != other)
        #expect(Set([frame, other, frame]).count == 2)
    }

    @Test func summary() {
        let summary = frame.summary()
        #expect(
            summary.columns.map(\.name) == [
                "column", "mean", "std", "min", "max", "median", "Q1", "Q3", "mode", "uniqueCount", "noneCount",
                "someCount",
            ]
        )
        #expect(summary[SummaryColumnIDs.mean][0] == 3 && summary[SummaryColumnIDs.mean][1] == nil)
        #expect(summary[SummaryColumnIDs.noneCount][2] == 1 && summary[SummaryColumnIDs.uniqueCount][1] == 4)
        #expect(frame.summary(of: "x").shape.rows == 1)
        #expect(frame[0..<2].summary(ofColumns: 0)[SummaryColumnIDs.maximum][0] == 2)
    }

    @Test func splits() {
        var frame = DataFrame()
        frame.append(column: Column(name: "i", contents: 0..<1000))
        frame.append(column: Column(name: "c", contents: (0..<1000).map { $0 % 10 == 0 ? "rare" : "often" }))
        let (a, b) = frame.randomSplit(by: 0.8, seed: 5)
        let (c, _) = frame.randomSplit(by: 0.8, seed: 5)
        #expect(a.shape.rows == 800 && b.shape.rows == 200 && a == c)
        #expect(Set(a["i", Int.self]).union(b["i", Int.self]).count == 1000)
        let (one, other) = frame.stratifiedSplit(on: "c", by: 0.7, randomSeed: 1)
        #expect(one.shape.rows == 700 && other.shape.rows == 300)
        #expect(one["c", String.self].filter { $0 == "rare" }.count == 70)
        #expect(frame.stratifiedSplit(on: ColumnID("c", String.self), by: 0.7, randomSeed: 1) == (one, other))
    }
}
