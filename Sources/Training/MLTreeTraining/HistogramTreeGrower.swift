import MLKernels
import Synchronization

/// Grows trees level by level from histograms of binned columns.
///
/// Of two children only one histogram is accumulated; the other is the parent's minus that one.
///
/// Cells with only derivatives give the best boundary between bins. Cells with bounds give the best boundary between
/// any two values: only bins that may contain it are examined. Nodes with few examples have no histogram; all of their
/// boundaries are tried.
///
/// Every histogram is summed in the order of the examples by one thread, so the results do not depend on the number of
/// threads.
struct HistogramTreeGrower<Cell: HistogramCell>: Sendable {
    let examples: TreeTrainingTable
    private let table: BinnedTable
    private let settings: TreeTrainingSettings
    private let rule: SplitRule
    /// The single value of each column's bins, which bounded cells need.
    private let singles: [[Float]]
    private let isComplete: [Bool]
    private let scratchPool: ScratchPool

    init(_ table: TreeTrainingTable, _ settings: TreeTrainingSettings, bins: Int) {
        examples = table
        self.settings = settings
        rule = SplitRule(lambda: settings.lambda, minChildWeight: settings.minChildWeight)
        isComplete = table.columns.map { column in !column.contains(where: \.isNaN) }
        scratchPool = ScratchPool(count: Cell.isBounded ? table.rowCount : Self.minimumRowCount)
        guard Cell.isBounded else {
            self.table = BinnedTable(table, bins: bins)
            singles = []
            return
        }
        // A sample is enough to choose the edges here; groups are narrower because cells are twice as large.
        self.table = BinnedTable(table, bins: bins, sampleCount: 1 << 14, groupWidth: 8)
        singles = self.table.singles(table)
    }

    /// A node of the level being grown.
    struct Open {
        var node: Int32
        var rows: Range<Int>
        var sum: GradientSum
        /// The node's histogram once it is built; before that the parent's, when the sibling's is built.
        var histogram: Histogram?
        var source = Source.none

        enum Source {
            /// The node has too few examples for a histogram.
            case none
            case examples
            /// The parent's histogram minus the sibling's, which is the node before or after this one.
            case sibling
        }
    }

    /// The sums of one node for each column and bin.
    final class Histogram {
        let memory: AlignedMemory
        var cells: UnsafeMutablePointer<Cell> { memory.address.assumingMemoryBound(to: Cell.self) }

        init(columns: Int) {
            memory = AlignedMemory(byteCount: columns * BinnedTable.binCount * MemoryLayout<Cell>.stride)
        }
    }

    /// Scratch buffers for the examples of one node, one for each thread that needs one at the same time.
    private final class ScratchPool: Sendable {
        private let free = Mutex<[AlignedMemory]>([])
        private let count: Int

        init(count: Int) { self.count = count }

        func withScratch(_ body: (SplitRefinement.Scratch) -> SplitCandidate) -> SplitCandidate {
            let byteCount = SplitRefinement.Scratch.byteCount(count)
            let memory = free.withLock { $0.popLast() } ?? AlignedMemory(byteCount: byteCount)
            defer { free.withLock { $0.append(memory) } }
            return body(SplitRefinement.Scratch(memory.address, count: count))
        }
    }

    /// Nodes with fewer examples have no histogram, unless a sibling needs it.
    private static var minimumRowCount: Int { 128 }

    func grow(_ gradients: UnsafeBufferPointer<SIMD2<Float>>, rows: [Int32], features: [Int32]) -> GrownTree {
        var tree = RegressionTree()
        var leaves = [Int32](repeating: -1, count: table.rowCount)
        var order = rows
        var spare = [Int32](repeating: 0, count: rows.count)
        var ordered = [Cell.Example](repeating: .zero, count: rows.count)
        var root = GradientSum()
        for row in rows { root += GradientSum(gradients[Int(row)]) }
        var sums = [root]
        var level = [Open(node: 0, rows: 0..<rows.count, sum: root)]
        if rows.count >= Self.minimumRowCount {
            level[0].source = .examples
            level[0].histogram = Histogram(columns: table.cuts.count)
        }
        var depth = 0
        while !level.isEmpty {
            var best = [SplitCandidate](repeating: SplitCandidate(), count: level.count)
            if depth < settings.maxDepth {
                build(level.filter { $0.source == .examples }, order, gradients, &ordered)
                best = search(level, order, gradients, features)
            }
            var next: [Open] = []
            var splits: [(open: Open, best: SplitCandidate)] = []
            for (index, open) in level.enumerated() {
                let node = Int(open.node)
                tree.nodes[node].value = rule.weight(open.sum) * Float(settings.stepSize)
                guard best[index].isWorthwhile else {
                    for position in open.rows { leaves[Int(order[position])] = open.node }
                    continue
                }
                splits.append((open, best[index]))
            }
            let counts = partition(splits, &order, &spare)
            for (index, (open, candidate)) in splits.enumerated() {
                let left = Int32(tree.nodes.count)
                tree.nodes += [RegressionTree.Node(), RegressionTree.Node()]
                tree.nodes[Int(open.node)].split(candidate, left: left)
                sums += [candidate.left, candidate.right]
                let middle = open.rows.lowerBound + counts[index]
                var children = [
                    Open(node: left, rows: open.rows.lowerBound..<middle, sum: candidate.left),
                    Open(node: left + 1, rows: middle..<open.rows.upperBound, sum: candidate.right),
                ]
                let smaller = counts[index] * 2 <= open.rows.count ? 0 : 1
                if children[1 - smaller].rows.count >= Self.minimumRowCount, depth + 1 < settings.maxDepth {
                    children[smaller].source = .examples
                    // The smaller child gets new memory, the larger one the parent's.
                    children[smaller].histogram = Histogram(columns: table.cuts.count)
                    children[1 - smaller].source = .sibling
                    children[1 - smaller].histogram = open.histogram
                }
                next += children
            }
            level = next
            depth += 1
        }
        if rows.count < table.rowCount { assignUnsampled(&leaves, tree) }
        return GrownTree(tree: tree, sums: sums, leaves: leaves)
    }

    /// Accumulates the histograms of nodes.
    private func build(
        _ nodes: [Open],
        _ order: [Int32],
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ ordered: inout [Cell.Example]
    ) {
        let groups = table.groupCount
        // All are only read, except the examples, where each block has its own.
        nonisolated(unsafe) let gradients = gradients
        nonisolated(unsafe) let nodes = nodes
        order.withUnsafeBufferPointer { order in
            ordered.withUnsafeMutableBufferPointer { buffer in
                nonisolated(unsafe) let ordered = buffer
                nonisolated(unsafe) let order = order
                let blocks = nodes.flatMap { node in chunks(of: node.rows) }
                Workers.parallelFor(blocks.count) { block, _ in
                    for position in blocks[block] { ordered[position] = Cell.example(gradients[Int(order[position])]) }
                }
                Workers.parallelFor(nodes.count * groups) { task, _ in
                    let node = nodes[task / groups]
                    guard let histogram = node.histogram else { return }
                    let (bins, first, stride) = table.group(task % groups)
                    let cells = histogram.cells + first * BinnedTable.binCount
                    cells.update(repeating: .zero, count: stride * BinnedTable.binCount)
                    guard let examples = ordered.baseAddress else { return }
                    Cell.add(
                        examples + node.rows.lowerBound,
                        rows: UnsafeBufferPointer(rebasing: order[node.rows]),
                        bins: bins,
                        columns: stride,
                        to: cells
                    )
                }
            }
        }
    }

    func chunks(of rows: Range<Int>) -> [Range<Int>] {
        stride(from: rows.lowerBound, to: rows.upperBound, by: 1 << 15).map {
            $0..<Swift.min(rows.upperBound, $0 + 1 << 15)
        }
    }

    /// The cells of a column at a node, computed from parent and sibling if necessary; `nil` when the node has none.
    private func cells(_ level: [Open], _ index: Int, _ feature: Int32) -> UnsafeMutablePointer<Cell>? {
        guard let histogram = level[index].histogram else { return nil }
        let offset = Int(feature) * BinnedTable.binCount
        let cells = histogram.cells + offset
        if level[index].source == .sibling, let sibling = level[index ^ 1].histogram {
            let part = sibling.cells + offset
            for bin in 0..<BinnedTable.binCount { cells[bin].subtract(part[bin]) }
        }
        return cells
    }

    /// The best split of each node.
    private func search(
        _ level: [Open],
        _ order: [Int32],
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ features: [Int32]
    ) -> [SplitCandidate] {
        let width = features.count
        var found = [SplitCandidate](repeating: SplitCandidate(), count: level.count * width)
        // All are only read, except the results, where each task has its own entry.
        nonisolated(unsafe) let level = level
        nonisolated(unsafe) let gradients = gradients
        order.withUnsafeBufferPointer { order in
            found.withUnsafeMutableBufferPointer { buffer in
                nonisolated(unsafe) let found = buffer
                nonisolated(unsafe) let order = order
                if Cell.isBounded {
                    refine(level, order, gradients, features, found)
                    return
                }
                Workers.parallelFor(found.count) { task, _ in
                    let (index, feature) = (task / width, features[task % width])
                    if let cells = cells(level, index, feature) {
                        found[task] = search(level[index].sum, cells, feature)
                    } else {
                        found[task] = scratchPool.withScratch {
                            search(level[index], order, gradients, feature, bins: nil, $0)
                        }
                    }
                }
            }
        }
        return level.indices.map { index in
            var best = found[index * width]
            for position in 1..<width { best.replace(with: found[index * width + position]) }
            return best
        }
    }

    /// The best boundaries between any two values, among the columns that may have the node's best.
    private func refine(
        _ level: [Open],
        _ order: UnsafeBufferPointer<Int32>,
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ features: [Int32],
        _ found: UnsafeMutableBufferPointer<SplitCandidate>
    ) {
        let width = features.count
        // For each node and column the gain at its best cut and the upper bound for any boundary; also the bounds by
        // bin.
        var bounds = [(best: Float, maximum: Float)](repeating: (-.infinity, .infinity), count: found.count)
        let memory = AlignedMemory(byteCount: found.count * BinnedTable.binCount * MemoryLayout<Float>.stride)
        // The results, bounds and uppers have entries for each task; all else is only read.
        nonisolated(unsafe) let uppers = memory.address.assumingMemoryBound(to: Float.self)
        nonisolated(unsafe) let level = level
        nonisolated(unsafe) let found = found
        nonisolated(unsafe) let order = order
        nonisolated(unsafe) let gradients = gradients
        bounds.withUnsafeMutableBufferPointer { buffer in
            nonisolated(unsafe) let bounds = buffer
            Workers.parallelFor(found.count) { task, _ in
                let (index, feature) = (task / width, features[task % width])
                guard let found = cells(level, index, feature) else { return }
                let cells = UnsafeRawPointer(found).assumingMemoryBound(to: SIMD4<Double>.self)
                let upper = uppers + task * BinnedTable.binCount
                upper.update(repeating: -.infinity, count: BinnedTable.binCount)
                let column = singles[Int(feature)]
                let own = column.span
                let (total, missing) = (level[index].sum, cells[BinnedTable.missing].lowHalf)
                bounds[task] = SplitBounds.fill(cells, own, total: total, left: missing, rule, upper)
                guard !isComplete[Int(feature)] else { return }
                let right = SplitBounds.fill(cells, own, total: total, left: .zero, rule, upper)
                bounds[task] = (Swift.max(bounds[task].best, right.best), right.maximum)
            }
            var lowerBound = level.indices.map { index in
                let own = bounds[index * width..<(index + 1) * width]
                return own.reduce(Float(rule.gain(level[index].sum))) { Swift.max($0, $1.best) }
                    * (1 - SplitBounds.slack)
            }
            func examine(_ tasks: [Int]) {
                let lowerBound = lowerBound
                Workers.parallelFor(tasks.count) { position, _ in
                    let task = tasks[position]
                    let (index, upper) = (task / width, uppers + task * BinnedTable.binCount)
                    found[task] = scratchPool.withScratch { scratch in
                        refine(
                            level[index],
                            order,
                            gradients,
                            features[task % width],
                            upper,
                            lowerBound[index],
                            scratch
                        )
                    }
                }
            }
            // Searching the most promising column first rules out others.
            let firsts = level.indices.map { index in
                let own = index * width..<(index + 1) * width
                return own.reduce(own.lowerBound) { bounds[$1].best > bounds[$0].best ? $1 : $0 }
            }
            examine(firsts)
            for index in level.indices {
                let brought = found[firsts[index]].gain + Float(rule.gain(level[index].sum))
                lowerBound[index] = Swift.max(lowerBound[index], brought * (1 - SplitBounds.slack))
            }
            examine(
                bounds.indices.filter { task in
                    let index = task / width
                    return task != firsts[index] && !(bounds[task].maximum < lowerBound[index])
                }
            )
        }
    }

    /// The best boundary between any two values of a column, among the bins that may gain `lowerBound`.
    private func refine(
        _ open: Open,
        _ order: UnsafeBufferPointer<Int32>,
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ feature: Int32,
        _ upper: UnsafePointer<Float>,
        _ lowerBound: Float,
        _ scratch: SplitRefinement.Scratch
    ) -> SplitCandidate {
        guard let histogram = open.histogram else { return search(open, order, gradients, feature, bins: nil, scratch) }
        let cells = UnsafeRawPointer(histogram.cells + Int(feature) * BinnedTable.binCount)
        let (positions, stride) = table.column(Int(feature))
        let bins = SplitRefinement.Bins(
            cells: cells.assumingMemoryBound(to: SIMD4<Double>.self),
            bins: positions,
            stride: stride,
            singles: singles[Int(feature)],
            upper: upper,
            lowerBound: lowerBound
        )
        return search(open, order, gradients, feature, bins: bins, scratch)
    }

    private func search(
        _ open: Open,
        _ order: UnsafeBufferPointer<Int32>,
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ feature: Int32,
        bins: SplitRefinement.Bins?,
        _ scratch: SplitRefinement.Scratch
    ) -> SplitCandidate {
        examples.columns[Int(feature)].withUnsafeBufferPointer { values in
            SplitRefinement.best(
                SplitRefinement.Task(
                    feature: feature,
                    values: values,
                    isComplete: isComplete[Int(feature)],
                    total: open.sum
                ),
                rows: UnsafeBufferPointer(rebasing: order[open.rows]),
                gradients: gradients,
                bins: bins,
                scratch: scratch,
                rule
            )
        }
    }

    /// The best boundary between two bins.
    private func search(_ total: GradientSum, _ cells: UnsafeMutablePointer<Cell>, _ feature: Int32) -> SplitCandidate {
        let missing = cells[BinnedTable.missing].gradients
        let rootGain = rule.gain(total)
        var best = SplitCandidate()
        var visited = GradientSum()
        let cuts = table.cuts[Int(feature)]
        func consider(_ threshold: Float, _ left: GradientSum, _ missingGoesLeft: Bool) {
            let right = total - left
            guard left.y >= rule.minChildWeight, right.y >= rule.minChildWeight, left.y > 0, right.y > 0 else { return }
            let gain = Float(rule.gain(left, right) - rootGain)
            guard gain > best.gain else { return }
            best = SplitCandidate(
                gain: gain,
                feature: feature,
                threshold: threshold,
                missingGoesLeft: missingGoesLeft,
                left: left,
                right: right
            )
        }
        for bin in cuts.indices {
            visited += cells[bin].gradients
            consider(cuts[bin], visited + missing, true)
            if missing.y > 0 { consider(cuts[bin], visited, false) }
        }
        if missing.y > 0 { consider(table.ends[Int(feature)], visited + cells[cuts.count].gradients, false) }
        return best
    }
}
