public import CoreML
public import Foundation
import MLFiles
import MLModels
import MLNumerics
import MLSpecification

/// A list of terms and their labels, which match exactly.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class NLGazetteer: NSObject, @unchecked Sendable {
    private let engine: Gazetteer
    /// The content of the gazetteer's model file.
    public let data: Data
    /// The language of the terms; `nil` when none is stated.
    public let language: NLLanguage?

    private init(_ specification: SpecModel) throws {
        language = NLLanguage(tag: specification.gazetteer.language)
        (engine, data) = try TextModelFiles.translating {
            guard case .gazetteer(let parameters)? = specification.type else {
                throw ModelError(.invalidInput, "the model is not a gazetteer; make one with MLGazetteer")
            }
            let engine = try Gazetteer(parameters, specification.description_p)
            return (engine, Data(try SpecificationReader.encode(specification)))
        }
    }

    /// Loads a gazetteer.
    ///
    /// - Parameter url: A compiled folder, a package or a model file, as `MLGazetteer` writes it.
    /// - Throws: `MLModelError` when the model cannot be read or is no gazetteer.
    public convenience init(contentsOf url: URL) throws {
        try self.init(TextModelFiles.translating { try ModelFile.open(path: url.path).specification })
    }

    /// Reads a gazetteer from the bytes of its model file.
    ///
    /// - Parameter data: The content of a `.mlmodel` file.
    /// - Throws: `MLModelError` when the data are damaged or no gazetteer.
    public convenience init(data: Data) throws {
        try self.init(TextModelFiles.translating { try ModelFile(specification: [UInt8](data)).specification })
    }

    /// Makes a gazetteer from its terms.
    ///
    /// - Parameters:
    ///   - dictionary: The terms of each label.
    ///   - language: The language of the terms; `nil` for none.
    /// - Throws: `MLModelError` when the terms cannot be stored.
    public convenience init(dictionary: [String: [String]], language: NLLanguage?) throws {
        try self.init(TextModelFiles.gazetteer(dictionary, language: language))
    }

    /// Writes a gazetteer as a model file.
    ///
    /// - Parameters:
    ///   - dictionary: The terms of each label.
    ///   - language: The language of the terms; `nil` for none.
    ///   - url: The file to write.
    /// - Throws: `MLModelError` when the file cannot be written.
    open class func write(_ dictionary: [String: [String]], language: NLLanguage?, to url: URL) throws {
        try TextModelFiles.translating {
            try ModelFile.writeModel(TextModelFiles.gazetteer(dictionary, language: language), to: url.path)
        }
    }

    /// The label of a term; `nil` when the gazetteer does not have the term.
    open func label(for string: String) -> String? { engine.label(of: string) }
}
