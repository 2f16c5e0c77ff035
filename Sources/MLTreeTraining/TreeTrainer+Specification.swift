package import MLSpecification

extension TreeTrainer {
    /// The trees as a model file states them.
    ///
    /// Branches compare with *less than*, as the trees were grown, and keep the way of missing values.
    package var parameters: SpecTreeEnsembleParameters {
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
                    entry.branchFeatureValue = Double(node.threshold)
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
}
