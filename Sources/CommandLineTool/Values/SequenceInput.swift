import Foundation
import MLEngine
import MLSpecification

/// Reads lists in JSON into what a sequence input takes.
enum SequenceInput {
    /// - Throws: for what is no list, and for an element that is not of the sequence's type, naming it.
    static func read(
        _ json: Any,
        _ type: SpecSequenceFeatureType,
        for feature: SpecFeatureDescription
    ) throws -> FeatureSequence {
        guard let list = json as? [Any] else {
            throw Failure("'\(feature.name)' takes a list in JSON, such as \(example(type)), not \(text(json))")
        }
        func wrong(_ index: Int) -> Failure {
            Failure(
                "'\(feature.name)' takes a \(feature.typeText), such as \(example(type)); element \(index) is "
                    + text(list[index])
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
                guard let string = element as? String else { throw wrong(index) }
                return string
            }
        )
    }

    private static func integer(_ json: Any) -> Int64? {
        // Booleans are numbers to Foundation.
        guard !(json is String), let number = json as? NSNumber, String(cString: number.objCType) != "c" else {
            return nil
        }
        return Int64(exactly: number)
    }

    private static func example(_ type: SpecSequenceFeatureType) -> String {
        if case .int64Type? = type.type { "[3, 5]" } else { "[\"a\", \"b\"]" }
    }

    private static func text(_ json: Any) -> String {
        // What came from JSON can be written as JSON.
        (try? JSONFeature.text(json)) ?? "\(json)"
    }
}
