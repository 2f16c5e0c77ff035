import MLNumerics

/// 0, 1, 2, … in a shape.
func counting(_ shape: [Int], _ scalarType: ScalarType = .float32) -> Tensor {
    Tensor(values: (0..<shape.elementCount).map(Double.init), scalarType: scalarType, shape: shape)
}

func ints(_ values: [Int]) -> Tensor { Tensor(values.map(Int32.init), shape: [values.count]) }

/// The tensor of `shape` whose element at `index` is that of `x` at `source(index)`.
func picked(_ x: Tensor, _ shape: [Int], _ source: ([Int]) -> [Int]) -> Tensor {
    let strides = shape.rowMajorStrides
    let steps = x.shape.rowMajorStrides
    let values = x.values
    let result = (0..<shape.elementCount).map { place in
        let index = shape.indices.map { place / strides[$0] % shape[$0] }
        return values[zip(source(index), steps).reduce(0) { $0 + $1.0 * $1.1 }]
    }
    return Tensor(values: result, scalarType: x.scalarType, shape: shape)
}
