import Foundation

/// Sums, means and extremes of all groups, in one pass over the rows, for the common element types.
enum GroupSums {
    /// Returns the sum of each group, or nil for types that are summed group by group.
    static func sums<N>(_ storage: ColumnStorage<N>, _ partition: GroupedRows.Partition) -> Column<N>? {
        if let storage = storage as? ColumnStorage<Double> { return total(storage, partition) as? Column<N> }
        if let storage = storage as? ColumnStorage<Int> { return total(storage, partition) as? Column<N> }
        if let storage = storage as? ColumnStorage<Float> { return total(storage, partition) as? Column<N> }
        return nil
    }

    static func means<N>(_ storage: ColumnStorage<N>, _ partition: GroupedRows.Partition) -> Column<N>? {
        if let storage = storage as? ColumnStorage<Double> { return mean(storage, partition) as? Column<N> }
        if let storage = storage as? ColumnStorage<Float> { return mean(storage, partition) as? Column<N> }
        return nil
    }

    static func extremes<N>(
        _ storage: ColumnStorage<N>,
        _ partition: GroupedRows.Partition,
        _ order: Order
    ) -> Column<N>? {
        if let storage = storage as? ColumnStorage<Double> { return extreme(storage, partition, order) as? Column<N> }
        if let storage = storage as? ColumnStorage<Int> { return extreme(storage, partition, order) as? Column<N> }
        if let storage = storage as? ColumnStorage<Float> { return extreme(storage, partition, order) as? Column<N> }
        if let storage = storage as? ColumnStorage<Date> { return extreme(storage, partition, order) as? Column<N> }
        return nil
    }

    /// Calls `body` with the group and value of every row whose value is not missing.
    @inline(__always)
    private static func forEach<N>(
        _ storage: ColumnStorage<N>,
        _ partition: GroupedRows.Partition,
        _ body: (Int, N) -> Void
    ) {
        guard let plain = storage.plain else { return }
        // There is a code for each row of the selection.
        let list = partition.codes.codes
        let codes = list.span
        switch partition.selection {
        case .range(let range) where plain.missing == 0:
            let elements = plain.values + range.lowerBound
            for position in 0..<range.count { body(Int(codes[unchecked: position]), elements[position]) }
        default:
            for (position, row) in partition.selection.enumerated() where !plain.isMissing(row) {
                body(Int(codes[unchecked: position]), plain.values[row])
            }
        }
        withExtendedLifetime(plain) {}
    }

    @inline(__always)
    private static func total<N: AdditiveArithmetic>(
        _ storage: ColumnStorage<N>,
        _ partition: GroupedRows.Partition
    ) -> Column<N> {
        let groups = partition.codes.count
        let result = PlainBuffer<N>(capacity: groups)
        let sums = result.values
        sums.update(repeating: .zero, count: groups)
        forEach(storage, partition) { group, value in sums[group] += value }
        result.count = groups
        return Column(name: "", storage: .plain(result))
    }

    @inline(__always)
    private static func mean<N: FloatingPoint>(
        _ storage: ColumnStorage<N>,
        _ partition: GroupedRows.Partition
    ) -> Column<N> {
        var sums = [(total: N, count: Int)](repeating: (0, 0), count: partition.codes.count)
        sums.withUnsafeMutableBufferPointer { sums in
            forEach(storage, partition) { group, value in
                sums[group].total += value
                sums[group].count &+= 1
            }
        }
        return Column<N>(name: "", contents: sums.map { $0.count == 0 ? nil : $0.total / N($0.count) })
    }

    @inline(__always)
    private static func extreme<N: Comparable>(
        _ storage: ColumnStorage<N>,
        _ partition: GroupedRows.Partition,
        _ order: Order
    ) -> Column<N> {
        var best = [N?](repeating: nil, count: partition.codes.count)
        best.withUnsafeMutableBufferPointer { best in
            forEach(storage, partition) { group, value in
                if let found = best[group] {
                    if order == .ascending ? value < found : value > found { best[group] = value }
                } else if value == value {
                    best[group] = value
                }
            }
        }
        return Column<N>(name: "", contents: best)
    }
}
