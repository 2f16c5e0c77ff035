import MLGraph
import MLNumerics
import TestSupport

/// Arguments for operations: mostly such as fit one another, now and then anything.
struct RandomArguments {
    var random: RandomTensors
    /// The shape that most tensors of one case have.
    private var shape: [Int] = []
    private var scalarType: [String: ScalarType] = [:]

    private static let words = [
        "valid", "same", "same_lower", "custom", "constant", "reflect", "replicate", "symmetric", "add", "mul", "sub",
        "div", "min", "max", "update", "EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION", "forward", "reverse",
        "bidirectional", "tanh", "sigmoid", "relu", "linear", "ALIGN_CORNERS", "STRICT_ALIGN_CORNERS", "DEFAULT",
        "OFFSET_CORNERS", "UNALIGN_CORNERS", "CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST", "CENTER_SIZE_HEIGHT_FIRST",
        "CENTER_SIZE_WIDTH_FIRST", "bilinear", "nearest", "normalized_zero_to_one", "normalized_minus_one_to_one",
        "unnormalized", "border", "reflection", "fp32", "fp16", "int32", "int8", "uint8", "int16", "uint16", "bool",
        "abc,acd->abd", "abc,cd->abd", "nchw,nwhu->nchu", "ab,bc->ac", "", "unheard-of",
    ]

    init(seed: UInt64) { random = RandomTensors(seed: seed) }

    mutating func bindings(
        for signature: OperationSignature,
        in builder: inout GraphBuilder
    ) -> [String: [Arguments.Binding]] {
        shape = (0..<integer(0...5)).map { _ in chance(0.05) ? 0 : integer(1...4) }
        var result: [String: [Arguments.Binding]] = [:]
        let fits = Self.fitted.contains(signature.operation) && chance(0.85)
        let fitting = fits ? fitting(signature) : [:]
        for argument in signature.arguments {
            // Now and then one that does not fit.
            let known = fits && chance(0.98) ? fitting[argument.name] : nil
            guard known != nil || !argument.optional || chance(fits ? 0.02 : 0.5) else { continue }
            let count = argument.form == "tuple" ? integer(1...3) : 1
            result[argument.name] = (0..<count).map { _ in
                let tensor = known ?? (argument.constant ? attribute(argument) : operand(argument))
                let id = builder.constant(tensor)
                return Arguments.Binding(
                    id: id,
                    type: ValueType(tensor.scalarType, Shape(tensor.shape)),
                    constant: tensor
                )
            }
        }
        return result
    }

    mutating func chance(_ share: Double) -> Bool { random.number(in: 0...1) < share }

    mutating func integer(_ range: ClosedRange<Int>) -> Int {
        let number = random.number(in: Double(range.lowerBound)...Double(range.upperBound) + 0.999)
        return min(range.upperBound, Int(number.rounded(.down)))
    }

    private mutating func type(_ names: [String]) -> ScalarType {
        let name = names[integer(0...names.count - 1)]
        let known: [String: ScalarType] = [
            "fp16": .float16, "fp32": .float32, "int8": .int8, "int16": .int16, "int32": .int32, "uint8": .uint8,
            "uint16": .uint16, "bool": .bool, "string": .string,
        ]
        return chance(0.02) ? .int32 : known[name] ?? .float32
    }

    /// A tensor that flows: operands of the same kind mostly share type and shape.
    private mutating func operand(_ argument: OperationSignature.Argument) -> Tensor {
        let kind = argument.types.joined(separator: " ")
        let scalar = chance(0.05) ? type(argument.types) : scalarType[kind] ?? type(argument.types)
        scalarType[kind] = scalar
        var extents = shape
        switch integer(0...9) {
        case 0: extents = (0..<integer(0...5)).map { _ in integer(0...4) }
        case 1, 2: extents = extents.map { chance(0.5) ? 1 : $0 }
        case 3: extents = extents.isEmpty ? [] : [extents[integer(0...extents.count - 1)]]
        case 4: extents = [extents.count]
        default: break
        }
        return filled(scalar, extents, extremes: false)
    }

    /// A constant: a number, a short list of them, a word, or weights.
    private mutating func attribute(_ argument: OperationSignature.Argument) -> Tensor {
        let scalar = type(argument.types)
        let lengths = [1, shape.count, max(0, shape.count - 2), 2 * shape.count, 2 * max(0, shape.count - 2)]
        switch integer(0...9) {
        case 0...3: return filled(scalar, [])
        case 4...7: return filled(scalar, [lengths[integer(0...lengths.count - 1)]])
        case 8: return filled(scalar, shape)
        default: return filled(scalar, (0..<integer(1...4)).map { _ in integer(1...3) })
        }
    }

    /// `extremes`: now and then the largest integers, which sums of operands would overflow.
    private mutating func filled(_ scalar: ScalarType, _ extents: [Int], extremes: Bool = true) -> Tensor {
        if scalar == .string {
            let words = (0..<extents.elementCount).map { _ in Self.words[integer(0...Self.words.count - 1)] }
            return Tensor(strings: words, shape: extents)
        }
        if extremes, scalar == .int32, chance(0.03) {
            let largest: [Double] = [-2_147_483_648, 2_147_483_647, -1, 1_000_000]
            let values = (0..<extents.elementCount).map { _ in largest[integer(0...3)] }
            return Tensor(values: values, scalarType: scalar, shape: extents)
        }
        let isReal = scalar == .float32 || scalar == .float16
        return random.tensor(extents, scalar, in: isReal ? -2...2 : scalar == .int32 ? -2...4.9 : 0...6)
    }
}
