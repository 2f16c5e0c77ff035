import TabularData

/// The numbers of a column, or of some of its rows; NaN where a value is missing.
///
/// The numbers of a data frame stay in the frame's memory, which the column shares, and are converted where they are read:
/// training on a table keeps no copy of its numbers beside those that the algorithm makes.
struct NumberColumn: Sendable {
    private enum Source: Sendable {
        case values([Double])
        case doubles(Column<Double>)
        case floats(Column<Float>)
        case integers(Column<Int>)
        case flags(Column<Bool>)
    }

    private let source: Source
    /// The rows of the source in their order; all of them if `nil`.
    private let chosen: [Int]?

    private init(_ source: Source, chosen: [Int]? = nil) {
        self.source = source
        self.chosen = chosen
    }

    init(_ values: [Double]) { self.init(.values(values)) }

    /// The numbers of a column; false is 0, true 1.
    /// - Returns: `nil` for a column of other elements.
    init?(_ column: AnyColumn) {
        func converted<T>(_ type: T.Type, _ number: (T) -> Double) -> Source {
            .values(column.assumingType(type).map { $0.map(number) ?? .nan })
        }
        func integers<T: BinaryInteger>(_ type: T.Type) -> Source { converted(type) { Double($0) } }
        func fractions<T: BinaryFloatingPoint>(_ type: T.Type) -> Source { converted(type) { Double($0) } }
        switch column.wrappedElementType {
        case is Double.Type: self.init(.doubles(column.assumingType(Double.self)))
        case is Float.Type: self.init(.floats(column.assumingType(Float.self)))
        case is Int.Type: self.init(.integers(column.assumingType(Int.self)))
        case is Bool.Type: self.init(.flags(column.assumingType(Bool.self)))
        case let type as any BinaryInteger.Type: self.init(integers(type))
        case let type as any BinaryFloatingPoint.Type: self.init(fractions(type))
        default: return nil
        }
    }

    var count: Int {
        if let chosen { return chosen.count }
        return switch source {
        case .values(let values): values.count
        case .doubles(let column): column.count
        case .floats(let column): column.count
        case .integers(let column): column.count
        case .flags(let column): column.count
        }
    }

    /// The numbers, converted by `number`.
    private func map<Result>(_ number: (Double) -> Result) -> [Result] {
        func gathered<T>(_ values: UnsafeBufferPointer<T>, _ convert: (T) -> Double) -> [Result] {
            guard let chosen else { return values.map { number(convert($0)) } }
            return chosen.map { number(convert(values[$0])) }
        }
        func gathered<T>(_ column: Column<T>, _ convert: (T) -> Double) -> [Result] {
            let whole = column.withContiguousStorageIfAvailable { (values: UnsafeBufferPointer<T>) in
                gathered(values, convert)
            }
            if let whole { return whole }
            guard let chosen else { return column.map { number($0.map(convert) ?? .nan) } }
            return chosen.map { number(column[$0].map(convert) ?? .nan) }
        }
        return switch source {
        case .values(let values): values.withUnsafeBufferPointer { gathered($0) { $0 } }
        case .doubles(let column): gathered(column) { $0 }
        case .floats(let column): gathered(column) { Double($0) }
        case .integers(let column): gathered(column) { Double($0) }
        case .flags(let column): gathered(column) { $0 ? 1 : 0 }
        }
    }

    /// The numbers in an array of their own.
    var array: [Double] {
        if case .values(let values) = source, chosen == nil { return values }
        return map { $0 }
    }

    /// The numbers in single precision.
    var singles: [Float] { map { Float($0) } }

    /// Calls `body` with the numbers in memory: where they are if they are in one piece, in a copy otherwise.
    func withValues<Result>(_ body: (Span<Double>) -> Result) -> Result {
        if case .doubles(let column) = source, chosen == nil {
            let result = column.withContiguousStorageIfAvailable { (values: UnsafeBufferPointer<Double>) in
                body(values.span)
            }
            if let result { return result }
        }
        let own = array
        return body(own.span)
    }

    /// The first row whose number meets a condition, and the number.
    func first(where isFound: (Double) -> Bool) -> (row: Int, value: Double)? {
        withValues { values in
            for row in values.indices where isFound(values[row]) { return (row, values[row]) }
            return nil
        }
    }

    /// Whether any value is there.
    var hasValues: Bool {
        switch source {
        case .doubles(let column) where chosen != nil:
            chosen?.contains { column[$0].map { !$0.isNaN } ?? false } ?? false
        default: first { !$0.isNaN } != nil
        }
    }

    /// Whether numbers of the source can be infinite.
    var canBeInfinite: Bool {
        switch source {
        case .values, .doubles, .floats: true
        case .integers, .flags: false
        }
    }

    /// Some rows, in an array of their own.
    func rows(_ rows: [Int]) -> NumberColumn {
        if case .values(let values) = source, chosen == nil { return NumberColumn(rows.map { values[$0] }) }
        return viewing(chosen.map { chosen in rows.map { chosen[$0] } } ?? rows).owned
    }

    /// Some rows of all, in the memory of the source.
    /// - Precondition: The receiver has all rows of its source.
    func viewing(_ rows: [Int]) -> NumberColumn { NumberColumn(source, chosen: rows) }

    /// The same numbers in an array of their own.
    var owned: NumberColumn { NumberColumn(array) }
}
