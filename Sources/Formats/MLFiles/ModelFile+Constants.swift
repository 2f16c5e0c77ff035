package import MLNumerics
package import MLSpecification

extension ModelFile {
    /// The largest rank that a constant may have.
    private static let highestRank = 64

    /// The tensor of a MIL constant; elements in a weight file stay in place.
    package func tensor(of value: MILValue) throws(ModelError) -> Tensor {
        guard case .tensorType(let type)? = value.type.type else {
            throw ModelError(.unsupported, "The constant is not a tensor; lists, tuples and dictionaries hold tensors.")
        }
        let shape = try Self.shape(of: type)
        switch value.value {
        case .blobFileValue(let reference)?:
            let blob = try blob(fileName: reference.fileName, offset: reference.offset)
            return try Self.retyped(try blob.tensor(shape: shape), type)
        case .immediateValue(let immediate)?:
            guard case .tensor(let values)? = immediate.value else {
                throw ModelError(.malformed, "The value is not a tensor though its type is; convert the model again.")
            }
            return try Self.tensor(values, try Self.scalarType(of: type), shape)
        case nil: throw ModelError(.malformed, "The constant has no value; convert the model again.")
        }
    }

    /// The element type of a MIL tensor type.
    package static func scalarType(of type: MILTensorType) throws(ModelError) -> ScalarType {
        guard let scalarType = ScalarType(type.dataType) else {
            throw ModelError(
                .unsupported,
                "Tensors of type \(type.dataType.milName) are not supported; convert the model to fp16 or fp32."
            )
        }
        return scalarType
    }

    /// The shape of a MIL tensor type whose extents are all known.
    package static func shape(of type: MILTensorType) throws(ModelError) -> [Int] {
        guard type.dimensions.count <= highestRank else {
            throw ModelError(
                .malformed,
                "A tensor has \(type.dimensions.count) dimensions; at most \(highestRank) can be."
            )
        }
        var shape: [Int] = []
        for dimension in type.dimensions {
            guard case .constant(let constant)? = dimension.dimension, let extent = Int(exactly: constant.size) else {
                throw ModelError(.invalidModel, "The extents of a constant must be numbers; convert the model again.")
            }
            shape.append(extent)
        }
        _ = try shape.checkedElementCount()
        return shape
    }

    /// The tensor of a blob whose stored and declared types differ in name only.
    private static func retyped(_ tensor: Tensor, _ type: MILTensorType) throws(ModelError) -> Tensor {
        let declared = try scalarType(of: type)
        if declared == tensor.scalarType { return tensor }
        guard declared.bitWidth == tensor.scalarType.bitWidth, !declared.isFloat, !tensor.scalarType.isFloat else {
            throw ModelError(
                .malformed,
                "The weight file holds \(tensor.scalarType.milName) where the program says \(declared.milName); "
                    + "the model and its weight file do not belong together."
            )
        }
        return Tensor(
            scalarType: declared,
            shape: tensor.shape,
            storage: tensor.storage,
            byteOffset: tensor.byteOffset
        )
    }

    private static func tensor(
        _ values: MILTensorValue,
        _ scalarType: ScalarType,
        _ shape: [Int]
    ) throws(ModelError) -> Tensor {
        let count = shape.elementCount
        func expect(_ actual: Int, _ unit: String = "values") throws(ModelError) {
            guard actual == count else {
                throw ModelError(
                    .malformed,
                    "The shape \(shape) takes \(count) values, but \(actual) \(unit) are given; convert the model again."
                )
            }
        }
        func numbers(_ numbers: [Double]) throws(ModelError) -> Tensor {
            try expect(numbers.count)
            guard scalarType != .string else {
                throw ModelError(.malformed, "Numbers are given for a tensor of text; convert the model again.")
            }
            return Tensor(values: numbers, scalarType: scalarType, shape: shape)
        }
        switch values.value {
        case .floats(let floats)?:
            guard scalarType == .float32 else { return try numbers(floats.values.map(Double.init)) }
            try expect(floats.values.count)
            return Tensor(elements: floats.values, scalarType: .float32, shape: shape)
        case .doubles(let doubles)?: return try numbers(doubles.values)
        case .ints(let ints)?:
            guard scalarType == .int32 else { return try numbers(ints.values.map(Double.init)) }
            try expect(ints.values.count)
            return Tensor(elements: ints.values, scalarType: .int32, shape: shape)
        case .longInts(let integers)?:
            guard scalarType == .int64 || scalarType == .uint64 else {
                return try numbers(integers.values.map(Double.init))
            }
            try expect(integers.values.count)
            return Tensor(elements: integers.values, scalarType: scalarType, shape: shape)
        case .bools(let bools)?: return try numbers(bools.values.map { $0 ? 1 : 0 })
        case .strings(let strings)?:
            try expect(strings.values.count)
            guard scalarType == .string else {
                throw ModelError(.malformed, "Text is given for a tensor of numbers; convert the model again.")
            }
            return Tensor(strings: strings.values, shape: shape)
        case .bytes(let bytes)?:
            guard scalarType != .string, SpecBytes.count(bytes.values) == scalarType.byteCount(of: count) else {
                throw ModelError(
                    .malformed,
                    "The shape \(shape) of \(scalarType.milName) takes \(scalarType.byteCount(of: count)) bytes, "
                        + "but \(SpecBytes.count(bytes.values)) are given; convert the model again."
                )
            }
            let storage = TensorStorage(copying: SpecBytes.array(bytes.values))
            return Tensor(scalarType: scalarType, shape: shape, storage: storage)
        case nil:
            try expect(0)
            return scalarType == .string
                ? Tensor(strings: [], shape: shape) : Tensor(uninitialized: scalarType, shape: shape)
        }
    }
}
