import Foundation
import MLEngine
import MLNumerics
import MLSpecification

/// Features as JSON values, both ways.
enum JSONFeature {
    static func data(_ json: Any, for feature: SpecFeatureDescription) throws -> FeatureData {
        func wrong() -> Failure { Failure("'\(feature.name)' takes \(feature.typeText), not \(json)") }
        switch feature.type.type {
        case .int64Type?:
            guard let number = json as? NSNumber else { throw wrong() }
            return .int64(number.int64Value)
        case .doubleType?:
            guard let number = json as? NSNumber else { throw wrong() }
            return .double(number.doubleValue)
        case .stringType?:
            guard let string = json as? String else { throw wrong() }
            return .string(string)
        case .dictionaryType(let type)?:
            guard let object = json as? [String: NSNumber] else { throw wrong() }
            let numbers = object.mapValues(\.doubleValue)
            guard case .int64KeyType? = type.keyType else { return .dictionary(.strings(numbers)) }
            var integers: [Int64: Double] = [:]
            for (key, value) in numbers {
                guard let key = Int64(key) else { throw wrong() }
                integers[key] = value
            }
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

    private static func flatten(_ json: Any, into values: inout [Double], _ wrong: () -> Failure) throws -> [Int] {
        if let number = json as? NSNumber {
            values.append(number.doubleValue)
            return []
        }
        guard let list = json as? [Any] else { throw wrong() }
        var inner: [Int]?
        for element in list {
            let shape = try flatten(element, into: &values, wrong)
            guard inner == nil || inner == shape else { throw Failure("the lists are not all of the same length") }
            inner = shape
        }
        return [list.count] + (inner ?? [])
    }

    /// The JSON form of a feature; tensors become nested lists.
    static func json(_ data: FeatureData) -> Any {
        switch data {
        case .int64(let value): return value
        case .double(let value): return number(value)
        case .string(let value): return value
        case .tensor(let tensor): return nested(tensor.values[...], tensor.shape[...])
        case .image(let image): return ["width": image.width, "height": image.height]
        case .dictionary(.strings(let values)): return values.mapValues(number)
        case .dictionary(.integers(let values)):
            return [String: Any](uniqueKeysWithValues: values.map { ("\($0)", number($1)) })
        case .sequence(.strings(let values)): return values
        case .sequence(.integers(let values)): return values
        }
    }

    /// JSON knows neither NaN nor infinity: they become strings.
    private static func number(_ value: Double) -> Any { value.isFinite ? value as Any : "\(value)" as Any }

    private static func nested(_ values: ArraySlice<Double>, _ shape: ArraySlice<Int>) -> Any {
        guard let extent = shape.first else { return values.first.map(number) ?? NSNull() }
        let size = shape.dropFirst().reduce(1, *)
        return (0..<extent).map { index in
            let start = values.startIndex + index * size
            return nested(values[start..<start + size], shape.dropFirst())
        }
    }

    static func text(_ object: Any) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .fragmentsAllowed])
        return String(decoding: data, as: UTF8.self)
    }
}
