extension DataFrame {
    /// Selected rows of a frame, which are not copied and keep their numbers.
    ///
    /// Writing to a slice leaves the frame it was taken from unchanged.
    @dynamicMemberLookup
    public struct Slice: DataFrameProtocol {
        /// Columns of a slice are `AnyColumnSlice`s.
        public typealias ColumnType = AnyColumnSlice

        /// The whole frame.
        public private(set) var base: DataFrame
        @usableFromInline let selection: RowSelection

        @usableFromInline
        init(base: DataFrame, selection: RowSelection) {
            self.base = base
            self.selection = selection
        }

        /// The columns, in order, with the slice's rows.
        public var columns: [AnyColumnSlice] { base.stored.map { AnyColumnSlice(column: $0, selection: selection) } }

        /// The rows, as a collection.
        public var rows: DataFrame.Rows {
            get { Rows(base: base, selection: selection) }
            set { self = Slice(base: newValue.base, selection: newValue.selection) }
        }

        /// The number of rows in the slice and the number of columns.
        public var shape: (rows: Int, columns: Int) { (selection.count, base.stored.count) }

        /// The column with the name or alias of the member, as in `slice.price`.
        public subscript(dynamicMember columnName: String) -> AnyColumnSlice { self[columnName] }

        /// The column with a name or alias; none is a fatal error.
        public subscript(columnName: String) -> AnyColumnSlice {
            AnyColumnSlice(column: base[columnName], selection: selection)
        }

        /// The column with a name or alias and an element type; none is a fatal error.
        public subscript<T>(columnName: String, type: T.Type) -> DiscontiguousColumnSlice<T> {
            DiscontiguousColumnSlice(column: base[columnName, type], selection: selection)
        }

        /// The column with the name and element type of `columnID`.
        public subscript<T>(columnID: ColumnID<T>) -> DiscontiguousColumnSlice<T> { self[columnID.name, T.self] }

        /// The column at a position, with its element type.
        public subscript<T>(column index: Int, type: T.Type) -> DiscontiguousColumnSlice<T> {
            DiscontiguousColumnSlice(column: base[column: index, type], selection: selection)
        }

        /// The slice with the named columns only, in the order given.
        public subscript<S: Sequence>(columnNames: S) -> DataFrame.Slice where S.Element == String {
            selecting(columnNames: columnNames)
        }

        /// Returns the slice with the named columns only, in the order given.
        public func selecting<S: Sequence>(columnNames: S) -> DataFrame.Slice where S.Element == String {
            Slice(base: base.selecting(columnNames: columnNames), selection: selection)
        }

        /// Returns the slice with the named columns only, in the order given.
        public func selecting(columnNames: String...) -> DataFrame.Slice { selecting(columnNames: columnNames) }

        /// Returns the rows for whose element in one column `isIncluded` is true; they keep their numbers.
        ///
        /// - Parameters:
        ///   - columnName: The column's name or alias.
        ///   - type: The type of its elements, without the optional.
        ///   - isIncluded: Receives the element, nil when it is missing.
        /// - Returns: A slice of the same frame.
        /// - Throws: Rethrows the first error of `isIncluded`.
        @inlinable
        public func filter<T>(
            on columnName: String,
            _ type: T.Type,
            _ isIncluded: (T?) throws -> Bool
        ) rethrows -> DataFrame.Slice {
            Slice(base: base, selection: try self[columnName, type].storedValues.filter(isIncluded))
        }

        /// Returns the rows for whose element in the column `columnID` the closure is true; they keep their numbers.
        @inlinable
        public func filter<T>(
            on columnID: ColumnID<T>,
            _ isIncluded: (T?) throws -> Bool
        ) rethrows -> DataFrame.Slice {
            try filter(on: columnID.name, T.self, isIncluded)
        }

        /// Returns the first `length` rows of the slice, or all when there are fewer.
        public func prefix(_ length: Int) -> DataFrame.Slice {
            Slice(base: base, selection: selection.part(0..<Swift.min(Swift.max(length, 0), selection.count)))
        }

        /// Returns the rows whose numbers are at most `position`.
        public func prefix(through position: Int) -> DataFrame.Slice { prefix(upTo: position + 1) }

        /// Returns the rows whose numbers are less than `position`.
        public func prefix(upTo position: Int) -> DataFrame.Slice { prefix(selection.position(of: position)) }

        /// Returns the last `length` rows of the slice, or all when there are fewer.
        public func suffix(_ length: Int) -> DataFrame.Slice {
            let count = selection.count
            let kept = Swift.min(Swift.max(length, 0), count)
            return Slice(base: base, selection: selection.part(count - kept..<count))
        }

        /// Returns the rows whose numbers are at least `position`.
        public func suffix(from position: Int) -> DataFrame.Slice {
            let target = selection.position(of: position)
            return Slice(base: base, selection: selection.part(target..<selection.count))
        }
    }
}

extension DataFrame.Slice: Hashable {
    /// Whether names, types and elements of all columns are equal, in the same order; row numbers do not count.
    public static func == (lhs: DataFrame.Slice, rhs: DataFrame.Slice) -> Bool { lhs.columns == rhs.columns }

    /// Hashes the columns.
    public func hash(into hasher: inout Hasher) { hasher.combine(columns) }
}

extension DataFrame.Slice: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The slice as a table with the default formatting options.
    public var description: String { description(options: FormattingOptions()) }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A mirror whose children are the columns by name.
    public var customMirror: Mirror {
        Mirror(self, children: columns.map { (label: $0.name, value: $0 as Any) }, displayStyle: .struct)
    }
}
