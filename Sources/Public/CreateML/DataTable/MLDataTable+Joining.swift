import TabularData

extension MLDataTable {
    /// Joins two tables on columns that both have.
    ///
    /// The result has a row for each pair of rows with equal values in these columns; a missing value equals none. The
    /// columns of this table come first, then those of the other one that are not joined on; names that are taken get
    /// `.1`, `.2` and so on.
    /// - Parameters:
    ///   - with: The other table.
    ///   - columnsNamed: The names of the columns to join on, at least one.
    ///   - type: The rows without a partner that are kept, with missing values in the other table's columns.
    /// - Returns: An invalid table if no column is named, or if one is missing or of different types.
    public func join(with: MLDataTable, on columnsNamed: String..., type: JoinType = .inner) -> MLDataTable {
        MLDataTable(catching: { try joined(with, columnsNamed, type) })
    }

    private func joined(_ other: MLDataTable, _ names: [String], _ type: JoinType) throws -> MLDataTable {
        guard !names.isEmpty else {
            throw MLCreateError.generic(reason: "tables are joined on at least one column; name it")
        }
        for name in names {
            let types = (try column(named: name).type, try other.column(named: name).type)
            guard types.0 == types.1 || types.0 == .invalid || types.1 == .invalid else {
                throw MLCreateError.type(
                    reason:
                        "the column '\(name)' is of \(types.0) in one table and of \(types.1) in the other; convert "
                        + "one of them"
                )
            }
        }
        let kind: JoinKind =
            switch type {
            case .inner: .inner
            case .left: .left
            case .outer: .full
            case .right: .right
            }
        // TabularData finds the pairs of rows.
        let pairs = try keyFrame(names).joined(try other.keyFrame(names), on: "key", kind: kind)
        func rows(_ name: String) -> [Int] { pairs[name, Int.self].map { $0 ?? -1 } }
        let (left, right) = (rows("left.row"), rows("right.row"))
        var columns: [(name: String, column: MLUntypedColumn)] = []
        for name in self.names {
            let own = try column(named: name).gathered(left)
            guard names.contains(name), left.contains(-1) else {
                columns.append((name, own))
                continue
            }
            // Rows that only the other table has.
            let others = try other.column(named: name).gathered(right).values
            let values = zip(zip(left, own.values), others).map { $0.0 < 0 ? $1 : $0.1 }
            columns.append((name, MLUntypedColumn(values: values)))
        }
        var used = Set(self.names)
        for name in other.names where !names.contains(name) {
            var (free, number) = (name, 1)
            while !used.insert(free).inserted {
                free = "\(name).\(number)"
                number += 1
            }
            columns.append((free, try other.column(named: name).gathered(right)))
        }
        return try MLDataTable(columns: columns)
    }

    /// The columns `key`, missing where a value is, and `row`, the row's number.
    private func keyFrame(_ names: [String]) throws -> DataFrame {
        let keys = try keys(names)
        return DataFrame(columns: [
            Column<RowKey>(name: "key", contents: keys.map { $0.values.allSatisfy(\.isValid) ? $0 : nil })
                .eraseToAnyColumn(),
            Column<Int>(name: "row", contents: 0..<keys.count).eraseToAnyColumn(),
        ])
    }
}
