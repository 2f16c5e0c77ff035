import MLEngine
import MLFiles
import MLSpecification

/// Reads lists in JSON into what a sequence input takes.
enum SequenceInput {
    /// - Throws: for what is no list, and for an element that is not of the sequence's type, naming it.
    static func read(
        _ json: JSONValue,
        _ type: SpecSequenceFeatureType,
        for feature: SpecFeatureDescription
    ) throws -> FeatureSequence {
        guard case .array(let list) = json else {
            throw Failure(
                "'\(feature.name)' takes a list in JSON, such as \(example(type)), not \(JSONFeature.shown(json))"
            )
        }
        func wrong(_ index: Int) -> Failure {
            Failure(
                "'\(feature.name)' takes a \(feature.typeText), such as \(example(type)); element \(index) is "
                    + JSONFeature.shown(list[index])
            )
        }
        if case .int64Type? = type.type {
            return .integers(
                try list.enumerated().map { index, element in
                    guard let number = integer(element) else { throw wrong(index) }
                    return number
                }
            )
        }
        return .strings(
            try list.enumerated().map { index, element in
                guard let string = element.string else { throw wrong(index) }
                return string
            }
        )
    }

    private static func integer(_ json: JSONValue) -> Int64? {
        switch json {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        case .null, .bool, .string, .array, .object: nil
        }
    }

    private static func example(_ type: SpecSequenceFeatureType) -> String {
        if case .int64Type? = type.type { "[3, 5]" } else { "[\"a\", \"b\"]" }
    }
}
