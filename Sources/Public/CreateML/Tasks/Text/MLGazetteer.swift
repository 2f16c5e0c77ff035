public import CoreML
import Foundation
import MLModels
import MLNumerics
public import NaturalLanguage

/// Terms and their labels.  Terms match exactly.
public struct MLGazetteer: Sendable {
    public struct ModelParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        public var language: NLLanguage?

        public init(language: NLLanguage? = nil) { self.language = language }

        public var description: String { "language: \(language?.rawValue ?? "not specified")" }

        public var debugDescription: String { description }
    }

    public let modelParameters: ModelParameters
    private var task: TextTaskModel

    /// The model: a string `text` in, `label` out, empty for a term that is not there.
    public var model: MLModel {
        get { task.model }
        set { task.model = newValue }
    }

    /// - Parameter dictionary: terms by their labels.
    /// - Throws: `MLCreateError` naming a term of two labels, or when there are no terms.
    public init(dictionary: [String: [String]], parameters: ModelParameters = ModelParameters()) throws {
        var labels: [String: String] = [:]
        for (label, terms) in dictionary.sorted(by: { $0.key < $1.key }) {
            for term in terms {
                if let other = labels.updateValue(label, forKey: term), other != label {
                    throw MLCreateError.generic(
                        reason: "the term \"\(term)\" has the labels \"\(other)\" and \"\(label)\"; give it one"
                    )
                }
            }
        }
        guard !labels.isEmpty else {
            throw MLCreateError.generic(reason: "there are no terms; give at least one")
        }
        modelParameters = parameters
        task = try TextTaskModel(TextModelFiles.gazetteer(dictionary, language: parameters.language))
    }

    /// The label of a term, empty when it is not there.
    public func prediction(from text: String) throws -> String {
        try task.engine(Gazetteer.self).label(of: text) ?? ""
    }

    public func predictions(from texts: [String]) throws -> [String] {
        let engine = try task.engine(Gazetteer.self)
        return texts.map { engine.label(of: $0) ?? "" }
    }

    /// Writes the model to a file whose name ends in `.mlmodel`, or a package `.mlpackage`.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: fileURL.path, metadata)
    }

    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: (path as NSString).expandingTildeInPath, metadata)
    }
}

extension MLGazetteer: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "Gazetteer\nParameters\n\(modelParameters)" }

    public var debugDescription: String { description }
}
