/// The types of columns, by Turi Create's numbers.
package enum SFrameKind: Int, Sendable {
    case integer = 0
    case float = 1
    case string = 2
    case vector = 3
    case list = 4
    case dictionary = 5
    case date = 6
    /// Only missing values.
    case undefined = 7
    case image = 8
    /// A multidimensional array.
    case array = 9

    /// The name of the type in messages.
    var plural: String {
        switch self {
        case .integer: "integers"
        case .float: "floats"
        case .string: "strings"
        case .vector: "vectors"
        case .list: "lists"
        case .dictionary: "dictionaries"
        case .date: "dates"
        case .undefined: "missing values"
        case .image: "images"
        case .array: "arrays"
        }
    }
}
