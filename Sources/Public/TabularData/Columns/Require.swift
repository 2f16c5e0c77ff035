/// Stops the program with `reason` when a caller broke a contract, such as naming a column that does not exist.
///
/// Unlike `precondition`, whose message a release build drops, the reason is printed by every build.
@inlinable @inline(__always)
func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { fatalError(reason()) }
}

/// Stops the program when `rows` are not all among the rows `owned` of the column `name`, or of a slice of it.
func require(_ rows: Range<Int>, in owned: Range<Int>, of name: String) {
    require(
        rows.lowerBound >= owned.lowerBound && rows.upperBound <= owned.upperBound,
        "rows \(rows) are not in column '\(name)' (rows \(owned))"
    )
}

/// An element or a column was given to a column of another type.
struct ElementTypeMismatch: Error, CustomStringConvertible {
    /// The name of the column.
    let column: String
    /// The type of its elements.
    let expected: any Any.Type
    /// The type of the given value.
    let found: any Any.Type

    var description: String {
        "column '\(column)' holds elements of type \(typeName(expected)), not \(typeName(found))"
    }
}

/// Stops the program, naming the column and both types, when a caller gave a column an element of another type.
@inline(__always)
func requireType(_ body: () throws(ElementTypeMismatch) -> Void) {
    do { try body() } catch { fatalError(error.description) }
}
