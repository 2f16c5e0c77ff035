package import MLNumerics

extension MLMultiArray {
    /// The elements as the engine takes them, in `scalarType`: the same memory when type and layout allow, otherwise
    /// a copy.
    package func tensor(as scalarType: ScalarType? = nil) -> Tensor {
        let target = scalarType ?? dataType.scalarType
        let source = isContiguous ? self : contiguousCopy()
        let bytes = source.count * source.dataType.byteCount
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

    /// An array over the memory of a tensor that nobody else writes to, converted when `dataType` or the tensor's
    /// own type asks for it.
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
