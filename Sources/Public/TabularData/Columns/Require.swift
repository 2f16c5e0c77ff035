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
