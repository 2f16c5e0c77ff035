package import MLNumerics

extension MLMultiArray {
    /// The elements as a tensor of the engine.
    ///
    /// - Parameter scalarType: The type to convert the elements to; `nil` keeps the array's own.
    /// - Returns: A tensor over the array's memory when type and layout allow, otherwise a copy.
    package func tensor(as scalarType: ScalarType? = nil) -> Tensor {
        let target = scalarType ?? dataType.scalarType
        let source = isContiguous ? self : contiguousCopy()
        let bytes = source.count * source.dataType.byteCount
        // Only kept alive for the memory, and released by its last user.
        nonisolated(unsafe) let owner = source
        let storage = TensorStorage(
            borrowing: source.address,
            byteCount: bytes,
            release: { withExtendedLifetime(owner) {} }
        )
        let tensor = Tensor(scalarType: source.dataType.scalarType, shape: extents, storage: storage)
        return tensor.converted(to: target)
    }

    private func contiguousCopy() -> MLMultiArray {
        let copy = MLMultiArray(zeros: extents, dataType: dataType)
        transfer(to: copy)
        return copy
    }

    /// Makes an array over the memory of a tensor that nobody else writes to.
    ///
    /// - Parameters:
    ///   - tensor: The elements, which are converted (and so copied) when their type is another one.
    ///   - dataType: The element type; `nil` for the tensor's own, or, where a multi-array cannot hold that, `Int32`
    ///     for integers and Booleans and `Float32` for the rest.
    package convenience init(_ tensor: Tensor, as dataType: MLMultiArrayDataType? = nil) {
        let native = MLMultiArrayDataType(tensor.scalarType)
        // Types that a multi-array cannot hold become Int32, or Float32 for what is not an integer.
        let type =
            dataType ?? native ?? (tensor.scalarType.isInteger || tensor.scalarType == .bool ? .int32 : .float32)
        let converted = tensor.scalarType == type.scalarType ? tensor : tensor.converted(to: type.scalarType)
        let storage = converted.storage
        self.init(
            address: converted.address,
            shape: converted.shape,
            strides: contiguousStrides(of: converted.shape),
            dataType: type,
            release: { withExtendedLifetime(storage) {} }
        )
    }
}
