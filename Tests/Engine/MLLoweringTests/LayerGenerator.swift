import MLSpecification
import SwiftProtobuf

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Layers of every kind with arbitrary fields: most are nonsense, some can be computed. Equal seeds give equal layers.
///
/// It writes the fields of a layer's message by their numbers, from the table of the specification's fields.
struct LayerGenerator {
    struct Field {
        let number: UInt64
        /// v, f, d, s, b or m and the message's name; + in front of repeated ones.
        let code: String
        let name: String
    }

    /// Messages by name.
    private let messages: [String: [Field]]
    private var state: UInt64 = 0
    /// How many values the weight fields get, by their order of writing; others get their place + 1.
    var weightCounts: [Int: Int] = [:]
    private var weightFields = 0

    init() throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Formats/MLFiles/WireSchemaText.swift")
        var messages: [String: [Field]] = [:]
        for line in try String(contentsOf: source, encoding: .utf8).split(separator: "\n") where line.hasPrefix("    ")
        {
            let parts = line.split(separator: " ")
            messages[String(parts[0])] = parts.dropFirst().compactMap { part in
                let columns = part.split(separator: ":", maxSplits: 2).map(String.init)
                guard columns.count == 3, let number = UInt64(columns[0]) else { return nil }
                return Field(number: number, code: columns[1], name: columns[2])
            }
        }
        self.messages = messages
    }

    /// The kinds of layers, without those that may rightly run for ever.
    var kinds: [Field] {
        (messages["NeuralNetworkLayer"] ?? []).filter { $0.number >= 100 && $0.name != "loop" && $0.name != "custom" }
    }

    mutating func start(seed: UInt64) {
        state = seed
        weightFields = 0
    }

    mutating func number(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((z ^ z >> 31) % UInt64(max(bound, 1)))
    }

    /// A layer of one kind between blobs.
    mutating func layer(_ kind: Field, _ inputs: [String], _ outputs: [String]) throws -> SpecNeuralNetworkLayer {
        var bytes: [UInt8] = []
        let body = message(String(kind.code.drop { $0 == "+" }.dropFirst()), depth: 0)
        append(&bytes, kind.number, body)
        var layer = try SpecNeuralNetworkLayer(serializedBytes: bytes)
        layer.name = "layer"
        layer.input = inputs
        layer.output = outputs
        return layer
    }

    // MARK: Fields

    private mutating func message(_ name: String, depth: Int) -> [UInt8] {
        if name == "WeightParams" { return weights() }
        var bytes: [UInt8] = []
        guard depth < 5 else { return bytes }
        for field in messages[name] ?? [] where number(below: 5) > 0 {
            let isRepeated = field.code.hasPrefix("+")
            let code = isRepeated ? String(field.code.dropFirst()) : field.code
            for _ in 0..<(isRepeated ? [2, 2, 2, 3, 4, 1, 5, 0][number(below: 8)] : 1) {
                switch code.first {
                case "v":
                    append(&bytes, field.number << 3)
                    append(&bytes, UInt64(bitPattern: integer()))
                case "f":
                    append(&bytes, field.number << 3 | 5)
                    withUnsafeBytes(of: float().bitPattern.littleEndian) { bytes += $0 }
                case "d":
                    append(&bytes, field.number << 3 | 1)
                    withUnsafeBytes(of: Double(float()).bitPattern.littleEndian) { bytes += $0 }
                case "s": append(&bytes, field.number, Array("x0".utf8))
                case "b": append(&bytes, field.number, [UInt8](repeating: 7, count: number(below: 9)))
                default: append(&bytes, field.number, message(String(code.dropFirst()), depth: depth + 1))
                }
            }
        }
        return bytes
    }

    private mutating func weights() -> [UInt8] {
        let count = weightCounts[weightFields] ?? weightFields + 101
        weightFields += 1
        var weights = SpecWeightParams()
        switch number(below: 6) {
        case 0:
            weights.rawValue = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) })
            weights.quantization.numberOfBits = number(below: 4) > 0 ? 8 : UInt64(number(below: 12))
            if number(below: 2) == 0 {
                weights.quantization.linearQuantization.scale = [0.5]
                weights.quantization.linearQuantization.bias = [Float](repeating: 1, count: number(below: 3))
            } else {
                weights.quantization.lookupTableQuantization.floatValue = (0..<256).map { Float($0) }
            }
        case 1: weights.float16Value = Data([UInt8](repeating: 0x3C, count: 2 * count))
        default: weights.floatValue = (0..<count).map { Float($0 % 7) / 3 - 1 }
        }
        return (try? weights.serializedBytes()) ?? []
    }

    private mutating func integer() -> Int64 {
        let small: [Int64] = [1, 2, 3, 1, 2, 4, 0, -1, 2, 1, 0, 3, -2, 1, 5, -3, 2, 1]
        let huge: [Int64] = [.max, .min, 1 << 31, 1 << 40, -(1 << 33), 1 << 62, 0xFFFF_FFFF, -(1 << 62)]
        return number(below: 24) == 0 ? huge[number(below: huge.count)] : small[number(below: small.count)]
    }

    mutating func float() -> Float {
        let odd: [Float] = [.nan, .infinity, -.infinity, 1e38, -1e38, 1e-30, 4e9, -4e9]
        let plain: [Float] = [0, 1, -1, 0.5, 2, -0.25, 3, 1]
        return number(below: 10) == 0 ? odd[number(below: odd.count)] : plain[number(below: plain.count)]
    }

    private func append(_ bytes: inout [UInt8], _ varint: UInt64) {
        var rest = varint
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private func append(_ bytes: inout [UInt8], _ number: UInt64, _ content: [UInt8]) {
        append(&bytes, number << 3 | 2)
        append(&bytes, UInt64(content.count))
        bytes += content
    }
}
