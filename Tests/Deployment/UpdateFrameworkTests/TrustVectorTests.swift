import Foundation
import Testing
import UpdateFramework

/// Documentation/Formats/vectors/trust.json, which python-tuf made (`scripts/generate/trust-vectors`).
struct TrustVectors: Decodable {
    struct Canonical: Decodable {
        let text: String
        /// Hexadecimal digits; none when the text has no canonical form.
        let canonical: String?
        let json: Bool?
    }

    struct Key: Decodable {
        struct Fields: Decodable {
            struct Value: Decodable { let `public`: String }
            let keytype: String
            let scheme: String
            let keyval: Value
        }

        let name: String
        let key: Fields
        let id: String?
        let `private`: String?
        let message: String?
        let signature: String?
        let valid: Bool?
        let unsupported: Bool?
    }

    struct Pattern: Decodable {
        let pattern: String
        let path: String
        let isMatch: Bool

        init(from decoder: any Decoder) throws {
            var parts = try decoder.unkeyedContainer()
            pattern = try parts.decode(String.self)
            path = try parts.decode(String.self)
            isMatch = try parts.decode(Bool.self)
        }
    }

    struct Repository: Decodable {
        let name: String
        let start: String
        let root: String?
        let metadata: [String: String?]
        let targets: [String: String?]
        let path: String?
        let content: String?
        let code: String?
        let role: String?
    }

    let canonical: [Canonical]
    let keys: [Key]
    let patterns: [Pattern]
    let repositories: [Repository]

    static func read() throws -> TrustVectors {
        let folder = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let file = URL(fileURLWithPath: "/\(folder)/Documentation/Formats/vectors/trust.json")
        return try JSONDecoder().decode(TrustVectors.self, from: Data(contentsOf: file))
    }
}

/// The bytes that hexadecimal digits spell.
func bytes(hex: String) -> [UInt8] {
    stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
}

@Suite("The vectors of python-tuf")
struct TrustVectorTests {
    @Test("canonical JSON is the same to the byte, and what has none is refused")
    func canonical() async throws {
        for vector in try TrustVectors.read().canonical {
            let text = Array(#"{"signatures":[],"signed":{"v":\#(vector.text)}}"#.utf8)
            guard vector.canonical != nil || vector.json == true else {
                #expect(
                    await code { _ = try SignedDocument(parsing: text, role: "x") } == .malformed,
                    "\(vector.text) was read"
                )
                continue
            }
            let document = try SignedDocument(parsing: text, role: "x")
            guard let canonical = vector.canonical else {
                #expect(await code { _ = try document.message(of: "x") } == .malformed, "\(vector.text) was encoded")
                continue
            }
            let expected = Array(#"{"v":"#.utf8) + bytes(hex: canonical) + [UInt8(ascii: "}")]
            #expect(try document.message(of: "x") == expected, "\(vector.text)")
            let written = try SignedDocument(parsing: document.bytes, role: "x")
            #expect(try written.message(of: "x") == expected, "\(vector.text), written and read again")
        }
    }

    @Test("keys have the same ids and verify the same signatures")
    func keys() async throws {
        for vector in try TrustVectors.read().keys {
            guard let id = vector.id, let message = vector.message, let signature = vector.signature else {
                #expect(await code { _ = try root(vector.key) } == .unsupportedKey, "\(vector.name)")
                continue
            }
            let keys = try root(vector.key).keys(of: .targets)
            let key = try #require(keys.keys["key"])
            #expect(try key.id == id, "\(vector.name)")
            #expect(
                key.isValid(bytes(hex: signature), of: bytes(hex: message)) == vector.valid,
                "\(vector.name)"
            )
            guard let pem = vector.private else { continue }
            let own = try SigningKey(pem: pem)
            #expect(try own.publicKey.id == id, "\(vector.name)")
            #expect(key.isValid(try own.sign(bytes(hex: message)), of: bytes(hex: message)), "\(vector.name)")
        }
    }

    /// A root that has the key under the id `key`.
    private func root(_ key: TrustVectors.Key.Fields) throws -> Root {
        let role = MetadataValue.object(["keyids": .array([.string("key")]), "threshold": .integer(1)])
        let roles = Dictionary(uniqueKeysWithValues: MetadataType.allCases.map { (Name($0.rawValue), role) })
        let fields = MetadataValue.object([
            "keytype": .string(key.keytype), "scheme": .string(key.scheme),
            "keyval": .object(["public": .string(key.keyval.public)]),
        ])
        return try Root(
            .object([
                "_type": .string("root"), "spec_version": .string("1.0.0"), "version": .integer(1),
                "expires": .string("2030-01-01T00:00:00Z"), "keys": .object(["key": fields]), "roles": .object(roles),
            ]),
            role: "root"
        )
    }

    @Test("patterns match the same paths")
    func patterns() throws {
        for vector in try TrustVectors.read().patterns {
            #expect(
                DelegatedPaths.patterns([vector.pattern]).contain(vector.path) == vector.isMatch,
                "\(vector.pattern) and \(vector.path)"
            )
        }
    }

    @Test("repositories are trusted, or refused for the same reason")
    func repositories() async throws {
        let vectors = try TrustVectors.read().repositories
        let base = try #require(vectors.first)
        for vector in vectors {
            let updater = try updater(base, vector)
            let start = try #require(UTCTime(vector.start))
            let path = try #require(base.path)
            do {
                var trusted = try await updater.refresh(at: start)
                let target = try #require(try await updater.target(path, in: &trusted))
                let content = try await updater.download(target, in: trusted)
                #expect(vector.content.map { Array($0.utf8) } == content, "\(vector.name)")
            } catch let error as UpdateError {
                #expect(error.code.rawValue == vector.code, "\(vector.name): \(error)")
                #expect(error.role == vector.role, "\(vector.name): \(error)")
            }
        }
    }

    /// A client of the first repository with the changes of another.
    private func updater(_ base: TrustVectors.Repository, _ vector: TrustVectors.Repository) throws -> MetadataUpdater {
        let server = SampleServer()
        for (name, text) in base.metadata.merging(vector.metadata, uniquingKeysWith: { $1 }) {
            server.metadata.set(name, text.map { Array($0.utf8) })
        }
        for (name, text) in base.targets.merging(vector.targets, uniquingKeysWith: { $1 }) {
            server.targets.set(name, text.map { Array($0.utf8) })
        }
        return MetadataUpdater(
            metadata: server.metadata,
            targets: server.targets,
            store: MemoryStore(),
            bundledRoot: Array(try #require(base.root).utf8)
        )
    }
}
