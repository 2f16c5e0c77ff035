import MLSpecification

/// What a model file says about itself.
public struct ModelMetadata: Hashable, Sendable {
    public var description: String
    public var author: String
    public var license: String
    public var version: String
    public var userDefined: [String: String]

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
