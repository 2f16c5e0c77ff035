import Foundation
import TabularData
import TestSupport
import Testing

/// Numbers in CSV and JSON, both ways, against the C library: what tables for training are read by.
@Suite struct NumberTextTests {
    private static let texts = Array(NumberTexts(1_000_000, seed: 3))

    private func compare(_ column: Column<Double>, _ texts: [String]) {
        #expect(column.count == texts.count)
        var wrong: [String] = []
        for (text, value) in zip(texts, column)
        where value?.bitPattern != NumberTexts.reference(text).bitPattern { wrong.append(text) }
        #expect(wrong.isEmpty, "\(wrong.count) of \(texts.count): \(wrong.prefix(5))")
    }

    @Test(arguments: [["x": CSVType.double], [:]]) func cellsOfCSVAreTheNearestDouble(_ types: [String: CSVType]) throws
    {
        let texts = Self.texts
        let data = Data(("x\n" + texts.joined(separator: "\n") + "\n").utf8)
        compare(try DataFrame(csvData: data, types: types)["x", Double.self], texts)
    }

    /// Forms that JSON forbids and C has, and digits in numbers that no fast way takes.
    @Test func oddFormsOfCSVAreTheNearestDouble() throws {
        var texts = [
            "+1.5", ".5", "-.5e3", "5.", "1e400", "-1e400", "1e-99999999999999999999", "1e99999999999999999999",
        ]
        for zeros in stride(from: 0, to: 400, by: 7) {
            let zeros = String(repeating: "0", count: zeros)
            texts += [
                zeros + "123456789012345678901234567890", zeros + ".1", "0.\(zeros)123456789012345678901e200",
                "1\(zeros)", "1\(zeros)e-300", "0.\(zeros)9", "-\(zeros)17.25\(zeros)", "9007199254740993.\(zeros)",
                "9007199254740993.\(zeros)1",
            ]
        }
        texts += ["1" + String(repeating: "7", count: 20_000), "0." + String(repeating: "3", count: 20_000)]
        let data = Data(("x\n" + texts.joined(separator: "\n") + "\n").utf8)
        compare(try DataFrame(csvData: data, types: ["x": .double])["x", Double.self], texts)
    }

    @Test(arguments: [["x": JSONType.double], [:]]) func numbersOfJSONAreTheNearestDouble(_ types: [String: JSONType])
        throws
    {
        let texts = Self.texts
        let data = Data("[\(texts.map { "{\"x\":\($0)}" }.joined(separator: ","))]".utf8)
        compare(try DataFrame(jsonData: data, types: types)["x", Double.self], texts)
    }

    @Test func whatIsWrittenReadsBackAsTheSame() throws {
        var random = NumberTexts(0, seed: 4)
        var numbers = (0..<1_000_000).map { _ in random.double() }
        numbers += [-0.0, 0x1p53, 0x1p63, 1e22, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
        let frame = DataFrame(columns: [Column(name: "x", contents: numbers).eraseToAnyColumn()])
        let csv = try DataFrame(csvData: try frame.csvRepresentation(), types: ["x": .double])["x", Double.self]
        let json = try DataFrame(jsonData: try frame.jsonRepresentation())["x", Double.self]
        let places = numbers.indices.filter {
            csv[$0]?.bitPattern != numbers[$0].bitPattern || json[$0]?.bitPattern != numbers[$0].bitPattern
        }
        #expect(places.isEmpty, "\(places.count): \(places.prefix(5).map { numbers[$0] })")
    }
}
