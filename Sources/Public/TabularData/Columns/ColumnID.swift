/// The name and element type of a column.
public struct ColumnID<T>: Sendable, CustomStringConvertible {
    /// The column's name.
    public var name: String

    /// The type of the column's elements, without the optional.
    public var type: any Any.Type { T.self }

    /// Creates an identifier for the column `name` with elements of type `type`.
    public init(_ name: String, _ type: T.Type) {
        self.name = name
    }

    /// The name followed by the type in angle brackets, such as `price <Double>`.
    public var description: String { "\(name) <\(typeName(T.self))>" }
}

/// Returns a type's name without its module and with syntactic sugar expanded, such as `Array<Any>`.
func typeName(_ type: any Any.Type) -> String { String(describing: type) }
