package import MLFeatures
package import MLFiles
package import MLNumerics
package import MLSpecification

/// Reads JSON values into features.
///
/// JSON knows neither NaN nor infinity: the strings `"nan"`, `"inf"` and `"-inf"` (in any case, and `"infinity"` as
/// well) are that number wherever one is expected, and `null` there is a missing value, NaN.
package enum FeatureJSON {
    /// The value of a feature; arrays are nested lists, one level for each axis.
    package static func data(
        _ json: JSONValue,
        for feature: SpecFeatureDescription
    ) throws(ModelError) -> FeatureData {
        func mismatch() -> ModelError {
            ModelError(.invalidInput, "'\(feature.name)' takes \(feature.typeText), not \(shown(json))")
        }
        switch feature.type.type {
        case .int64Type?:
            guard let integer = integer(json) else { throw mismatch() }
            return .int64(integer)
        case .doubleType?:
            guard let number = number(json) else { throw mismatch() }
            return .double(number)
        case .stringType?:
            guard let string = json.string else { throw mismatch() }
            return .string(string)
        case .dictionaryType(let type)?:
            guard case .object(let members) = json else { throw mismatch() }
            var names: [String: Double] = [:]
            var integers: [Int64: Double] = [:]
            for member in members {
                guard let number = number(member.value) else { throw mismatch() }
                guard case .int64KeyType? = type.keyType else {
                    names[member.name] = number
                    continue
                }
                guard let key = Int64(member.name) else { throw mismatch() }
                integers[key] = number
            }
            guard case .int64KeyType? = type.keyType else { return .dictionary(.strings(names)) }
            return .dictionary(.integers(integers))
        case .sequenceType(let type)?: return .sequence(try sequence(json, type, for: feature))
        case .multiArrayType(let array)?:
            var values: [Double] = []
            let shape = try flatten(json, into: &values, mismatch)
            let declared = array.shape.map { Int(clamping: $0) }
            let fits =
                (try? declared.checkedElementCount()) == values.count && array.shapeFlexibility == nil
                && !declared.isEmpty
            return .tensor(Tensor(values: values, scalarType: .float64, shape: fits ? declared : shape))
        default: throw mismatch()
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

    /// A list in JSON as what a sequence input takes.
    /// - Throws: if the value is not a list, and for an element that is not of the sequence's type, naming it.
    private static func sequence(
        _ json: JSONValue,
        _ type: SpecSequenceFeatureType,
        for feature: SpecFeatureDescription
    ) throws(ModelError) -> FeatureSequence {
        var (isOfIntegers, example) = (false, "[\"a\", \"b\"]")
        if case .int64Type? = type.type { (isOfIntegers, example) = (true, "[3, 5]") }
        guard case .array(let list) = json else {
            throw ModelError(
                .invalidInput,
                "'\(feature.name)' takes a list in JSON, such as \(example), not \(shown(json))"
            )
        }
        func mismatch(_ index: Int) -> ModelError {
            ModelError(
                .invalidInput,
                "'\(feature.name)' takes a \(feature.typeText), such as \(example); element \(index) is "
                    + shown(list[index])
            )
        }
        var (integers, strings) = ([Int64](), [String]())
        for (index, element) in list.enumerated() {
            switch element {
            case .integer(let value) where isOfIntegers: integers.append(value)
            case .number(let value) where isOfIntegers:
                guard let whole = Int64(exactly: value) else { throw mismatch(index) }
                integers.append(whole)
            case .string(let value) where !isOfIntegers: strings.append(value)
            default: throw mismatch(index)
            }
        }
        return isOfIntegers ? .integers(integers) : .strings(strings)
    }

    private static func flatten(
        _ json: JSONValue,
        into values: inout [Double],
        _ mismatch: () -> ModelError
    ) throws(ModelError) -> [Int] {
        guard case .array(let list) = json else {
            guard let number = number(json) else { throw mismatch() }
            values.append(number)
            return []
        }
        guard case .array? = list.first else {
            for element in list {
                guard let number = number(element) else {
                    if case .array = element {
                        throw ModelError(.invalidInput, "the lists are not all of the same length")
                    }
                    throw mismatch()
                }
                values.append(number)
            }
            return [list.count]
        }
        var inner: [Int]?
        for element in list {
            let shape = try flatten(element, into: &values, mismatch)
            guard inner == nil || inner == shape else {
                throw ModelError(.invalidInput, "the lists are not all of the same length")
            }
            inner = shape
        }
        return [list.count] + (inner ?? [])
    }

    /// A value for messages.
    package static func shown(_ json: JSONValue) -> String {
        switch json {
        case .array(let list): "a list of \(list.count)"
        case .object: "an object"
        case .string(let text): "\(JSONValue.quoted(String(text.prefix(60))))"
        default: String(json.text.dropLast())
        }
    }
}
