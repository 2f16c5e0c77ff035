import Foundation

// Equal rows stay in their order, for both orders.

extension DataFrame {
    /// Sorts the rows by a column of Booleans, numbers, dates, strings or other `Comparable` elements.
    ///
    /// Missing elements are less than all others, NaN is greater. Rows with equal elements keep their order.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias; elements that are not `Comparable` are a fatal error.
    ///   - order: Ascending, the default, or descending.
    public mutating func sort(on columnName: String, order: Order = .ascending) {
        self = ordered(by: [base[columnName].sortKeys(selection)], order)
    }

    /// Sorts the rows by a column of type `type`; missing elements are less than all others.
    public mutating func sort<T: Comparable>(on columnName: String, _ type: T.Type, order: Order = .ascending) {
        self = ordered(by: [keys(columnName, type)], order)
    }

    /// Sorts the rows by the column `columnID`; missing elements are less than all others.
    public mutating func sort<T: Comparable>(on columnID: ColumnID<T>, order: Order = .ascending) {
        self = ordered(by: [keys(columnID.name, T.self)], order)
    }

    /// Sorts the rows by two columns; the second breaks ties of the first.
    public mutating func sort<T0: Comparable, T1: Comparable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        order: Order = .ascending
    ) {
        self = ordered(by: [keys(columnID0.name, T0.self), keys(columnID1.name, T1.self)], order)
    }

    /// Sorts the rows by three columns; each breaks ties of those before it.
    public mutating func sort<T0: Comparable, T1: Comparable, T2: Comparable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        _ columnID2: ColumnID<T2>,
        order: Order = .ascending
    ) {
        let keys = [keys(columnID0.name, T0.self), keys(columnID1.name, T1.self), keys(columnID2.name, T2.self)]
        self = ordered(by: keys, order)
    }

    /// Sorts the rows by a column and a predicate; rows with missing elements come first.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias.
    ///   - type: The type of its elements, without the optional.
    ///   - areInIncreasingOrder: Whether the first element comes before the second; it must be a strict weak
    ///     ordering.
    /// - Throws: Rethrows the error of `areInIncreasingOrder`; the frame is then unchanged.
    public mutating func sort<T>(
        on columnName: String,
        _ type: T.Type,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows {
        self = try ordered(columnName, type, by: areInIncreasingOrder)
    }

    /// Sorts the rows by the column `columnID` and a predicate; rows with missing elements come first.
    public mutating func sort<T>(
        on columnID: ColumnID<T>,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows {
        self = try ordered(columnID.name, T.self, by: areInIncreasingOrder)
    }
}

extension DataFrameProtocol {
    /// Returns the rows sorted by a column of Booleans, numbers, dates, strings or other `Comparable` elements.
    ///
    /// Missing elements are less than all others, NaN is greater. Rows with equal elements keep their order.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias; elements that are not `Comparable` are a fatal error.
    ///   - order: Ascending, the default, or descending.
    /// - Returns: A new frame, whose rows are numbered from 0.
    public func sorted(on columnName: String, order: Order = .ascending) -> DataFrame {
        ordered(by: [base[columnName].sortKeys(selection)], order)
    }

    /// Returns the rows sorted by a column of type `type`; missing elements are less than all others.
    public func sorted<T: Comparable>(on columnName: String, _ type: T.Type, order: Order = .ascending) -> DataFrame {
        ordered(by: [keys(columnName, type)], order)
    }

    /// Returns the rows sorted by the column `columnID`; missing elements are less than all others.
    public func sorted<T: Comparable>(on columnID: ColumnID<T>, order: Order = .ascending) -> DataFrame {
        ordered(by: [keys(columnID.name, T.self)], order)
    }

    /// Returns the rows sorted by two columns; the second breaks ties of the first.
    public func sorted<T0: Comparable, T1: Comparable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        order: Order = .ascending
    ) -> DataFrame {
        ordered(by: [keys(columnID0.name, T0.self), keys(columnID1.name, T1.self)], order)
    }

    /// Returns the rows sorted by three columns; each breaks ties of those before it.
    public func sorted<T0: Comparable, T1: Comparable, T2: Comparable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        _ columnID2: ColumnID<T2>,
        order: Order = .ascending
    ) -> DataFrame {
        let keys = [keys(columnID0.name, T0.self), keys(columnID1.name, T1.self), keys(columnID2.name, T2.self)]
        return ordered(by: keys, order)
    }

    /// Returns the rows sorted by a column and a predicate; rows with missing elements come first.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias.
    ///   - type: The type of its elements, without the optional.
    ///   - areInIncreasingOrder: Whether the first element comes before the second; it must be a strict weak
    ///     ordering.
    /// - Returns: A new frame, whose rows are numbered from 0.
    /// - Throws: Rethrows the error of `areInIncreasingOrder`.
    public func sorted<T>(
        on columnName: String,
        _ type: T.Type,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows -> DataFrame {
        try ordered(columnName, type, by: areInIncreasingOrder)
    }

    /// Returns the rows sorted by the column `columnID` and a predicate; missing elements come first.
    public func sorted<T>(
        on columnID: ColumnID<T>,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows -> DataFrame {
        try ordered(columnID.name, T.self, by: areInIncreasingOrder)
    }
}

extension DataFrameProtocol {
    func keys<T: Comparable>(_ columnName: String, _ type: T.Type) -> SortKeys {
        SortKeys(StoredValues(storage: base[columnName, type].storage, selection: selection))
    }

    /// Returns the rows in the order of `keys`, which are consumed and freed before columns are copied.
    func ordered(by keys: consuming [SortKeys], _ order: Order) -> DataFrame {
        let rows = sortedRows(selection, by: consume keys, order: order)
        defer { withExtendedLifetime(rows) {} }
        return base.gathered(rows.elements.span)
    }

    func ordered<T>(
        _ columnName: String,
        _ type: T.Type,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows -> DataFrame {
        let storage = base[columnName, type].storage
        var rows = selection.list
        let missing = rows.filter { storage.isMissing(Int($0)) }
        rows.removeAll { storage.isMissing(Int($0)) }
        let elements = rows.compactMap { storage[Int($0)] }
        let positions = try elements.indices.sorted { try areInIncreasingOrder(elements[$0], elements[$1]) }
        return base.gathered(missing + positions.map { rows[$0] })
    }
}

extension AnyColumn {
    /// Returns sort keys of a column whose element type must be `Comparable`.
    func sortKeys(_ selection: RowSelection) -> SortKeys {
        guard let keys = erased.sortKeys(selection) else {
            fatalError("elements of column '\(name)' (\(typeName(wrappedElementType))) have no order")
        }
        return keys
    }
}
