/// The type of a feature.
public enum MLFeatureType: Int, Hashable, Sendable {
    /// No type: the model file states none, or one that is not known here.
    case invalid = 0
    /// A signed integer of 64 bits.
    case int64 = 1
    /// A double-precision number.
    case double = 2
    /// A string.
    case string = 3
    /// An image: a pixel buffer.
    case image = 4
    /// A multi-dimensional array of numbers.
    case multiArray = 5
    /// A dictionary from strings or integers to doubles.
    case dictionary = 6
    /// A list of strings or of integers.
    case sequence = 7
    /// A buffer that a stateful model keeps between predictions.
    case state = 8
}

extension MLFeatureType: CustomStringConvertible {
    /// The type's name: `MultiArray`.
    public var description: String {
        switch self {
        case .invalid: "Invalid"
        case .int64: "Int64"
        case .double: "Double"
        case .string: "String"
        case .image: "Image"
        case .multiArray: "MultiArray"
        case .dictionary: "Dictionary"
        case .sequence: "Sequence"
        case .state: "State"
        }
    }
}
