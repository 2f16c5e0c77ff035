package import MLNumerics
import MLTrainingCore

extension TreeTrainer: IterativeTraining {
    private static let maximumTreeCount = 1 << 24

    /// The trees: their number, then of each tree an array for every member of its nodes.
    package var state: [UInt8] {
        var writer = CheckpointWriter()
        writer.write(UInt64(trees.count))
        for tree in trees {
            writer.write(tree.nodes.map(\.feature))
            writer.write(tree.nodes.map(\.threshold))
            writer.write(tree.nodes.map(\.left))
            writer.write(tree.nodes.map(\.right))
            writer.write(tree.nodes.map { UInt8($0.missingGoesLeft ? 1 : 0) })
            writer.write(tree.nodes.map(\.value))
            writer.write(tree.nodes.map(\.gain))
        }
        return writer.bytes
    }

    /// Continues from the trees of a training with the same table and settings, exactly as if they had been grown here.
    ///
    /// The state does not hold what it was trained on: the caller keeps states of different data apart.
    /// - Throws: `.malformed` for bytes that are not trees over these columns; the trainer is then unchanged.
    package mutating func restore(_ state: [UInt8]) throws(ModelError) {
        var reader = CheckpointReader(state, "the checkpoint's list of trees")
        let count = try reader.readInt(in: 0...Self.maximumTreeCount, "the number of trees")
        var grown: [RegressionTree] = []
        for _ in 0..<count { grown.append(try RegressionTree(from: &reader, columnCount: columnCount)) }
        try reader.finish()
        guard count % objective.outputCount == 0 else { throw reader.damaged("a round is not whole") }
        replaceTrees(grown)
    }
}

extension RegressionTree {
    fileprivate init(from reader: inout CheckpointReader, columnCount: Int) throws(ModelError) {
        let features = try reader.readArray(of: Int32.self)
        let thresholds = try reader.readArray(of: Float.self)
        let leftChildren = try reader.readArray(of: Int32.self)
        let rightChildren = try reader.readArray(of: Int32.self)
        let missing = try reader.readArray(of: UInt8.self)
        let values = try reader.readArray(of: Float.self)
        let gains = try reader.readArray(of: Float.self)
        let count = features.count
        guard count > 0,
            [thresholds.count, leftChildren.count, rightChildren.count, missing.count, values.count, gains.count]
                .allSatisfy({ $0 == count })
        else { throw reader.damaged("a tree") }
        nodes = []
        for position in 0..<count {
            var node = Node.empty
            node.feature = features[position]
            node.threshold = thresholds[position]
            node.left = leftChildren[position]
            node.right = rightChildren[position]
            node.missingGoesLeft = missing[position] != 0
            node.value = values[position]
            node.gain = gains[position]
            if !node.isLeaf {
                // Children come after their parent, so that no path through the tree is endless.
                guard Int(node.feature) < columnCount, Int(node.left) > position, Int(node.left) < count,
                    Int(node.right) > position, Int(node.right) < count, !node.threshold.isNaN
                else { throw reader.damaged("a branch") }
            }
            guard node.value.isFinite else { throw reader.damaged("a leaf") }
            nodes.append(node)
        }
    }
}
