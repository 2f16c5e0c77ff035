import MLKernels

/// Grows trees level by level, trying every boundary between two values that occur in a node.
///
/// Sums are in double precision and gains in single; columns are scanned from the highest value down (and also from the
/// lowest up when values are missing), so that splits and ties come out as in XGBoost's exact method.
struct ExactTreeGrower: Sendable {
    private let table: TreeTrainingTable
    private let settings: TreeTrainingSettings
    /// For each feature the examples that have a value, sorted by it.
    private let order: [[Int32]]

    init(_ table: TreeTrainingTable, _ settings: TreeTrainingSettings) {
        self.table = table
        self.settings = settings
        var order = [[Int32]](repeating: [], count: table.columnCount)
        order.withUnsafeMutableBufferPointer { buffer in
            // Each column has an entry of its own.
            nonisolated(unsafe) let order = buffer
            Workers.parallelFor(table.columnCount) { feature, _ in
                let column = table.columns[feature]
                let values = column.span
                var rows: [Int32] = []
                rows.reserveCapacity(values.count)
                for row in values.indices where !values[row].isNaN { rows.append(Int32(row)) }
                // The rows are those of the column.
                rows.sort { (values[unchecked: Int($0)], $0) < (values[unchecked: Int($1)], $1) }
                order[feature] = rows
            }
        }
        self.order = order
    }

    func grow(_ gradients: Span<SIMD2<Float>>, rows: [Int32], features: [Int32]) -> GrownTree {
        let rule = SplitRule(lambda: settings.lambda, minChildWeight: settings.minChildWeight)
        var tree = RegressionTree()
        var sums = [GradientSum()]
        // For each example its node's position in the level, or -1 when it is not in the sample or already in a leaf.
        var positions = [Int32](repeating: -1, count: table.rowCount)
        var leaves = [Int32](repeating: -1, count: table.rowCount)
        for row in rows { positions[Int(row)] = 0 }
        var level: [Int32] = [0]
        var depth = 0
        while !level.isEmpty {
            var levelSums = [GradientSum](repeating: GradientSum(), count: level.count)
            for row in rows where positions[Int(row)] >= 0 {
                levelSums[Int(positions[Int(row)])] += GradientSum(gradients[Int(row)])
            }
            for (position, node) in level.enumerated() { sums[Int(node)] = levelSums[position] }
            var best = [SplitCandidate](repeating: SplitCandidate(), count: level.count)
            if depth < settings.maxDepth { best = search(positions, levelSums, gradients, features, rule) }
            var next: [Int32] = []
            var firstChild = [Int32](repeating: -1, count: level.count)
            for (position, node) in level.enumerated() {
                tree.nodes[Int(node)].value = rule.weight(levelSums[position]) * Float(settings.stepSize)
                guard best[position].isWorthwhile else { continue }
                firstChild[position] = Int32(next.count)
                let left = Int32(tree.nodes.count)
                tree.nodes += [RegressionTree.Node(), RegressionTree.Node()]
                sums += [best[position].left, best[position].right]
                next += [left, left + 1]
                tree.nodes[Int(node)].split(best[position], left: left)
            }
            for row in rows {
                let position = Int(positions[Int(row)])
                guard position >= 0 else { continue }
                guard firstChild[position] >= 0 else {
                    leaves[Int(row)] = level[position]
                    positions[Int(row)] = -1
                    continue
                }
                let value = table.columns[Int(best[position].feature)][Int(row)]
                let goesLeft = value.isNaN ? best[position].missingGoesLeft : value < best[position].threshold
                positions[Int(row)] = firstChild[position] + (goesLeft ? 0 : 1)
            }
            level = next
            depth += 1
        }
        return GrownTree(tree: tree, sums: sums, leaves: leaves)
    }

    /// The best split of each node of a level.
    private func search(
        _ positions: [Int32],
        _ sums: [GradientSum],
        _ gradients: Span<SIMD2<Float>>,
        _ features: [Int32],
        _ rule: SplitRule
    ) -> [SplitCandidate] {
        let width = sums.count
        var found = [SplitCandidate](repeating: SplitCandidate(), count: features.count * width)
        found.withUnsafeMutableBufferPointer { buffer in
            // Each feature has entries of its own.
            nonisolated(unsafe) let found = buffer
            Workers.parallelFor(features.count) { index, _ in
                let feature = features[index]
                let results = UnsafeMutableBufferPointer(rebasing: found[index * width..<(index + 1) * width])
                let rows = order[Int(feature)]
                let isComplete = rows.count == table.rowCount
                if let first = rows.first, let last = rows.last, !isComplete,
                    table.columns[Int(feature)][Int(first)] != table.columns[Int(feature)][Int(last)]
                {
                    scan(feature, ascending: true, positions, sums, gradients, rule, results)
                }
                scan(feature, ascending: false, positions, sums, gradients, rule, results)
            }
        }
        var best = Array(found.prefix(width))
        for index in 1..<Swift.max(features.count, 1) {
            for position in 0..<width { best[position].replace(with: found[index * width + position]) }
        }
        return best
    }

    private struct Side {
        var sum = GradientSum()
        var last: Float = 0
        var isEmpty = true
    }

    private func scan(
        _ feature: Int32,
        ascending: Bool,
        _ positions: [Int32],
        _ sums: [GradientSum],
        _ gradients: Span<SIMD2<Float>>,
        _ rule: SplitRule,
        _ results: UnsafeMutableBufferPointer<SplitCandidate>
    ) {
        let rootGains = sums.map { Float(rule.gain($0)) }
        var sides = [Side](repeating: Side(), count: sums.count)
        let rows = order[Int(feature)]
        let count = rows.count

        func consider(_ position: Int, _ threshold: Float, _ seen: GradientSum, _ rest: GradientSum) {
            let gain = Float(rule.gain(seen) + rule.gain(rest) - Double(rootGains[position]))
            guard gain > results[position].gain else { return }
            results[position].replace(
                with: SplitCandidate(
                    gain: gain,
                    feature: feature,
                    threshold: threshold,
                    missingGoesLeft: !ascending,
                    left: ascending ? seen : rest,
                    right: ascending ? rest : seen
                )
            )
        }

        let column = table.columns[Int(feature)]
        let values = column.span
        let nodes = positions.span
        let ordered = rows.span
        var open = sides.mutableSpan
        for index in 0..<count {
            // The rows are those of the table, and the positions those of the level.
            let row = Int(ordered[unchecked: ascending ? index : count - 1 - index])
            let position = Int(nodes[unchecked: row])
            guard position >= 0 else { continue }
            let value = values[unchecked: row]
            if open[unchecked: position].isEmpty {
                open[unchecked: position].isEmpty = false
            } else if value != open[unchecked: position].last, open[unchecked: position].sum.y >= rule.minChildWeight {
                let rest = sums[position] - open[unchecked: position].sum
                if rest.y >= rule.minChildWeight {
                    let last = open[unchecked: position].last
                    let middle = (value + last) * 0.5
                    let threshold = middle == (ascending ? last : value) ? (ascending ? value : last) : middle
                    consider(position, threshold, open[unchecked: position].sum, rest)
                }
            }
            open[unchecked: position].sum += GradientSum(gradients[unchecked: row])
            open[unchecked: position].last = value
        }
        // All values on one side, missing values on the other.
        for position in sides.indices where !sides[position].isEmpty {
            let rest = sums[position] - sides[position].sum
            guard sides[position].sum.y >= rule.minChildWeight, rest.y >= rule.minChildWeight else { continue }
            let beyond = sides[position].last.magnitude + SplitCandidate.minimumGain
            consider(position, sides[position].last + (ascending ? beyond : -beyond), sides[position].sum, rest)
        }
    }
}
