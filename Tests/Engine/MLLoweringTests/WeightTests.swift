import MLNumerics
import MLSpecification
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Every form in which a file holds weights, read back through a dense layer on unit vectors.
@Suite struct WeightTests {
    private static let outputs = 3
    private static let inputs = 5

    /// The matrix [outputs, inputs] that a layer computes with.
    private func matrix(_ set: (inout SpecWeightParams) -> Void) throws -> [Double] {
        let network = Network([[Self.inputs, Self.inputs]]) { layer in
            layer.innerProduct.inputChannels = UInt64(Self.inputs)
            layer.innerProduct.outputChannels = UInt64(Self.outputs)
            set(&layer.innerProduct.weights)
        }
        let unit = (0..<Self.inputs * Self.inputs).map { Float($0 % (Self.inputs + 1) == 0 ? 1 : 0) }
        let columns = try network(floats(unit, [Self.inputs, Self.inputs])).values
        return (0..<Self.outputs).flatMap { row in (0..<Self.inputs).map { columns[$0 * Self.outputs + row] } }
    }

    private static let places = (0..<outputs * inputs).map { ($0 * 5 + 3) % 256 }

    /// Numbers of `width` bits one behind the other, the most significant bit first.
    private func packed(_ numbers: [Int], _ width: Int) -> Data {
        let bits = numbers.flatMap { number in (0..<width).reversed().map { number >> $0 & 1 } }
        return Data(
            stride(from: 0, to: bits.count, by: 8).map { start in
                UInt8((0..<8).reduce(0) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 0) })
            }
        )
    }

    @Test(arguments: 1...8, [1, outputs]) func linesOfEveryWidth(width: Int, channels: Int) throws {
        let numbers = Self.places.map { $0 % (1 << width) }
        let scale = (0..<channels).map { 0.5 + Float($0) }
        let bias = (0..<channels).map { Float($0) - 1 }
        let found = try matrix {
            $0.rawValue = packed(numbers, width)
            $0.quantization.numberOfBits = UInt64(width)
            $0.quantization.linearQuantization.scale = scale
            $0.quantization.linearQuantization.bias = bias
        }
        let expected = numbers.enumerated().map { place, number -> Double in
            let channel = channels == 1 ? 0 : place / Self.inputs
            return Double(Float(number) * scale[channel] + bias[channel])
        }
        #expect(isClose(found, expected))
    }

    @Test(arguments: 1...8) func tablesOfEveryWidth(width: Int) throws {
        let numbers = Self.places.map { $0 % (1 << width) }
        let table = (0..<1 << width).map { Float($0 * $0) / 7 - 3 }
        let found = try matrix {
            $0.rawValue = packed(numbers, width)
            $0.quantization.numberOfBits = UInt64(width)
            $0.quantization.lookupTableQuantization.floatValue = table
        }
        #expect(isClose(found, numbers.map { Double(table[$0]) }))
    }

    @Test func floatsOfBothSizes() throws {
        let numbers = Self.places.map { Float($0) / 4 - 9 }
        let singles = try matrix { $0.floatValue = numbers }
        #expect(isClose(singles, numbers.map { Double($0) }))
        let halves = numbers.map { Float16($0).bitPattern }
        let bytes = Data(halves.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        let found = try matrix { $0.float16Value = bytes }
        #expect(isClose(found, numbers.map { Double($0) }))
    }

    /// Weights of layers that quantise their input too: signed bytes with one scale.
    @Test func signedBytes() throws {
        let numbers = Self.places.map { Int8(truncatingIfNeeded: $0 * 9) }
        let found = try matrix { weights in
            weights.int8RawValue = Data(numbers.map { UInt8(bitPattern: $0) })
            weights.quantization.numberOfBits = 8
            weights.quantization.linearQuantization.scale = [0.25]
        }
        #expect(isClose(found, numbers.map { Double($0) / 4 }))
    }
}
