/// The values of a graph by number: those of another table, which is shared and not copied, and its own.
///
/// A patch continues the table of its graph; copying thousands of values for each patch would cost more than the patch.
struct ValueTable: Sendable {
    private var shared: [Value] = []
    private var own: [Value] = []

    init() {}

    /// Continues `table`.
    init(extending table: ValueTable) {
        shared = table.shared.isEmpty ? table.own : table.shared + table.own
    }

    var count: Int { shared.count + own.count }

    /// The values that this table has beyond the one that it continues.
    var additions: [Value] { own }

    subscript(index: Int) -> Value {
        _read {
            if index < shared.count { yield shared[index] } else { yield own[index - shared.count] }
        }
        _modify {
            if index < shared.count {
                own = shared + own
                shared = []
            }
            yield &own[index - shared.count]
        }
    }

    mutating func append(_ value: Value) { own.append(value) }

    mutating func append(contentsOf values: [Value]) { own += values }
}
