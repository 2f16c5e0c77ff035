/// Rows of a column whose element type the compiler does not know.  Indices are those of the column.
public struct AnyColumnSlice: AnyColumnProtocol {
    var column: AnyColumn
    let selection: RowSelection

    init(column: AnyColumn, selection: RowSelection) {
        self.column = column
        self.selection = selection
    }

    public var name: String {
        get { column.name }
        set { column.name = newValue }
    }

    public var wrappedElementType: any Any.Type { column.wrappedElementType }

    public var count: Int { selection.count }

    public var missingCount: Int {
        if column.missingCount == 0 { return 0 }
        return selection.reduce(0) { $0 + (column.erased.isMissing($1) ? 1 : 0) }
    }

    public func isNil(at index: Int) -> Bool {
        check(index)
        return column.erased.isMissing(index)
    }

    /// The slice with its type.  Elements must be of that type.
    public func assumingType<T>(_ type: T.Type) -> DiscontiguousColumnSlice<T> {
        DiscontiguousColumnSlice(column: column.assumingType(type), selection: selection)
    }

    /// The first row of each different element; a missing one counts as an element.
    public func distinct() -> AnyColumnSlice {
        AnyColumnSlice(column: column, selection: column.distinctRows(selection))
    }

    public func summary() -> AnyCategoricalSummary { AnyCategoricalSummary(column, selection) }

    /// The elements as a column of their own.
    func materialised() -> AnyColumn { AnyColumn(erased: column.erased.gathered(selection)) }

    private func check(_ index: Int) {
        require(selection.contains(index), "row \(index) is not one of the slice of column '\(name)'")
    }
}

extension AnyColumnSlice: RandomAccessCollection, MutableCollection {
    public typealias Element = Any?
    public typealias Index = Int
    public typealias Indices = DefaultIndices<AnyColumnSlice>
    public typealias SubSequence = AnyColumnSlice

    public var startIndex: Int { selection.startIndex }
    public var endIndex: Int { selection.endIndex }
    public func index(after i: Int) -> Int { selection.index(after: i) }
    public func index(before i: Int) -> Int { selection.index(before: i) }
    public func distance(from start: Int, to end: Int) -> Int { selection.place(of: end) - selection.place(of: start) }

    public func index(_ i: Int, offsetBy distance: Int) -> Int {
        let place = selection.place(of: i) + distance
        require(place >= 0 && place <= count, "there is no such row in the slice")
        return place == count ? endIndex : selection.row(at: place)
    }

    public func index(_ i: Int, offsetBy distance: Int, limitedBy limit: Int) -> Int? {
        let place = selection.place(of: i) + distance
        let bound = selection.place(of: limit)
        if distance >= 0
            ? bound >= selection.place(of: i) && place > bound : bound <= selection.place(of: i) && place < bound
        {
            return nil
        }
        return index(i, offsetBy: distance)
    }

    public subscript(position: Int) -> Any? {
        get {
            check(position)
            return column.erased.element(position)
        }
        set {
            check(position)
            column[position] = newValue
        }
    }

    public subscript(range: Range<Int>) -> AnyColumnSlice {
        get { AnyColumnSlice(column: column, selection: selection.clamped(to: range)) }
        set {
            let rows = selection.clamped(to: range)
            require(rows.count == newValue.count, "\(newValue.count) elements cannot replace \(rows.count)")
            for (row, element) in zip(rows, newValue) { column[row] = element }
        }
    }
}

extension AnyColumnSlice: Hashable {
    public static func == (lhs: AnyColumnSlice, rhs: AnyColumnSlice) -> Bool {
        lhs.column.erased.isEqual(rhs.column.erased, lhs.selection, rhs.selection)
    }

    public func hash(into hasher: inout Hasher) { column.erased.hash(selection, into: &hasher) }
}

extension AnyColumnSlice: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { description(options: FormattingOptions()) }

    public func description(options: FormattingOptions) -> String {
        TablePrinter(columns: [column], rows: selection, options: options).text(footer: "\(count) elements")
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: map { $0 as Any }, displayStyle: .collection) }
}
