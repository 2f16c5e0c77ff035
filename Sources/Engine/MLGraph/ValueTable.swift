/// The values of a graph by number: those of another table, which is shared and not copied, and its appended.
///
/// A patch continues the table of its graph; copying thousands of values for each patch would cost more than the patch.
struct ValueTable: Sendable {
    private var shared: [Value] = []
    private var appended: [Value] = []

    init() {}

    /// Continues `table`.
    init(extending table: ValueTable) {
        shared = table.shared.isEmpty ? table.appended : table.shared + table.appended
    }

    var count: Int { shared.count + appended.count }

    /// The values that this table has beyond the one that it continues.
    var additions: [Value] { appended }

    subscript(index: Int) -> Value {
        _read {
            if index < shared.count { yield shared[index] } else { yield appended[index - shared.count] }
        }
        _modify {
            if index < shared.count {
                appended = shared + appended
                shared = []
            }
            yield &appended[index - shared.count]
        }
    }

    mutating func append(_ value: Value) { appended.append(value) }

    mutating func append(contentsOf values: [Value]) { appended += values }
}
