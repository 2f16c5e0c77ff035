import MLSpecification

/// The metadata of a model file.
public struct ModelMetadata: Hashable, Sendable {
    /// A description of the model.
    public var description: String
    /// The author of the model.
    public var author: String
    /// The license of the model.
    public var license: String
    /// The version of the model, in any form.
    public var version: String
    /// Further metadata by key.
    public var userDefined: [String: String]

    /// Creates metadata; everything is empty by default.
    ///
    /// - Parameters:
    ///   - description: A description of the model.
    ///   - author: The author of the model.
    ///   - license: The license of the model.
    ///   - version: The version of the model, in any form.
    ///   - userDefined: Further metadata by key.
    public init(
        description: String = "",
        author: String = "",
        license: String = "",
        version: String = "",
        userDefined: [String: String] = [:]
    ) {
        self.description = description
        self.author = author
        self.license = license
        self.version = version
        self.userDefined = userDefined
    }
}

extension ModelMetadata {
    init(_ metadata: SpecMetadata) {
        self.init(
            description: metadata.shortDescription,
            author: metadata.author,
            license: metadata.license,
            version: metadata.versionString,
            userDefined: metadata.userDefined
        )
    }

    func write(to metadata: inout SpecMetadata) {
        metadata.shortDescription = description
        metadata.author = author
        metadata.license = license
        metadata.versionString = version
        metadata.userDefined = userDefined
    }
}
