import MLNumerics
import MLSpecification

extension MILParser {
    private static let maximumDepth = 40

    /// Parses a type: `tensor<fp32, [1, ?]>`, a bare element type, or a type of types.
    mutating func type(depth: Int) throws(ModelError) -> MILValueType {
        guard depth < Self.maximumDepth else { throw error("types are nested deeper than \(Self.maximumDepth) levels") }
        guard case .name(let name) = current else { throw unexpected("a type") }
        try advance()
        var type = MILValueType()
        switch name {
        case "tensor":
            try expect("<")
            type.tensorType.dataType = try dataType()
            try expect(",")
            if try take("?") {
                type.tensorType.rank = -1
            } else {
                try expect("[")
                if try !take("]") {
                    repeat { type.tensorType.dimensions.append(try dimension()) } while try take(",")
                    try expect("]")
                }
                type.tensorType.rank = Int64(type.tensorType.dimensions.count)
            }
            try expect(">")
        case "list":
            try expect("<")
            type.listType.type = try self.type(depth: depth + 1)
            try expect(",")
            type.listType.length = try dimension()
            try expect(">")
        case "tuple":
            type.tupleType = MILTupleType()
            try expect("<")
            if try !take(">") {
                repeat { type.tupleType.types.append(try self.type(depth: depth + 1)) } while try take(",")
                try expect(">")
            }
        case "dict":
            try expect("<")
            type.dictionaryType.keyType = try self.type(depth: depth + 1)
            try expect(",")
            type.dictionaryType.valueType = try self.type(depth: depth + 1)
            try expect(">")
        case "state":
            try expect("<")
            type.stateType.wrappedType = try self.type(depth: depth + 1)
            try expect(">")
        default:
            guard let dataType = MILDataType(milName: name) else { throw error("\(name) is not a type") }
            type.tensorType.dataType = dataType
        }
        return type
    }

    private mutating func dataType() throws(ModelError) -> MILDataType {
        let name = try identifier("an element type")
        guard let dataType = MILDataType(milName: name) else { throw error("\(name) is not an element type") }
        return dataType
    }

    private mutating func dimension() throws(ModelError) -> MILDimension {
        var dimension = MILDimension()
        if current == .ellipsis {
            try advance()
            dimension.unknown.variadic = true
        } else if try take("?") {
            dimension.unknown = MILDimension.UnknownDimension()
        } else {
            let digits = try number()
            guard let size = UInt64(digits) else { throw error("\(digits) is not an extent") }
            dimension.constant.size = size
        }
        return dimension
    }

    /// Parses a constant with its type.
    mutating func value() throws(ModelError) -> MILValue {
        var value = MILValue()
        value.type = try type(depth: 0)
        try expect("(")
        if current == .name("BLOBFILE") {
            try advance()
            try expect("(")
            try expect(name: "path")
            try expect("=")
            value.blobFileValue.fileName = try reference(.string)
            try expect(",")
            try expect(name: "offset")
            try expect("=")
            let digits = try reference(.uint64)
            guard let offset = UInt64(digits) else { throw error("\(digits) is not an offset") }
            value.blobFileValue.offset = offset
            try expect(")")
        } else {
            value.immediateValue = try literal(value.type, depth: 0)
        }
        try expect(")")
        return value
    }

    /// Parses the text inside `string("…")`, `tensor<string, []>("…")` and the like.
    private mutating func reference(_ expected: MILDataType) throws(ModelError) -> String {
        let type = try type(depth: 0)
        guard case .tensorType(let tensor)? = type.type, tensor.dataType == expected else {
            throw error("a value of type \(expected.milName) was expected")
        }
        try expect("(")
        let text: String
        if case .text(let quoted) = current {
            text = quoted
            try advance()
        } else {
            text = try number()
        }
        try expect(")")
        return text
    }

    private mutating func literal(_ type: MILValueType, depth: Int) throws(ModelError) -> MILValue.ImmediateValue {
        guard depth < Self.maximumDepth else {
            throw error("values are nested deeper than \(Self.maximumDepth) levels")
        }
        var value = MILValue.ImmediateValue()
        switch type.type {
        case .tensorType(let tensor)?: value.tensor = try self.tensor(tensor)
        case .listType(let list)?:
            value.list = MILListValue()
            try expect("(")
            if try !take(")") {
                repeat { value.list.values.append(try inner(list.type, depth)) } while try take(",")
                try expect(")")
            }
        case .tupleType(let tuple)?:
            value.tuple = MILTupleValue()
            try expect("(")
            for (index, element) in tuple.types.enumerated() {
                if index > 0 { try expect(",") }
                value.tuple.values.append(try inner(element, depth))
            }
            try expect(")")
        case .dictionaryType(let dictionary)?:
            value.dictionary = MILDictionaryValue()
            try expect("{")
            if try !take("}") {
                repeat {
                    var pair = MILDictionaryValue.KeyValuePair()
                    try expect("{")
                    pair.key = try inner(dictionary.keyType, depth)
                    try expect(",")
                    pair.value = try inner(dictionary.valueType, depth)
                    try expect("}")
                    value.dictionary.values.append(pair)
                } while try take(",")
                try expect("}")
            }
        case .stateType?, nil: throw error("values of this type cannot be written")
        }
        return value
    }

    private mutating func inner(_ type: MILValueType, _ depth: Int) throws(ModelError) -> MILValue {
        var value = MILValue()
        value.type = type
        value.immediateValue = try literal(type, depth: depth + 1)
        return value
    }

    private mutating func tensor(_ type: MILTensorType) throws(ModelError) -> MILTensorValue {
        let location = self
        let shape: [Int]
        let count: Int
        do {
            shape = try ModelFile.shape(of: type)
            count = try shape.checkedElementCount()
        } catch { throw self.error(error.message) }
        var words: [String] = []
        try elements(shape.count, isText: type.dataType == .string, &words)
        guard words.count == count else {
            throw location.error("the shape \(shape) takes \(count) values, but \(words.count) are given")
        }
        return try location.tensor(words, type.dataType)
    }

    /// Parses values in as many brackets as the rank.
    private mutating func elements(_ rank: Int, isText: Bool, _ words: inout [String]) throws(ModelError) {
        guard rank > 0 else {
            if isText, case .text(let text) = current {
                words.append(text)
                try advance()
            } else {
                words.append(try number())
            }
            return
        }
        try expect("[")
        if try take("]") { return }
        repeat { try elements(rank - 1, isText: isText, &words) } while try take(",")
        try expect("]")
    }

    /// The elements in the specification's field for their type.
    private func tensor(_ words: [String], _ dataType: MILDataType) throws(ModelError) -> MILTensorValue {
        var tensor = MILTensorValue()
        func numbers<T>(_ make: (String) -> T?) throws(ModelError) -> [T] {
            var result: [T] = []
            for word in words {
                guard let number = make(word) else { throw error("\(word) is not a value of type \(dataType.milName)") }
                result.append(number)
            }
            return result
        }
        switch dataType {
        case .string: tensor.strings.values = words
        case .bool: tensor.bools.values = try numbers { $0 == "true" ? true : $0 == "false" ? false : nil }
        case .float32: tensor.floats.values = try numbers { Float($0) }
        case .float64: tensor.doubles.values = try numbers { Double($0) }
        case .int32: tensor.ints.values = try numbers { Int32($0) }
        case .int16: tensor.ints.values = try numbers { Int16($0).map(Int32.init) }
        case .uint16: tensor.ints.values = try numbers { UInt16($0).map(Int32.init) }
        case .int64: tensor.longInts.values = try numbers { Int64($0) }
        case .uint64: tensor.longInts.values = try numbers { UInt64($0).map { Int64(bitPattern: $0) } }
        default:
            guard let scalarType = ScalarType(dataType) else {
                throw error("values of type \(dataType.milName) cannot be written")
            }
            let range = scalarType.integerRange
            let values: [Double] = try numbers { word in
                guard let range else { return Double(word) }
                return Int(word).map(Double.init).flatMap { range.contains($0) ? $0 : nil }
            }
            let packed = Tensor(values: values, scalarType: scalarType, shape: [values.count])
            tensor.bytes.values = packed.withBytes { SpecBytes.field($0) }
        }
        return tensor
    }
}
