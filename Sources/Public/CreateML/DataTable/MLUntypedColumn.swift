import TabularData

/// A column of values of one type, some of which may be missing.
///
/// Nothing here throws: a column that cannot be made is not valid, has no elements, and says why in `error`.
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

    /// The column that `body` makes, or one that is not valid.
    init(catching body: () throws -> MLUntypedColumn) {
        do { self = try body() } catch { self.init(failure: error) }
    }

    /// Values of one type, or of integers and numbers; `.invalid` ones are missing.
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

    /// - Throws: why the column is not valid.
    func cells() throws -> AnyColumn {
        switch content {
        case .cells(let column, _): return column
        case .failure(let error): throw error
        }
    }

    /// All values, those that are missing `.invalid`; none of a column that is not valid.
    var values: [MLDataValue] {
        guard case .cells(let column, let type) = content else { return [] }
        func values<T: Cell>(_: T.Type) -> [MLDataValue] {
            column.assumingType(T.self).map { $0?.dataValue ?? .invalid }
        }
        return values(type.cell)
    }

    /// The elements, if they are of that type.
    func typed<T: Cell>(_: T.Type) -> Column<T>? {
        guard case .cells(let column, let type) = content, type == T.dataValueType else { return nil }
        return column.assumingType(T.self)
    }
}

// MARK: Making columns

extension MLUntypedColumn {
    /// A column without values.
    public init() { self.init(values: []) }

    /// The integers of a range.
    public init(_ range: Range<Int>) { self.init(Column<Int>(name: "", contents: range)) }

    /// The integers of a range.
    public init(_ range: ClosedRange<Int>) { self.init(Column<Int>(name: "", contents: range)) }

    /// Values of one type, or of integers and numbers, which become numbers; `.invalid` ones are missing.
    public init<S>(_ source: S) where S: Sequence, S.Element == MLDataValue { self.init(values: Array(source)) }

    public init<S>(_ source: S) where S: Sequence, S.Element: MLDataValueConvertible {
        self = MLDataColumn<S.Element>(source).untyped
    }

    /// - Precondition: `count` is 0 or more.
    public init(repeating repeatedValue: MLDataValue, count: Int) {
        self.init(values: Array(repeating: repeatedValue, count: count))
    }

    /// - Precondition: `count` is 0 or more.
    public init<T>(repeating repeatedValue: T, count: Int) where T: MLDataValueConvertible {
        self.init(repeatElement(repeatedValue, count: count))
    }

    /// The values as integers: numbers lose their fractions, texts are read.  Not valid when a value is no integer.
    public init(ints: MLUntypedColumn) { self = ints.cast(to: .int) }

    /// The values as numbers: texts are read.  Not valid when a value is no number.
    public init(doubles: MLUntypedColumn) { self = doubles.cast(to: .double) }

    /// The values as texts.
    public init(strings: MLUntypedColumn) { self = strings.cast(to: .string) }

    /// Arrays of one dimension as sequences.
    public init(sequences: MLUntypedColumn) { self = sequences.cast(to: .sequence) }

    /// Not valid when a value is no dictionary.
    public init(dictionaries: MLUntypedColumn) { self = dictionaries.cast(to: .dictionary) }

    /// Sequences of numbers as arrays.
    public init(multiArrays: MLUntypedColumn) { self = multiArrays.cast(to: .multiArray) }

    /// The values as those of another type; missing ones stay missing.
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
    /// How many values there are, missing ones too; 0 when the column is not valid.
    public var count: Int { if case .cells(let column, _) = content { column.count } else { 0 } }

    public var isEmpty: Bool { count == 0 }

    /// Why the column is not valid.
    public var error: (any Error)? { if case .failure(let error) = content { error } else { nil } }

    public var isValid: Bool { error == nil }

    /// The type of the values; `.invalid` when there are none.
    public var type: MLDataValue.ValueType { if case .cells(_, let type) = content { type } else { .invalid } }

    /// The column with its type; `nil` when values are of another one.
    public func column<T>(type: T.Type) -> MLDataColumn<T>? where T: MLDataValueConvertible {
        let column = MLDataColumn<T>(untyped: self)
        return column.isValid ? column : nil
    }

    /// The integers; `nil` when values are of another type.
    public var ints: MLDataColumn<Int>? { column(type: Int.self) }
    /// The numbers; `nil` when values are of another type.
    public var doubles: MLDataColumn<Double>? { column(type: Double.self) }
    /// The texts; `nil` when values are of another type.
    public var strings: MLDataColumn<String>? { column(type: String.self) }
    /// The sequences; `nil` when values are of another type.
    public var sequences: MLDataColumn<MLDataValue.SequenceType>? { column(type: MLDataValue.SequenceType.self) }
    /// The dictionaries; `nil` when values are of another type.
    public var dictionaries: MLDataColumn<MLDataValue.DictionaryType>? {
        column(type: MLDataValue.DictionaryType.self)
    }
    /// The arrays; `nil` when values are of another type.
    public var multiArrays: MLDataColumn<MLDataValue.MultiArrayType>? {
        column(type: MLDataValue.MultiArrayType.self)
    }

    /// The value in a row, `.invalid` when it is missing.
    /// - Precondition: there is such a row.
    public subscript(index: Int) -> MLDataValue {
        guard index >= 0 && index < count else { fatalError("there is no row \(index) in a column of \(count) rows") }
        guard case .cells(let column, let type) = content else { return .invalid }
        func value<T: Cell>(_: T.Type) -> MLDataValue { column.assumingType(T.self)[index]?.dataValue ?? .invalid }
        return value(type.cell)
    }

    /// Which rows a mask chooses.
    func flags(count: Int) throws -> [Bool] {
        _ = try cells()
        guard type == .int || type == .invalid else {
            throw MLCreateError.type(reason: "a mask is a column of Booleans or integers, not of \(type)")
        }
        guard self.count == count else {
            throw MLCreateError.generic(
                reason: "the mask has \(self.count) rows, and what it is to choose from \(count); they must be as many"
            )
        }
        return typed(Int.self)?.map { $0.map { $0 != 0 } ?? false } ?? Array(repeating: false, count: count)
    }
}

// MARK: Other columns of this one

extension MLUntypedColumn {
    /// The column itself: columns are values.
    public func copy() -> MLUntypedColumn { self }

    /// The column, when it is valid: all is computed at once.
    /// - Throws: `error`.
    public func materialize() throws -> MLUntypedColumn {
        _ = try cells()
        return self
    }

    /// The first of all equal values.
    public func dropDuplicates() -> MLUntypedColumn {
        var seen: Set<MLDataValue> = []
        let isFirst = values.map { seen.insert($0).inserted }
        return _transformed { DataFrame($0[isFirst]) }
    }

    public func dropMissing() -> MLUntypedColumn {
        _transformed { frame in
            let column = frame.columns[0]
            return DataFrame(frame[(0..<column.count).map { !column.isNil(at: $0) }])
        }
    }

    /// The column with a value in place of missing ones.  Not valid when the value is of another type.
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

    /// The values in order, missing ones first in ascending order.  Not valid for values that have no order.
    public func sort(byIncreasingOrder: Bool = true) -> MLUntypedColumn {
        _transformed { frame in
            try type.checkOrder("the column")
            return frame.sorted(on: "column", order: byIncreasingOrder ? .ascending : .descending)
        }
    }

    /// Adds the values of another column.  Becomes not valid when they are of another type.
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

    /// What the closure makes of each value; missing ones stay missing.  The closure is called at once.
    public func map<T>(_ lazyTransform: @escaping (MLDataValue) -> T) -> MLDataColumn<T>
    where T: MLDataValueConvertible {
        mapped { value -> T? in value.isValid ? lazyTransform(value) : nil }
    }

    /// What the closure makes of each value; missing ones stay missing.  The closure is called at once.
    public func map<T>(_ lazyTransform: @escaping (MLDataValue) -> T?) -> MLDataColumn<T>
    where T: MLDataValueConvertible {
        mapped { value -> T? in value.isValid ? lazyTransform(value) : nil }
    }

    /// What the closure makes of each value and of `.invalid` for missing ones.  The closure is called at once.
    public func mapMissing<T>(_ lazyTransform: @escaping (MLDataValue) -> T?) -> MLDataColumn<T>
    where T: MLDataValueConvertible {
        mapped(lazyTransform)
    }

    /// The values as those of another type.  Not valid when one cannot be converted.
    public func map<T>(to type: T.Type) -> MLDataColumn<T> where T: MLDataValueConvertible {
        MLDataColumn(untyped: cast(to: T.dataValueType))
    }

    private func mapped<T: MLDataValueConvertible>(_ transform: (MLDataValue) -> T?) -> MLDataColumn<T> {
        if let error { return MLDataColumn(untyped: MLUntypedColumn(failure: error)) }
        return MLDataColumn(elements: values.map(transform))
    }
}

extension MLDataValue.ValueType {
    /// - Throws: `.type` when values have no order.
    func checkOrder(_ name: String) throws {
        switch self {
        case .int, .double, .string: return
        case .sequence, .dictionary, .multiArray, .invalid:
            throw MLCreateError.type(reason: "\(name) holds values of the type \(self), which have no order")
        }
    }
}

extension MLUntypedColumn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch content {
        case .cells(let column, let type): "Type: \(type)\n" + column.description
        case .failure(let error): "Not valid: \(error)"
        }
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: values, displayStyle: .collection) }
}
