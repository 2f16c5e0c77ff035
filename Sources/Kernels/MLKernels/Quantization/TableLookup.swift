/// Reads entries of tables at indices of one byte, in rows that share a group of tables.
package struct TableLookup: Sendable {
    private let rowGroups: [Int]
    private let rowLength: Int
    private let columns: Int
    private let size: Int
    private let entries: Int

    /// A reader of tables `[groups][entries]`.
    ///
    /// - Parameters:
    ///   - rowGroups: For each row of indices the index of its group of tables.
    ///   - rowLength: The number of indices in a row, at least 1.
    ///   - columns: The number of tables in a group, at least 1: each serves an equal part of a row.
    ///   - entries: The number of entries of a table.
    package init(rowGroups: [Int], rowLength: Int, columns: Int, entries: Int) {
        self.rowGroups = rowGroups
        self.rowLength = rowLength
        self.columns = columns
        self.entries = entries
        size = max(rowLength / columns, 1)
    }

    /// `target[i] = tables[group of i][indices[i]]`.
    ///
    /// - Parameters:
    ///   - indices: The index of each entry [rows, rowLength], below the number of entries.
    ///   - tables: The tables.
    ///   - elementByteCount: The number of bytes of an entry: 1, 2 or 4.
    ///   - target: The entries [rows, rowLength].
    package func run(
        _ indices: UnsafeRawPointer,
        in tables: UnsafeRawPointer,
        elementByteCount: Int,
        into target: UnsafeMutableRawPointer
    ) {
        let positions = indices.assumingMemoryBound(to: UInt8.self)
        switch elementByteCount {
        case 1: scalars(UInt8.self, positions, tables, target)
        case 2: scalars(UInt16.self, positions, tables, target)
        default: scalars(UInt32.self, positions, tables, target)
        }
    }

    /// The same for entries of `width` elements, which become neighbours `inner` elements apart.
    ///
    /// - Parameters:
    ///   - indices: The index of each entry [outer, inner], in rows as above.
    ///   - tables: The tables [groups][entries][width].
    ///   - elementByteCount: The number of bytes of an element: 1, 2 or 4.
    ///   - width: The number of elements of an entry.
    ///   - inner: The product of the extents after the axis along which entries lie.
    ///   - target: The elements [outer, width, inner].
    package func run(
        _ indices: UnsafeRawPointer,
        in tables: UnsafeRawPointer,
        elementByteCount: Int,
        width: Int,
        inner: Int,
        into target: UnsafeMutableRawPointer
    ) {
        let positions = indices.assumingMemoryBound(to: UInt8.self)
        switch elementByteCount {
        case 1: vectors(UInt8.self, positions, tables, width: width, inner: inner, target)
        case 2: vectors(UInt16.self, positions, tables, width: width, inner: inner, target)
        default: vectors(UInt32.self, positions, tables, width: width, inner: inner, target)
        }
    }

    private func scalars<Element: FixedWidthInteger & BitwiseCopyable>(
        _: Element.Type,
        _ indices: UnsafePointer<UInt8>,
        _ tables: UnsafeRawPointer,
        _ target: UnsafeMutableRawPointer
    ) {
        let table = tables.assumingMemoryBound(to: Element.self)
        let values = target.assumingMemoryBound(to: Element.self)
        Workers.parallelFor(rowGroups.count) { row, _ in
            let start = row * rowLength
            for column in 0..<rowLength {
                let group = rowGroups[row] * columns + column / size
                values[start + column] = table[group * entries + Int(indices[start + column])]
            }
        }
    }

    private func vectors<Element: FixedWidthInteger & BitwiseCopyable>(
        _: Element.Type,
        _ indices: UnsafePointer<UInt8>,
        _ tables: UnsafeRawPointer,
        width: Int,
        inner: Int,
        _ target: UnsafeMutableRawPointer
    ) {
        let table = tables.assumingMemoryBound(to: Element.self)
        let values = target.assumingMemoryBound(to: Element.self)
        Workers.parallelFor(rowGroups.count) { row, _ in
            for column in 0..<rowLength {
                let index = row * rowLength + column
                let group = rowGroups[row] * columns + column / size
                let entry = (group * entries + Int(indices[index])) * width
                let start = index / inner * width * inner + index % inner
                for element in 0..<width { values[start + element * inner] = table[entry + element] }
            }
        }
    }
}
