public import Foundation

extension DataFrameProtocol {
    /// Rows with equal elements in a column.
    public func grouped<GroupingKey: Hashable>(by columnID: ColumnID<GroupingKey>) -> RowGrouping<GroupingKey> {
        _ = base[columnID]
        return RowGrouping(GroupedRows(base, selection, by: [columnID.name]))
    }

    /// Rows for whose elements `transform` gives the same.
    public func grouped<InputKey, GroupingKey: Hashable>(
        by columnName: String,
        transform: (InputKey?) -> GroupingKey?
    ) -> RowGrouping<GroupingKey> {
        let values = _ColumnValues(storage: base[columnName, InputKey.self].storage, selection: selection)
        return RowGrouping(
            GroupedRows(base, selection, keys: Column(name: columnName, storage: values.map(transform)))
        )
    }

    /// Rows for whose elements `transform` gives the same.
    public func grouped<InputKey, GroupingKey: Hashable>(
        by columnID: ColumnID<InputKey>,
        transform: (InputKey?) -> GroupingKey?
    ) -> RowGrouping<GroupingKey> {
        grouped(by: columnID.name, transform: transform)
    }

    /// Rows by a component of their date in the current calendar; the key's column is named `column.component`.
    public func grouped(by columnName: String, timeUnit: Calendar.Component) -> RowGrouping<Int> {
        RowGrouping(frame: self, columnName: columnName, timeUnit: timeUnit)
    }

    /// Rows by a component of their date in the current calendar; the key's column is named `column.component`.
    public func grouped(by columnID: ColumnID<Date>, timeUnit: Calendar.Component) -> RowGrouping<Int> {
        grouped(by: columnID.name, timeUnit: timeUnit)
    }

    /// Rows with equal elements in all of these columns.
    public func grouped(by columnNames: String...) -> some RowGroupingProtocol {
        MultipleKeyGrouping(groups: GroupedRows(base, selection, by: columnNames))
    }

    /// Rows with equal elements in all of these columns.
    public func grouped<T: Hashable>(by columnIDs: ColumnID<T>...) -> some RowGroupingProtocol {
        MultipleKeyGrouping(groups: GroupedRows(base, selection, by: columnIDs.map(\.name)))
    }

    /// Rows with equal elements in both columns.
    public func grouped<T0: Hashable, T1: Hashable>(
        by column0: ColumnID<T0>,
        _ column1: ColumnID<T1>
    ) -> some RowGroupingProtocol {
        MultipleKeyGrouping(groups: GroupedRows(base, selection, by: [column0.name, column1.name]))
    }

    /// Rows with equal elements in all three columns.
    public func grouped<T0: Hashable, T1: Hashable, T2: Hashable>(
        by column0: ColumnID<T0>,
        _ column1: ColumnID<T1>,
        _ column2: ColumnID<T2>
    ) -> some RowGroupingProtocol {
        MultipleKeyGrouping(groups: GroupedRows(base, selection, by: [column0.name, column1.name, column2.name]))
    }

    /// A grouping whose type says the column's.
    func groupedByName(_ columnName: String) -> any RowGroupingProtocol {
        func grouping<Key: Hashable>(_: Key.Type) -> any RowGroupingProtocol {
            RowGrouping<Key>(GroupedRows(base, selection, by: [columnName]))
        }
        let column = base[columnName]
        guard let type = column.wrappedElementType as? any Hashable.Type else {
            fatalError(
                "elements of column '\(column.name)' (\(typeName(column.wrappedElementType))) are not Hashable"
            )
        }
        return grouping(type)
    }
}

extension DataFrame {
    /// Rows with equal elements in a column.
    public func grouped(by columnName: String) -> any RowGroupingProtocol { groupedByName(columnName) }
}

extension DataFrame.Slice {
    /// Rows with equal elements in a column.
    public func grouped(by columnName: String) -> any RowGroupingProtocol { groupedByName(columnName) }
}
