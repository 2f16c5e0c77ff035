/// Ends the program and says why when a caller broke a contract: a column that is not there, a row past the end.
/// Unlike `precondition`, whose message a release build drops, the reason is printed by every build.
@inlinable @inline(__always)
func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { fatalError(reason()) }
}
