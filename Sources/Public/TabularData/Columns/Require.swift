/// Stops the program with `reason` when a caller broke a contract, such as naming a column that does not exist.
///
/// Unlike `precondition`, whose message a release build drops, the reason is printed by every build.
@inlinable @inline(__always)
func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { fatalError(reason()) }
}
