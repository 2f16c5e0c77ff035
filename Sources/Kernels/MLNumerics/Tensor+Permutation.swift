extension Tensor {
    /// A copy whose axis `i` is axis `permutation[i]` of this tensor.
    package func permuted(_ permutation: [Int]) -> Tensor {
        let target = permutation.map { shape[$0] }
        let strides = permutation.map { shape.rowMajorStrides[$0] }
        func copy<T: BitwiseCopyable>(_: T.Type) -> Tensor {
            withElements(of: T.self) { source in
                var result: [T] = []
                result.reserveCapacity(source.count)
                var index = [Int](repeating: 0, count: target.count)
                var offset = 0
                while result.count < source.count {
                    result.append(source[offset])
                    var axis = target.count - 1
                    while axis >= 0 {
                        index[axis] += 1
                        offset += strides[axis]
                        if index[axis] < target[axis] { break }
                        offset -= strides[axis] * target[axis]
                        index[axis] = 0
                        axis -= 1
                    }
                }
                return Tensor(elements: result, scalarType: scalarType, shape: target)
            }
        }
        switch scalarType.bitWidth {
        case 16: return copy(UInt16.self)
        case 32: return copy(UInt32.self)
        case 64: return copy(UInt64.self)
        default: return copy(UInt8.self)
        }
    }
}
