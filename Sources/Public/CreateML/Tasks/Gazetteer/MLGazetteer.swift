public import CoreML
import Foundation
import MLModels
import MLNumerics
public import NaturalLanguage

/// A gazetteer: a lookup table from terms to labels.
///
/// Terms are compared exactly; letter case counts.
public struct MLGazetteer: Sendable {
    /// The parameters of the gazetteer.
    public struct ModelParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// The language of the terms; `nil` by default.
        public var language: NLLanguage?

        /// Creates parameters.
        public init(language: NLLanguage? = nil) { self.language = language }

        /// The language.
        public var description: String { "language: \(language?.rawValue ?? "not specified")" }

        /// The same text as `description`.
        public var debugDescription: String { description }
    }

    /// The parameters of the gazetteer.
    public let modelParameters: ModelParameters
    private var task: TaskModel

    /// The model, with a string `text` as input and the output `label`, which is empty for an unknown term.
    ///
    /// A model that is set here is used for predictions; it cannot be written.
    public var model: MLModel {
        get { task.model }
        set { task.model = newValue }
    }

    /// Creates a gazetteer of given terms.
    /// - Parameters:
    ///   - dictionary: The terms of each label.
    ///   - parameters: The parameters of the gazetteer.
    /// - Throws: `MLCreateError` naming a term with two labels, or if there are no terms.
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
        task = try TaskModel(TextModelFiles.gazetteer(dictionary, language: parameters.language).marked)
    }

    /// Looks up the label of a term; empty if the term is unknown.
    public func prediction(from text: String) throws -> String {
        try task.engine(Gazetteer.self).label(of: text) ?? ""
    }

    /// Looks up the label of each term; empty for unknown terms.
    public func predictions(from texts: [String]) throws -> [String] {
        let engine = try task.engine(Gazetteer.self)
        return texts.map { engine.label(of: $0) ?? "" }
    }

    /// Writes the model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system, `.generic` if `model` was
    ///   set.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: fileURL, metadata)
    }

    /// Writes the model to a path, in which a leading tilde is expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try task.write(toFile: path, metadata)
    }
}

extension MLGazetteer: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters.
    public var description: String { "Gazetteer\nParameters\n\(modelParameters)" }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
