import Foundation
import MLEngine
import MLFeatureFiles
import MLFiles
import MLNumerics
import MLSpecification

/// Converts features to and from JSON values.
///
/// JSON has neither NaN nor infinity. They are written as the strings `"nan"`, `"inf"` and `"-inf"`; when reading, such
/// a string (in any case, and `"infinity"` as well) is that number wherever one is expected, and `null` is a missing
/// value, NaN.
enum JSONFeature {
    /// The value of a feature; arrays are nested lists, one level for each axis.
    static func data(_ json: JSONValue, for feature: SpecFeatureDescription) throws(ModelError) -> FeatureData {
        try FeatureJSON.data(json, for: feature)
    }

    /// The value of a JSON text.
    static func value(_ text: some StringProtocol) throws(ModelError) -> JSONValue {
        try JSONReader.read(Array(text.utf8))
    }

    /// The value in a JSON file.
    static func value(inFile path: String) throws -> JSONValue {
        let bytes = try failing { () throws(ModelError) in try FileAccess.read(path) }
        return try failing { () throws(ModelError) in
            try withErrorContext(path) { () throws(ModelError) in try JSONReader.read(bytes) }
        }
    }

    /// The JSON form of a feature for `write`; tensors become nested lists.
    static func json(_ data: FeatureData) -> Any {
        switch data {
        case .int64(let value): value
        case .double(let value): value
        case .string(let value): value
        case .tensor(let tensor): tensor
        case .image(let image): ["width": image.width, "height": image.height]
        case .dictionary(.strings(let values)): values
        case .dictionary(.integers(let values)): [String: Double](uniqueKeysWithValues: values.map { ("\($0)", $1) })
        case .sequence(.strings(let values)): values
        case .sequence(.integers(let values)): values
        }
    }

    /// The JSON text of numbers, strings, truth values, tensors, and lists and objects of them, with names in order.
    static func text(_ value: Any) throws -> String {
        let writer = JSONWriter()
        try write(value, writer)
        return writer.text
    }

    /// Writes numbers, strings, truth values, tensors, and lists and objects of them, with names in order.
    static func write(_ value: Any, _ writer: JSONWriter) throws {
        switch value {
        case let tensor as Tensor: try writer.tensor(tensor)
        case let text as String: try writer.string(text)
        case let flag as Bool: try writer.bool(flag)
        case let number as Double: try writer.number(number)
        case let number as Float: try writer.number(Double(number))
        case let integer as any BinaryInteger: try writer.integer(integer)
        case is NSNull: try writer.null()
        case let list as [Any]: try writer.list(list) { try write($0, writer) }
        case let object as [String: Any]: try writer.object(object.sorted { $0.key < $1.key }) { try write($0, writer) }
        default: throw Failure("values of type \(type(of: value)) cannot be written as JSON")
        }
    }
}
