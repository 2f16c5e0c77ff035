public import Foundation
package import MLSpecification

/// Who made a model, and what for; written into its file.
public struct MLModelMetadata: Sendable {
    public var author: String
    public var shortDescription: String
    public var license: String?
    public var version: String
    /// Further keys and values.
    public var additional: [String: String]?

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
    /// Takes over what metadata say; further keys are added to those that are there.
    package mutating func apply(_ metadata: MLModelMetadata) {
        description_p.metadata.author = metadata.author
        description_p.metadata.shortDescription = metadata.shortDescription
        description_p.metadata.license = metadata.license ?? ""
        description_p.metadata.versionString = metadata.version
        for (key, value) in metadata.additional ?? [:] { description_p.metadata.userDefined[key] = value }
    }
}
