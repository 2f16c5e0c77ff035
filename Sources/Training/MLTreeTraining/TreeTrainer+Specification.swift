package import MLSpecification

extension TreeTrainer {
    /// The trees as a model file's tree ensemble.
    ///
    /// Branches compare with *less than*, as in training, and keep the direction of missing values.
    package var parameters: SpecTreeEnsembleParameters { Self.parameters(of: trees, objective: objective) }

    /// The trees of an objective as a model file's tree ensemble.
    package static func parameters(
        of trees: [RegressionTree],
        objective: TreeObjective
    ) -> SpecTreeEnsembleParameters {
        var result = SpecTreeEnsembleParameters()
        result.numPredictionDimensions = UInt64(objective.outputCount)
        result.basePredictionValue = [Double](repeating: Double(objective.baseScore), count: objective.outputCount)
        for (tree, grown) in trees.enumerated() {
            for (index, node) in grown.nodes.enumerated() {
                var entry = SpecTreeEnsembleParameters.TreeNode()
                entry.treeID = UInt64(tree)
                entry.nodeID = UInt64(index)
                if node.isLeaf {
                    entry.nodeBehavior = .leafNode
                    var value = SpecTreeEnsembleParameters.TreeNode.EvaluationInfo()
                    value.evaluationIndex = UInt64(tree % objective.outputCount)
                    value.evaluationValue = Double(node.value)
                    entry.evaluationInfo = [value]
                } else {
                    entry.nodeBehavior = .branchOnValueLessThan
                    entry.branchFeatureIndex = UInt64(node.feature)
                    entry.branchFeatureValue = boundary(node.threshold)
                    entry.trueChildNodeID = UInt64(node.left)
                    entry.falseChildNodeID = UInt64(node.right)
                    entry.missingValueTracksTrueChild = node.missingGoesLeft
                    entry.relativeHitRate = 0
                }
                result.nodes.append(entry)
            }
        }
        return result
    }

    /// The double-precision threshold that separates values like `threshold` does after rounding to single precision.
    ///
    /// Trees are grown on rounded values, models are evaluated on unrounded ones. The result is above all numbers that
    /// round to less than `threshold`, and at most all others; rounded to single precision it is `threshold`, so that
    /// engines that compare rounded values agree, too.
    private static func boundary(_ threshold: Float) -> Double {
        let below = threshold.nextDown
        guard below.isFinite else { return Double(threshold) }
        let middle = (Double(below) + Double(threshold)) / 2
        // A number half-way rounds to the even neighbour.
        return Float(middle) == threshold ? middle : middle.nextUp
    }
}
