package import MLNumerics

/// An array in a weight file: its element type and the location of its packed elements.
package struct WeightBlob: Sendable {
    package let dataType: BlobDataType
    package let storage: TensorStorage
    package let byteOffset: Int
    package let byteCount: Int
    package let elementCount: Int

    /// The element type; throws for types that tensors do not hold.
    package func scalarType() throws(ModelError) -> ScalarType {
        guard let type = dataType.scalarType else {
            throw ModelError(
                .unsupported,
                "Weights of type \(dataType.milName) are not supported; convert them to fp16 or fp32."
            )
        }
        return type
    }

    /// A tensor of the elements in the given shape, sharing the bytes of the file.
    package func tensor(shape: [Int]) throws(ModelError) -> Tensor {
        let scalarType = try scalarType()
        let count = try shape.checkedElementCount()
        guard count == elementCount else {
            throw ModelError(
                .malformed,
                "The shape \(shape) takes \(count) elements, but the weight file holds \(elementCount) there; "
                    + "the model and its weight file do not belong together."
            )
        }
        let alignment = Swift.max(scalarType.bitWidth / 8, 1)
        guard (Int(bitPattern: storage.address) + byteOffset) % alignment == 0 else {
            let copy = TensorStorage(byteCount: byteCount)
            copy.address.copyMemory(from: storage.address + byteOffset, byteCount: byteCount)
            return Tensor(scalarType: scalarType, shape: shape, storage: copy)
        }
        return Tensor(scalarType: scalarType, shape: shape, storage: storage, byteOffset: byteOffset)
    }
}

extension Array where Element == Int {
    /// The number of elements of a shape read from a file; throws when an extent is negative or the product overflows.
    package func checkedElementCount() throws(ModelError) -> Int {
        var count = 1
        for extent in self {
            let (product, overflow) = count.multipliedReportingOverflow(by: extent)
            guard extent >= 0, !overflow, product <= 1 << 48 else {
                throw ModelError(.malformed, "The shape \(self) is not a shape of a tensor.")
            }
            count = product
        }
        return count
    }
}
