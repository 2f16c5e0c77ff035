import MLNumerics
import TabularData

extension MLDataTable {
    /// Groups rows by their values in some columns and aggregates each group.
    ///
    /// The result has a row for each combination of values, in the order in which they first appear: the values, then
    /// the results of the aggregators. The columns of results are named by operation and column, such as `Avg of
    /// price`. All operations but `count` ignore missing values.
    /// - Parameters:
    ///   - columnsNamed: The names of the columns to group by, at least one.
    ///   - aggregators: The operations and the columns to which they are applied.
    /// - Returns: An invalid table if no column is named, if one is missing, or if an operation cannot be applied to a
    ///   column's type.
    public func group<S>(columnsNamed: String..., aggregators: S) -> MLDataTable
    where S: Sequence, S.Element == Aggregator {
        MLDataTable(catching: {
            guard !columnsNamed.isEmpty else {
                throw MLCreateError.generic(reason: "rows are grouped by at least one column; name it")
            }
            let groups = KeyGroups(try keys(columnsNamed)).rows
            var columns = try columnsNamed.map { name in
                (name: name, column: try column(named: name).gathered(groups.map { $0[0] }))
            }
            for aggregator in aggregators {
                let source = try column(named: aggregator.columnName)
                let values = source.values
                for operation in aggregator.operations {
                    columns.append(
                        (
                            operation.name(of: aggregator.columnName),
                            try aggregated(operation, source, values, named: aggregator.columnName, groups)
                        )
                    )
                }
            }
            return try MLDataTable(columns: columns)
        })
    }

    /// The row of the least or greatest value of each group; -1 when there is none.
    private static func extremes(of column: MLUntypedColumn, _ groups: [[Int]], _ isLess: Bool) -> [Int] {
        func best<T: Cell & Comparable>(_: T.Type) -> [Int]? {
            guard let typed = column.typed(T.self) else { return nil }
            return groups.map { rows in
                var best: (row: Int, value: T)?
                for row in rows {
                    guard let value = typed[row], value == value else { continue }
                    if let found = best, !(isLess ? value < found.value : found.value < value) { continue }
                    best = (row, value)
                }
                return best?.row ?? -1
            }
        }
        return best(Int.self) ?? best(Double.self) ?? best(String.self) ?? groups.map { _ in -1 }
    }

    /// The result of an operation for each group of rows of a column, whose values are `values`.
    private func aggregated(
        _ operation: Aggregator.Operations,
        _ column: MLUntypedColumn,
        _ values: [MLDataValue],
        named name: String,
        _ groups: [[Int]]
    ) throws -> MLUntypedColumn {
        func numbers() throws -> [[Double]] {
            guard [.int, .double, .invalid].contains(column.type) else {
                throw MLCreateError.type(
                    reason: "there is no \(operation) of the column '\(name)', which holds values of the type "
                        + "\(column.type), not numbers"
                )
            }
            return groups.map { rows in rows.compactMap { values[$0].number } }
        }
        func of(_ result: ([Double]) -> Double) throws -> MLUntypedColumn {
            MLUntypedColumn(
                Column<Double>(name: "", contents: try numbers().map { $0.isEmpty ? nil : result($0) })
            )
        }
        func variance(_ numbers: [Double]) -> Double {
            let mean = numbers.reduce(0, +) / Double(numbers.count)
            return numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)
        }
        func extremes(_ isLess: Bool) throws -> [Int] {
            if column.type != .invalid { try column.type.checkOrder("the column '\(name)'") }
            return Self.extremes(of: column, groups, isLess)
        }
        func valid(_ rows: [Int]) -> [Int] { rows.filter { values[$0].isValid } }
        switch operation {
        case .count: return MLUntypedColumn(groups.map(\.count))
        case .distinctCount: return MLUntypedColumn(groups.map { Set(valid($0).map { values[$0] }).count })
        case .max: return column.gathered(try extremes(false))
        case .min: return column.gathered(try extremes(true))
        case .argmax(let output): return try self.column(named: output).gathered(try extremes(false))
        case .argmin(let output): return try self.column(named: output).gathered(try extremes(true))
        case .mean: return try of { $0.reduce(0, +) / Double($0.count) }
        case .stdev: return try of { variance($0).squareRoot() }
        case .variance: return try of(variance)
        case .sum:
            guard let integers = column.typed(Int.self) else { return try of { $0.reduce(0, +) } }
            let sums = try groups.map { rows -> Int? in
                let present = Column<Int>(name: "", contents: rows.map { integers[$0] })
                guard present.missingCount < present.count else { return nil }
                guard let sum = present.exactSum else {
                    throw MLCreateError.generic(
                        reason: "the sum of the column '\(name)' is too large for an integer; convert it to Double"
                    )
                }
                return sum
            }
            return MLUntypedColumn(Column<Int>(name: "", contents: sums))
        case .randomlySelectOne:
            var generator = SplitMix64(seed: 0)
            return column.gathered(groups.map { valid($0).randomElement(using: &generator) ?? -1 })
        case .sequenceMerge:
            return MLUntypedColumn(
                groups.map { rows in MLDataValue.SequenceType(valid(rows).map { values[$0] }) }
            )
        case .dictionaryMerge(let valueColumn):
            let others = try self.column(named: valueColumn).values
            return MLUntypedColumn(
                groups.map { rows in
                    MLDataValue.DictionaryType(
                        [MLDataValue: MLDataValue](
                            valid(rows).map { (values[$0], others[$0]) },
                            uniquingKeysWith: { $1 }
                        )
                    )
                }
            )
        }
    }
}

extension MLDataTable.Aggregator.Operations {
    /// The name of a result's column.
    fileprivate func name(of column: String) -> String {
        let own =
            switch self {
            case .count: "Count"
            case .distinctCount: "Count Distinct"
            case .max: "Max"
            case .mean: "Avg"
            case .min: "Min"
            case .randomlySelectOne: "Select One"
            case .sequenceMerge: "List"
            case .stdev: "Stdv"
            case .sum: "Sum"
            case .variance: "Var"
            case .argmax(let output): "Argmax \(output)"
            case .argmin(let output): "Argmin \(output)"
            case .dictionaryMerge(let value): "Dict \(value)"
            }
        return "\(own) of \(column)"
    }
}
