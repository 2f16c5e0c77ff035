import MLKernels
import MLNumerics
import MLSpecification

extension Forest {
    /// Reads the trees of a specification and checks them: unique ids, existing children, one root per tree, no cycles,
    /// every leaf with values for columns that exist.
    ///
    /// - Parameters:
    ///   - parameters: The trees of the specification.
    ///   - width: The number of features in a row; `nil` when the interface does not say, then the greatest feature
    ///     index that a branch uses decides.
    /// - Throws: `.invalidModel` when the trees break one of these rules, `.unsupported` when there are too many nodes.
    convenience init(_ parameters: SpecTreeEnsembleParameters, width: Int?) throws(ModelError) {
        let outputs = Int(clamping: parameters.numPredictionDimensions)
        guard outputs > 0, outputs <= 1 << 24 else {
            throw ModelError(
                .invalidModel,
                "the trees have \(parameters.numPredictionDimensions) prediction dimensions"
            )
        }
        let base =
            parameters.basePredictionValue.isEmpty
            ? [Double](repeating: 0, count: outputs) : parameters.basePredictionValue
        guard base.count == outputs else {
            throw ModelError(
                .invalidModel,
                "the trees have \(base.count) base prediction values for \(outputs) dimensions"
            )
        }
        var layout = TreeLayout(outputs: outputs)
        try layout.add(parameters.nodes)
        let needed = Int(layout.highestFeature) + 1
        if let width, needed > width {
            throw ModelError(
                .invalidModel,
                "a node branches on feature \(needed - 1), but the inputs have \(width) elements"
            )
        }
        self.init(
            nodes: layout.nodes,
            trees: layout.trees,
            depths: layout.depths,
            leaves: layout.leaves,
            base: base,
            width: width ?? needed
        )
    }
}

/// Nodes in evaluation order: each tree by levels, the two children of a node side by side.
private struct TreeLayout {
    typealias SpecNode = SpecTreeEnsembleParameters.TreeNode

    let outputs: Int
    var nodes: [Forest.Node] = []
    var trees: [Range<Int>] = []
    var depths: [Int] = []
    var leaves: [[(column: Int, value: Double)]] = []
    var highestFeature: Int32 = 0

    init(outputs: Int) { self.outputs = outputs }

    mutating func add(_ source: [SpecNode]) throws(ModelError) {
        guard source.count < Int(Int32.max) / 2 else {
            throw ModelError(
                .unsupported,
                "the trees have \(source.count) nodes; at most \(Int(Int32.max) / 2) are possible"
            )
        }
        nodes.reserveCapacity(source.count)
        leaves.reserveCapacity(source.count)
        var members: [UInt64: [Int]] = [:]
        var order: [UInt64] = []
        for (index, node) in source.enumerated() {
            if members[node.treeID] == nil { order.append(node.treeID) }
            members[node.treeID, default: []].append(index)
        }
        for tree in order {
            try withErrorContext("tree \(tree)") { () throws(ModelError) in try add(source, members[tree] ?? []) }
        }
    }

    /// Lays out one tree, whose nodes are `members` of `source`.
    private mutating func add(_ source: [SpecNode], _ members: [Int]) throws(ModelError) {
        var positions: [UInt64: Int] = [:]
        positions.reserveCapacity(members.count)
        for index in members {
            guard positions.updateValue(index, forKey: source[index].nodeID) == nil else {
                throw ModelError(.invalidModel, "the node \(source[index].nodeID) occurs twice")
            }
        }
        var children: Set<UInt64> = []
        for index in members where source[index].nodeBehavior != .leafNode {
            let node = source[index]
            for child in [node.trueChildNodeID, node.falseChildNodeID] {
                guard positions[child] != nil else {
                    throw ModelError(.invalidModel, "the node \(node.nodeID) has the child \(child), which is missing")
                }
                guard child != node.nodeID else {
                    throw ModelError(.invalidModel, "the node \(child) is its own child")
                }
                guard children.insert(child).inserted else {
                    throw ModelError(.invalidModel, "the node \(child) is the child of two branches")
                }
            }
        }
        let roots = members.filter { !children.contains(source[$0].nodeID) }
        guard roots.count == 1 else {
            let ids = roots.map { "\(source[$0].nodeID)" }.joined(separator: ", ")
            throw ModelError(
                .invalidModel,
                roots.isEmpty ? "it has no root: its nodes form a cycle" : "it has \(roots.count) roots: nodes \(ids)"
            )
        }
        let start = nodes.count
        var level = [roots[0]]
        var depth = -1
        var placed = 0
        var nextPlace = start + 1
        while !level.isEmpty {
            depth += 1
            var below: [Int] = []
            for index in level {
                let node = source[index]
                placed += 1
                if node.nodeBehavior == .leafNode {
                    nodes.append(.leaf(Int32(nodes.count)))
                    leaves.append(try entries(node))
                    continue
                }
                let (branch, swapped) = try branch(node, left: Int32(nextPlace))
                nodes.append(branch)
                leaves.append([])
                let (yes, no) = (positions[node.trueChildNodeID] ?? 0, positions[node.falseChildNodeID] ?? 0)
                below += swapped ? [no, yes] : [yes, no]
                nextPlace += 2
            }
            level = below
        }
        guard placed == members.count else {
            throw ModelError(.invalidModel, "\(members.count - placed) of its nodes cannot be reached from its root")
        }
        trees.append(start..<nodes.count)
        depths.append(depth)
    }

    /// The branch, and whether its false child is on the left.
    private mutating func branch(_ node: SpecNode, left: Int32) throws(ModelError) -> (Forest.Node, swapped: Bool) {
        guard node.branchFeatureIndex < UInt64(Int32.max) else {
            throw ModelError(.invalidModel, "the node \(node.nodeID) branches on feature \(node.branchFeatureIndex)")
        }
        highestFeature = Swift.max(highestFeature, Int32(node.branchFeatureIndex))
        var threshold = node.branchFeatureValue
        let swapped: Bool
        var isEqual = false
        switch node.nodeBehavior {
        case .branchOnValueLessThanEqual: swapped = false
        case .branchOnValueGreaterThan: swapped = true
        case .branchOnValueLessThan, .branchOnValueGreaterThanEqual:
            // x < t is x ≤ the number before t; nothing is below −∞, and nothing is at most NaN.
            swapped = node.nodeBehavior == .branchOnValueGreaterThanEqual
            threshold = threshold == -.infinity ? .nan : threshold.nextDown
        case .branchOnValueEqual, .branchOnValueNotEqual:
            swapped = node.nodeBehavior == .branchOnValueNotEqual
            isEqual = true
        case .leafNode, .UNRECOGNIZED:
            throw ModelError(
                .unsupported,
                "the behaviour \(node.nodeBehavior.rawValue) of node \(node.nodeID) is not known"
            )
        }
        let branch = Forest.Node(
            threshold: threshold,
            feature: Int32(node.branchFeatureIndex),
            left: left,
            comparesEqual: isEqual,
            missingGoesLeft: node.missingValueTracksTrueChild != swapped
        )
        return (branch, swapped)
    }

    private func entries(_ node: SpecNode) throws(ModelError) -> [(column: Int, value: Double)] {
        guard !node.evaluationInfo.isEmpty else {
            throw ModelError(.invalidModel, "the leaf \(node.nodeID) has no value")
        }
        var entries: [(column: Int, value: Double)] = []
        for entry in node.evaluationInfo {
            guard entry.evaluationIndex < UInt64(outputs) else {
                throw ModelError(
                    .invalidModel,
                    "the leaf \(node.nodeID) adds to dimension \(entry.evaluationIndex), but there are \(outputs)"
                )
            }
            entries.append((Int(entry.evaluationIndex), entry.evaluationValue))
        }
        guard Set(entries.map(\.column)).count == entries.count else {
            throw ModelError(.invalidModel, "the leaf \(node.nodeID) adds twice to the same dimension")
        }
        return entries
    }
}
