import MLGraph
import MLNumerics
import MLOperators
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

    private static let large = [48, 96]

    /// Weights of this many bits, [48, 96].
    private func large(_ width: Int, _ set: (inout SpecQuantizationParams) -> Void) -> (SpecWeightParams, [Int]) {
        let numbers = (0..<Self.large[0] * Self.large[1]).map { ($0 * 37 + $0 / 7) % (1 << width) }
        var weights = SpecWeightParams()
        weights.rawValue = packed(numbers, width)
        weights.quantization.numberOfBits = UInt64(width)
        set(&weights.quantization)
        return (weights, numbers)
    }

    /// Large weights stay quantised, and are the same numbers.
    @Test(arguments: 1...8) func largeWeightsStayQuantised(width: Int) throws {
        let middle = Float((1 << width - 1) / 2)
        for (channels, bias) in [(1, 0), (48, 0), (48, -middle), (48, Float(-1.375))] {
            let scale = (0..<channels).map { 0.5 + Float($0) / 3 }
            let biases = scale.map { bias == -1.375 ? bias : bias * $0 }
            let (weights, numbers) = large(width) {
                $0.linearQuantization.scale = scale
                $0.linearQuantization.bias = bias == 0 ? [] : biases
            }
            let tensor = try weightTensor(weights, shape: Self.large)
            #expect(tensor.deferredResult != nil)
            let turned = try weightTensor(weights, shape: Self.large, isTransposed: true)
            #expect(turned.deferredResult != nil && turned.shape == [96, 48])
            let (values, turnedValues) = (tensor.values, turned.values)
            for (index, number) in numbers.enumerated() {
                let channel = channels == 1 ? 0 : index / 96
                let wanted = Double(Float(number) * scale[channel]) + Double(bias == 0 ? 0 : biases[channel])
                #expect(abs(values[index] - wanted) <= 1e-6 * (1 + abs(wanted) + abs(Double(biases[channel]))))
                #expect(turnedValues[index % 96 * 48 + index / 96] == values[index])
            }
        }
        let table = (0..<1 << width).map { Float($0 * $0) / 7 - 3 }
        let (weights, numbers) = large(width) { $0.lookupTableQuantization.floatValue = table }
        let tensor = try weightTensor(weights, shape: Self.large)
        #expect(tensor.deferredResult != nil)
        #expect(tensor.values == numbers.map { Double(table[$0]) })
        // An index behind the table is found when the file is read, not while running.
        var hostile = weights
        hostile.quantization.lookupTableQuantization.floatValue = Array(table.dropLast())
        #expect(throws: ModelError.self) { try weightTensor(hostile, shape: Self.large) }
        hostile.quantization.lookupTableQuantization.floatValue = []
        #expect(throws: ModelError.self) { try weightTensor(hostile, shape: Self.large) }
    }

    /// A scale of 0 has no offset that makes a bias; the bias is what remains.
    @Test func constantChannels() throws {
        let (weights, numbers) = large(8) {
            $0.linearQuantization.scale = (0..<48).map { $0 == 3 ? 0 : 0.5 }
            $0.linearQuantization.bias = (0..<48).map { Float($0) / 4 }
        }
        let values = try weightTensor(weights, shape: Self.large).values
        #expect(values[3 * 96 + 5] == 0.75 && values[96] == Double(numbers[96]) / 2 + 0.25)
    }

    /// Layers read them quantised, and answer as with floats.
    @Test func layersReadQuantisedWeights() throws {
        let (weights, numbers) = large(8) {
            $0.linearQuantization.scale = (0..<48).map { 0.01 + Float($0) / 100 }
            $0.linearQuantization.bias = (0..<48).map { -1.3 - Float($0) }
        }
        let elements = numbers.enumerated().map { index, number -> Double in
            let channel = index / 96
            return Double(number) * Double(0.01 + Float(channel) / 100) + Double(-1.3 - Float(channel))
        }
        let dense = Network([[2, 96]]) { layer in
            layer.innerProduct.inputChannels = 96
            layer.innerProduct.outputChannels = 48
            layer.innerProduct.weights = weights
        }
        let x = (0..<192).map { Float($0 % 17) / 8 - 1 }
        let products = try dense(floats(x, [2, 96])).values
        for row in 0..<2 {
            for column in 0..<48 {
                let sum = (0..<96).reduce(0.0) { $0 + Double(x[row * 96 + $1]) * elements[column * 96 + $1] }
                #expect(abs(products[row * 48 + column] - sum) < 1e-3)
            }
        }
        let rows = Network([[3, 1]]) { layer in
            layer.embeddingNd.vocabSize = 96
            layer.embeddingNd.embeddingSize = 48
            layer.embeddingNd.weights = weights
        }
        let found = try rows(floats([0, 95, 17], [3, 1])).values
        for (place, index) in [0, 95, 17].enumerated() {
            for channel in 0..<48 {
                #expect(abs(found[place * 48 + channel] - elements[channel * 96 + index]) < 1e-4)
            }
        }
    }
}
