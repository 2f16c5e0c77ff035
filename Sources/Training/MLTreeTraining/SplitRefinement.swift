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
        /// By example of the whole table.
        let bins: UnsafePointer<UInt8>
        /// By bin, the only value that it holds in the whole table, or NaN.
        let singles: UnsafeBufferPointer<Float>
        /// The most that boundaries of a bin may bring.
        let upper: UnsafePointer<Float>
        /// Bins that may bring less are left out.
        let least: Float
    }

    /// Memory of one worker for the examples of one node that it looks at.
    struct Room {
        /// In any order, or by bin.
        fileprivate let found: Entries
        fileprivate let sorted: Entries
        fileprivate let rows: UnsafeMutablePointer<Int32>
        /// By bin: where its entries end.
        fileprivate let ends: UnsafeMutablePointer<Int32>
        /// By bin: 1 when its examples are looked at one by one, otherwise 0.
        fileprivate let chosen: UnsafeMutablePointer<UInt8>
        /// By bin: 1 when the node has examples there, otherwise 0; only for bins of one value.
        fileprivate let occupied: UnsafeMutablePointer<UInt8>

        /// - Parameter memory: `byteCount(count)` bytes on a cache line, for a node of `count` examples.
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

        /// A multiple of a cache line.
        static func byteCount(_ count: Int) -> Int {
            let (bins, key) = (BinnedTable.binCount, MemoryLayout<Int32>.stride)
            let bytes = count * (2 * MemoryLayout<SIMD2<Float>>.stride + 3 * key) + bins * (key + 2)
            return (bytes + 63) / 64 * 64
        }
    }

    /// Examples; keys are ordered as the values are.
    fileprivate struct Entries {
        let keys: UnsafeMutablePointer<Int32>
        let gradients: UnsafeMutablePointer<SIMD2<Float>>

        func set(_ place: Int, _ value: Float, _ gradient: SIMD2<Float>) {
            let bits = Int32(bitPattern: value.bitPattern)
            keys[place] = bits ^ ((bits >> 31) & .max)
            gradients[place] = gradient
        }

        func copy(_ place: Int, to target: Entries, _ targetPlace: Int) {
            target.keys[targetPlace] = keys[place]
            target.gradients[targetPlace] = gradients[place]
        }

        func copy(_ range: Range<Int>, to target: Entries) {
            (target.keys + range.lowerBound).update(from: keys + range.lowerBound, count: range.count)
            (target.gradients + range.lowerBound).update(from: gradients + range.lowerBound, count: range.count)
        }

        func value(_ place: Int) -> Float {
            let key = keys[place]
            return Float(bitPattern: UInt32(bitPattern: key ^ ((key >> 31) & .max)))
        }
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
    ///   - room: for as many examples as there are rows.
    static func best(
        _ task: Task,
        rows: UnsafeBufferPointer<Int32>,
        gradients: UnsafeBufferPointer<SIMD2<Float>>,
        bins: Bins?,
        room: Room,
        _ rule: SplitRule
    ) -> SplitCandidate {
        if let bins { return best(task, rows, gradients, bins, room, rule) }
        var missing = GradientSum()
        var count = 0
        for row in rows {
            let value = task.values[Int(row)]
            if value.isNaN {
                missing += GradientSum(gradients[Int(row)])
            } else {
                room.found.set(count, value, gradients[Int(row)])
                count += 1
            }
        }
        sort(0..<count, room)
        var search = Self(task, rule, missing: missing)
        if count > 0, count < rows.count {
            search.considerMissing(room.sorted.value(0), room.sorted.value(count - 1))
        }
        search.pass(0..<count, room.sorted)
        return search.best
    }

    private static func best(
        _ task: Task,
        _ rows: UnsafeBufferPointer<Int32>,
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ bins: Bins,
        _ room: Room,
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
        collect(task, rows, gradients, bins, room)
        var start = 0
        for bin in bins.singles.indices {
            let sum = bins.cells[bin].gradients
            let end = Int(room.ends[bin])
            if room.chosen[bin] == 1 {
                sort(start..<end, room)
                let before = search.left
                search.pass(start..<end, room.sorted)
                search.left = before + sum
            } else if bins.upper[bin] < bins.least {
                search.last = nil
                search.left += sum
            } else if room.occupied[bin] == 1 {
                search.consider(bins.singles[bin])
                search.last = bins.singles[bin]
                search.left += sum
            }
            start = end
        }
        return search.best
    }

    /// Puts the examples of the bins that are looked at one by one into `room.found`, bin by bin, and finds out which
    /// bins of one value the node has examples of.
    private static func collect(
        _ task: Task,
        _ rows: UnsafeBufferPointer<Int32>,
        _ gradients: UnsafeBufferPointer<SIMD2<Float>>,
        _ bins: Bins,
        _ room: Room
    ) {
        let places = bins.bins
        room.chosen.initialize(repeating: 0, count: BinnedTable.binCount)
        room.ends.initialize(repeating: 0, count: BinnedTable.binCount)
        var hasSingles = false
        for bin in bins.singles.indices where !(bins.upper[bin] < bins.least) {
            if bins.singles[bin].isNaN { room.chosen[bin] = 1 } else { hasSingles = true }
        }
        if hasSingles {
            room.occupied.initialize(repeating: 0, count: BinnedTable.binCount)
            for row in rows { room.occupied[Int(places[Int(row)])] = 1 }
        }
        // Few are chosen, in no order that a processor could guess: every row is written down, and the next one over it.
        var count = 0
        for row in rows {
            room.rows[count] = row
            count &+= Int(room.chosen[Int(places[Int(row)])])
        }
        for place in 0..<count { room.ends[Int(places[Int(room.rows[place])])] &+= 1 }
        var start: Int32 = 0
        for bin in 0..<BinnedTable.binCount { (room.ends[bin], start) = (start, start &+ room.ends[bin]) }
        for place in 0..<count {
            let row = Int(room.rows[place])
            let bin = Int(places[row])
            room.found.set(Int(room.ends[bin]), task.values[row], gradients[row])
            room.ends[bin] &+= 1
        }
    }

    private mutating func pass(_ places: Range<Int>, _ entries: Entries) {
        for place in places {
            let value = entries.value(place)
            if value != last {
                consider(value)
                last = value
            }
            left += GradientSum(entries.gradients[place])
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
            let threshold = highest + (highest.magnitude + SplitCandidate.leastGain)
            all.offer(task.total - missing, threshold, missingGoesLeft: false)
        }
        return all.descending.gain > all.ascending.gain ? all.descending : all.ascending
    }

    /// What so few examples are sorted by is how many of them are below each.
    private static let few = 32

    /// Sorts the found entries of some places by key; equal ones keep their order.
    private static func sort(_ places: Range<Int>, _ room: Room) {
        let (found, sorted) = (room.found, room.sorted)
        guard places.count > few else {
            rank(places, found, sorted)
            return
        }
        // By the highest bits that are not the same in all, into buckets of few.
        var (some, all): (Int32, Int32) = (0, -1)
        for place in places {
            some |= found.keys[place]
            all &= found.keys[place]
        }
        let different = Int32.bitWidth - (some ^ all).leadingZeroBitCount
        guard different > 0 else {
            found.copy(places, to: sorted)
            return
        }
        let digit = Swift.min(8, Int.bitWidth - places.count.leadingZeroBitCount - 3, different)
        let (shift, mask) = (Int32(different - digit), Int32(1) << Int32(digit) - 1)
        // The sign bit is the only one that is set in lesser keys.
        let flip = different == Int32.bitWidth ? Int32(1) << Int32(digit - 1) : 0
        func bucket(_ place: Int) -> Int { Int((found.keys[place] >> shift & mask) ^ flip) }
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 1 << digit) { ends in
            ends.initialize(repeating: 0)
            for place in places { ends[bucket(place)] &+= 1 }
            var start = Int32(places.lowerBound)
            for bucket in ends.indices { (ends[bucket], start) = (start, start &+ ends[bucket]) }
            for place in places {
                let bucket = bucket(place)
                found.copy(place, to: sorted, Int(ends[bucket]))
                ends[bucket] &+= 1
            }
            guard shift > 0 else { return }
            sorted.copy(places, to: found)
            var first = places.lowerBound
            for end in ends {
                sort(first..<Int(end), room)
                first = Int(end)
            }
        }
    }

    /// Puts every entry where the number of lesser ones says: no branch that depends on the keys.
    private static func rank(_ places: Range<Int>, _ found: Entries, _ sorted: Entries) {
        guard places.count > 1 else {
            for place in places { found.copy(place, to: sorted, place) }
            return
        }
        let (start, count, lanes) = (places.lowerBound, places.count, 4)
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 3 * few) { memory in
            guard let keys = memory.baseAddress else { return }
            let (ranks, equals) = (keys + few, keys + 2 * few)
            for place in 0..<count { keys[place] = found.keys[start + place] }
            equals.initialize(repeating: 0, count: count)
            for first in stride(from: 0, to: count, by: lanes) {
                let own = UnsafeRawPointer(keys + first).loadUnaligned(as: SIMD4<Int32>.self)
                var lesser = SIMD4<Int32>.zero
                for place in 0..<count {
                    let isLesser = SIMD4(repeating: keys[place]) .< own
                    lesser &+= SIMD4<Int32>.zero.replacing(with: 1, where: isLesser)
                }
                UnsafeMutableRawPointer(ranks + first).storeBytes(of: lesser, as: SIMD4<Int32>.self)
            }
            for place in 0..<count {
                let rank = Int(ranks[place])
                found.copy(start + place, to: sorted, start + rank + Int(equals[rank]))
                equals[rank] &+= 1
            }
        }
    }
}
