import Foundation

extension DataFrame: ExpressibleByDictionaryLiteral {
    /// Creates a frame from a dictionary literal of arrays by column name.
    ///
    /// A column is of `Bool`, `Int`, `Float`, `Double`, `Date`, `String` or `Data` when all its elements are, else of
    /// `Any`; one of missing elements only is of `Bool`. Columns keep the order of the literal.
    public init(dictionaryLiteral elements: (String, [Any?])...) {
        self.init()
        for (name, values) in elements { append(column: AnyColumn(inferringTypeOf: values, name: name)) }
    }
}

extension AnyColumn {
    init(inferringTypeOf values: [Any?], name: String) {
        func column<T>(_ type: T.Type) -> AnyColumn? {
            var column = Column<T>(name: name, capacity: values.count)
            for value in values {
                guard let value else {
                    column.append(nil as T?)
                    continue
                }
                guard type == Swift.type(of: value), let element = value as? T else { return nil }
                column.append(.some(element))
            }
            return AnyColumn(column)
        }
        // Arrays of optionals hold optionals as elements of type Any.
        let flat = values.map { value -> Any? in
            guard let value else { return nil }
            let mirror = Mirror(reflecting: value)
            return mirror.displayStyle == .optional ? mirror.children.first?.value : value
        }
        guard flat.elementsEqual(values, by: { ($0 == nil) == ($1 == nil) }) else {
            self.init(inferringTypeOf: flat, name: name)
            return
        }
        self =
            column(Bool.self) ?? column(Int.self) ?? column(Float.self) ?? column(Double.self) ?? column(Date.self)
            ?? column(String.self) ?? column(Data.self) ?? AnyColumn(Column<Any>(name: name, contents: values))
    }
}
