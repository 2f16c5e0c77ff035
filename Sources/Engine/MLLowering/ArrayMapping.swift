package import MLNumerics

/// The correspondence between the shape of a multi-array feature and the shape of a graph value.
package enum ArrayMapping: Hashable, Sendable, Codable {
    /// Both are the same.
    case exact
    /// The legacy mapping of neural networks: the graph has [Sequence·Batch, C, H, W].
    ///
    /// Callers pass [C], [C, H, W], [Sequence, Batch, C], [Sequence, Batch, C, H, W] and, with one of the two leading
    /// axes left out, [Sequence, C] and [Sequence, C, H, W]. `declared` is the shape in the model's description, empty
    /// when it states none; `batch` is the one that the graph was built for.
    case rank5(declared: Shape, batch: Int)

    /// The graph's shape for an array of `shape`.
    package func graphShape(of shape: [Int]) throws(ModelError) -> [Int] {
        guard case .rank5(_, let batch) = self else { return shape }
        let whole = try wholeShape(of: shape)
        guard whole[1] == batch else {
            throw ModelError(
                .invalidInput,
                "an array of shape \(shape) has a batch of \(whole[1]) where the others need \(batch)"
            )
        }
        return [whole[0] * whole[1]] + whole[2...]
    }

    /// The batch size in an array of `shape`; 1 with the exact mapping, which has none.
    package func batch(of shape: [Int]) throws(ModelError) -> Int {
        self == .exact ? 1 : try wholeShape(of: shape)[1]
    }

    /// [Sequence, Batch, C, H, W] for an array of `shape`.
    private func wholeShape(of shape: [Int]) throws(ModelError) -> [Int] {
        var declaredRank = 0
        if case .rank5(let declared, _) = self { declaredRank = declared.count }
        switch (shape.count, declaredRank) {
        case (1, _): return [1, 1, shape[0], 1, 1]
        case (2, _): return [shape[0], 1, shape[1], 1, 1]
        case (3, 1): return [shape[0], shape[1], shape[2], 1, 1]
        case (3, _): return [1, 1] + shape
        case (4, _): return [shape[0], 1] + shape[1...]
        case (5, _): return shape
        default:
            throw ModelError(.invalidInput, "an array of shape \(shape) cannot be mapped to five axes; use 1 to 5")
        }
    }

    /// The caller's shape for an array of `shape` in the graph: [1] for a scalar.
    ///
    /// With the legacy mapping: [Sequence, Batch, C, H, W] for a batch greater than 1; otherwise the declared shape
    /// when it has as many elements; otherwise [C] when H and W are 1, [C, H, W] when there is one step, [Sequence, 1,
    /// C, H, W] when there are several.
    package func callerShape(of shape: [Int]) -> [Int] {
        switch self {
        case .exact: return shape.isEmpty ? [1] : shape
        case .rank5(let declared, let batch):
            if batch > 1, shape.count == 4, shape[0] % batch == 0 { return [shape[0] / batch, batch] + shape[1...] }
            if let counts = declared.counts, !counts.isEmpty, counts.elementCount == shape.elementCount {
                return counts
            }
            guard shape.count == 4 else { return shape }
            if shape[0] != 1 { return [shape[0], 1] + shape[1...] }
            return shape[2] == 1 && shape[3] == 1 ? [shape[1]] : Array(shape[1...])
        }
    }
}
