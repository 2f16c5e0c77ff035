/// The name and element type of a column.
public struct ColumnID<T>: Sendable, CustomStringConvertible {
    public var name: String

    public var type: any Any.Type { T.self }

    public init(_ name: String, _ type: T.Type) {
        self.name = name
    }

    public var description: String { "\(name) <\(typeName(T.self))>" }
}

/// A type's name without its module, sugar unfolded: `Array<Any>`.
func typeName(_ type: any Any.Type) -> String { String(describing: type) }
