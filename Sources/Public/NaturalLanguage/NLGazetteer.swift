public import CoreML
public import Foundation
import MLFiles
import MLModels
import MLNumerics
import MLSpecification

/// Terms and their labels.  Terms match exactly.
open class NLGazetteer: NSObject, @unchecked Sendable {
    private let specification: SpecModel
    private let engine: Gazetteer
    public let language: NLLanguage?

    private init(_ specification: SpecModel) throws {
        self.specification = specification
        language = NLLanguage(tag: specification.gazetteer.language)
        engine = try TextModelFiles.translating {
            guard case .gazetteer(let parameters)? = specification.type else {
                throw ModelError(.invalidInput, "the model is no gazetteer; make one with MLGazetteer")
            }
            return try Gazetteer(parameters, specification.description_p)
        }
    }

    /// Loads a gazetteer: a compiled folder, a package or a model file.
    public convenience init(contentsOf url: URL) throws {
        try self.init(TextModelFiles.translating { try ModelFile.open(path: url.path).specification })
    }

    /// Reads a gazetteer from the bytes of its model file.
    public convenience init(data: Data) throws {
        try self.init(TextModelFiles.translating { try ModelFile(specification: [UInt8](data)).specification })
    }

    /// - Parameter dictionary: terms by their labels.
    public convenience init(dictionary: [String: [String]], language: NLLanguage?) throws {
        try self.init(TextModelFiles.gazetteer(dictionary, language: language))
    }

    /// Writes a gazetteer as a model file.
    open class func write(_ dictionary: [String: [String]], language: NLLanguage?, to url: URL) throws {
        try TextModelFiles.translating {
            try ModelFile.writeModel(TextModelFiles.gazetteer(dictionary, language: language), to: url.path)
        }
    }

    /// The bytes of the model file.
    public var data: Data {
        do { return Data(try SpecificationReader.encode(specification)) } catch {
            preconditionFailure("a gazetteer that was read cannot be written: \(error)")
        }
    }

    /// The label of a term; `nil` when it is not there.
    open func label(for string: String) -> String? { engine.label(of: string) }
}
