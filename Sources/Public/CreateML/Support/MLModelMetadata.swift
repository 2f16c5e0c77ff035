public import Foundation
package import MLSpecification

/// The author, description, license and version of a model, which are written into its file.
public struct MLModelMetadata: Sendable {
    /// The author's name; the full name of the user by default.
    public var author: String
    /// A short description of the model.
    public var shortDescription: String
    /// The license under which the model is distributed; `nil`, the default, writes none.
    public var license: String?
    /// The version as text; "1" by default.
    public var version: String
    /// Further metadata by key; `nil` by default.
    public var additional: [String: String]?

    /// Creates metadata; see the properties of the same names.
    public init(
        author: String = NSFullUserName(),
        shortDescription: String = "A model trained using CreateML for use with CoreML.",
        license: String? = nil,
        version: String = "1",
        additional: [String: String]? = nil
    ) {
        self.author = author
        self.shortDescription = shortDescription
        self.license = license
        self.version = version
        self.additional = additional
    }
}

extension SpecModel {
    /// Writes metadata into the model's description; further keys are added to existing ones.
    package mutating func apply(_ metadata: MLModelMetadata) {
        description_p.metadata.author = metadata.author
        description_p.metadata.shortDescription = metadata.shortDescription
        description_p.metadata.license = metadata.license ?? ""
        description_p.metadata.versionString = metadata.version
        for (key, value) in metadata.additional ?? [:] { description_p.metadata.userDefined[key] = value }
    }
}
