import TabularData
import Testing

/// Rows as values, and how they are written into frames.
struct RowTests {
    let ages: DataFrame = ["name": ["Ann", "Bob", nil], "age": [30, 40, 50]]
    let others: DataFrame = ["age": [60, nil], "name": ["Eve", "Dan"]]

    @Test func exchangedRowsOfTwoFramesLeaveTheOthers() {
        var (a, b) = (ages, others)
        swap(&a[row: 0], &b[row: 1])
        #expect(a == ["name": ["Dan", "Bob", nil], "age": [nil, 40, 50]])
        #expect(b == ["age": [60, 30], "name": ["Eve", "Ann"]])
        // The same number in both frames.
        swap(&a[row: 1], &b[row: 1])
        #expect(a == ["name": ["Dan", "Ann", nil], "age": [nil, 30, 50]])
        #expect(b == ["age": [60, 40], "name": ["Eve", "Bob"]])
        #expect(ages["age", Int.self][0] == 30 && others["age", Int.self][0] == 60)
    }

    @Test func exchangedRowsOfCopiesLeaveTheOthers() {
        var (a, b) = (ages, ages)
        b["age", Int.self][0] = 31
        swap(&a[row: 0], &b[row: 0])
        #expect(a["age", Int.self][0] == 31 && b["age", Int.self][0] == 30)
        swap(&a.rows[0], &b.rows[2])
        #expect(a == ["name": [nil, "Bob", nil], "age": [50, 40, 50]])
        #expect(b == ["name": ["Ann", "Bob", "Ann"], "age": [30, 40, 31]])
    }

    @Test func aRowAssignedThroughAReferenceIsCopied() {
        func replace(_ row: inout DataFrame.Row, by other: DataFrame.Row) { row = other }
        var frame = ages
        replace(&frame[row: 2], by: others[row: 0])
        #expect(frame == ["name": ["Ann", "Bob", "Eve"], "age": [30, 40, 60]])
        frame[row: 0] = others[row: 1]
        frame.rows[1] = frame[row: 2]
        #expect(frame == ["name": ["Dan", "Eve", "Eve"], "age": [nil, 60, 60]])
        frame.rows.swapAt(0, 2)
        #expect(frame == ["name": ["Eve", "Eve", "Dan"], "age": [60, 60, nil]])
    }

    @Test func severalValuesAreWrittenAtOnce() {
        func rewrite(_ row: inout DataFrame.Row) throws {
            row["age"] = 1
            row["age", Int.self] = (row["age", Int.self] ?? 0) + 1
            row[0] = nil
            if row.index == 1 { throw CancellationError() }
        }
        var frame = ages
        #expect(throws: Never.self) { try rewrite(&frame[row: 0]) }
        #expect(throws: CancellationError.self) { try rewrite(&frame[row: 1]) }
        #expect(Array(frame["name", String.self]) == [nil, nil, nil])
        #expect(Array(frame["age", Int.self]) == [2, 2, 50])
    }

    @Test func aRowTakenOutHasValuesOfItsOwn() {
        var row = ages[row: 1]
        let before = row
        row["name"] = "Bill"
        row[1, Int.self] = nil
        #expect(row["name", String.self] == "Bill" && row["age"] == nil && row[1, Int.self] == nil)
        #expect(row != before && before["name"] as? String == "Bob" && row.index == 1 && row.count == 2)
        #expect(row.base == ["name": ["Ann", "Bill", nil], "age": [30, nil, 50]])
        #expect(row.description.contains("Bill") && !row.description.contains("Bob"))
        #expect(row.customMirror.children.map(\.label) == ["name", "age"])
        var changed = ages
        changed[row: 1] = row
        #expect(changed[row: 1] == row && changed[row: 1].hashValue == row.hashValue)
        #expect(ages["name", String.self][1] == "Bob")
        changed.append(row: row)
        #expect(changed["name", String.self][3] == "Bill" && changed["age", Int.self][3] == nil)
    }
}
