import MLKernels

/// Finds the best boundary between two values of a column at a node, examining only the bins that may contain it.
///
/// Boundaries, thresholds and the order of ties are those of `ExactTreeGrower`.
struct SplitRefinement {
    /// A column and the examples of a node.
    struct Task {
        let feature: Int32
        let values: UnsafeBufferPointer<Float>
        /// Whether no value of the whole column is missing.
        let isComplete: Bool
        let total: GradientSum
    }

    /// The histogram of the column at the node, and the bins that matter.
    struct Bins {
        let cells: UnsafePointer<SIMD4<Double>>
        /// The bin of each example of the whole table, `stride` bytes apart.
        let bins: UnsafePointer<UInt8>
        let stride: Int
        /// For each bin its only value in the whole table, or NaN.
        let singles: [Float]
        /// The upper bound on the gain of each bin's boundaries.
        let upper: UnsafePointer<Float>
        /// Bins with a lower bound than this are skipped.
        let lowerBound: Float
    }

    /// One worker's scratch buffer for the examples of a node.
    struct Scratch {
        /// The collected examples, in any order or by bin.
        fileprivate let found: Entries
        fileprivate let sorted: Entries
        fileprivate let rows: UnsafeMutablePointer<Int32>
        /// For each bin the end of its entries.
        fileprivate let ends: UnsafeMutablePointer<Int32>
        /// For each bin 1 when its examples are examined one by one, otherwise 0.
        fileprivate let chosen: UnsafeMutablePointer<UInt8>
        /// For each bin with a single value 1 when the node has examples there, otherwise 0.
        fileprivate let occupied: UnsafeMutablePointer<UInt8>

        /// - Parameters:
        ///   - memory: `byteCount(count)` bytes, aligned to a cache line.
        ///   - count: The number of examples in the node.
        init(_ memory: UnsafeMutableRawPointer, count: Int) {
            let bins = BinnedTable.binCount
            let gradients = memory.bindMemory(to: SIMD2<Float>.self, capacity: 2 * count)
            let keys = UnsafeMutableRawPointer(gradients + 2 * count).bindMemory(
                to: Int32.self,
                capacity: 3 * count + bins
            )
            found = Entries(keys: keys, gradients: gradients)
            sorted = Entries(keys: keys + count, gradients: gradients + count)
            rows = keys + 2 * count
            ends = rows + count
            chosen = UnsafeMutableRawPointer(ends + bins).bindMemory(to: UInt8.self, capacity: 2 * bins)
            occupied = chosen + bins
        }

        /// The size of a buffer, a multiple of a cache line.
        static func byteCount(_ count: Int) -> Int {
            let (bins, key) = (BinnedTable.binCount, MemoryLayout<Int32>.stride)
            let bytes = count * (2 * MemoryLayout<SIMD2<Float>>.stride + 3 * key) + bins * (key + 2)
            return (bytes + 63) / 64 * 64
        }
    }

    /// Examples with keys that sort like their values.
    fileprivate struct Entries {
        let keys: UnsafeMutablePointer<Int32>
        let gradients: UnsafeMutablePointer<SIMD2<Float>>

        func set(_ position: Int, _ value: Float, _ gradient: SIMD2<Float>) {
            let bits = Int32(bitPattern: value.bitPattern)
            keys[position] = bits ^ ((bits >> 31) & .max)
            gradients[position] = gradient
        }

        func copy(_ position: Int, to target: Entries, _ targetIndex: Int) {
            target.keys[targetIndex] = keys[position]
            target.gradients[targetIndex] = gradients[position]
        }

        func copy(_ range: Range<Int>, to target: Entries) {
            (target.keys + range.lowerBound).update(from: keys + range.lowerBound, count: range.count)
            (target.gradients + range.lowerBound).update(from: gradients + range.lowerBound, count: range.count)
        }

        func value(_ position: Int) -> Float {
            let key = keys[position]
            return Float(bitPattern: UInt32(bitPattern: key ^ ((key >> 31) & .max)))
        }
    }

    private let rule: SplitRule
    private let task: Task
    private let missing: GradientSum
    private let rootGain: Double
    /// The best boundaries with missing values on the right, and with missing values on the left.
    private var ascending = SplitCandidate()
    private var descending = SplitCandidate()
    /// The value below the next boundary; `nil` when it is unknown.
    private var last: Float?
    private var left = GradientSum()
    /// The greatest value, when some values are missing.
    private var highest: Float?

    private init(_ task: Task, _ rule: SplitRule, missing: GradientSum) {
        self.task = task
        self.rule = rule
        self.missing = missing
        rootGain = Double(Float(rule.gain(task.total)))
    }

    /// Finds the best boundary of a column at a node.
    ///
    /// - Parameters:
    ///   - task: The column and the node.
    ///   - rows: The examples of the node.
    ///   - gradients: The derivatives of every example.
    ///   - bins: The bins to examine, or `nil` to examine all examples.
    ///   - scratch: A scratch buffer for at least as many examples as there are rows.
    ///   - rule: The regularization and the constraints of a split.
    /// - Returns: The best boundary and its gain.
    static func best(
        _ task: Task,
        rows: UnsafeBufferPointer<Int32>,
        gradients: UnsafeBufferPointer<SIMD2<Float>>,
        bins: Bins?,
        scratch: Scratch,
        _ rule: SplitRule
    ) -> SplitCandidate {
        if let bins { return best(task, rows, gradients, bins, scratch, rule) }
        var missing = GradientSum()
        var count = 0
        for row in rows {
            let value = task.values[Int(row)]
            if value.isNaN {
                missing += GradientSum(gradients[Int(row)])
            } else {
                scratch.found.set(count, value, gradients[Int(row)])
                count += 1
            }
        }
        sort(0..<count, scratch)
        var search = Self(task, rule, missing: missing)
        if count > 0, count < rows.count {
            search.considerMissing(scratch.sorted.value(0), scratch.sorted.value(count - 1))
        }
        search.pass(0..<count, scratch.sorted)
        return search.best
    }

    private static func best(
        _ task: Task,
        _ rows: UnsafeBufferPointer<Int32>,
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ bins: Bins,
        _ scratch: Scratch,
        _ rule: SplitRule
    ) -> SplitCandidate {
        var search = Self(task, rule, missing: bins.cells[BinnedTable.missing].gradients)
        if !task.isComplete {
            var (lowest, highest, missingCount) = (Float.infinity, -Float.infinity, 0)
            for row in rows {
                let value = task.values[Int(row)]
                lowest = value < lowest ? value : lowest
                highest = value > highest ? value : highest
                missingCount += value.isNaN ? 1 : 0
            }
            if missingCount > 0, lowest <= highest { search.considerMissing(lowest, highest) }
        }
        collect(task, rows, gradients, bins, scratch)
        var start = 0
        for bin in bins.singles.indices {
            let sum = bins.cells[bin].gradients
            let end = Int(scratch.ends[bin])
            if scratch.chosen[bin] == 1 {
                sort(start..<end, scratch)
                let before = search.left
                search.pass(start..<end, scratch.sorted)
                search.left = before + sum
            } else if bins.upper[bin] < bins.lowerBound {
                search.last = nil
                search.left += sum
            } else if scratch.occupied[bin] == 1 {
                search.consider(bins.singles[bin])
                search.last = bins.singles[bin]
                search.left += sum
            }
            start = end
        }
        return search.best
    }

    /// Collects the examples of the bins that are examined one by one into `scratch.found`, bin by bin, and marks the
    /// single-value bins in which the node has examples.
    private static func collect(
        _ task: Task,
        _ rows: UnsafeBufferPointer<Int32>,
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ bins: Bins,
        _ scratch: Scratch
    ) {
        let (positions, stride) = (bins.bins, bins.stride)
        scratch.chosen.initialize(repeating: 0, count: BinnedTable.binCount)
        scratch.ends.initialize(repeating: 0, count: BinnedTable.binCount)
        var hasSingles = false
        for bin in bins.singles.indices where !(bins.upper[bin] < bins.lowerBound) {
            if bins.singles[bin].isNaN { scratch.chosen[bin] = 1 } else { hasSingles = true }
        }
        if hasSingles {
            scratch.occupied.initialize(repeating: 0, count: BinnedTable.binCount)
            for row in rows { scratch.occupied[Int(positions[Int(row) &* stride])] = 1 }
        }
        // Few are chosen, unpredictably: every row is written, and the next one overwrites it unless it was chosen.
        var count = 0
        for row in rows {
            scratch.rows[count] = row
            count &+= Int(scratch.chosen[Int(positions[Int(row) &* stride])])
        }
        for position in 0..<count { scratch.ends[Int(positions[Int(scratch.rows[position]) &* stride])] &+= 1 }
        var start: Int32 = 0
        for bin in 0..<BinnedTable.binCount { (scratch.ends[bin], start) = (start, start &+ scratch.ends[bin]) }
        for position in 0..<count {
            let row = Int(scratch.rows[position])
            let bin = Int(positions[row &* stride])
            scratch.found.set(Int(scratch.ends[bin]), task.values[row], gradients[row])
            scratch.ends[bin] &+= 1
        }
    }

    private mutating func pass(_ positions: Range<Int>, _ entries: Entries) {
        for position in positions {
            let value = entries.value(position)
            if value != last {
                consider(value)
                last = value
            }
            left += GradientSum(entries.gradients[position])
        }
    }

    /// Tries the boundary between the last value and `value`, with `left` below it.
    private mutating func consider(_ value: Float) {
        guard let last else { return }
        let middle = (value + last) * 0.5
        let threshold = middle == last ? value : middle
        offer(left + missing, threshold, missingGoesLeft: true)
        if !task.isComplete { offer(left, threshold, missingGoesLeft: false) }
    }

    /// Tries the split with all values on one side and missing ones on the other; called before any other boundary.
    private mutating func considerMissing(_ lowest: Float, _ highest: Float) {
        offer(missing, lowest - (lowest.magnitude + SplitCandidate.minimumGain), missingGoesLeft: true)
        self.highest = highest
    }

    /// Keeps the better candidate.
    ///
    /// Boundaries come from the lowest value up. Among equal gains the highest boundary wins when missing values go
    /// left, the lowest when they go right.
    private mutating func offer(_ left: GradientSum, _ threshold: Float, missingGoesLeft: Bool) {
        let right = task.total - left
        guard left.y >= rule.minChildWeight, right.y >= rule.minChildWeight else { return }
        let gain = Float(rule.gain(left, right) - rootGain)
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
            let threshold = highest + (highest.magnitude + SplitCandidate.minimumGain)
            all.offer(task.total - missing, threshold, missingGoesLeft: false)
        }
        return all.descending.gain > all.ascending.gain ? all.descending : all.ascending
    }

    /// Up to this many examples are sorted by counting the smaller ones of each.
    private static let few = 32

    /// Sorts the entries at some positions by key, stably.
    private static func sort(_ positions: Range<Int>, _ scratch: Scratch) {
        let (found, sorted) = (scratch.found, scratch.sorted)
        guard positions.count > few else {
            rank(positions, found, sorted)
            return
        }
        // Distributes by the highest bits that differ, into small buckets.
        var (some, all): (Int32, Int32) = (0, -1)
        for position in positions {
            some |= found.keys[position]
            all &= found.keys[position]
        }
        let different = Int32.bitWidth - (some ^ all).leadingZeroBitCount
        guard different > 0 else {
            found.copy(positions, to: sorted)
            return
        }
        let digit = Swift.min(8, Int.bitWidth - positions.count.leadingZeroBitCount - 3, different)
        let (shift, mask) = (Int32(different - digit), Int32(1) << Int32(digit) - 1)
        // When the sign bit differs, keys with the bit set come first.
        let flip = different == Int32.bitWidth ? Int32(1) << Int32(digit - 1) : 0
        func bucket(_ position: Int) -> Int { Int((found.keys[position] >> shift & mask) ^ flip) }
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 1 << digit) { ends in
            ends.initialize(repeating: 0)
            for position in positions { ends[bucket(position)] &+= 1 }
            var start = Int32(positions.lowerBound)
            for bucket in ends.indices { (ends[bucket], start) = (start, start &+ ends[bucket]) }
            for position in positions {
                let bucket = bucket(position)
                found.copy(position, to: sorted, Int(ends[bucket]))
                ends[bucket] &+= 1
            }
            guard shift > 0 else { return }
            sorted.copy(positions, to: found)
            var first = positions.lowerBound
            for end in ends {
                sort(first..<Int(end), scratch)
                first = Int(end)
            }
        }
    }

    /// Puts every entry where the number of smaller ones says, without branches that depend on the keys.
    private static func rank(_ positions: Range<Int>, _ found: Entries, _ sorted: Entries) {
        guard positions.count > 1 else {
            for position in positions { found.copy(position, to: sorted, position) }
            return
        }
        let (start, count, lanes) = (positions.lowerBound, positions.count, 4)
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 3 * few) { memory in
            guard let keys = memory.baseAddress else { return }
            let (ranks, equals) = (keys + few, keys + 2 * few)
            for position in 0..<count { keys[position] = found.keys[start + position] }
            equals.initialize(repeating: 0, count: count)
            for first in stride(from: 0, to: count, by: lanes) {
                let own = UnsafeRawPointer(keys + first).loadUnaligned(as: SIMD4<Int32>.self)
                var lesser = SIMD4<Int32>.zero
                for position in 0..<count {
                    let isLesser = SIMD4(repeating: keys[position]) .< own
                    lesser &+= SIMD4<Int32>.zero.replacing(with: 1, where: isLesser)
                }
                UnsafeMutableRawPointer(ranks + first).storeBytes(of: lesser, as: SIMD4<Int32>.self)
            }
            for position in 0..<count {
                let rank = Int(ranks[position])
                found.copy(start + position, to: sorted, start + rank + Int(equals[rank]))
                equals[rank] &+= 1
            }
        }
    }
}
