public import Foundation

extension DataFrameProtocol {
    /// Groups the rows by the elements of a column of known type.
    public func grouped<GroupingKey: Hashable>(by columnID: ColumnID<GroupingKey>) -> RowGrouping<GroupingKey> {
        _ = base[columnID]
        return RowGrouping(GroupedRows(base, selection, by: [columnID.name]))
    }

    /// Groups the rows by the results of `transform` for the elements of a column.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias, which also names the column of keys.
    ///   - transform: Makes a key of an element, nil when it is missing; a nil key forms a group of its own.
    /// - Returns: Groups in the order in which their keys first appear.
    public func grouped<InputKey, GroupingKey: Hashable>(
        by columnName: String,
        transform: (InputKey?) -> GroupingKey?
    ) -> RowGrouping<GroupingKey> {
        let values = StoredValues(storage: base[columnName, InputKey.self].storage, selection: selection)
        return RowGrouping(
            GroupedRows(base, selection, keys: Column(name: columnName, storage: values.map(transform)))
        )
    }

    /// Groups the rows by the results of `transform` for the elements of the column `columnID`.
    public func grouped<InputKey, GroupingKey: Hashable>(
        by columnID: ColumnID<InputKey>,
        transform: (InputKey?) -> GroupingKey?
    ) -> RowGrouping<GroupingKey> {
        grouped(by: columnID.name, transform: transform)
    }

    /// Groups the rows by a component of the dates in a column, in the current calendar.
    ///
    /// - Parameters:
    ///   - columnName: A column of `Date` elements; missing dates form a group.
    ///   - timeUnit: The component, such as `.month`; the column of keys is named `columnName.timeUnit`.
    /// - Returns: Groups in the order in which their keys first appear.
    public func grouped(by columnName: String, timeUnit: Calendar.Component) -> RowGrouping<Int> {
        RowGrouping(frame: self, columnName: columnName, timeUnit: timeUnit)
    }

    /// Groups the rows by a component of the dates in the column `columnID`, in the current calendar.
    public func grouped(by columnID: ColumnID<Date>, timeUnit: Calendar.Component) -> RowGrouping<Int> {
        grouped(by: columnID.name, timeUnit: timeUnit)
    }

    /// Groups the rows by the combinations of elements in several columns, which must be `Hashable`.
    public func grouped(by columnNames: String...) -> some RowGroupingProtocol {
        MultipleKeyGrouping(groups: GroupedRows(base, selection, by: columnNames))
    }

    /// Groups the rows by the combinations of elements in several columns of one type.
    public func grouped<T: Hashable>(by columnIDs: ColumnID<T>...) -> some RowGroupingProtocol {
        MultipleKeyGrouping(groups: GroupedRows(base, selection, by: columnIDs.map(\.name)))
    }

    /// Groups the rows by the pairs of elements in two columns.
    public func grouped<T0: Hashable, T1: Hashable>(
        by column0: ColumnID<T0>,
        _ column1: ColumnID<T1>
    ) -> some RowGroupingProtocol {
        MultipleKeyGrouping(groups: GroupedRows(base, selection, by: [column0.name, column1.name]))
    }

    /// Groups the rows by the combinations of elements in three columns.
    public func grouped<T0: Hashable, T1: Hashable, T2: Hashable>(
        by column0: ColumnID<T0>,
        _ column1: ColumnID<T1>,
        _ column2: ColumnID<T2>
    ) -> some RowGroupingProtocol {
        MultipleKeyGrouping(groups: GroupedRows(base, selection, by: [column0.name, column1.name, column2.name]))
    }

    /// Returns a grouping whose key type is the column's element type, found at run time.
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
    /// Groups the rows by the elements of a column; elements that are not `Hashable` are a fatal error.
    public func grouped(by columnName: String) -> any RowGroupingProtocol { groupedByName(columnName) }
}

extension DataFrame.Slice {
    /// Groups the rows by the elements of a column; elements that are not `Hashable` are a fatal error.
    public func grouped(by columnName: String) -> any RowGroupingProtocol { groupedByName(columnName) }
}
