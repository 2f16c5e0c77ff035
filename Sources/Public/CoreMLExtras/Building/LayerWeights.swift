public import CoreML
import MLNumerics
import MLSpecification

/// The weights of a layer, in the order that the layer's documentation states (row-major, last axis fastest).
///
/// Full precision: an array of `Float`, `LayerWeights(multiArray)`, `LayerWeights(shapedArray)`. Smaller files:
/// `.float16`, `.quantized` (a linear map for each channel), `.palettized` (a lookup table). Only weights of full
/// precision can be updated on the device.
public struct LayerWeights: Hashable, Sendable, ExpressibleByArrayLiteral {
    enum Storage: Hashable, Sendable {
        case float32([Float])
        case float16([Float])
        /// `codes` below 2^`bits`; value = scale · code + bias, with one pair for all or one for each channel.
        case linear(bits: Int, codes: [UInt8], scale: [Float], bias: [Float])
        /// `codes` below 2^`bits` are indices into `table`.
        case table(bits: Int, codes: [UInt8], table: [Float])
        /// Signed codes, for layers that quantise their input at run time; value = scale · code.
        case int8(codes: [Int8], scale: Float)
    }

    let storage: Storage

    /// Creates weights of full precision.
    public init(_ values: [Float]) { storage = .float32(values) }

    /// Creates weights of full precision from an array literal.
    public init(arrayLiteral elements: Float...) { storage = .float32(elements) }

    /// Creates weights of full precision from the elements of any array, in row-major order.
    public init(_ array: MLMultiArray) {
        storage = .float32(array.tensor(as: .float32).values.map { Float($0) })
    }

    /// Creates weights of full precision from the elements of a shaped array.
    public init(_ array: MLShapedArray<Float>) { storage = .float32(array.scalars) }

    /// Creates weights of full precision from the elements of a shaped array, rounded to single precision.
    public init(_ array: MLShapedArray<Double>) { storage = .float32(array.scalars.map { Float($0) }) }

    private init(_ storage: Storage) { self.storage = storage }

    /// Weights of half precision, rounded to the nearest 16-bit value.
    public static func float16(_ values: [Float]) -> LayerWeights { LayerWeights(.float16(values)) }

    /// Linearly quantised weights of 1 to 8 bits: value = scale · code + bias.
    ///
    /// - Parameters:
    ///   - bits: The number of bits of a code.
    ///   - codes: One code for each weight, below 2^`bits`.
    ///   - scale: One scale for all weights, or one for each output channel (the slowest axis).
    ///   - bias: As many biases as there are scales.
    /// - Returns: The weights; values that do not fit together are an error of the layer.
    public static func linear(bits: Int, codes: [UInt8], scale: [Float], bias: [Float]) -> LayerWeights {
        LayerWeights(.linear(bits: bits, codes: codes, scale: scale, bias: bias))
    }

    /// Weights as codes of 1 to 8 bits that are indices into a lookup table of 2^`bits` values.
    public static func table(bits: Int, codes: [UInt8], table: [Float]) -> LayerWeights {
        LayerWeights(.table(bits: bits, codes: codes, table: table))
    }

    /// Signed 8-bit weights for `innerProduct` and `batchedMatMul` with `quantizesInput`: value = scale · code.
    public static func int8(_ codes: [Int8], scale: Float) -> LayerWeights {
        LayerWeights(.int8(codes: codes, scale: scale))
    }

    /// Quantises weights linearly to 1 to 8 bits.
    ///
    /// In each channel (the slowest axis) the range from the least to the greatest value is divided into 2^`bits` − 1
    /// steps. A number of channels that does not divide the number of values, or a number of bits outside 1 to 8, is an
    /// error of the layer.
    public static func quantized(_ values: [Float], bits: Int, channels: Int = 1) -> LayerWeights {
        guard (1...8).contains(bits), channels > 0, values.count % channels == 0, values.allSatisfy(\.isFinite) else {
            return .linear(bits: bits, codes: [], scale: [], bias: [])
        }
        let steps = Float(1 << bits - 1)
        let row = values.count / channels
        var codes: [UInt8] = []
        var scales: [Float] = []
        var biases: [Float] = []
        for channel in 0..<channels {
            let part = values[channel * row..<(channel + 1) * row]
            let low = part.min() ?? 0
            let width = (part.max() ?? 0) - low
            let scale = width > 0 && width.isFinite ? width / steps : 1
            codes += part.map { UInt8(min(max((($0 - low) / scale).rounded(), 0), steps)) }
            scales.append(scale)
            biases.append(low)
        }
        return .linear(bits: bits, codes: codes, scale: scales, bias: biases)
    }

    /// Replaces each weight by the nearest of 2^`bits` values (1 to 8 bits), chosen by k-means (Lloyd's algorithm).
    public static func palettized(_ values: [Float], bits: Int) -> LayerWeights {
        guard (1...8).contains(bits), !values.isEmpty, values.allSatisfy(\.isFinite) else {
            return .table(bits: bits, codes: [], table: [])
        }
        var table = Palette.entries(of: values, count: 1 << bits)
        table += [Float](repeating: table[table.count - 1], count: (1 << bits) - table.count)
        return .table(bits: bits, codes: values.map { UInt8(Palette.nearest(to: $0, in: table)) }, table: table)
    }

    /// The number of weights.
    public var count: Int {
        switch storage {
        case .float32(let values), .float16(let values): values.count
        case .linear(_, let codes, _, _), .table(_, let codes, _): codes.count
        case .int8(let codes, _): codes.count
        }
    }
}

extension LayerWeights {
    /// Returns the reason why the weights cannot be written; nil when they can.
    ///
    /// - Parameter channels: The number of output channels; nil for weights without channels.
    /// - Returns: A message, or nil.
    func problem(channels: Int?) -> String? {
        switch storage {
        case .float32, .float16: return nil
        case .int8(let codes, let scale):
            return codes.isEmpty || !scale.isFinite ? "the quantised weights are empty or have no scale" : nil
        case .linear(let bits, let codes, let scale, let bias):
            if let problem = Self.problem(bits, codes) { return problem }
            guard scale.count == bias.count, scale.count == 1 || channels == nil || scale.count == channels else {
                return "the quantised weights have \(scale.count) scales and \(bias.count) biases; give one of each, "
                    + "or one for each of the \(channels ?? 1) output channels"
            }
        case .table(let bits, let codes, let table):
            if let problem = Self.problem(bits, codes) { return problem }
            guard table.count == 1 << bits else {
                return "the table has \(table.count) values where \(bits) bits count \(1 << bits)"
            }
        }
        return nil
    }

    private static func problem(_ bits: Int, _ codes: [UInt8]) -> String? {
        guard (1...8).contains(bits) else { return "weights have 1 to 8 bits, not \(bits)" }
        guard !codes.isEmpty else {
            return "the quantised weights are empty or not finite, or do not divide into their channels"
        }
        guard codes.allSatisfy({ Int($0) < 1 << bits }) else { return "a code does not fit \(bits) bits" }
        return nil
    }

    /// The message of the model format, for weights without a `problem`.
    var specification: SpecWeightParams {
        var weights = SpecWeightParams()
        switch storage {
        case .float32(let values): weights.floatValue = values
        case .float16(let values):
            weights.float16Value = SpecBytes.field(
                values.flatMap { value in
                    let bits = Float16(value).bitPattern
                    return [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
                }
            )
        case .linear(let bits, let codes, let scale, let bias):
            weights.rawValue = SpecBytes.field(Self.packed(codes, bits))
            weights.quantization.numberOfBits = UInt64(bits)
            weights.quantization.linearQuantization.scale = scale
            weights.quantization.linearQuantization.bias = bias
        case .table(let bits, let codes, let table):
            weights.rawValue = SpecBytes.field(Self.packed(codes, bits))
            weights.quantization.numberOfBits = UInt64(bits)
            weights.quantization.lookupTableQuantization.floatValue = table
        case .int8(let codes, let scale):
            weights.int8RawValue = SpecBytes.field(codes.map { UInt8(bitPattern: $0) })
            weights.quantization.numberOfBits = 8
            weights.quantization.linearQuantization.scale = [scale]
        }
        return weights
    }

    /// Returns the codes packed one after the other, most significant bit first; zeros fill the last byte.
    private static func packed(_ codes: [UInt8], _ bits: Int) -> [UInt8] {
        guard bits < 8 else { return codes }
        var bytes = [UInt8](repeating: 0, count: (codes.count * bits + 7) / 8)
        for (index, code) in codes.enumerated() {
            for bit in 0..<bits where code >> (bits - 1 - bit) & 1 == 1 {
                let place = index * bits + bit
                bytes[place / 8] |= 0x80 >> (place % 8)
            }
        }
        return bytes
    }
}
