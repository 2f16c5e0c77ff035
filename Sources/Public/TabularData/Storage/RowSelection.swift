/// Rows of a frame or a column, ascending and each once.
@usableFromInline
enum RowSelection: Sendable {
    case range(Range<Int>)
    case rows(ArraySlice<UInt32>)

    /// The greatest number of rows in a frame: row numbers have 32 bits, and one value stands for no row.
    static let maximumRowCount = Int(UInt32.max) - 1

    /// Creates a selection from ascending row numbers, as a range when they are consecutive.
    @usableFromInline
    init(ascending rows: ArraySlice<UInt32>) {
        if let first = rows.first, let last = rows.last {
            self = Int(last - first) == rows.count - 1 ? .range(Int(first)..<Int(last) + 1) : .rows(rows)
        } else {
            self = .range(0..<0)
        }
    }

    /// Creates a selection of the rows in any of the ranges.
    init(ranges: [Range<Int>]) {
        let sorted = ranges.filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }
        guard let first = sorted.first else {
            self = .range(0..<0)
            return
        }
        if sorted.count == 1 {
            self = .range(first)
            return
        }
        var rows: [UInt32] = []
        var next = 0
        for range in sorted {
            let start = Swift.max(range.lowerBound, next)
            if start < range.upperBound {
                rows.append(contentsOf: UInt32(start)..<UInt32(range.upperBound))
                next = range.upperBound
            }
        }
        self.init(ascending: rows[...])
    }

    @inlinable
    var count: Int {
        switch self {
        case .range(let range): range.count
        case .rows(let rows): rows.count
        }
    }

    @inlinable
    var startIndex: Int {
        switch self {
        case .range(let range): range.lowerBound
        case .rows(let rows): Int(rows[rows.startIndex])
        }
    }

    @inlinable
    var endIndex: Int {
        switch self {
        case .range(let range): range.upperBound
        case .rows(let rows): Int(rows[rows.endIndex - 1]) + 1
        }
    }

    /// Returns the row number at a position in the selection.
    @inlinable
    func row(at position: Int) -> Int {
        switch self {
        case .range(let range): range.lowerBound &+ position
        case .rows(let rows): Int(rows[rows.startIndex &+ position])
        }
    }

    /// Returns the number of selected rows before `row`.
    @usableFromInline
    func position(of row: Int) -> Int {
        switch self {
        case .range(let range): return Swift.min(Swift.max(row - range.lowerBound, 0), range.count)
        case .rows(let rows):
            var low = rows.startIndex
            var high = rows.endIndex
            while low < high {
                let middle = (low + high) / 2
                if Int(rows[middle]) < row { low = middle + 1 } else { high = middle }
            }
            return low - rows.startIndex
        }
    }

    @usableFromInline
    func contains(_ row: Int) -> Bool {
        let position = position(of: row)
        return position < count && self.row(at: position) == row
    }

    @usableFromInline
    func index(after row: Int) -> Int {
        if case .range = self { return row + 1 }
        let position = position(of: row + 1)
        return position < count ? self.row(at: position) : endIndex
    }

    @usableFromInline
    func index(before row: Int) -> Int {
        if case .range = self { return row - 1 }
        let position = position(of: row) - 1
        require(position >= 0, "there is no row before the first")
        return self.row(at: position)
    }

    /// Returns the selected rows that lie in `bounds`.
    @usableFromInline
    func clamped(to bounds: Range<Int>) -> RowSelection {
        switch self {
        case .range(let range): return .range(range.clamped(to: bounds))
        case .rows:
            return part(position(of: bounds.lowerBound)..<position(of: bounds.upperBound))
        }
    }

    /// Returns the selected rows at the positions `positions`.
    @usableFromInline
    func part(_ positions: Range<Int>) -> RowSelection {
        switch self {
        case .range(let range):
            return .range(range.lowerBound + positions.lowerBound..<range.lowerBound + positions.upperBound)
        case .rows(let rows):
            let start = rows.startIndex
            return RowSelection(ascending: rows[start + positions.lowerBound..<start + positions.upperBound])
        }
    }

    /// Calls `body` with each position in the selection and its row number.
    @inline(__always)
    func forEachPlace(_ body: (Int, Int) -> Void) {
        switch self {
        case .range(let range): for position in 0..<range.count { body(position, range.lowerBound &+ position) }
        case .rows(let rows):
            let rows = rows.span
            for position in rows.indices { body(position, Int(rows[unchecked: position])) }
        }
    }

    /// The row numbers as a list.
    var list: [UInt32] {
        switch self {
        case .rows(let rows): Array(rows)
        case .range(let range): Array(UInt32(range.lowerBound)..<UInt32(range.upperBound))
        }
    }
}

extension RowSelection: Sequence {
    @usableFromInline
    struct Iterator: IteratorProtocol {
        @usableFromInline let selection: RowSelection
        @usableFromInline var position: Int
        @usableFromInline let count: Int

        @inlinable
        init(_ selection: RowSelection) {
            self.selection = selection
            position = 0
            count = selection.count
        }

        @inlinable
        mutating func next() -> Int? {
            if position == count { return nil }
            defer { position &+= 1 }
            return selection.row(at: position)
        }
    }

    @inlinable
    func makeIterator() -> Iterator { Iterator(self) }

    @inlinable var underestimatedCount: Int { count }
}

extension RowSelection: Equatable {
    @usableFromInline
    static func == (lhs: RowSelection, rhs: RowSelection) -> Bool {
        switch (lhs, rhs) {
        case (.range(let a), .range(let b)): a == b
        case (.rows(let a), .rows(let b)): a == b
        default: lhs.elementsEqual(rhs)
        }
    }
}

extension RowSelection {
    /// Returns the selected rows for which `isIncluded` is true.
    @inlinable
    func keeping(_ isIncluded: (Int) throws -> Bool) rethrows -> RowSelection {
        let rows = try [UInt32](unsafeUninitializedCapacity: count) { buffer, count in
            var kept = 0
            switch self {
            case .range(let range):
                for row in range {
                    buffer[kept] = UInt32(truncatingIfNeeded: row)
                    kept &+= try isIncluded(row) ? 1 : 0
                }
            case .rows(let list):
                for row in list {
                    buffer[kept] = row
                    kept &+= try isIncluded(Int(row)) ? 1 : 0
                }
            }
            count = kept
        }
        return RowSelection(ascending: rows[...])
    }
}
