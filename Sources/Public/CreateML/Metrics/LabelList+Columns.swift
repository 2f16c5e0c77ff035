package import MLFeatures
package import TabularData

extension LabelList {
    /// The label as text.
    package func text(_ index: Int) -> String {
        switch self {
        case .strings(let list): list[index]
        case .integers(let list): String(list[index])
        }
    }

    /// A column of labels (`String` or `Int`) by their numbers.
    package func column(named name: String, _ indices: some Sequence<Int>) -> AnyColumn {
        switch self {
        case .strings(let list): Column<String>(name: name, contents: indices.map { list[$0] }).eraseToAnyColumn()
        case .integers(let list): Column<Int>(name: name, contents: indices.map { Int(list[$0]) }).eraseToAnyColumn()
        }
    }
}
