import Foundation
import TabularData
import Testing

@Suite struct CSVNumberTests {
    /// Numbers are written as Swift describes them, so that they are read as the same ones.
    @Test func numbersAreWrittenAsSwiftDescribesThem() throws {
        var state: UInt64 = 7
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
        var numbers: [Double] = [
            0, -0.0, 1, -1, 0.1, 1e-4, 9.9999e-5, 1e-5, 1e15, 1e16, 0x1p53, (0x1p53).nextUp, 1e22, 1e23,
            .leastNonzeroMagnitude, 0.05,
            -0.01, 123.45, 1e13, 99999999999999.98, .greatestFiniteMagnitude, .infinity, -.infinity, .nan,
        ]
        for _ in 0..<20_000 {
            numbers.append(Double(bitPattern: next()))
            numbers.append(Double(Int64(bitPattern: next()) >> 20) / 100)
            numbers.append(Double(Int64(bitPattern: next()) >> 30) / 1000)
        }
        var frame = DataFrame()
        frame.append(column: Column(name: "x", contents: numbers))
        let text = String(decoding: try frame.csvRepresentation(), as: UTF8.self)
        let lines = text.split(separator: "\n").dropFirst()
        #expect(lines.count == numbers.count)
        for (line, number) in zip(lines, numbers) where line != number.description {
            // A negative zero is a zero that Swift describes with its sign.
            Issue.record("\(number.description) is written as \(line)")
        }
    }

    /// A file that cannot be written whole leaves the old one.
    @Test func failedWritingLeavesTheOldFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("table.csv")
        var frame = DataFrame()
        frame.append(column: Column(name: "x", contents: [Data("ok".utf8), Data([0xFF])]))
        try Data("old".utf8).write(to: url)
        #expect(throws: CSVWritingError.self) { try frame.writeCSV(to: url) }
        #expect(try Data(contentsOf: url) == Data("old".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["table.csv"])
        try DataFrame(frame.prefix(1)).writeCSV(to: url)
        #expect(try String(contentsOf: url, encoding: .utf8) == "x\nok\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["table.csv"])
    }
}
