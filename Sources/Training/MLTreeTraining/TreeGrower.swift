/// Grows one tree from the derivatives of the loss.
///
/// An enumeration rather than a protocol, because a call through a protocol would not be specialised for the cell type.
enum TreeGrower: Sendable {
    case exact(ExactTreeGrower)
    case refined(HistogramTreeGrower<SIMD4<Double>>)
    case histogram(HistogramTreeGrower<SIMD2<Double>>)

    /// Grows one tree.
    ///
    /// - Parameters:
    ///   - gradients: The derivatives of every example, in or out of the sample.
    ///   - rows: The sample, ascending.
    ///   - features: The columns that may be split on, ascending.
    /// - Returns: The tree, and the leaf of each example.
    func grow(_ gradients: Span<SIMD2<Float>>, rows: [Int32], features: [Int32]) -> GrownTree {
        switch self {
        case .exact(let grower): grower.grow(gradients, rows: rows, features: features)
        case .refined(let grower):
            gradients.withUnsafeBufferPointer { grower.grow($0, rows: rows, features: features) }
        case .histogram(let grower):
            gradients.withUnsafeBufferPointer { grower.grow($0, rows: rows, features: features) }
        }
    }
}

/// A grown tree and the by-products of growing it.
struct GrownTree {
    var tree: RegressionTree
    /// The sums of each node.
    var sums: [GradientSum]
    /// The leaf of each example; -1 when the example was not in the sample.
    var leaves: [Int32]
}

extension RegressionTree.Node {
    mutating func split(_ candidate: SplitCandidate, left position: Int32) {
        feature = candidate.feature
        threshold = candidate.threshold
        missingGoesLeft = candidate.missingGoesLeft
        gain = candidate.gain
        left = position
        right = position + 1
    }
}
