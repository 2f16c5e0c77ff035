/// Selected rows of a column whose element type is known at run time only.
///
/// Indices are the column's row numbers, ascending and possibly with gaps. Writing to a slice leaves the column it was
/// taken from unchanged.
public struct AnyColumnSlice: AnyColumnProtocol {
    var column: AnyColumn
    let selection: RowSelection

    init(column: AnyColumn, selection: RowSelection) {
        self.column = column
        self.selection = selection
    }

    /// The column's name.
    public var name: String {
        get { column.name }
        set { column.name = newValue }
    }

    /// The type of the elements without the optional.
    public var wrappedElementType: any Any.Type { column.wrappedElementType }

    /// The number of elements in the slice, including missing ones.
    public var count: Int { selection.count }

    /// The number of missing elements in the slice.
    public var missingCount: Int {
        if column.missingCount == 0 { return 0 }
        return selection.reduce(0) { $0 + (column.erased.isMissing($1) ? 1 : 0) }
    }

    /// Whether the element at row `index` is missing; a row that is not in the slice is a fatal error.
    public func isNil(at index: Int) -> Bool {
        check(index)
        return column.erased.isMissing(index)
    }

    /// Returns the slice with its static element type.
    ///
    /// - Parameter type: The elements' exact type, without the optional; any other type is a fatal error.
    /// - Returns: The typed slice, with the same row numbers.
    public func assumingType<T>(_ type: T.Type) -> DiscontiguousColumnSlice<T> {
        DiscontiguousColumnSlice(column: column.assumingType(type), selection: selection)
    }

    /// Returns the first row of each distinct element; all missing elements count as one.
    ///
    /// Elements that are not `Hashable` are a fatal error.
    public func distinct() -> AnyColumnSlice {
        AnyColumnSlice(column: column, selection: column.distinctRows(selection))
    }

    /// Returns the slice's counts of elements, missing elements and distinct elements, and its most frequent elements.
    public func summary() -> AnyCategoricalSummary { AnyCategoricalSummary(column, selection) }

    /// Returns the elements as a column of their own.
    func materialised() -> AnyColumn { AnyColumn(erased: column.erased.gathered(selection)) }

    private func check(_ index: Int) {
        require(selection.contains(index), "row \(index) is not one of the slice of column '\(name)'")
    }
}

extension AnyColumnSlice: RandomAccessCollection, MutableCollection {
    /// The type of the slice's elements: a value of `wrappedElementType`, or nil for a missing element.
    public typealias Element = Any?
    /// Row numbers of the column.
    public typealias Index = Int
    /// The row numbers of the slice.
    public typealias Indices = DefaultIndices<AnyColumnSlice>
    /// A slice of a slice has the same type and keeps the row numbers.
    public typealias SubSequence = AnyColumnSlice

    /// The first row's number in the column.
    public var startIndex: Int { selection.startIndex }
    /// The number after the last row's.
    public var endIndex: Int { selection.endIndex }
    /// The number of the next row in the slice, or `endIndex`.
    public func index(after i: Int) -> Int { selection.index(after: i) }
    /// The number of the previous row in the slice.
    public func index(before i: Int) -> Int { selection.index(before: i) }
    /// The number of the slice's rows from `start` up to `end`.
    public func distance(from start: Int, to end: Int) -> Int {
        selection.position(of: end) - selection.position(of: start)
    }

    /// The number of the row `distance` rows after `i` in the slice; one before the first or beyond the end is a fatal
    /// error.
    public func index(_ i: Int, offsetBy distance: Int) -> Int {
        let target = selection.position(of: i) + distance
        require(target >= 0 && target <= count, "there is no such row in the slice")
        return target == count ? endIndex : selection.row(at: target)
    }

    /// The number of the row `distance` rows after `i` in the slice, or nil when `limit` lies before it on the way.
    public func index(_ i: Int, offsetBy distance: Int, limitedBy limit: Int) -> Int? {
        let target = selection.position(of: i) + distance
        let bound = selection.position(of: limit)
        if distance >= 0
            ? bound >= selection.position(of: i) && target > bound
            : bound <= selection.position(of: i) && target < bound
        {
            return nil
        }
        return index(i, offsetBy: distance)
    }

    /// The element at a row of the column, nil when it is missing.
    ///
    /// A row that is not in the slice and assigning a value of another type are fatal errors.
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

    /// The rows of the slice whose numbers lie in `range`; assigning needs as many elements of the same type.
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
    /// Whether names, element types and elements are equal; slices of a type that is not `Equatable` never are.
    public static func == (lhs: AnyColumnSlice, rhs: AnyColumnSlice) -> Bool {
        lhs.column.erased.isEqual(rhs.column.erased, lhs.selection, rhs.selection)
    }

    /// Hashes the name and the elements; of types that are not `Hashable`, the name and the count.
    public func hash(into hasher: inout Hasher) { column.erased.hash(selection, into: &hasher) }
}

extension AnyColumnSlice: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The slice as a table with the default formatting options.
    public var description: String { description(options: FormattingOptions()) }

    /// Returns the slice as a table, with the number of elements below it.
    public func description(options: FormattingOptions) -> String {
        TablePrinter(columns: [column], rows: selection, options: options).text(.elements)
    }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A mirror whose children are the elements.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: map { $0 as Any }, displayStyle: .collection) }
}
