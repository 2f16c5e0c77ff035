import MLNumerics
import MLSpecification

extension MILPrinter {
    /// Writes a type as it appears before a name or a value.
    mutating func type(_ type: MILValueType) {
        switch type.type {
        case .tensorType(let tensor)?:
            if hasBareScalars, tensor.rank == 0, tensor.dimensions.isEmpty {
                text += tensor.dataType.milName
            } else {
                text += "tensor<\(tensor.dataType.milName), "
                if tensor.rank < 0 {
                    text += "?"
                } else {
                    text += "[" + tensor.dimensions.map(Self.dimension).joined(separator: ", ") + "]"
                }
                text += ">"
            }
        case .listType(let list)?:
            text += "list<"
            self.type(list.type)
            text += ", \(Self.dimension(list.length))>"
        case .tupleType(let tuple)?:
            text += "tuple<"
            for (index, element) in tuple.types.enumerated() {
                if index > 0 { text += ", " }
                self.type(element)
            }
            text += ">"
        case .dictionaryType(let dictionary)?:
            text += "dict<"
            self.type(dictionary.keyType)
            text += ", "
            self.type(dictionary.valueType)
            text += ">"
        case .stateType(let state)?:
            text += "state<"
            self.type(state.wrappedType)
            text += ">"
        case nil: text += "unknown"
        }
    }

    /// Writes a constant with its type.
    mutating func value(_ value: MILValue) throws(ModelError) {
        type(value.type)
        text += "("
        switch value.value {
        case .blobFileValue(let reference)?:
            let path = Self.quoted(reference.fileName)
            text +=
                hasBareScalars
                ? "BLOBFILE(path = string(\(path)), offset = uint64(\(reference.offset)))"
                : "BLOBFILE(path = tensor<string, []>(\(path)), offset = tensor<uint64, []>(\(reference.offset)))"
        default: try literal(value)
        }
        text += ")"
    }

    /// Writes a constant without its type, as it appears inside other constants.
    private mutating func literal(_ value: MILValue) throws(ModelError) {
        guard case .immediateValue(let immediate)? = value.value, let content = immediate.value else {
            throw ModelError(.malformed, "A constant has no value; convert the model again.")
        }
        switch content {
        case .tensor(let tensor): try elements(tensor, value.type)
        case .tuple(let tuple): try sequence(tuple.values)
        case .list(let list): try sequence(list.values)
        case .dictionary(let dictionary):
            text += "{"
            for (index, pair) in dictionary.values.enumerated() {
                text += index > 0 ? ", {" : "{"
                try literal(pair.key)
                text += ", "
                try literal(pair.value)
                text += "}"
            }
            text += "}"
        }
    }

    private mutating func sequence(_ values: [MILValue]) throws(ModelError) {
        text += "("
        for (index, value) in values.enumerated() {
            if index > 0 { text += ", " }
            try literal(value)
        }
        text += ")"
    }

    private mutating func elements(_ tensor: MILTensorValue, _ type: MILValueType) throws(ModelError) {
        guard case .tensorType(let tensorType)? = type.type else {
            throw ModelError(.malformed, "A tensor is given where the type says otherwise; convert the model again.")
        }
        let shape = try ModelFile.shape(of: tensorType)
        let words = try Self.words(tensor, tensorType, count: shape.checkedElementCount())
        guard words.count == shape.elementCount else {
            throw ModelError(
                .malformed,
                "The shape \(shape) takes \(shape.elementCount) values, but \(words.count) are given; "
                    + "convert the model again."
            )
        }
        var next = 0
        nested(words, shape[...], &next)
    }

    private mutating func nested(_ words: [String], _ shape: ArraySlice<Int>, _ next: inout Int) {
        guard let extent = shape.first else {
            text += words[next]
            next += 1
            return
        }
        text += "["
        if !words.isEmpty {
            for index in 0..<extent {
                if index > 0 { text += ", " }
                nested(words, shape.dropFirst(), &next)
            }
        }
        text += "]"
    }

    /// The elements of a tensor, each as text.
    private static func words(
        _ tensor: MILTensorValue,
        _ type: MILTensorType,
        count: Int
    ) throws(ModelError) -> [String] {
        switch tensor.value {
        case .floats(let floats)?: return floats.values.map { hexadecimal(Double($0)) }
        case .doubles(let doubles)?: return doubles.values.map(hexadecimal)
        case .ints(let ints)?: return ints.values.map { "\($0)" }
        case .longInts(let integers)?:
            return integers.values.map { type.dataType == .uint64 ? "\(UInt64(bitPattern: $0))" : "\($0)" }
        case .bools(let bools)?: return bools.values.map { $0 ? "true" : "false" }
        case .strings(let strings)?: return strings.values.map(quoted)
        case .bytes(let bytes)?:
            let scalarType = try ModelFile.scalarType(of: type)
            guard scalarType != .string, SpecBytes.count(bytes.values) == scalarType.byteCount(of: count) else {
                throw ModelError(.malformed, "The bytes of a constant do not fill its shape; convert the model again.")
            }
            let storage = TensorStorage(copying: SpecBytes.array(bytes.values))
            let values = Tensor(scalarType: scalarType, shape: [count], storage: storage)
            switch scalarType {
            case .int64: return values.withElements(of: Int64.self) { $0.map { "\($0)" } }
            case .uint64: return values.withElements(of: UInt64.self) { $0.map { "\($0)" } }
            case .bool: return values.values.map { $0 != 0 ? "true" : "false" }
            default: return values.values.map { scalarType.isFloat ? hexadecimal($0) : "\(Int($0))" }
            }
        case nil: return []
        }
    }

    private static func dimension(_ dimension: MILDimension) -> String {
        switch dimension.dimension {
        case .constant(let constant)?: "\(constant.size)"
        case .unknown(let unknown)?: unknown.variadic ? "..." : "?"
        case nil: "?"
        }
    }

    /// A number in the exact hexadecimal form of C: `0x1.8p+1` is 3.
    static func hexadecimal(_ value: Double) -> String {
        if value.isNaN { return "nan" }
        let sign = value.sign == .minus ? "-" : ""
        if value.isInfinite { return sign + "inf" }
        if value.isZero { return sign + "0x0p+0" }
        let exponent = Int(value.exponent)
        let fraction = (value.significand - 1) * 0x1p52
        var digits = String(UInt64(fraction), radix: 16)
        digits = String(repeating: "0", count: 13 - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(sign)0x1\(digits.isEmpty ? "" : ".")\(digits)p\(exponent < 0 ? "-" : "+")\(abs(exponent))"
    }
}
