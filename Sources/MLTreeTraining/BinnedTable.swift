import MLKernels

/// Columns cut into at most 255 ranges each; what is missing is in bin 255.
///
/// Bin b of a column holds the values x with cuts[b-1] ≤ x < cuts[b].  Bins lie by groups of columns, each group
/// row by row, so that one group's histograms fit in a near cache.
///
/// Unchecked because the memory is written once, before anybody else has it.
final class BinnedTable: @unchecked Sendable {
    static let missing = 255
    static let binCount = 256

    let rowCount: Int
    /// By column, ascending.
    let cuts: [[Float]]
    /// By column: a threshold above every value, which parts what is missing from the rest.
    let ends: [Float]
    /// Columns of a group; the last group may have fewer.
    let groupWidth: Int
    private let memory: AlignedMemory

    private static let sampleCount = 1 << 17

    init(_ table: TreeTrainingTable, bins: Int) {
        rowCount = table.rowCount
        let (rows, width) = (table.rowCount, table.columnCount)
        groupWidth = Swift.min(16, Swift.max(1, (width + 3) / 4))
        var draw = SampleGenerator(seed: UInt64(rows), stream: 1)
        let sample = draw.choose(Self.sampleCount, of: rows)
        var found = [(cuts: [Float], end: Float)](repeating: ([], 0), count: width)
        found.withUnsafeMutableBufferPointer { buffer in
            nonisolated(unsafe) let found = buffer
            Workers.parallelFor(width) { column, _ in
                var highest = -Float.greatestFiniteMagnitude
                for value in table.columns[column] where value > highest { highest = value }
                found[column] = (
                    Self.cuts(table.columns[column], sample, bins),
                    highest + highest.magnitude + SplitCandidate.leastGain
                )
            }
        }
        let cuts = found.map(\.cuts)
        self.cuts = cuts
        ends = found.map(\.end)
        memory = AlignedMemory(byteCount: Swift.max(rows * width, 1))
        let step = 4096
        let (base, groupWidth) = (memory.address.assumingMemoryBound(to: UInt8.self), groupWidth)
        nonisolated(unsafe) let bytes = base
        Workers.parallelFor((rows + step - 1) / step) { block, _ in
            let range = block * step..<Swift.min(rows, (block + 1) * step)
            for column in 0..<width {
                let first = column / groupWidth * groupWidth
                let stride = Swift.min(groupWidth, width - first)
                let place = bytes + first * rows + (column - first)
                table.columns[column].withUnsafeBufferPointer { values in
                    cuts[column].withUnsafeBufferPointer { cuts in
                        for row in range { place[row * stride] = Self.bin(values[row], cuts) }
                    }
                }
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

    /// The bins of a column, `stride` apart.
    func column(_ index: Int) -> (bins: UnsafePointer<UInt8>, stride: Int) {
        let group = group(index / groupWidth)
        return (group.bins + (index - group.first), group.stride)
    }

    /// The number of cuts that are at most `value`.
    private static func bin(_ value: Float, _ cuts: UnsafeBufferPointer<Float>) -> UInt8 {
        guard !value.isNaN else { return UInt8(missing) }
        var low = 0
        var length = cuts.count
        while length > 0 {
            let half = length / 2
            let isAbove = cuts[low + half] <= value
            low = isAbove ? low + half + 1 : low
            length = isAbove ? length - half - 1 : half
        }
        return UInt8(low)
    }

    /// Boundaries between distinct values, at most `bins` - 1 of them, with about equally many of the sample between.
    private static func cuts(_ column: [Float], _ sample: [Int32], _ bins: Int) -> [Float] {
        var values: [Float] = []
        values.reserveCapacity(sample.count)
        for row in sample where !column[Int(row)].isNaN { values.append(column[Int(row)]) }
        values.sort()
        var distinct: [Float] = []
        for value in values where distinct.last != value {
            distinct.append(value)
            if distinct.count > bins { break }
        }
        func between(_ low: Float, _ high: Float) -> Float {
            let middle = low + (high - low) * 0.5
            return middle > low ? middle : high
        }
        if distinct.count <= bins { return zip(distinct, distinct.dropFirst()).map(between) }
        var cuts: [Float] = []
        var start = 0
        for index in 1..<bins {
            let place = Swift.max(index * values.count / bins, start + 1)
            guard place < values.count else { break }
            var edge = place
            while edge < values.count, values[edge] == values[edge - 1] { edge += 1 }
            guard edge < values.count else { break }
            let cut = between(values[edge - 1], values[edge])
            if cuts.last.map({ $0 < cut }) ?? true { cuts.append(cut) }
            start = edge
        }
        return cuts
    }
}
