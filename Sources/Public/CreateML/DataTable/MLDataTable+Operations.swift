public import Foundation
import MLNumerics
import TabularData

// MARK: Rows

extension MLDataTable {
    /// The first of all equal rows.
    public func dropDuplicates() -> MLDataTable {
        _transformed { frame in
            var seen: Set<RowKey> = []
            return DataFrame(frame[try keys(names).map { seen.insert($0).inserted }])
        }
    }

    /// The rows without missing values.
    public func dropMissing() -> MLDataTable {
        _transformed { frame in
            let columns = frame.columns.filter { $0.missingCount > 0 }
            return DataFrame(frame[(0..<frame.shape.rows).map { row in !columns.contains { $0.isNil(at: row) } }])
        }
    }

    /// The table with a value in place of a column's missing ones.  Not valid when the value is of another type.
    public func fillMissing(columnNamed: String, with value: MLDataValue) -> MLDataTable {
        var table = self
        table[columnNamed] = self[columnNamed].fillMissing(with: value)
        return table
    }

    /// The rows with one of these values in a column.
    public func intersect<T>(_ values: T..., of columnNamed: String) -> MLDataTable where T: MLDataValueConvertible {
        choosing(columnNamed, Set(values.map(\.dataValue)), isIncluded: true)
    }

    /// The rows with none of these values in a column.
    public func exclude<T>(_ values: T..., of columnNamed: String) -> MLDataTable where T: MLDataValueConvertible {
        choosing(columnNamed, Set(values.map(\.dataValue)), isIncluded: false)
    }

    private func choosing(_ name: String, _ values: Set<MLDataValue>, isIncluded: Bool) -> MLDataTable {
        _transformed { frame in
            let column = try column(named: name)
            if let value = values.first(where: { $0.type != column.type }), column.type != .invalid {
                throw MLCreateError.type(
                    reason: "'\(value)', a \(value.type), cannot be in the column '\(name)' of \(column.type)"
                )
            }
            return DataFrame(frame[column.values.map { values.contains($0) == isIncluded }])
        }
    }

    /// The rows in the order of a column's values, missing ones first in ascending order.  Rows with equal values keep
    /// their order.  Not valid for values that have no order.
    public func sort(columnNamed: String, byIncreasingOrder: Bool = true) -> MLDataTable {
        _transformed { frame in
            try column(named: columnNamed).type.checkOrder("the column '\(columnNamed)'")
            return frame.sorted(on: columnNamed, order: byIncreasingOrder ? .ascending : .descending)
        }
    }

    /// What the closure makes of each row.  The closure is called at once.
    public func map<T>(_ lazyTransform: @escaping (Row) -> T) -> MLDataColumn<T> where T: MLDataValueConvertible {
        mapped { row -> T? in lazyTransform(row) }
    }

    /// What the closure makes of each row.  The closure is called at once.
    public func map<T>(_ lazyTransform: @escaping (Row) -> T?) -> MLDataColumn<T> where T: MLDataValueConvertible {
        mapped(lazyTransform)
    }

    private func mapped<T: MLDataValueConvertible>(_ transform: (Row) -> T?) -> MLDataColumn<T> {
        if let error { return MLDataColumn<T>(untyped: MLUntypedColumn(failure: error)) }
        return MLDataColumn<T>(elements: rows.map(transform))
    }

    /// The rows in the order of a list.
    func gathered(_ rows: [Int]) throws -> MLDataTable {
        try MLDataTable(columns: names.map { ($0, try column(named: $0).gathered(rows)) })
    }

    /// The values of each row in some columns.
    /// - Throws: when a column is not there.
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
    /// The rows in the order of a list; missing ones where it has -1.
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
    /// Rows drawn at random, as many as the share of them.  The same seed draws the same rows.
    public func randomSample(by proportion: Double, seed: Int = 42) -> MLDataTable {
        randomSplit(by: proportion, seed: seed).0
    }

    /// Rows drawn at random, as many as the share of them, and the others; both in their order.  The same seed draws the
    /// same rows.  Not valid unless the share is between 0 and 1.
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

    /// Sequences drawn at random, as many as the share of them, and the others; a sequence's rows stay together.
    /// - Parameters:
    ///   - sequenceIdentifierColumn: equal in the rows of a sequence.
    ///   - column: must be there; it does not bear on the choice.
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

    /// The table with a column `partition`, which shares out the rows of each value of a column by proportions: 0 for the
    /// first, 1 for the second, and so on.
    /// - Throws: `MLCreateError` for proportions that are negative or do not add up to 1, and for columns that are not
    ///   there.
    public func stratifiedSplit(
        proportions: [Double],
        on column: String,
        seed: Int = timestampSeed()
    ) throws -> MLDataTable {
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        return try stratifiedSplit(proportions: proportions, on: column, generator: &generator)
    }

    /// The table with a column `partition`, which shares out the rows of each value of a column by proportions.
    /// - Throws: `MLCreateError` for proportions that are negative or do not add up to 1, and for columns that are not
    ///   there.
    public func stratifiedSplit<RNG>(
        proportions: [Double],
        on column: String,
        generator: inout RNG
    ) throws -> MLDataTable where RNG: RandomNumberGenerator {
        var partition = [Int](repeating: 0, count: size.rows)
        for rows in KeyGroups(try keys([column])).rows {
            for (row, part) in zip(rows, try Self.parts(rows.count, proportions, &generator)) { partition[row] = part }
        }
        return try adding(partition)
    }

    /// The table with a column `partition`, which shares out the sequences of each value of a column by proportions; a
    /// sequence's rows stay together, and its value is that of its first row.
    /// - Throws: `MLCreateError` for proportions that are negative or do not add up to 1, and for columns that are not
    ///   there.
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

    /// The table with a column `partition`, which shares out the sequences of each value of a column by proportions.
    /// - Throws: `MLCreateError` for proportions that are negative or do not add up to 1, and for columns that are not
    ///   there.
    public func stratifiedSplitBySequence<RNG>(
        proportions: [Double],
        by sequenceIdentifierColumn: String,
        on column: String,
        generator: inout RNG
    ) throws -> MLDataTable where RNG: RandomNumberGenerator {
        let sequences = KeyGroups(try keys([sequenceIdentifierColumn])).rows
        let values = try keys([column])
        var partition = [Int](repeating: 0, count: size.rows)
        for members in KeyGroups(sequences.map { values[$0[0]] }).rows {
            for (member, part) in zip(members, try Self.parts(members.count, proportions, &generator)) {
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

    /// The numbers of proportions, each as often as its share of `count`, in random order.
    private static func parts<RNG: RandomNumberGenerator>(
        _ count: Int,
        _ proportions: [Double],
        _ generator: inout RNG
    ) throws -> [Int] {
        guard !proportions.isEmpty, proportions.allSatisfy({ $0 >= 0 }), abs(proportions.reduce(0, +) - 1) < 1e-6 else {
            throw MLCreateError.generic(
                reason: "the proportions are \(proportions); they are 0 or more, and add up to 1"
            )
        }
        var (parts, share): ([Int], Double) = ([], 0)
        for (part, proportion) in proportions.enumerated() {
            share += proportion
            let end = part == proportions.count - 1 ? count : Int((share * Double(count)).rounded())
            parts += Array(repeating: part, count: max(0, end - parts.count))
        }
        return parts.shuffled(using: &generator)
    }
}

/// Rows with equal keys, the groups in the order of their first rows.
struct KeyGroups {
    private(set) var rows: [[Int]] = []
    private(set) var groupOfRow: [Int] = []

    init(_ keys: [RowKey]) {
        var places: [RowKey: Int] = [:]
        groupOfRow.reserveCapacity(keys.count)
        for (row, key) in keys.enumerated() {
            if let place = places[key] {
                rows[place].append(row)
                groupOfRow.append(place)
            } else {
                places[key] = rows.count
                groupOfRow.append(rows.count)
                rows.append([row])
            }
        }
    }
}

// MARK: Files

extension MLDataTable {
    /// Writes the table as a folder that Turi Create and Create ML read (an SFrame), whole or not at all.  A folder that
    /// is there is replaced when it holds nothing but such a table.
    /// - Throws: why the table is not valid, `MLCreateError.io` for names of columns that the format does not allow and
    ///   for folders that hold other things, or what the file system says.
    public func write(to directoryURL: URL) throws {
        _ = try frame()
        try TableFolder.write(try names.map { ($0, try column(named: $0)) }, to: directoryURL)
    }

    /// Writes the table as a folder that Turi Create and Create ML read.
    public func write(toDirectory path: String) throws {
        try write(to: URL(fileURLWithPath: (path as NSString).expandingTildeInPath))
    }

    /// Writes the rows as CSV, whole or not at all.  Sequences, dictionaries and arrays are JSON, missing values empty.
    /// - Throws: why the table is not valid, or what the file system says.
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

    /// Writes the rows as CSV, whole or not at all.
    public func writeCSV(toFile path: String) throws {
        try writeCSV(to: URL(fileURLWithPath: (path as NSString).expandingTildeInPath))
    }
}
