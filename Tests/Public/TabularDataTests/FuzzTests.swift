import Foundation
import TabularData
import Testing

/// Readers never stop the program, whatever the bytes are.
struct FuzzTests {
    /// A frame or the error, as text.
    static func outcome(_ read: () throws -> DataFrame) -> String {
        do {
            let frame = try read()
            return frame.columns.map { column in
                "\(column.name)|\(column.wrappedElementType)|"
                    + column.map { $0.map { "\($0)" } ?? "∅" }.joined(separator: "¦")
            }.joined(separator: "\n")
        } catch {
            return "\(error)"
        }
    }

    static let pieces: [[UInt8]] =
        [
            ",", "\n", "\"", "\"\"", "\r\n", "\r", "a", "1", "-2.5", "true", "NA", "é", " ", "2020-01-01T00:00:00Z",
            "1e5", ";",
        ]
        .map { Array($0.utf8) } + [[0xFF], [0], [0xC3]]

    static func bytes(_ random: inout Seeded, most: Int) -> Data {
        var data = Data()
        // Mostly regular tables, with something odd here and there.
        if Bool.random(using: &random) {
            let columns = Int.random(in: 1...4, using: &random)
            for row in 0..<Int.random(in: 0...Swift.max(most / 4, 1), using: &random) {
                for column in 0..<columns {
                    if column > 0 { data.append(44) }
                    let cell = pieces[Int.random(in: 6..<14, using: &random)]
                    let isQuoted = Int.random(in: 0..<4, using: &random) == 0
                    data.append(contentsOf: isQuoted ? [34] + cell + [44, 10, 34, 34, 34] : row == 0 ? [97] : cell)
                }
                if Int.random(in: 0..<30, using: &random) == 0 {
                    data.append(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &random)])
                }
                data.append(contentsOf: Int.random(in: 0..<8, using: &random) == 0 ? [13, 10] : [10])
            }
        } else {
            for _ in 0..<Int.random(in: 0...most, using: &random) {
                data.append(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &random)])
            }
        }
        return data
    }

    /// The fast way through a text and the careful one give the same. An escape character that does not occur asks for
    /// the careful one.
    @Test(arguments: 0..<20)
    func csv(seed: UInt64) {
        var random = Seeded(seed + 100)
        for _ in 0..<1000 {
            let data = Self.bytes(&random, most: 60)
            let hasHeader = Bool.random(using: &random)
            let ignoresEmpty = Bool.random(using: &random)
            let usesQuoting = Int.random(in: 0..<4, using: &random) > 0
            func options(_ escaping: Bool) -> CSVReadingOptions {
                CSVReadingOptions(
                    hasHeaderRow: hasHeader,
                    ignoresEmptyLines: ignoresEmpty,
                    usesQuoting: usesQuoting,
                    usesEscaping: escaping,
                    escapeCharacter: "\u{1}"
                )
            }
            let fast = Self.outcome { try DataFrame(csvData: data, options: options(false)) }
            let careful = Self.outcome { try DataFrame(csvData: data, options: options(true)) }
            #expect(fast == careful, "\(data.map { $0 })")
        }
    }

    /// Texts of several chunks.
    @Test(arguments: 0..<4)
    func largeCSV(seed: UInt64) {
        var random = Seeded(seed + 900)
        var data = Data("a,b,c\n".utf8)
        let isClean = seed % 2 == 0
        while data.count < 3 << 19 {
            for column in 0..<3 {
                if column > 0 { data.append(44) }
                let cell = Self.pieces[Int.random(in: 6..<11, using: &random)]
                let isQuoted = Int.random(in: 0..<3, using: &random) == 0
                data.append(contentsOf: isQuoted ? [34] + cell + [44, 10, 34, 34, 34] : cell)
            }
            if !isClean, Int.random(in: 0..<100_000, using: &random) == 0 { data.append(contentsOf: [10, 10]) }
            data.append(10)
        }
        let fast = Self.outcome { try DataFrame(csvData: data) }
        let careful = Self.outcome {
            try DataFrame(
                csvData: data,
                options: CSVReadingOptions(usesEscaping: true, escapeCharacter: "\u{1}")
            )
        }
        #expect(fast == careful)
    }

    @Test func json() {
        var random = Seeded(5)
        let pieces =
            [
                "[", "]", "{", "}", ",", ":", "\"a\"", "\"b\"", "1", "-2.5e3", "true", "null", "\"\\u00e9\"",
                "\"\\ud800\"",
                "\"x", " ", "\\", "01", "\"2020-01-01T00:00:00Z\"",
            ].map { Array($0.utf8) } + [[0xFF], [0]]
        for _ in 0..<20_000 {
            var data = Data()
            if Bool.random(using: &random) {
                data.append(contentsOf: Array("[".utf8))
                for row in 0..<Int.random(in: 0..<5, using: &random) {
                    if row > 0 { data.append(44) }
                    data.append(contentsOf: Array("{\"a\":".utf8))
                    data.append(contentsOf: pieces[Int.random(in: 6..<pieces.count, using: &random)])
                    data.append(contentsOf: Array("}".utf8))
                }
                data.append(contentsOf: Array("]".utf8))
            } else {
                for _ in 0..<Int.random(in: 0..<30, using: &random) {
                    data.append(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &random)])
                }
            }
            _ = Self.outcome { try DataFrame(jsonData: data) }
        }
        let deep = Data(String(repeating: "[", count: 100_000).utf8)
        #expect(throws: (any Error).self) { try DataFrame(jsonData: deep) }
    }
}
