import MLFiles
import MLNumerics
import TestSupport
import Testing

/// Numbers in JSON, both ways, against the C library.
@Suite struct JSONNumberTests {
    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    @Test func aMillionTextsAreReadAsTheNearestDouble() throws {
        let texts = Array(NumberTexts(1_000_000, seed: 1))
        let list = try JSONReader.read(Array("[\(texts.joined(separator: ","))]".utf8))
        guard case .array(let values) = list else { throw ModelError(.malformed, "no list") }
        #expect(values.count == texts.count)
        var wrong: [String] = []
        for (text, value) in zip(texts, values)
        where Self.number(value)?.bitPattern != NumberTexts.reference(text).bitPattern { wrong.append(text) }
        #expect(wrong.isEmpty, "\(wrong.count) of \(texts.count): \(wrong.prefix(5))")
    }

    @Test func aMillionNumbersReadBackAsTheyWereWritten() throws {
        var texts = NumberTexts(0, seed: 2)
        var numbers = (0..<1_000_000).map { _ in texts.double() }
        numbers[0] = -0.0
        numbers[1] = 0x1p53
        numbers[2] = -0x1p62
        let writer = JSONWriter()
        try writer.tensor(Tensor(values: numbers, scalarType: .float64, shape: [1000, 1000]))
        let written = writer.text.split(whereSeparator: { "[],".contains($0) })
        #expect(written.count == numbers.count)
        var wrong: [Double] = []
        for (text, number) in zip(written, numbers)
        where NumberTexts.reference(String(text)).bitPattern != number.bitPattern { wrong.append(number) }
        #expect(wrong.isEmpty, "\(wrong.count) of \(numbers.count): \(wrong.prefix(5))")
        for number in numbers.prefix(1000) {
            let text = JSONValue.array([.number(number)]).text
            guard case .array(let list) = try JSONReader.read(Array(text.utf8)) else { continue }
            #expect(Self.number(list[0])?.bitPattern == number.bitPattern, "\(number)")
        }
    }

    @Test func wholeNumbersKeepAllTheirDigits() throws {
        let text = "[9007199254740993,-9223372036854775808,9223372036854775807,9223372036854775808,-0,1.0,1e2]"
        let expected: [JSONValue] = [
            .integer(9_007_199_254_740_993), .integer(.min), .integer(.max), .number(0x1p63), .number(-0.0), .number(1),
            .number(100),
        ]
        #expect(try JSONReader.read(Array(text.utf8)) == .array(expected))
        let writer = JSONWriter()
        try writer.tensor(Tensor(elements: [Int64.min, 9_007_199_254_740_993], scalarType: .int64, shape: [2]))
        try writer.tensor(Tensor(elements: [UInt64.max], scalarType: .uint64, shape: [1, 1]))
        #expect(writer.text == "[-9223372036854775808,9007199254740993][[18446744073709551615]]")
    }

    @Test func tensorsOfEveryTypeAreNestedLists() throws {
        func text(_ tensor: Tensor) throws -> String {
            let writer = JSONWriter()
            try writer.tensor(tensor)
            return writer.text
        }
        #expect(try text(Tensor(values: [1, -2.5, 0.1], scalarType: .float64, shape: [3, 1])) == "[[1],[-2.5],[0.1]]")
        #expect(try text(Tensor([0.1] as [Float], shape: [])) == "0.10000000149011612")
        #expect(try text(Tensor(values: [65504], scalarType: .float16, shape: [1])) == "[65504]")
        #expect(try text(Tensor(values: [1, 0], scalarType: .bool, shape: [2])) == "[1,0]")
        #expect(try text(Tensor(values: [7, 0], scalarType: .uint4, shape: [1, 2])) == "[[7,0]]")
        #expect(try text(Tensor(strings: ["a\"\u{1}é"], shape: [1])) == #"["a\"\u0001é"]"#)
        #expect(try text(Tensor(values: [], scalarType: .float32, shape: [2, 0])) == "[[],[]]")
        let odd = Tensor(values: [.nan, .infinity, -.infinity], scalarType: .float32, shape: [3])
        #expect(try text(odd) == #"["nan","inf","-inf"]"#)
    }

    /// Longer than a piece, so that pieces are handed on while objects and lists are open.
    @Test func piecesMakeTheWholeText() throws {
        var pieces: [[UInt8]] = []
        let names = (0..<5000).map { "name \($0) é" }
        let writer = JSONWriter { pieces.append($0) }
        try writer.object(names.map { (key: $0, value: [1.5, .nan]) }) { try writer.list($0) { try writer.number($0) } }
        try writer.newline()
        try writer.finish()
        #expect(pieces.count > 2)
        let expected = names.map { "\"\($0)\":[1.5,\"nan\"]" }.joined(separator: ",")
        #expect(String(decoding: pieces.joined(), as: UTF8.self) == "{\(expected)}\n")
    }

    @Test(arguments: ["1e400", "-1e999999999999999999999", "[1,2e308]"])
    func numbersBeyondADoubleAreRefused(_ text: String) {
        #expect(failure { _ = try JSONReader.read(Array(text.utf8)) }.contains("greater than a double can be"))
    }

    @Test(arguments: ["+1", ".5", "00", "-01", "1.e5", "1e+", "--1", "0x10", "nan", "Infinity", "-"])
    func onlyJSONsNumbersAreNumbers(_ text: String) {
        #expect(failure { _ = try JSONReader.read(Array("[\(text)]".utf8)) }.contains("line 1, column"))
    }
}
