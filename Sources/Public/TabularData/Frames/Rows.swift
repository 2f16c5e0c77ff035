extension DataFrame {
    /// The rows of a frame or slice, as a collection.
    ///
    /// Indices are the rows' numbers in the frame, so those of a slice may have gaps.
    public struct Rows {
        var base: DataFrame
        let selection: RowSelection

        init(base: DataFrame, selection: RowSelection) {
            self.base = base
            self.selection = selection
        }
    }
}

extension DataFrame.Rows: BidirectionalCollection, MutableCollection {
    /// The elements are rows.
    public typealias Element = DataFrame.Row
    /// Row numbers of the frame.
    public typealias Index = Int
    /// The row numbers in the collection.
    public typealias Indices = DefaultIndices<DataFrame.Rows>
    /// A slice of the rows has the same type and keeps the row numbers.
    public typealias SubSequence = DataFrame.Rows

    /// Iterates over the rows in one pass.
    public struct Iterator: IteratorProtocol {
        let base: DataFrame
        var rows: RowSelection.Iterator

        /// Returns the next row, or nil at the end.
        public mutating func next() -> DataFrame.Row? { rows.next().map { DataFrame.Row(base: base, index: $0) } }
    }

    /// Returns an iterator over the rows in order.
    public func makeIterator() -> Iterator { Iterator(base: base, rows: selection.makeIterator()) }

    /// The first row's number.
    public var startIndex: Int { selection.startIndex }
    /// The number after the last row's.
    public var endIndex: Int { selection.endIndex }
    /// The number of rows.
    public var count: Int { selection.count }
    /// The number of the next row in the collection, or `endIndex`.
    public func index(after i: Int) -> Int { selection.index(after: i) }
    /// The number of the previous row in the collection; there being none is a fatal error.
    public func index(before i: Int) -> Int { selection.index(before: i) }
    /// The number of the collection's rows from `start` up to `end`.
    public func distance(from start: Int, to end: Int) -> Int {
        selection.position(of: end) - selection.position(of: start)
    }

    private func check(_ position: Int) {
        require(selection.contains(position), "row \(position) is not one of the rows")
    }

    /// The row with a number; assigning copies the values of a row whose columns have the same names and types.
    ///
    /// A row of another frame is matched by the names of its columns, in any order. Other names or types are a fatal
    /// error.
    public subscript(position: Int) -> DataFrame.Row {
        get {
            check(position)
            return DataFrame.Row(base: base, index: position)
        }
        set {
            check(position)
            var row = newValue
            base.write(taking: &row, at: position)
        }
        _modify {
            check(position)
            var row = DataFrame.Row(base: base, index: position)
            defer { base.write(taking: &row, at: position) }
            yield &row
        }
    }

    /// The rows whose numbers lie in `bounds`; assigning needs as many rows.
    public subscript(bounds: Range<Int>) -> DataFrame.Rows {
        get { DataFrame.Rows(base: base, selection: selection.clamped(to: bounds)) }
        set {
            let rows = selection.clamped(to: bounds)
            require(rows.count == newValue.count, "\(newValue.count) rows cannot replace \(rows.count)")
            for (row, var other) in zip(rows, newValue) { base.write(taking: &other, at: row) }
        }
    }
}
