import TabularData

/// A column of values of one type that is known only at run time; some may be missing.
///
/// No member but `materialize()` throws: an operation that fails gives an invalid column, which has no values and an
/// `error`. Operators work row by row; a missing value on either side gives a missing result. Their result is invalid
/// if the columns differ in length, if there is no such operation for the types of their values, or if an integer
/// overflows.
public struct MLUntypedColumn {
    enum Content {
        /// The elements; their type is the `Cell` of `type`.
        case cells(AnyColumn, MLDataValue.ValueType)
        case failure(any Error)
    }

    let content: Content

    init(_ cells: AnyColumn, _ type: MLDataValue.ValueType) { content = .cells(cells, type) }

    init<T: Cell>(_ column: Column<T>) { self.init(column.eraseToAnyColumn(), T.dataValueType) }

    init(failure: any Error) { content = .failure(MLCreateError.translated(failure)) }

    /// The column that `body` makes, or an invalid one with the error that it throws.
    init(catching body: () throws -> MLUntypedColumn) {
        do { self = try body() } catch { self.init(failure: error) }
    }

    /// Values of one type, or integers among floating-point numbers; `.invalid` stands for missing ones.
    init(values: [MLDataValue]) {
        var type = MLDataValue.ValueType.invalid
        for (row, value) in values.enumerated() {
            switch (type, value.type) {
            case (_, .invalid): break
            case (.invalid, let own): type = own
            case (.int, .double): type = .double
            case (.double, .int): break
            case (let type, let own):
                if type != own {
                    self.init(
                        failure: MLCreateError.type(
                            reason: "the column has a \(own) in row \(row), '\(value)', after values of the type "
                                + "\(type); give values of one type"
                        )
                    )
                    return
                }
            }
        }
        func make<T: Cell>(_: T.Type) -> MLUntypedColumn {
            MLUntypedColumn(Column<T>(name: "", contents: values.map { T(from: $0) }))
        }
        self = make(type.cell)
    }

    /// A column of a data frame.
    init(converting column: AnyColumn) {
        if let type = MLDataValue.ValueType(cell: column.wrappedElementType) {
            self.init(column, type)
            return
        }
        var values: [MLDataValue] = []
        values.reserveCapacity(column.count)
        for (row, element) in column.enumerated() {
            guard let value = MLDataValue(element) else {
                self.init(
                    failure: MLCreateError.type(
                        reason:
                            "the column '\(column.name)' has elements of the type \(column.wrappedElementType) (row "
                            + "\(row)), which data tables do not hold"
                    )
                )
                return
            }
            values.append(value)
        }
        self.init(values: values)
    }

    /// The cells of a valid column.
    /// - Throws: The column's error if it is invalid.
    func cells() throws -> AnyColumn {
        switch content {
        case .cells(let column, _): return column
        case .failure(let error): throw error
        }
    }

    /// All values, `.invalid` for missing ones; empty for an invalid column.
    var values: [MLDataValue] {
        guard case .cells(let column, let type) = content else { return [] }
        func values<T: Cell>(_: T.Type) -> [MLDataValue] {
            column.assumingType(T.self).map { $0?.dataValue ?? .invalid }
        }
        return values(type.cell)
    }

    /// The elements if they are of the given type.
    func typed<T: Cell>(_: T.Type) -> Column<T>? {
        guard case .cells(let column, let type) = content, type == T.dataValueType else { return nil }
        return column.assumingType(T.self)
    }
}

// MARK: Making columns

extension MLUntypedColumn {
    /// Creates a column without values.
    public init() { self.init(values: []) }

    /// Creates a column of the integers in a half-open range.
    public init(_ range: Range<Int>) { self.init(Column<Int>(name: "", contents: range)) }

    /// Creates a column of the integers in a closed range.
    public init(_ range: ClosedRange<Int>) { self.init(Column<Int>(name: "", contents: range)) }

    /// Creates a column of values of one type; `.invalid` stands for missing ones.
    ///
    /// Integers among floating-point numbers are converted; other mixtures make the column invalid.
    public init<S>(_ source: S) where S: Sequence, S.Element == MLDataValue { self.init(values: Array(source)) }

    /// Creates a column of the elements of a sequence, none of them missing.
    public init<S>(_ source: S) where S: Sequence, S.Element: MLDataValueConvertible {
        self = MLDataColumn<S.Element>(source).untyped
    }

    /// Creates a column that repeats a value, or of missing values for `.invalid`.
    /// - Precondition: `count` is at least 0.
    public init(repeating repeatedValue: MLDataValue, count: Int) {
        self.init(values: Array(repeating: repeatedValue, count: count))
    }

    /// Creates a column that repeats an element.
    /// - Precondition: `count` is at least 0.
    public init<T>(repeating repeatedValue: T, count: Int) where T: MLDataValueConvertible {
        self.init(repeatElement(repeatedValue, count: count))
    }

    /// Converts a column to integers: fractions are truncated toward zero, strings are parsed.
    ///
    /// The result is invalid if a value cannot be converted.
    public init(ints: MLUntypedColumn) { self = ints.cast(to: .int) }

    /// Converts a column to floating-point numbers; strings are parsed.
    ///
    /// The result is invalid if a value cannot be converted.
    public init(doubles: MLUntypedColumn) { self = doubles.cast(to: .double) }

    /// Converts a column to strings; sequences and dictionaries become JSON, multi-arrays make the result invalid.
    public init(strings: MLUntypedColumn) { self = strings.cast(to: .string) }

    /// Converts a column of one-dimensional multi-arrays to sequences; other values make the result invalid.
    public init(sequences: MLUntypedColumn) { self = sequences.cast(to: .sequence) }

    /// Takes a column of dictionaries; other values make the result invalid.
    public init(dictionaries: MLUntypedColumn) { self = dictionaries.cast(to: .dictionary) }

    /// Converts a column of sequences of numbers to multi-arrays; other values make the result invalid.
    public init(multiArrays: MLUntypedColumn) { self = multiArrays.cast(to: .multiArray) }

    /// Converts the values to another type; missing ones stay missing.
    func cast(to type: MLDataValue.ValueType) -> MLUntypedColumn {
        if !isValid || self.type == type { return self }
        return MLUntypedColumn(catching: {
            let cast = try values.enumerated().map { row, value in
                if !value.isValid { return value }
                guard let result = value.cast(to: type) else {
                    throw MLCreateError.type(
                        reason: "'\(value)', a \(value.type) in row \(row), cannot be converted to a \(type)"
                    )
                }
                return result
            }
            func make<T: Cell>(_: T.Type) -> MLUntypedColumn {
                MLUntypedColumn(Column<T>(name: "", contents: cast.map { T(from: $0) }))
            }
            return make(type.cell)
        })
    }
}

// MARK: Looking at columns

extension MLUntypedColumn {
    /// The number of values, missing ones included; 0 for an invalid column.
    public var count: Int { if case .cells(let column, _) = content { column.count } else { 0 } }

    /// Whether there are no values, as in an invalid column.
    public var isEmpty: Bool { count == 0 }

    /// The reason why the column is invalid; `nil` for a valid one.
    public var error: (any Error)? { if case .failure(let error) = content { error } else { nil } }

    /// Whether the column could be made; if not, `error` gives the reason.
    public var isValid: Bool { error == nil }

    /// The type of the values; `.invalid` if all are missing, there are none, or the column is invalid.
    public var type: MLDataValue.ValueType { if case .cells(_, let type) = content { type } else { .invalid } }

    /// The column with an element type; `nil` if values are of another type.
    public func column<T>(type: T.Type) -> MLDataColumn<T>? where T: MLDataValueConvertible {
        let column = MLDataColumn<T>(untyped: self)
        return column.isValid ? column : nil
    }

    /// The column as one of integers; `nil` if its values are of another type.
    public var ints: MLDataColumn<Int>? { column(type: Int.self) }
    /// The column as one of floating-point numbers; `nil` if its values are of another type.
    public var doubles: MLDataColumn<Double>? { column(type: Double.self) }
    /// The column as one of strings; `nil` if its values are of another type.
    public var strings: MLDataColumn<String>? { column(type: String.self) }
    /// The column as one of sequences; `nil` if its values are of another type.
    public var sequences: MLDataColumn<MLDataValue.SequenceType>? { column(type: MLDataValue.SequenceType.self) }
    /// The column as one of dictionaries; `nil` if its values are of another type.
    public var dictionaries: MLDataColumn<MLDataValue.DictionaryType>? {
        column(type: MLDataValue.DictionaryType.self)
    }
    /// The column as one of multi-arrays; `nil` if its values are of another type.
    public var multiArrays: MLDataColumn<MLDataValue.MultiArrayType>? {
        column(type: MLDataValue.MultiArrayType.self)
    }

    /// The value in a row; `.invalid` if it is missing.
    /// - Precondition: `index` is a row of the column.
    public subscript(index: Int) -> MLDataValue {
        guard index >= 0 && index < count else { fatalError("there is no row \(index) in a column of \(count) rows") }
        guard case .cells(let column, let type) = content else { return .invalid }
        func value<T: Cell>(_: T.Type) -> MLDataValue { column.assumingType(T.self)[index]?.dataValue ?? .invalid }
        return value(type.cell)
    }

    /// The rows that the column chooses as a mask.
    func flags(count: Int) throws -> [Bool] {
        _ = try cells()
        guard type == .int || type == .invalid else {
            throw MLCreateError.type(reason: "a mask is a column of Booleans or integers, not of \(type)")
        }
        guard self.count == count else {
            throw MLCreateError.generic(
                reason: "the mask has \(self.count) rows, but the column has \(count); the numbers must be equal"
            )
        }
        return typed(Int.self)?.map { $0.map { $0 != 0 } ?? false } ?? Array(repeating: false, count: count)
    }
}

// MARK: Other columns of this one

extension MLUntypedColumn {
    /// Returns the column itself, as columns are values.
    public func copy() -> MLUntypedColumn { self }

    /// Returns the column, whose values are already computed, if it is valid.
    /// - Returns: The same column.
    /// - Throws: The column's `error` if it is invalid.
    public func materialize() throws -> MLUntypedColumn {
        _ = try cells()
        return self
    }

    /// Returns the column without repeated values; the first of equal values stays.
    public func dropDuplicates() -> MLUntypedColumn {
        var seen: Set<MLDataValue> = []
        let isFirst = values.map { seen.insert($0).inserted }
        return transformed { DataFrame($0[isFirst]) }
    }

    /// Returns the column without its missing values.
    public func dropMissing() -> MLUntypedColumn {
        transformed { frame in
            let column = frame.columns[0]
            return DataFrame(frame[(0..<column.count).map { !column.isNil(at: $0) }])
        }
    }

    /// Returns the column with `value` in place of missing values.
    ///
    /// The result is invalid if the value is of another type than the column; an integer may be filled into a column of
    /// floating-point numbers.
    public func fillMissing(with value: MLDataValue) -> MLUntypedColumn {
        MLUntypedColumn(catching: {
            _ = try cells()
            guard value.isValid, type == value.type || type == .invalid || (type == .double && value.number != nil)
            else {
                throw MLCreateError.type(
                    reason: "'\(value)', a \(value.type), cannot be filled into a column of \(type)"
                )
            }
            return MLUntypedColumn(values: values.map { $0.isValid ? $0 : value })
        })
    }

    /// Returns the values in ascending or descending order; equal values keep their order.
    ///
    /// Missing values come first in ascending order. The result is invalid for values that have no order, such as
    /// sequences, dictionaries and multi-arrays.
    public func sort(byIncreasingOrder: Bool = true) -> MLUntypedColumn {
        transformed { frame in
            try type.checkOrder("the column")
            return frame.sorted(on: "column", order: byIncreasingOrder ? .ascending : .descending)
        }
    }

    /// Appends the values of another column; the column becomes invalid if they are of another type.
    ///
    /// Integers and floating-point numbers go together as floating-point numbers.
    public mutating func append(contentsOf newColumn: MLUntypedColumn) {
        let first = self
        self = MLUntypedColumn(catching: {
            var column = try first.cells()
            let other = try newColumn.cells()
            if first.type == newColumn.type {
                column.append(contentsOf: other)
                return MLUntypedColumn(column, first.type)
            }
            return MLUntypedColumn(values: first.values + newColumn.values)
        })
    }

    /// Applies a closure to every value; missing values stay missing.
    ///
    /// In spite of the parameter's name the closure is called before this method returns.
    public func map<T>(_ lazyTransform: @escaping (MLDataValue) -> T) -> MLDataColumn<T>
    where T: MLDataValueConvertible {
        mapped { value -> T? in value.isValid ? lazyTransform(value) : nil }
    }

    /// Applies a closure to every value, which may return `nil` for a missing result; missing values stay missing.
    ///
    /// In spite of the parameter's name the closure is called before this method returns.
    public func map<T>(_ lazyTransform: @escaping (MLDataValue) -> T?) -> MLDataColumn<T>
    where T: MLDataValueConvertible {
        mapped { value -> T? in value.isValid ? lazyTransform(value) : nil }
    }

    /// Applies a closure to every value, and to `.invalid` for every missing one.
    ///
    /// In spite of the parameter's name the closure is called before this method returns.
    public func mapMissing<T>(_ lazyTransform: @escaping (MLDataValue) -> T?) -> MLDataColumn<T>
    where T: MLDataValueConvertible {
        mapped(lazyTransform)
    }

    /// Converts the values to another type; the result is invalid if a value cannot be converted.
    public func map<T>(to type: T.Type) -> MLDataColumn<T> where T: MLDataValueConvertible {
        MLDataColumn(untyped: cast(to: T.dataValueType))
    }

    private func mapped<T: MLDataValueConvertible>(_ transform: (MLDataValue) -> T?) -> MLDataColumn<T> {
        if let error { return MLDataColumn(untyped: MLUntypedColumn(failure: error)) }
        return MLDataColumn(elements: values.map(transform))
    }
}

extension MLDataValue.ValueType {
    /// Checks that values of the type have an order.
    /// - Throws: `MLCreateError.type` if they have none.
    func checkOrder(_ name: String) throws {
        switch self {
        case .int, .double, .string: return
        case .sequence, .dictionary, .multiArray, .invalid:
            throw MLCreateError.type(reason: "\(name) holds values of the type \(self), which have no order")
        }
    }
}

extension MLUntypedColumn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type of the values and the printed column, or the reason why it is invalid.
    public var description: String {
        switch content {
        case .cells(let column, let type): "Type: \(type)\n" + column.description
        case .failure(let error): "Not valid: \(error)"
        }
    }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A mirror whose children are the values, `.invalid` for missing ones.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: values, displayStyle: .collection) }
}
