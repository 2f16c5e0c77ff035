/// A binary regression tree: each inner node tests one feature, each leaf holds a number.
package struct RegressionTree: Hashable, Sendable {
    package struct Node: Hashable, Sendable {
        /// The index of the feature that is tested; -1 in a leaf.
        package var feature: Int32 = -1
        /// An example goes left when its value is less than this.
        package var threshold: Float = 0
        package var left: Int32 = -1
        package var right: Int32 = -1
        /// Whether examples whose value is missing go left.
        package var missingGoesLeft = false
        /// The value that a leaf adds to the score.
        package var value: Float = 0
        /// The loss reduction of the split.
        package var gain: Float = 0

        package var isLeaf: Bool { feature < 0 }

        /// A leaf with the value 0.
        package static var empty: Node { Node() }
    }

    /// The nodes, the root first.
    package var nodes: [Node] = [Node()]

    package init() {}

    /// The value of an example's leaf.
    ///
    /// - Parameter value: Returns the feature with an index.
    /// - Returns: The value of the leaf.
    package func leaf(_ value: (Int) -> Float) -> Float { nodes[leafIndex(value)].value }

    /// The index of an example's leaf.
    func leafIndex(_ value: (Int) -> Float) -> Int {
        var index = 0
        while !nodes[index].isLeaf {
            let node = nodes[index]
            let x = value(Int(node.feature))
            let goesLeft = x.isNaN ? node.missingGoesLeft : x < node.threshold
            index = Int(goesLeft ? node.left : node.right)
        }
        return index
    }

    /// Adds each example's leaf value to `sums[example * stride + output]`.
    package func add(to sums: inout [Float], of table: TreeTrainingTable, output: Int, stride: Int) {
        for row in 0..<table.rowCount { sums[row * stride + output] += leaf { table.columns[$0][row] } }
    }

    /// Prunes splits with a loss reduction below `minimum` whose children are both leaves, until there are none.
    ///
    /// - Parameters:
    ///   - minimum: The minimum loss reduction of a split.
    ///   - value: Returns the value of the leaf that replaces a node's split, by the node's index.
    mutating func prune(below minimum: Float, value: (Int) -> Float) {
        func visit(_ index: Int, _ nodes: inout [Node]) {
            guard !nodes[index].isLeaf else { return }
            let (left, right) = (Int(nodes[index].left), Int(nodes[index].right))
            visit(left, &nodes)
            visit(right, &nodes)
            guard nodes[index].gain < minimum, nodes[left].isLeaf, nodes[right].isLeaf else { return }
            nodes[index] = Node(value: value(index))
        }
        visit(0, &nodes)
        var kept: [Node] = []
        func copy(_ index: Int) -> Int32 {
            let position = kept.count
            kept.append(nodes[index])
            if !nodes[index].isLeaf {
                kept[position].left = copy(Int(nodes[index].left))
                kept[position].right = copy(Int(nodes[index].right))
            }
            return Int32(position)
        }
        _ = copy(0)
        nodes = kept
    }
}
