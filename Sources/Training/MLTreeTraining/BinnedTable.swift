import MLKernels

/// Columns discretised into at most 255 bins each; missing values are in bin 255.
///
/// Bin b of a column holds the values x with cuts[b-1] ≤ x < cuts[b]. Bins are stored by groups of columns, each group
/// row by row, so that one group's histograms fit in the L1 cache.
///
/// `@unchecked Sendable`: the memory is written once, before it is shared.
final class BinnedTable: @unchecked Sendable {
    static let missing = 255
    static let binCount = 256

    let rowCount: Int
    /// The bin edges of each column, ascending.
    let cuts: [[Float]]
    /// For each column a threshold above every value, which separates missing values from the others.
    let ends: [Float]
    /// The columns in a group; the last group may have fewer.
    let groupWidth: Int
    private let memory: AlignedMemory

    /// Divides the values of each column into bins.
    ///
    /// - Parameters:
    ///   - table: The features.
    ///   - bins: The maximum number of bins of a column.
    ///   - sampleCount: The number of examples from which the cuts are computed.
    ///   - maximum: The maximum number of columns in a group.
    init(_ table: TreeTrainingTable, bins: Int, sampleCount: Int = 1 << 17, groupWidth maximum: Int = 16) {
        rowCount = table.rowCount
        let (rows, width) = (table.rowCount, table.columnCount)
        groupWidth = Swift.min(maximum, Swift.max(1, (width + 3) / 4))
        var draw = SampleGenerator(seed: UInt64(rows), stream: 1)
        let sample = draw.choose(sampleCount, of: rows)
        var found = [(cuts: [Float], end: Float)](repeating: ([], 0), count: width)
        found.withUnsafeMutableBufferPointer { buffer in
            // Each column has an entry of its own.
            nonisolated(unsafe) let found = buffer
            Workers.parallelFor(width) { column, _ in
                var highest = -Float.greatestFiniteMagnitude
                for value in table.columns[column] where value > highest { highest = value }
                found[column] = (
                    Self.cuts(table.columns[column], sample, bins),
                    highest + highest.magnitude + SplitCandidate.minimumGain
                )
            }
        }
        let cuts = found.map(\.cuts)
        // Padded so that each search takes the same number of steps.
        let boundaryKeys = cuts.map { cuts in
            cuts.map(Self.key) + [Int32](repeating: .max, count: Self.binCount - cuts.count)
        }
        self.cuts = cuts
        ends = found.map(\.end)
        memory = AlignedMemory(byteCount: Swift.max(rows * width, 1))
        let step = 4096
        let (base, groupWidth) = (memory.address.assumingMemoryBound(to: UInt8.self), groupWidth)
        // Each block writes its own rows.
        nonisolated(unsafe) let bytes = base
        Workers.parallelFor((rows + step - 1) / step) { block, _ in
            let range = block * step..<Swift.min(rows, (block + 1) * step)
            for column in 0..<width {
                let first = column / groupWidth * groupWidth
                let stride = Swift.min(groupWidth, width - first)
                let position = bytes + first * rows + (column - first)
                let (numbers, keys) = (table.columns[column], boundaryKeys[column])
                let values = numbers.span
                let boundaries = keys.span
                // Every column has as many rows as the table.
                for row in range { position[row &* stride] = Self.bin(values[unchecked: row], boundaries) }
            }
        }
    }

    /// The bins of a group of columns: `[row * stride + column - first]`.
    func group(_ index: Int) -> (bins: UnsafePointer<UInt8>, first: Int, stride: Int) {
        let first = index * groupWidth
        let bytes = UnsafePointer(memory.address.assumingMemoryBound(to: UInt8.self))
        return (bytes + first * rowCount, first, Swift.min(groupWidth, cuts.count - first))
    }

    var groupCount: Int { (cuts.count + groupWidth - 1) / groupWidth }

    /// The bins of a column: `[row * stride]`.
    func column(_ index: Int) -> (bins: UnsafePointer<UInt8>, stride: Int) {
        let (bins, first, stride) = group(index / groupWidth)
        return (bins + (index - first), stride)
    }

    /// An integer that sorts like `value`; both zeros have the same key.
    private static func key(_ value: Float) -> Int32 {
        let bits = Int32(bitPattern: (value + 0).bitPattern)
        return bits ^ ((bits >> 31) & .max)
    }

    /// The number of cuts that are at most `value`, among 256 keys padded with the greatest number.
    ///
    /// Branch-free, because the branches would be unpredictable: a negative difference is a mask of ones.
    private static func bin(_ value: Float, _ cuts: Span<Int32>) -> UInt8 {
        let limit = Int(key(value)) &+ 1
        var low = 0
        var step = binCount / 2
        while step > 0 {
            low &+= ((Int(cuts[unchecked: low &+ step &- 1]) &- limit) >> 63) & step
            step >>= 1
        }
        return value.isNaN ? UInt8(missing) : UInt8(truncatingIfNeeded: low)
    }

    private static func sorted(_ values: [Float]) -> [Float] {
        [Float](unsafeUninitializedCapacity: values.count) { results, count in
            count = values.count
            values.withUnsafeBytes { values in
                guard let source = values.baseAddress else { return }
                SortKernel.run(
                    source,
                    outer: 1,
                    axis: count,
                    inner: 1,
                    count: count,
                    isAscending: true,
                    values: results.baseAddress,
                    positions: nil
                )
            }
        }
    }

    /// Boundaries between distinct values, at most `bins` - 1, with about equally many sampled examples between them.
    private static func cuts(_ column: [Float], _ sample: [Int32], _ bins: Int) -> [Float] {
        let values = sorted(sample.lazy.map { column[Int($0)] }.filter { !$0.isNaN })
        func between(_ low: Float, _ high: Float) -> Float {
            let middle = low + (high - low) * 0.5
            return middle > low ? middle : high
        }
        var runs: [(value: Float, count: Int)] = []
        for value in values {
            if let last = runs.last, last.value == value {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((value, 1))
            }
        }
        if runs.count <= bins { return zip(runs, runs.dropFirst()).map { between($0.value, $1.value) } }
        // A value that occurs more often than a bin's share gets a bin of its own.
        var cuts: [Float] = []
        var (filled, remaining) = (0, values.count)
        for (index, run) in runs.enumerated() {
            let share = remaining / (bins - cuts.count)
            if filled > 0, cuts.count < bins - 1, filled >= share || run.count > share {
                cuts.append(between(runs[index - 1].value, run.value))
                remaining -= filled
                filled = 0
            }
            filled += run.count
        }
        return cuts
    }

    /// For each column and bin the value of all its examples if they share one, otherwise NaN.
    func singles(_ table: TreeTrainingTable) -> [[Float]] {
        var found = [[Float]](repeating: [], count: cuts.count)
        found.withUnsafeMutableBufferPointer { buffer in
            // Each column has an entry of its own.
            nonisolated(unsafe) let found = buffer
            Workers.parallelFor(cuts.count) { index, _ in
                var minimum = [Float](repeating: .infinity, count: Self.binCount)
                var maximum = [Float](repeating: -.infinity, count: Self.binCount)
                let (bins, stride) = column(index)
                for (row, value) in table.columns[index].enumerated() {
                    let bin = Int(bins[row &* stride])
                    minimum[bin] = value < minimum[bin] ? value : minimum[bin]
                    maximum[bin] = value > maximum[bin] ? value : maximum[bin]
                }
                found[index] = (0...cuts[index].count).map { minimum[$0] == maximum[$0] ? minimum[$0] : .nan }
            }
        }
        return found
    }
}
