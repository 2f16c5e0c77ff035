/// Grows one tree from the derivatives of the loss.
///
/// An enumeration, not a protocol, because a call through a protocol would not be compiled for the kind of cells.
enum TreeGrower: Sendable {
    case exact(ExactTreeGrower)
    case refined(HistogramTreeGrower<SIMD4<Double>>)
    case histogram(HistogramTreeGrower<SIMD2<Double>>)

    /// - Parameters:
    ///   - gradients: of every example, in or out of the sample.
    ///   - rows: the sample, ascending.
    ///   - features: the columns that may be asked, ascending.
    func grow(_ gradients: UnsafeBufferPointer<SIMD2<Float>>, rows: [Int32], features: [Int32]) -> GrownTree {
        switch self {
        case .exact(let grower): grower.grow(gradients, rows: rows, features: features)
        case .refined(let grower): grower.grow(gradients, rows: rows, features: features)
        case .histogram(let grower): grower.grow(gradients, rows: rows, features: features)
        }
    }
}

/// A tree that was grown, and what is known from growing it.
struct GrownTree {
    var tree: RegressionTree
    /// By node.
    var sums: [GradientSum]
    /// By example: its leaf; -1 when it was not in the sample.
    var leaves: [Int32]
}

extension RegressionTree.Node {
    mutating func split(_ candidate: SplitCandidate, left place: Int32) {
        feature = candidate.feature
        threshold = candidate.threshold
        missingGoesLeft = candidate.missingGoesLeft
        gain = candidate.gain
        left = place
        right = place + 1
    }
}
