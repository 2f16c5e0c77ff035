import Foundation

// Equal rows stay in their order, whichever order is asked for.

extension DataFrame {
    /// By a column of Booleans, numbers, dates or strings.  Missing elements are less than all others.
    public mutating func sort(on columnName: String, order: Order = .ascending) {
        self = ordered(by: [base[columnName].sortKeys(selection)], order)
    }

    /// Missing elements are less than all others.
    public mutating func sort<T: Comparable>(on columnName: String, _ type: T.Type, order: Order = .ascending) {
        self = ordered(by: [keys(columnName, type)], order)
    }

    /// Missing elements are less than all others.
    public mutating func sort<T: Comparable>(on columnID: ColumnID<T>, order: Order = .ascending) {
        self = ordered(by: [keys(columnID.name, T.self)], order)
    }

    /// By the first column, where that is equal by the second.
    public mutating func sort<T0: Comparable, T1: Comparable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        order: Order = .ascending
    ) {
        self = ordered(by: [keys(columnID0.name, T0.self), keys(columnID1.name, T1.self)], order)
    }

    /// By the first column, where that is equal by the second, then by the third.
    public mutating func sort<T0: Comparable, T1: Comparable, T2: Comparable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        _ columnID2: ColumnID<T2>,
        order: Order = .ascending
    ) {
        let keys = [keys(columnID0.name, T0.self), keys(columnID1.name, T1.self), keys(columnID2.name, T2.self)]
        self = ordered(by: keys, order)
    }

    /// Missing elements are less than all others.
    public mutating func sort<T>(
        on columnName: String,
        _ type: T.Type,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows {
        self = try ordered(columnName, type, by: areInIncreasingOrder)
    }

    /// Missing elements are less than all others.
    public mutating func sort<T>(
        on columnID: ColumnID<T>,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows {
        self = try ordered(columnID.name, T.self, by: areInIncreasingOrder)
    }
}

extension DataFrameProtocol {
    /// By a column of Booleans, numbers, dates or strings.  Missing elements are less than all others.
    public func sorted(on columnName: String, order: Order = .ascending) -> DataFrame {
        ordered(by: [base[columnName].sortKeys(selection)], order)
    }

    /// Missing elements are less than all others.
    public func sorted<T: Comparable>(on columnName: String, _ type: T.Type, order: Order = .ascending) -> DataFrame {
        ordered(by: [keys(columnName, type)], order)
    }

    /// Missing elements are less than all others.
    public func sorted<T: Comparable>(on columnID: ColumnID<T>, order: Order = .ascending) -> DataFrame {
        ordered(by: [keys(columnID.name, T.self)], order)
    }

    /// By the first column, where that is equal by the second.
    public func sorted<T0: Comparable, T1: Comparable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        order: Order = .ascending
    ) -> DataFrame {
        ordered(by: [keys(columnID0.name, T0.self), keys(columnID1.name, T1.self)], order)
    }

    /// By the first column, where that is equal by the second, then by the third.
    public func sorted<T0: Comparable, T1: Comparable, T2: Comparable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        _ columnID2: ColumnID<T2>,
        order: Order = .ascending
    ) -> DataFrame {
        let keys = [keys(columnID0.name, T0.self), keys(columnID1.name, T1.self), keys(columnID2.name, T2.self)]
        return ordered(by: keys, order)
    }

    /// Missing elements are less than all others.
    public func sorted<T>(
        on columnName: String,
        _ type: T.Type,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows -> DataFrame {
        try ordered(columnName, type, by: areInIncreasingOrder)
    }

    /// Missing elements are less than all others.
    public func sorted<T>(
        on columnID: ColumnID<T>,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows -> DataFrame {
        try ordered(columnID.name, T.self, by: areInIncreasingOrder)
    }
}

extension DataFrameProtocol {
    func keys<T: Comparable>(_ columnName: String, _ type: T.Type) -> SortKeys {
        SortKeys(_ColumnValues(storage: base[columnName, type].storage, selection: selection))
    }

    /// Keys are used up, and freed before columns are copied.
    func ordered(by keys: consuming [SortKeys], _ order: Order) -> DataFrame {
        let rows = sortedRows(selection, by: consume keys, order: order)
        defer { withExtendedLifetime(rows) {} }
        return base.gathered(rows.elements)
    }

    func ordered<T>(
        _ columnName: String,
        _ type: T.Type,
        by areInIncreasingOrder: (T, T) throws -> Bool
    ) rethrows -> DataFrame {
        let storage = base[columnName, type].storage
        var rows = selection.withRows { Array($0) }
        let missing = rows.filter { storage.isMissing(Int($0)) }
        rows.removeAll { storage.isMissing(Int($0)) }
        let elements = rows.compactMap { storage[Int($0)] }
        let places = try elements.indices.sorted { try areInIncreasingOrder(elements[$0], elements[$1]) }
        return base.gathered(missing + places.map { rows[$0] })
    }
}

extension AnyColumn {
    /// The order of rows by a column of a type that is known to have one.
    func sortKeys(_ selection: RowSelection) -> SortKeys {
        func keys<C: Comparable>(_: C.Type) -> SortKeys {
            SortKeys(_ColumnValues(storage: assumingType(C.self).storage, selection: selection))
        }
        guard let type = wrappedElementType as? any Comparable.Type else {
            fatalError("elements of column '\(name)' (\(typeName(wrappedElementType))) have no order")
        }
        return keys(type)
    }
}
