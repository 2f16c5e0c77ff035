extension DataFrame {
    /// Some rows of a frame, without a copy.  Rows keep their numbers.
    @dynamicMemberLookup
    public struct Slice: DataFrameProtocol {
        public typealias ColumnType = AnyColumnSlice

        public private(set) var base: DataFrame
        @usableFromInline let selection: RowSelection

        @usableFromInline
        init(base: DataFrame, selection: RowSelection) {
            self.base = base
            self.selection = selection
        }

        public var columns: [AnyColumnSlice] { base.stored.map { AnyColumnSlice(column: $0, selection: selection) } }

        public var rows: DataFrame.Rows {
            get { Rows(base: base, selection: selection) }
            set { self = Slice(base: newValue.base, selection: newValue.selection) }
        }

        public var shape: (rows: Int, columns: Int) { (selection.count, base.stored.count) }

        public subscript(dynamicMember columnName: String) -> AnyColumnSlice { self[columnName] }

        public subscript(columnName: String) -> AnyColumnSlice {
            AnyColumnSlice(column: base[columnName], selection: selection)
        }

        public subscript<T>(columnName: String, type: T.Type) -> DiscontiguousColumnSlice<T> {
            DiscontiguousColumnSlice(column: base[columnName, type], selection: selection)
        }

        public subscript<T>(columnID: ColumnID<T>) -> DiscontiguousColumnSlice<T> { self[columnID.name, T.self] }

        public subscript<T>(column index: Int, type: T.Type) -> DiscontiguousColumnSlice<T> {
            DiscontiguousColumnSlice(column: base[column: index, type], selection: selection)
        }

        public subscript<S: Sequence>(columnNames: S) -> DataFrame.Slice where S.Element == String {
            selecting(columnNames: columnNames)
        }

        public func selecting<S: Sequence>(columnNames: S) -> DataFrame.Slice where S.Element == String {
            Slice(base: base.selecting(columnNames: columnNames), selection: selection)
        }

        public func selecting(columnNames: String...) -> DataFrame.Slice { selecting(columnNames: columnNames) }

        @inlinable
        public func filter<T>(
            on columnName: String,
            _ type: T.Type,
            _ isIncluded: (T?) throws -> Bool
        ) rethrows -> DataFrame.Slice {
            Slice(base: base, selection: try self[columnName, type]._values.filter(isIncluded))
        }

        @inlinable
        public func filter<T>(
            on columnID: ColumnID<T>,
            _ isIncluded: (T?) throws -> Bool
        ) rethrows -> DataFrame.Slice {
            try filter(on: columnID.name, T.self, isIncluded)
        }

        public func prefix(_ length: Int) -> DataFrame.Slice {
            Slice(base: base, selection: selection.part(0..<Swift.min(Swift.max(length, 0), selection.count)))
        }

        /// The rows up to the one with a number, and that one.
        public func prefix(through position: Int) -> DataFrame.Slice { prefix(upTo: position + 1) }

        /// The rows before the one with a number.
        public func prefix(upTo position: Int) -> DataFrame.Slice { prefix(selection.place(of: position)) }

        public func suffix(_ length: Int) -> DataFrame.Slice {
            let count = selection.count
            let kept = Swift.min(Swift.max(length, 0), count)
            return Slice(base: base, selection: selection.part(count - kept..<count))
        }

        /// The rows from the one with a number on.
        public func suffix(from position: Int) -> DataFrame.Slice {
            let place = selection.place(of: position)
            return Slice(base: base, selection: selection.part(place..<selection.count))
        }
    }
}

extension DataFrame.Slice: Hashable {
    /// Whether names, types and elements of all columns are equal.
    public static func == (lhs: DataFrame.Slice, rhs: DataFrame.Slice) -> Bool { lhs.columns == rhs.columns }

    public func hash(into hasher: inout Hasher) { hasher.combine(columns) }
}

extension DataFrame.Slice: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { description(options: FormattingOptions()) }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Mirror(self, children: columns.map { (label: $0.name, value: $0 as Any) }, displayStyle: .struct)
    }
}
