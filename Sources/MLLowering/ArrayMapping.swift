package import MLNumerics

/// How the shape of a multi-array feature and the shape of a graph value belong together.
package enum ArrayMapping: Hashable, Sendable {
    /// Both are the same.
    case exact
    /// The legacy mapping of neural networks: the graph has [Sequence, C, H, W] with batch 1.
    ///
    /// Callers give [C], [C, H, W], [Sequence, Batch, C], [Sequence, Batch, C, H, W] and, with one of the two leading
    /// axes left out, [Sequence, C] and [Sequence, C, H, W].  `declared` is the shape in the model's description,
    /// empty when it says none.
    case rank5(declared: Shape)

    /// The shape in which the graph takes an array of `shape`.
    package func graphShape(of shape: [Int]) throws(ModelError) -> [Int] {
        switch self {
        case .exact: return shape
        case .rank5(let declared):
            let padded: [Int]
            switch (shape.count, declared.count) {
            case (1, _): padded = [1, 1, shape[0], 1, 1]
            case (2, _): padded = [shape[0], 1, shape[1], 1, 1]
            case (3, 1): padded = [shape[0], shape[1], shape[2], 1, 1]
            case (3, _): padded = [1, 1] + shape
            case (4, _): padded = [shape[0], 1] + shape[1...]
            case (5, _): padded = shape
            default:
                throw ModelError(.invalidInput, "an array of shape \(shape) cannot be mapped to five axes; use 1 to 5")
            }
            guard padded[1] == 1 else {
                throw ModelError(
                    .unsupported,
                    "a batch of \(padded[1]) inside an array of shape \(shape); predict the parts one by one"
                )
            }
            return [padded[0]] + padded[2...]
        }
    }

    /// The shape in which a caller gets an array that the graph gives in `shape`.
    ///
    /// With the legacy mapping: the declared shape when it has as many elements; else [C] when H and W are 1, [C, H, W]
    /// when there is one step, [Sequence, 1, C, H, W] when there are several.
    package func callerShape(of shape: [Int]) -> [Int] {
        switch self {
        case .exact: return shape
        case .rank5(let declared):
            if let counts = declared.counts, !counts.isEmpty, counts.elementCount == shape.elementCount {
                return counts
            }
            guard shape.count == 4 else { return shape }
            if shape[0] != 1 { return [shape[0], 1] + shape[1...] }
            return shape[2] == 1 && shape[3] == 1 ? [shape[1]] : Array(shape[1...])
        }
    }
}
