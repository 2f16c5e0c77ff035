import MLFeatures
import MLNumerics
import MLSpecification

/// The indices of categories in a list; of equal categories the first is used.
struct CategoryIndices: Sendable {
    let count: Int
    private let strings: [String: Int]
    private let integers: [Int64: Int]

    init(_ categories: LabelList) {
        count = categories.count
        switch categories {
        case .strings(let values):
            strings = [String: Int](zip(values, 0...), uniquingKeysWith: { first, _ in first })
            integers = [:]
        case .integers(let values):
            integers = [Int64: Int](zip(values, 0...), uniquingKeysWith: { first, _ in first })
            strings = [:]
        }
    }

    /// `nil` for values that are not in the list.
    func position(of string: String) -> Int? { strings[string] }
    func position(of integer: Int64) -> Int? { integers[integer] }

    /// The indices of each row of a column of strings or integers.
    func positions(_ column: FeatureColumn, named name: String) throws(ModelError) -> [Int?] {
        switch column {
        case .strings(let values): return values.map { strings[$0] }
        case .integers(let values): return values.map { integers[$0] }
        default:
            throw ModelError(
                .invalidInput,
                "the input '\(name)' is \(column.value(at: 0).kind); the model takes a string or an integer"
            )
        }
    }
}
