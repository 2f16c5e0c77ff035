import MLKernels

/// Grows trees level by level from histograms of binned columns; of two children one histogram is added up and the other
/// is what remains of the parent's.
///
/// Every histogram is summed in the order of the examples by one thread, so results do not depend on their number.
struct HistogramTreeGrower: TreeGrower {
    private let table: BinnedTable
    private let settings: TreeTrainingSettings
    private let rule: SplitRule

    init(_ table: TreeTrainingTable, _ settings: TreeTrainingSettings, bins: Int) {
        self.table = BinnedTable(table, bins: bins)
        self.settings = settings
        rule = SplitRule(lambda: settings.lambda, minChildWeight: settings.minChildWeight)
    }

    /// A node of the level in work.
    private struct Open {
        var node: Int32
        var rows: Range<Int>
        var sum: GradientSum
        var histogram: Histogram
    }

    /// The sums of one node by column and bin.
    private final class Histogram {
        let memory: AlignedMemory
        var sums: UnsafeMutablePointer<GradientSum> { memory.address.assumingMemoryBound(to: GradientSum.self) }

        init(columns: Int) {
            memory = AlignedMemory(byteCount: columns * BinnedTable.binCount * MemoryLayout<GradientSum>.stride)
        }
    }

    func grow(_ gradients: UnsafeBufferPointer<SIMD2<Float>>, rows: [Int32], features: [Int32]) -> GrownTree {
        var tree = RegressionTree()
        var bins: [Int32] = [0]
        var leaves = [Int32](repeating: -1, count: table.rowCount)
        var order = rows
        var spare = [Int32](repeating: 0, count: rows.count)
        var ordered = [SIMD2<Float>](repeating: .zero, count: rows.count)
        var root = GradientSum()
        for row in rows { root += GradientSum(gradients[Int(row)]) }
        var sums = [root]
        var level = [Open(node: 0, rows: 0..<rows.count, sum: root, histogram: Histogram(columns: table.cuts.count))]
        var toBuild = [0]
        var depth = 0
        while !level.isEmpty {
            var best = [SplitCandidate](repeating: SplitCandidate(), count: level.count)
            if depth < settings.maxDepth {
                build(toBuild.map { level[$0] }, order, gradients, &ordered)
                for index in level.indices where !toBuild.contains(index) {
                    // The sibling was built; this one holds the parent's sums.
                    subtract(level[index ^ 1].histogram, from: level[index].histogram)
                }
                best = search(level, features)
            }
            var next: [Open] = []
            toBuild = []
            var splits: [(open: Open, best: SplitCandidate)] = []
            for (index, open) in level.enumerated() {
                let node = Int(open.node)
                tree.nodes[node].value = rule.weight(open.sum) * Float(settings.stepSize)
                guard best[index].isWorthwhile else {
                    for place in open.rows { leaves[Int(order[place])] = open.node }
                    continue
                }
                splits.append((open, best[index]))
            }
            let counts = partition(splits, &order, &spare)
            for (index, (open, candidate)) in splits.enumerated() {
                let left = Int32(tree.nodes.count)
                tree.nodes += [RegressionTree.Node(), RegressionTree.Node()]
                tree.nodes[Int(open.node)].split(candidate, left: left)
                bins[Int(open.node)] = candidate.bin
                bins += [0, 0]
                sums += [candidate.left, candidate.right]
                let middle = open.rows.lowerBound + counts[index]
                let leftIsSmaller = counts[index] * 2 <= open.rows.count
                // The smaller child gets new memory, the larger the parent's.
                let fresh = Histogram(columns: table.cuts.count)
                toBuild.append(next.count + (leftIsSmaller ? 0 : 1))
                next.append(
                    Open(
                        node: left,
                        rows: open.rows.lowerBound..<middle,
                        sum: candidate.left,
                        histogram: leftIsSmaller ? fresh : open.histogram
                    )
                )
                next.append(
                    Open(
                        node: left + 1,
                        rows: middle..<open.rows.upperBound,
                        sum: candidate.right,
                        histogram: leftIsSmaller ? open.histogram : fresh
                    )
                )
            }
            level = next
            depth += 1
        }
        if rows.count < table.rowCount { settle(&leaves, tree, bins) }
        return GrownTree(tree: tree, sums: sums, leaves: leaves)
    }

    /// Adds up the histograms of nodes.
    private func build(
        _ nodes: [Open],
        _ order: [Int32],
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ ordered: inout [SIMD2<Float>]
    ) {
        let groups = table.groupCount
        nonisolated(unsafe) let gradients = gradients
        nonisolated(unsafe) let nodes = nodes
        order.withUnsafeBufferPointer { order in
            ordered.withUnsafeMutableBufferPointer { buffer in
                nonisolated(unsafe) let ordered = buffer
                nonisolated(unsafe) let order = order
                let blocks = nodes.flatMap { node in Self.blocks(of: node.rows) }
                Workers.parallelFor(blocks.count) { block, _ in
                    for place in blocks[block] { ordered[place] = gradients[Int(order[place])] }
                }
                Workers.parallelFor(nodes.count * groups) { task, _ in
                    let node = nodes[task / groups]
                    let (bins, first, stride) = table.group(task % groups)
                    let sums = node.histogram.sums + first * BinnedTable.binCount
                    sums.update(repeating: .zero, count: stride * BinnedTable.binCount)
                    for place in node.rows {
                        let gradient = GradientSum(ordered[place])
                        let row = bins + Int(order[place]) * stride
                        for column in 0..<stride { sums[column << 8 | Int(row[column])] += gradient }
                    }
                }
            }
        }
    }

    private static func blocks(of rows: Range<Int>) -> [Range<Int>] {
        stride(from: rows.lowerBound, to: rows.upperBound, by: 1 << 15).map {
            $0..<Swift.min(rows.upperBound, $0 + 1 << 15)
        }
    }

    private func subtract(_ part: Histogram, from whole: Histogram) {
        let (whole, part) = (whole.sums, part.sums)
        for index in 0..<table.cuts.count * BinnedTable.binCount { whole[index] -= part[index] }
    }

    /// The best split of each node.
    private func search(_ level: [Open], _ features: [Int32]) -> [SplitCandidate] {
        var found = [SplitCandidate](repeating: SplitCandidate(), count: level.count * features.count)
        nonisolated(unsafe) let level = level
        found.withUnsafeMutableBufferPointer { buffer in
            nonisolated(unsafe) let found = buffer
            Workers.parallelFor(found.count) { task, _ in
                let feature = features[task % features.count]
                found[task] = search(level[task / features.count], feature)
            }
        }
        return level.indices.map { index in
            var best = found[index * features.count]
            for place in 1..<features.count { best.replace(with: found[index * features.count + place]) }
            return best
        }
    }

    private func search(_ open: Open, _ feature: Int32) -> SplitCandidate {
        let sums = open.histogram.sums + Int(feature) * BinnedTable.binCount
        let missing = sums[BinnedTable.missing]
        let rootGain = rule.gain(open.sum)
        var best = SplitCandidate()
        var seen = GradientSum()
        let cuts = table.cuts[Int(feature)]
        func consider(_ bin: Int, _ threshold: Float, _ left: GradientSum, _ missingGoesLeft: Bool) {
            let right = open.sum - left
            guard left.y >= rule.minChildWeight, right.y >= rule.minChildWeight, left.y > 0, right.y > 0 else { return }
            let gain = Float(rule.gain(left) + rule.gain(right) - rootGain)
            guard gain > best.gain else { return }
            best = SplitCandidate(
                gain: gain,
                feature: feature,
                threshold: threshold,
                missingGoesLeft: missingGoesLeft,
                left: left,
                right: right,
                bin: Int32(bin)
            )
        }
        for bin in cuts.indices {
            seen += sums[bin]
            consider(bin, cuts[bin], seen + missing, true)
            if missing.y > 0 { consider(bin, cuts[bin], seen, false) }
        }
        if missing.y > 0 { consider(cuts.count, table.ends[Int(feature)], seen + sums[cuts.count], false) }
        return best
    }

    private func goesLeft(_ bin: UInt8, _ last: Int32, _ missingGoesLeft: Bool) -> Bool {
        bin == UInt8(BinnedTable.missing) ? missingGoesLeft : Int32(bin) <= last
    }

    /// Brings the examples of each node into the order of its children, keeping their own; the left children's counts.
    private func partition(
        _ splits: [(open: Open, best: SplitCandidate)],
        _ order: inout [Int32],
        _ spare: inout [Int32]
    ) -> [Int] {
        struct Block {
            var split: Int
            var rows: Range<Int>
        }
        let blocks = splits.enumerated().flatMap { index, split in
            Self.blocks(of: split.open.rows).map { Block(split: index, rows: $0) }
        }
        var lefts = [Int](repeating: 0, count: blocks.count)
        nonisolated(unsafe) let splits = splits
        return order.withUnsafeMutableBufferPointer { buffer in
            nonisolated(unsafe) let order = buffer
            return spare.withUnsafeMutableBufferPointer { buffer in
                nonisolated(unsafe) let spare = buffer
                lefts.withUnsafeMutableBufferPointer { buffer in
                    nonisolated(unsafe) let lefts = buffer
                    // Each block is parted within itself: left ones first, into the spare order.
                    Workers.parallelFor(blocks.count) { index, _ in
                        let block = blocks[index]
                        let best = splits[block.split].best
                        let (bins, stride) = table.column(Int(best.feature))
                        var left = block.rows.lowerBound
                        var right = block.rows.upperBound
                        for place in block.rows {
                            let row = order[place]
                            let isLeft = goesLeft(bins[Int(row) * stride], best.bin, best.missingGoesLeft)
                            spare[isLeft ? left : right - 1] = row
                            left += isLeft ? 1 : 0
                            right -= isLeft ? 0 : 1
                        }
                        lefts[index] = left - block.rows.lowerBound
                    }
                }
                var counts = [Int](repeating: 0, count: splits.count)
                for (block, left) in zip(blocks, lefts) { counts[block.split] += left }
                var starts: [(left: Int, right: Int)] = []
                var next = splits.enumerated().map { index, split in
                    (left: split.open.rows.lowerBound, right: split.open.rows.lowerBound + counts[index])
                }
                for (block, left) in zip(blocks, lefts) {
                    starts.append(next[block.split])
                    next[block.split].left += left
                    next[block.split].right += block.rows.count - left
                }
                let (fixed, places) = (lefts, starts)
                Workers.parallelFor(blocks.count) { index, _ in
                    let (block, left) = (blocks[index], fixed[index])
                    let start = block.rows.lowerBound
                    for offset in 0..<left { order[places[index].left + offset] = spare[start + offset] }
                    let right = block.rows.count - left
                    // The right ones were put down from the end.
                    for offset in 0..<right {
                        order[places[index].right + offset] = spare[block.rows.upperBound - 1 - offset]
                    }
                }
                return counts
            }
        }
    }

    /// Finds the leaves of the examples that were not in the sample.
    private func settle(_ leaves: inout [Int32], _ tree: RegressionTree, _ bins: [Int32]) {
        for row in leaves.indices where leaves[row] < 0 {
            var index = 0
            while !tree.nodes[index].isLeaf {
                let node = tree.nodes[index]
                let (column, stride) = table.column(Int(node.feature))
                let isLeft = goesLeft(column[row * stride], bins[index], node.missingGoesLeft)
                index = Int(isLeft ? node.left : node.right)
            }
            leaves[row] = Int32(index)
        }
    }
}
