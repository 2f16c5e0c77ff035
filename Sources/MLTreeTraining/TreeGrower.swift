/// Grows one tree from the derivatives of the loss.
protocol TreeGrower: Sendable {
    /// - Parameters:
    ///   - gradients: of every example, in or out of the sample.
    ///   - rows: the sample, ascending.
    ///   - features: the columns that may be asked, ascending.
    func grow(_ gradients: UnsafeBufferPointer<SIMD2<Float>>, rows: [Int32], features: [Int32]) -> GrownTree
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
