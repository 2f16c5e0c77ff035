extension DataFrame {
    /// Rows of a frame.  Indices are the rows' numbers in the frame.
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
    public typealias Element = DataFrame.Row
    public typealias Index = Int
    public typealias Indices = DefaultIndices<DataFrame.Rows>
    public typealias SubSequence = DataFrame.Rows

    public struct Iterator: IteratorProtocol {
        let base: DataFrame
        var rows: RowSelection.Iterator

        public mutating func next() -> DataFrame.Row? { rows.next().map { DataFrame.Row(base: base, index: $0) } }
    }

    public func makeIterator() -> Iterator { Iterator(base: base, rows: selection.makeIterator()) }

    public var startIndex: Int { selection.startIndex }
    public var endIndex: Int { selection.endIndex }
    public var count: Int { selection.count }
    public func index(after i: Int) -> Int { selection.index(after: i) }
    public func index(before i: Int) -> Int { selection.index(before: i) }
    public func distance(from start: Int, to end: Int) -> Int { selection.place(of: end) - selection.place(of: start) }

    private func check(_ position: Int) {
        require(selection.contains(position), "row \(position) is not one of the rows")
    }

    public subscript(position: Int) -> DataFrame.Row {
        get {
            check(position)
            return DataFrame.Row(base: base, index: position)
        }
        set {
            check(position)
            base.write(newValue, at: position)
        }
        _modify {
            check(position)
            var row = DataFrame.Row(base: base, index: position)
            base = DataFrame()
            defer { base = row.base }
            yield &row
        }
    }

    public subscript(bounds: Range<Int>) -> DataFrame.Rows {
        get { DataFrame.Rows(base: base, selection: selection.clamped(to: bounds)) }
        set {
            let rows = selection.clamped(to: bounds)
            require(rows.count == newValue.count, "\(newValue.count) rows cannot replace \(rows.count)")
            for (row, other) in zip(rows, newValue) { base.write(other, at: row) }
        }
    }
}
