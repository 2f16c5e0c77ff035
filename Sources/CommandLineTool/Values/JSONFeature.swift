import Foundation
import MLEngine
import MLFiles
import MLNumerics
import MLSpecification

/// Features as JSON values, both ways.
///
/// JSON knows neither NaN nor infinity.  Written, they become the strings `"nan"`, `"inf"` and `"-inf"`; read, such a string
/// (in any case, and `"infinity"` as well) is that number wherever one is expected, and `null` there is a missing value, NaN.
enum JSONFeature {
    /// The value of a feature; arrays are nested lists, one level for each axis.
    static func data(_ json: JSONValue, for feature: SpecFeatureDescription) throws -> FeatureData {
        func wrong() -> Failure { Failure("'\(feature.name)' takes \(feature.typeText), not \(shown(json))") }
        switch feature.type.type {
        case .int64Type?:
            guard let integer = integer(json) else { throw wrong() }
            return .int64(integer)
        case .doubleType?:
            guard let number = number(json) else { throw wrong() }
            return .double(number)
        case .stringType?:
            guard let string = json.string else { throw wrong() }
            return .string(string)
        case .dictionaryType(let type)?:
            guard case .object(let members) = json else { throw wrong() }
            var names: [String: Double] = [:]
            var integers: [Int64: Double] = [:]
            for member in members {
                guard let number = number(member.value) else { throw wrong() }
                guard case .int64KeyType? = type.keyType else {
                    names[member.name] = number
                    continue
                }
                guard let key = Int64(member.name) else { throw wrong() }
                integers[key] = number
            }
            guard case .int64KeyType? = type.keyType else { return .dictionary(.strings(names)) }
            return .dictionary(.integers(integers))
        case .sequenceType(let type)?: return .sequence(try SequenceInput.read(json, type, for: feature))
        case .multiArrayType(let array)?:
            var values: [Double] = []
            let shape = try flatten(json, into: &values) { wrong() }
            let declared = array.shape.map { Int(clamping: $0) }
            let fits = declared.reduce(1, *) == values.count && array.shapeFlexibility == nil && !declared.isEmpty
            return .tensor(Tensor(values: values, scalarType: .float64, shape: fits ? declared : shape))
        default: throw wrong()
        }
    }

    /// The number that a value is; `true` is 1 and `false` 0.
    private static func number(_ json: JSONValue) -> Double? {
        switch json {
        case .number(let value): value
        case .integer(let value): Double(value)
        case .bool(let value): value ? 1 : 0
        case .null: .nan
        case .string(let text): Double(text).flatMap { $0.isFinite ? nil : $0 }
        case .array, .object: nil
        }
    }

    /// The whole number that a value is, with a fraction of zeros or without.
    private static func integer(_ json: JSONValue) -> Int64? {
        switch json {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        case .bool(let value): value ? 1 : 0
        case .null, .string, .array, .object: nil
        }
    }

    private static func flatten(
        _ json: JSONValue,
        into values: inout [Double],
        _ wrong: () -> Failure
    ) throws -> [Int] {
        guard case .array(let list) = json else {
            guard let number = number(json) else { throw wrong() }
            values.append(number)
            return []
        }
        guard case .array? = list.first else {
            for element in list {
                guard let number = number(element) else {
                    if case .array = element { throw Failure("the lists are not all of the same length") }
                    throw wrong()
                }
                values.append(number)
            }
            return [list.count]
        }
        var inner: [Int]?
        for element in list {
            let shape = try flatten(element, into: &values, wrong)
            guard inner == nil || inner == shape else { throw Failure("the lists are not all of the same length") }
            inner = shape
        }
        return [list.count] + (inner ?? [])
    }

    /// The value that a text spells in JSON.
    static func value(_ text: some StringProtocol) throws(ModelError) -> JSONValue {
        try JSONReader.read(Array(text.utf8))
    }

    /// The value in a JSON file.
    static func value(inFile path: String) throws -> JSONValue {
        let file = try failing { () throws(ModelError) in try MappedFile(path) }
        return try failing { () throws(ModelError) in
            try trailing(path) { () throws(ModelError) in
                try file.withBytes { (bytes) throws(ModelError) in
                    try JSONReader.read(bytes.assumingMemoryBound(to: UInt8.self))
                }
            }
        }
    }

    /// The JSON form of a feature, as `write` takes it; tensors become nested lists.
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

    /// The JSON text of numbers, strings, truth values, tensors, and lists and objects of them; names in order.
    static func text(_ value: Any) throws -> String {
        let writer = JSONWriter()
        try write(value, writer)
        return writer.text
    }

    /// Writes numbers, strings, truth values, tensors, and lists and objects of them, whose names come in order.
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
        default: throw Failure("values of type \(type(of: value)) have no form in JSON")
        }
    }

    /// A value for messages.
    static func shown(_ json: JSONValue) -> String {
        switch json {
        case .array(let list): "a list of \(list.count)"
        case .object: "an object"
        case .string(let text): "\(JSONValue.quoted(String(text.prefix(60))))"
        default: json.text.trimmingCharacters(in: .newlines)
        }
    }
}
