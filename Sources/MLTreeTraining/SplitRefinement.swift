import MLKernels

/// Finds the best boundary between two values of a column among the examples of a node, looking only into the bins that
/// may hold it.  Boundaries, thresholds and the order of ties are those of `ExactTreeGrower`.
struct SplitRefinement {
    /// A column among the examples of a node.
    struct Task {
        let feature: Int32
        let values: UnsafeBufferPointer<Float>
        /// Whether no value of the whole table is missing.
        let isComplete: Bool
        let total: GradientSum
    }

    /// The histogram of the column at the node, and which bins matter.
    struct Bins {
        let cells: UnsafePointer<SIMD4<Double>>
        let bins: UnsafePointer<UInt8>
        let stride: Int
        let cuts: UnsafeBufferPointer<Float>
        /// By bin, the only value that it holds in the whole table, or NaN.
        let singles: UnsafeBufferPointer<Float>
        /// The most that boundaries of a bin may bring.
        let upper: UnsafePointer<Float>
        /// Bins that may bring less are left out.
        let least: Float
    }

    /// An example; keys are ordered as the values are.
    private struct Entry {
        var key: UInt32
        var gradient: SIMD2<Float>

        init(_ value: Float, _ gradient: SIMD2<Float>) {
            let bits = value.bitPattern
            key = bits >> 31 == 1 ? ~bits : bits | 1 << 31
            self.gradient = gradient
        }

        var value: Float { Float(bitPattern: key >> 31 == 1 ? key & ~(1 << 31) : ~key) }
    }

    private let rule: SplitRule
    private let task: Task
    private let missing: GradientSum
    private let rootGain: Double
    /// The best with missing values on the right, and the best with them on the left.
    private var ascending = SplitCandidate()
    private var descending = SplitCandidate()
    /// The value below the boundary that is considered next; nil when it is not known.
    private var last: Float?
    private var left = GradientSum()
    /// The greatest value, when some are missing.
    private var highest: Float?

    private init(_ task: Task, _ rule: SplitRule, missing: GradientSum) {
        self.task = task
        self.rule = rule
        self.missing = missing
        rootGain = Double(Float(rule.gain(task.total)))
    }

    /// - Parameters:
    ///   - rows: of the node.
    ///   - bins: `nil` to look at all examples.
    static func best(
        _ task: Task,
        rows: UnsafeBufferPointer<Int32>,
        gradients: UnsafeBufferPointer<SIMD2<Float>>,
        bins: Bins?,
        _ rule: SplitRule
    ) -> SplitCandidate {
        guard let bins else {
            var missing = GradientSum()
            var missingCount = 0
            var entries: [Entry] = []
            entries.reserveCapacity(rows.count)
            for row in rows {
                let value = task.values[Int(row)]
                if value.isNaN {
                    missing += GradientSum(gradients[Int(row)])
                    missingCount += 1
                } else {
                    entries.append(Entry(value, gradients[Int(row)]))
                }
            }
            sort(&entries)
            var search = Self(task, rule, missing: missing)
            if missingCount > 0, let first = entries.first, let last = entries.last {
                search.considerMissing(first.value, last.value)
            }
            entries.withUnsafeBufferPointer { search.pass($0) }
            return search.best
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: BinnedTable.binCount) { marks in
            marks.initialize(repeating: 0)
            for bin in bins.singles.indices where !(bins.upper[bin] < bins.least) {
                marks[bin] = bins.singles[bin].isNaN ? 1 : 2
            }
            var search = Self(task, rule, missing: bins.cells[BinnedTable.missing].gradients)
            var entries: [Entry] = []
            var (lowest, highest, missingCount) = (Float.infinity, -Float.infinity, 0)
            for row in rows {
                let bin = Int(bins.bins[Int(row) * bins.stride])
                if marks[bin] == 1 {
                    entries.append(Entry(task.values[Int(row)], gradients[Int(row)]))
                } else if marks[bin] == 2 {
                    marks[bin] = 3
                }
            }
            if !task.isComplete {
                for row in rows {
                    let value = task.values[Int(row)]
                    lowest = value < lowest ? value : lowest
                    highest = value > highest ? value : highest
                    missingCount += value.isNaN ? 1 : 0
                }
                if missingCount > 0, lowest <= highest { search.considerMissing(lowest, highest) }
            }
            sort(&entries)
            entries.withUnsafeBufferPointer { entries in
                var next = 0
                for bin in bins.singles.indices {
                    let sum = bins.cells[bin].gradients
                    switch marks[bin] {
                    case 0:
                        search.last = nil
                        search.left += sum
                    case 1:
                        let start = next
                        let before = search.left
                        // The bin's entries are those of its number: bins are in the order of values.
                        while next < entries.count, bin == bins.cuts.count || entries[next].value < bins.cuts[bin] {
                            next += 1
                        }
                        search.pass(UnsafeBufferPointer(rebasing: entries[start..<next]))
                        search.left = before + sum
                    case 3:
                        search.consider(bins.singles[bin])
                        search.last = bins.singles[bin]
                        search.left += sum
                    default: break
                    }
                }
            }
            return search.best
        }
    }

    private mutating func pass(_ entries: UnsafeBufferPointer<Entry>) {
        for entry in entries {
            let value = entry.value
            if value != last {
                consider(value)
                last = value
            }
            left += GradientSum(entry.gradient)
        }
    }

    /// The boundary between the last value and `value`, with `left` below it.
    private mutating func consider(_ value: Float) {
        guard let last else { return }
        let middle = (value + last) * 0.5
        let threshold = middle == last ? value : middle
        offer(left + missing, threshold, missingGoesLeft: true)
        if !task.isComplete { offer(left, threshold, missingGoesLeft: false) }
    }

    /// All values on one side, what is missing on the other; before any other boundary.
    private mutating func considerMissing(_ lowest: Float, _ highest: Float) {
        offer(missing, lowest - (lowest.magnitude + SplitCandidate.leastGain), missingGoesLeft: true)
        self.highest = highest
    }

    /// Boundaries come from the lowest value up.  With missing values on the left the highest of equal ones stays, with
    /// missing values on the right the lowest.
    private mutating func offer(_ left: GradientSum, _ threshold: Float, missingGoesLeft: Bool) {
        let right = task.total - left
        guard left.y >= rule.minChildWeight, right.y >= rule.minChildWeight else { return }
        let gain = Float(rule.gain(left) + rule.gain(right) - rootGain)
        let best = missingGoesLeft ? descending.gain : ascending.gain
        guard gain > best || missingGoesLeft && gain == best && gain > 0 else { return }
        let candidate = SplitCandidate(
            gain: gain,
            feature: task.feature,
            threshold: threshold,
            missingGoesLeft: missingGoesLeft,
            left: left,
            right: right
        )
        if missingGoesLeft { descending = candidate } else { ascending = candidate }
    }

    private var best: SplitCandidate {
        var all = self
        if let highest {
            let threshold = highest + (highest.magnitude + SplitCandidate.leastGain)
            all.offer(task.total - missing, threshold, missingGoesLeft: false)
        }
        return all.descending.gain > all.ascending.gain ? all.descending : all.ascending
    }

    /// Sorts by key; equal ones keep their order.
    private static func sort(_ entries: inout [Entry]) {
        let count = entries.count
        guard count > 48 else {
            for place in entries.indices.dropFirst() {
                let entry = entries[place]
                var hole = place
                while hole > 0, entries[hole - 1].key > entry.key {
                    entries[hole] = entries[hole - 1]
                    hole -= 1
                }
                entries[hole] = entry
            }
            return
        }
        let (digit, digits) = (11, 3)
        let size = 1 << digit
        var other = entries
        entries.withUnsafeMutableBufferPointer { entries in
            other.withUnsafeMutableBufferPointer { other in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: digits * size) { counts in
                    counts.initialize(repeating: 0)
                    for entry in entries {
                        for place in 0..<digits {
                            counts[place * size + Int(entry.key >> UInt32(place * digit)) & (size - 1)] += 1
                        }
                    }
                    var (source, target) = (entries, other)
                    for place in 0..<digits {
                        let starts = UnsafeMutableBufferPointer(rebasing: counts[place * size..<(place + 1) * size])
                        let shift = UInt32(place * digit)
                        // One digit that all share leaves the order as it is.
                        if starts[Int(source[0].key >> shift) & (size - 1)] == count { continue }
                        var sum: Int32 = 0
                        for index in starts.indices { (starts[index], sum) = (sum, sum + starts[index]) }
                        for entry in source {
                            let bucket = Int(entry.key >> shift) & (size - 1)
                            target[Int(starts[bucket])] = entry
                            starts[bucket] += 1
                        }
                        swap(&source, &target)
                    }
                    if source.baseAddress != entries.baseAddress { _ = entries.update(from: source) }
                }
            }
        }
    }
}
