import CoreML
import CreateML
import Foundation
import TabularData
import Testing

/// Tables as folders, as Turi Create has them.
struct DataTableFolderTests {
    private func table() throws -> MLDataTable {
        var table = try MLDataTable(dictionary: [
            "a": [1, 2, 3], "b": [0.5, 2.0, -0.0], "c": ["x", "", "ünï"], "d": [["k": 1], [:], ["l": 2]],
            "e": [[1, 2], [], [3]], "f": [[0.5], [], [1.0, 2]],
        ])
        let array = try MLMultiArray(shape: [2, 2], dataType: .double)
        array[[1, 0] as [NSNumber]] = 7
        table.addColumn(
            MLUntypedColumn([
                MLDataValue.multiArray(MLDataValue.MultiArrayType(array)), .invalid,
                .multiArray(MLDataValue.MultiArrayType(shape: [3])),
            ]),
            named: "g"
        )
        table.addColumn(MLUntypedColumn([MLDataValue.invalid, .int(4), .invalid]), named: "h")
        return table
    }

    private func rows(_ table: MLDataTable) -> [[MLDataValue]] {
        table.rows.map { row in table.columnNames.map { row[$0] ?? .invalid } }
    }

    @Test func writtenFoldersAreReadBack() throws {
        let folder = try TemporaryFolder()
        let table = try table()
        try table.write(to: folder.file("t"))
        let again = try MLDataTable(contentsOf: folder.file("t"))
        #expect(Array(again.columnNames) == Array(table.columnNames))
        #expect(again.columnTypes == table.columnTypes && rows(again) == rows(table))
        let part = try MLDataTable(
            contentsOf: folder.file("t"),
            options: .init(selectColumns: ["h", "a"], maxRows: 2)
        )
        #expect(Array(part.columnNames) == ["h", "a"] && part.size == (2, 2))
        let frame = try DataFrame(contentsOfSFrameDirectory: folder.file("t"))
        #expect(Array(frame["f", [Double].self]) == [[0.5], [], [1, 2]])
        #expect(frame["e", [Any?].self][0]?.count == 2)
        #expect(try MLDataTable(contentsOf: folder.file("t"), options: .init(maxRows: 9)).size.rows == 3)
    }

    /// Arrays of a file that are larger than the file are refused before memory is taken for them.
    @Test(arguments: [([1 << 40], [0]), ([2, 1 << 62], [1, 0]), ([0, 1 << 40], [1, 1]), ([1 << 62, 0], [1, 1])])
    func hugeArraysAreRefused(shape: [Int], strides: [Int]) throws {
        let array = ShapedData(shape: shape, strides: strides, contents: [1.0, 2])
        #expect(message { _ = try table(of: array) }.contains("extents"))
    }

    @Test(arguments: [[], [0], [0, 3], [4, 0]]) func arraysWithoutElements(shape: [Int]) throws {
        let array = ShapedData(shape: shape, strides: shape.map { _ in 1 }, contents: [Double]())
        let column: MLUntypedColumn = try table(of: array)["a"]
        #expect(column[0].multiArrayValue?.mlMultiArray.count == 0)
    }

    private func table(of array: ShapedData<Double>) throws -> MLDataTable {
        let folder = try TemporaryFolder()
        let url = folder.file("t")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try SFrameWriter.write([("a", .values(.array, [.array(array)]))], to: url)
        return try MLDataTable(contentsOf: url)
    }

    @Test func foldersAreReplacedOnlyWhenTheyAreTables() throws {
        let folder = try TemporaryFolder()
        let table = try table()
        try table.write(toDirectory: folder.file("t").path)
        try table.prefix(1).write(to: folder.file("t"))
        #expect(try MLDataTable(contentsOf: folder.file("t")).size.rows == 1)
        // The old table's files are gone.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("t").path).count == 5)
        try Data().write(to: folder.file("t").appendingPathComponent("mine.txt"))
        #expect(message { try table.write(to: folder.file("t")) }.contains("mine.txt"))
        #expect(try MLDataTable(contentsOf: folder.file("t")).size.rows == 1)
        try Data().write(to: folder.file("file"))
        #expect(message { try table.write(to: folder.file("file")) }.contains("it is a file"))
        #expect(message { try table[["q"]].write(to: folder.file("u")) }.contains("'q'"))
        var named = table
        named.renameColumn(named: "a", to: "a\nb")
        #expect(message { try named.write(to: folder.file("u")) }.contains("two lines"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("u").path))
    }

    @Test func whatTablesDoNotHoldIsNamed() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("t")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        #expect(message { _ = try MLDataTable(contentsOf: url) }.contains("dir_archive.ini"))
        try SFrameWriter.write(
            [("when", .values(.date, [.date(Date())])), ("n", .integers(Column(name: "", contents: [1])))],
            to: url
        )
        #expect(message { _ = try MLDataTable(contentsOf: url) }.contains("'when' has dates"))
        #expect(try MLDataTable(contentsOf: url, options: .init(selectColumns: ["n"])).size == (1, 1))
        #expect(message { _ = try MLDataTable(contentsOf: url, options: .init(selectColumns: ["m"])) }.contains("'m'"))
    }

    /// From a folder on: the table, a model, its evaluation.
    @Test func foldersTrainModels() throws {
        let folder = try TemporaryFolder()
        let numbers = (0..<300).map { Double($0 % 17) }
        try MLDataTable(dictionary: ["x": numbers, "y": numbers.map { $0 > 8 ? "much" : "little" }])
            .write(to: folder.file("t"))
        let table = try MLDataTable(contentsOf: folder.file("t"))
        let model = try MLDecisionTreeClassifier(trainingData: table, targetColumn: "y")
        #expect(model.evaluation(on: table).classificationError == 0)
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }
}
