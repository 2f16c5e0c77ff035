public import Foundation
import MLNumerics
import TabularData

// MARK: Rows

extension MLDataTable {
    /// Returns the table without repeated rows; the first of equal rows stays.
    public func dropDuplicates() -> MLDataTable {
        transformed { frame in
            var seen: Set<RowKey> = []
            return DataFrame(frame[try keys(names).map { seen.insert($0).inserted }])
        }
    }

    /// Returns the rows without missing values.
    public func dropMissing() -> MLDataTable {
        transformed { frame in
            let columns = frame.columns.filter { $0.missingCount > 0 }
            return DataFrame(frame[(0..<frame.shape.rows).map { row in !columns.contains { $0.isNil(at: row) } }])
        }
    }

    /// Returns the table with a value in place of a column's missing ones; invalid if it is of another type.
    public func fillMissing(columnNamed: String, with value: MLDataValue) -> MLDataTable {
        var table = self
        table[columnNamed] = self[columnNamed].fillMissing(with: value)
        return table
    }

    /// Returns the rows that have one of some values in a column; invalid if a value is of another type.
    public func intersect<T>(_ values: T..., of columnNamed: String) -> MLDataTable where T: MLDataValueConvertible {
        choosing(columnNamed, Set(values.map(\.dataValue)), isIncluded: true)
    }

    /// Returns the rows that have none of some values in a column; invalid if a value is of another type.
    public func exclude<T>(_ values: T..., of columnNamed: String) -> MLDataTable where T: MLDataValueConvertible {
        choosing(columnNamed, Set(values.map(\.dataValue)), isIncluded: false)
    }

    private func choosing(_ name: String, _ values: Set<MLDataValue>, isIncluded: Bool) -> MLDataTable {
        transformed { frame in
            let column = try column(named: name)
            if let value = values.first(where: { $0.type != column.type }), column.type != .invalid {
                throw MLCreateError.type(
                    reason: "'\(value)', a \(value.type), cannot be in the column '\(name)' of \(column.type)"
                )
            }
            return DataFrame(frame[column.values.map { values.contains($0) == isIncluded }])
        }
    }

    /// Returns the rows sorted by a column; rows with equal values keep their order.
    ///
    /// Missing values come first in ascending order. The result is invalid for values that have no order, such as
    /// sequences, dictionaries and multi-arrays.
    public func sort(columnNamed: String, byIncreasingOrder: Bool = true) -> MLDataTable {
        transformed { frame in
            try column(named: columnNamed).type.checkOrder("the column '\(columnNamed)'")
            return frame.sorted(on: columnNamed, order: byIncreasingOrder ? .ascending : .descending)
        }
    }

    /// Applies a closure to every row.
    ///
    /// In spite of the parameter's name the closure is called before this method returns.
    public func map<T>(_ lazyTransform: @escaping (Row) -> T) -> MLDataColumn<T> where T: MLDataValueConvertible {
        mapped { row -> T? in lazyTransform(row) }
    }

    /// Applies a closure to every row, which may return `nil` for a missing result.
    ///
    /// In spite of the parameter's name the closure is called before this method returns.
    public func map<T>(_ lazyTransform: @escaping (Row) -> T?) -> MLDataColumn<T> where T: MLDataValueConvertible {
        mapped(lazyTransform)
    }

    private func mapped<T: MLDataValueConvertible>(_ transform: (Row) -> T?) -> MLDataColumn<T> {
        if let error { return MLDataColumn<T>(untyped: MLUntypedColumn(failure: error)) }
        return MLDataColumn<T>(elements: rows.map(transform))
    }

    /// The rows in the order of a list of row numbers.
    func gathered(_ rows: [Int]) throws -> MLDataTable {
        try MLDataTable(columns: names.map { ($0, try column(named: $0).gathered(rows)) })
    }

    /// The values of each row in some columns.
    /// - Throws: `MLCreateError.generic` if a column is missing.
    func keys(_ names: some Sequence<String>) throws -> [RowKey] {
        let columns = try names.map { try column(named: $0).values }
        return (0..<size.rows).map { row in RowKey(values: columns.map { $0[row] }) }
    }
}

/// The values of a row in some columns.
struct RowKey: Hashable {
    var values: [MLDataValue]
}

extension MLUntypedColumn {
    /// The rows in the order of a list of row numbers, in which -1 stands for a missing value.
    func gathered(_ rows: [Int]) -> MLUntypedColumn {
        guard case .cells(let column, let type) = content else { return self }
        func gathered<T: Cell>(_: T.Type) -> MLUntypedColumn {
            let column = column.assumingType(T.self)
            return MLUntypedColumn(Column<T>(name: "", contents: rows.map { $0 < 0 ? nil : column[$0] }))
        }
        return gathered(type.cell)
    }
}

// MARK: Splits

extension MLDataTable {
    /// Draws a share of the rows at random; they keep their order.
    ///
    /// Equal seeds draw the same rows. The result is invalid unless `proportion` lies between 0 and 1.
    public func randomSample(by proportion: Double, seed: Int = 42) -> MLDataTable {
        randomSplit(by: proportion, seed: seed).0
    }

    /// Splits the rows at random into a share of them and the others; both keep their order.
    /// - Parameters:
    ///   - proportion: The share of the rows in the first table, between 0 and 1, rounded to whole rows.
    ///   - seed: The seed of the choice; equal seeds choose the same rows.
    /// - Returns: The chosen rows and the others; two invalid tables if `proportion` is out of range.
    public func randomSplit(by proportion: Double, seed: Int = 1) -> (MLDataTable, MLDataTable) {
        do {
            try Self.checkShare(proportion)
            let (first, second) = try frame().randomSplit(by: proportion, seed: seed)
            return (MLDataTable(cells: DataFrame(first)), MLDataTable(cells: DataFrame(second)))
        } catch { return (MLDataTable(failure: error), MLDataTable(failure: error)) }
    }

    private static func checkShare(_ proportion: Double) throws {
        guard proportion >= 0, proportion <= 1 else {
            throw MLCreateError.generic(reason: "a proportion is between 0 and 1, not \(proportion)")
        }
    }

    /// Splits the rows at random into a share of their sequences and the others, keeping the rows of a sequence
    /// together.
    /// - Parameters:
    ///   - proportion: The share of the sequences in the first table, between 0 and 1, rounded to whole sequences.
    ///   - sequenceIdentifierColumn: The name of the column whose value is equal in all rows of a sequence.
    ///   - column: The name of a column that must exist; it does not affect the choice.
    ///   - seed: The seed of the choice; equal seeds choose the same sequences.
    /// - Returns: The chosen sequences and the others; two invalid tables if `proportion` is out of range or a column
    ///   is missing.
    public func randomSplitBySequence(
        proportion: Double,
        by sequenceIdentifierColumn: String,
        on column: String,
        seed: Int = 1
    ) -> (MLDataTable, remaining: MLDataTable) {
        do {
            try Self.checkShare(proportion)
            _ = try self.column(named: column)
            let groups = KeyGroups(try keys([sequenceIdentifierColumn]))
            var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
            let chosen = Set(
                groups.rows.indices.shuffled(using: &generator)
                    .prefix(Int((Double(groups.rows.count) * proportion).rounded()))
            )
            let mask = groups.groupOfRow.map { chosen.contains($0) }
            let frame = try frame()
            return (
                MLDataTable(cells: DataFrame(frame[mask])), MLDataTable(cells: DataFrame(frame[mask.map { !$0 }]))
            )
        } catch { return (MLDataTable(failure: error), MLDataTable(failure: error)) }
    }

    /// Adds a column `partition` that divides the rows of each value of a column by proportions.
    ///
    /// The column holds 0 for the first proportion, 1 for the second, and so on; the rows are assigned at random.
    /// - Parameters:
    ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
    ///   - column: The name of the column whose values are the strata.
    ///   - seed: The seed of the assignment; taken from the clock by default.
    /// - Returns: The table with the added column.
    /// - Throws: `MLCreateError` for proportions out of range and a column that is missing.
    public func stratifiedSplit(
        proportions: [Double],
        on column: String,
        seed: Int = timestampSeed()
    ) throws -> MLDataTable {
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        return try stratifiedSplit(proportions: proportions, on: column, generator: &generator)
    }

    /// Adds a column `partition` that divides the rows of each value of a column by proportions, using a given
    /// generator.
    /// - Parameters:
    ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
    ///   - column: The name of the column whose values are the strata.
    ///   - generator: The source of random numbers.
    /// - Returns: The table with the added column.
    /// - Throws: `MLCreateError` for proportions out of range and a column that is missing.
    public func stratifiedSplit<RNG>(
        proportions: [Double],
        on column: String,
        generator: inout RNG
    ) throws -> MLDataTable where RNG: RandomNumberGenerator {
        let proportions = try Proportions(proportions)
        var partition = [Int](repeating: 0, count: size.rows)
        for rows in KeyGroups(try keys([column])).rows {
            for (row, part) in zip(rows, Self.parts(rows.count, proportions, &generator)) { partition[row] = part }
        }
        return try adding(partition)
    }

    /// Adds a column `partition` that divides the sequences of each value of a column by proportions.
    ///
    /// The rows of a sequence stay together; its stratum is the value of its first row. The column holds 0 for the
    /// first proportion, 1 for the second, and so on.
    /// - Parameters:
    ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
    ///   - sequenceIdentifierColumn: The name of the column whose value is equal in all rows of a sequence.
    ///   - column: The name of the column whose values are the strata.
    ///   - seed: The seed of the assignment; taken from the clock by default.
    /// - Returns: The table with the added column.
    /// - Throws: `MLCreateError` for proportions out of range and columns that are missing.
    public func stratifiedSplitBySequence(
        proportions: [Double],
        by sequenceIdentifierColumn: String,
        on column: String,
        seed: Int = timestampSeed()
    ) throws -> MLDataTable {
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        return try stratifiedSplitBySequence(
            proportions: proportions,
            by: sequenceIdentifierColumn,
            on: column,
            generator: &generator
        )
    }

    /// Adds a column `partition` that divides sequences by proportions, using a given generator.
    /// - Parameters:
    ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
    ///   - sequenceIdentifierColumn: The name of the column whose value is equal in all rows of a sequence.
    ///   - column: The name of the column whose values are the strata.
    ///   - generator: The source of random numbers.
    /// - Returns: The table with the added column.
    /// - Throws: `MLCreateError` for proportions out of range and columns that are missing.
    public func stratifiedSplitBySequence<RNG>(
        proportions: [Double],
        by sequenceIdentifierColumn: String,
        on column: String,
        generator: inout RNG
    ) throws -> MLDataTable where RNG: RandomNumberGenerator {
        let proportions = try Proportions(proportions)
        let sequences = KeyGroups(try keys([sequenceIdentifierColumn])).rows
        let values = try keys([column])
        var partition = [Int](repeating: 0, count: size.rows)
        for members in KeyGroups(sequences.map { values[$0[0]] }).rows {
            for (member, part) in zip(members, Self.parts(members.count, proportions, &generator)) {
                for row in sequences[member] { partition[row] = part }
            }
        }
        return try adding(partition)
    }

    private func adding(_ partition: [Int]) throws -> MLDataTable {
        var table = self
        table.addColumn(MLUntypedColumn(partition), named: "partition")
        if let error = table.error { throw error }
        return table
    }

    /// The indices of proportions, each as often as its share of `count`, in random order.
    private static func parts<RNG: RandomNumberGenerator>(
        _ count: Int,
        _ proportions: Proportions,
        _ generator: inout RNG
    ) -> [Int] {
        var parts: [Int] = []
        for (part, end) in proportions.ends(of: count).enumerated() {
            parts += Array(repeating: part, count: end - parts.count)
        }
        return parts.shuffled(using: &generator)
    }
}

/// The rows of each distinct key; the groups are in the order of their first rows.
struct KeyGroups {
    private(set) var rows: [[Int]] = []
    private(set) var groupOfRow: [Int] = []

    init(_ keys: [RowKey]) {
        var positions: [RowKey: Int] = [:]
        groupOfRow.reserveCapacity(keys.count)
        for (row, key) in keys.enumerated() {
            if let position = positions[key] {
                rows[position].append(row)
                groupOfRow.append(position)
            } else {
                positions[key] = rows.count
                groupOfRow.append(rows.count)
                rows.append([row])
            }
        }
    }
}

// MARK: Files

extension MLDataTable {
    /// Writes the table as an SFrame folder, which Turi Create and Create ML read, atomically.
    ///
    /// An existing folder is replaced if it holds nothing but such a table.
    /// - Parameter directoryURL: The folder to write.
    /// - Throws: The table's `error` if it is invalid; `MLCreateError.io` for a column name that the format does not
    ///   allow, for a folder that holds other files, and for errors of the file system.
    public func write(to directoryURL: URL) throws {
        _ = try frame()
        try TableFolder.write(try names.map { ($0, try column(named: $0)) }, to: directoryURL)
    }

    /// Writes the table as an SFrame folder at a path, in which a leading tilde is expanded.
    /// - Parameter path: The path of the folder; see `write(to:)`.
    /// - Throws: The same errors as `write(to:)`.
    public func write(toDirectory path: String) throws {
        try write(to: URL(fileURLWithPath: path.expandingTilde))
    }

    /// Writes the rows as a CSV file, atomically; missing values are empty cells.
    ///
    /// Sequences, dictionaries and multi-arrays are written as JSON.
    /// - Parameter fileURL: The file to write.
    /// - Throws: The table's `error` if it is invalid, or the file system's error.
    public func writeCSV(to fileURL: URL) throws {
        _ = try frame()
        let columns = try names.map { name -> AnyColumn in
            let column = try column(named: name)
            var cells = try column.cells()
            if ![.int, .double, .string].contains(column.type) {
                cells = Column<String>(
                    name: name,
                    contents: column.values.map { $0.isValid ? $0.json : nil }
                ).eraseToAnyColumn()
            }
            cells.name = name
            return cells
        }
        try DataFrame(columns: columns).writeCSV(to: fileURL)
    }

    /// Writes the rows as a CSV file at a path, in which a leading tilde is expanded.
    /// - Parameter path: The path of the file; see `writeCSV(to:)`.
    /// - Throws: The same errors as `writeCSV(to:)`.
    public func writeCSV(toFile path: String) throws {
        try writeCSV(to: URL(fileURLWithPath: path.expandingTilde))
    }
}
