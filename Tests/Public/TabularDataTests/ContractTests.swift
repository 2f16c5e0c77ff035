import Foundation
import TabularData
import Testing

/// The message of a program that breaks a contract before it ends, in the build that users run, too.
struct ContractTests {
    private func printed(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func aColumnThatIsNotThereIsNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let frame: DataFrame = ["name": ["Ann"], "age": [30]]
            print(frame["nmae"].count)
        }
        #expect(printed(result).contains("there is no column 'nmae'; the columns are"))
    }

    @Test func elementsOfAnotherTypeAreNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let frame: DataFrame = ["age": [30]]
            print(frame["age", String.self].count)
        }
        #expect(printed(result).contains("column 'age' holds elements of type Int, not String"))
    }

    @Test func rowsPastTheEndAreNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let frame: DataFrame = ["age": [30, 40]]
            print(frame["age"].isNil(at: 2))
        }
        #expect(printed(result).contains("row 2 is not one of column 'age' (2 rows)"))
        let typed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let column = Column(name: "age", contents: [30, 40])
            print(column[2] as Any)
        }
        #expect(printed(typed).contains("row 2 is not one of column 'age' (2 rows)"))
    }

    @Test func rowsOfOtherColumnsAreNamed() async {
        let names = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var frame: DataFrame = ["age": [30], "name": ["Ann"]]
            let other: DataFrame = ["age": [40], "city": ["Ulm"]]
            frame[row: 0] = other[row: 0]
        }
        #expect(
            printed(names).contains("a row with the columns 'age', 'city' does not fit a frame with 'age', 'name'")
        )
        let types = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var frame: DataFrame = ["age": [30]]
            var other: DataFrame = ["age": ["forty"]]
            swap(&frame[row: 0], &other[row: 0])
        }
        #expect(printed(types).contains("column 'age' holds elements of type"))
        let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let frame: DataFrame = ["age": [30]]
            var row = frame[row: 0]
            row["age"] = "forty"
            print(row)
        }
        #expect(printed(value).contains("column 'age' holds elements of type Int, not String"))
    }

    @Test func sortsOfElementsWithoutAnOrderAreNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let frame: DataFrame = ["mixed": [1, "a"]]
            print(frame.sorted(on: "mixed"))
        }
        #expect(printed(result).contains("elements of column 'mixed' (Any) have no order"))
    }

    @Test func columnsOfOtherLengthsAreNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var frame: DataFrame = ["age": [30, 40]]
            frame.append(column: Column(name: "height", contents: [1.7]))
        }
        #expect(printed(result).contains("height"))
    }

    @Test func assigningRowsPastTheEndIsRefused() async {
        let column = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var ages = Column(name: "age", contents: [30, 40, 50])
            ages[100..<102] = Column(name: "age", contents: [1, 2])[0..<2]
        }
        #expect(printed(column).contains("rows 100..<102 are not in column 'age' (rows 0..<3)"))
        let negative = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var ages = Column(name: "age", contents: [30, 40, 50])
            ages[-2..<0] = Column(name: "age", contents: [1, 2])[0..<2]
        }
        #expect(printed(negative).contains("rows -2..<0 are not in column 'age' (rows 0..<3)"))
        let erased = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var ages = Column(name: "age", contents: [30, 40, 50]).eraseToAnyColumn()
            ages[2..<4] = Column(name: "age", contents: [1, 2]).eraseToAnyColumn()[0..<2]
        }
        #expect(printed(erased).contains("rows 2..<4 are not in column 'age' (rows 0..<3)"))
        let slice = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var ages = Column(name: "age", contents: [30, 40, 50, 60])[1..<3]
            ages[2..<4] = Column(name: "age", contents: [1, 2])[0..<2]
        }
        #expect(printed(slice).contains("rows 2..<4 are not in column 'age' (rows 1..<3)"))
    }

    @Test func removingARowThatIsNotThereIsRefused() async {
        let empty = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var frame = DataFrame()
            frame.removeRow(at: 3)
        }
        #expect(printed(empty).contains("row 3 is not one of the frame's 0"))
        let small = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var frame: DataFrame = ["age": [30, 40]]
            frame.removeRow(at: 2)
        }
        #expect(printed(small).contains("row 2 is not one of the frame's 2"))
    }
}
