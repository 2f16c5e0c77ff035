import Testing
import UpdateFramework

/// Random numbers that are the same in each run (SplitMix64).
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

@Suite("Damaged metadata")
struct FuzzTests {
    let start = SampleRepository.start

    /// A repository with a delegation, all kinds of keys' metadata, and names beyond ASCII.
    private func repository() throws -> SampleRepository {
        var repository = try SampleRepository()
        let key = SigningKey(.ecdsaP256)
        try repository.publishTargets {
            try $0.delegate(
                to: "é/a",
                keys: [key.publicKey],
                threshold: 1,
                paths: .patterns(["[a-c]*"]),
                isTerminating: true
            )
            $0.set(Target(path: "z", bytes: [1], custom: .object(["n": .array([.null, .bool(false), .integer(-7)])])))
        }
        try repository.metadata.updateTargets("é/a", expires: start + 100, signers: [key]) {
            (targets) throws(UpdateError) in targets.set(Target(path: "a", bytes: [1]))
        }
        try repository.publishSnapshot()
        return repository
    }

    private let files = ["2.root.json", "timestamp.json", "3.snapshot.json", "2.targets.json", "1.%C3%A9%2Fa.json"]

    @Test("never traps, never is trusted for something else, and leaves a client that recovers")
    func mutations() async throws {
        var repository = try repository()
        try repository.metadata.updateRoot(expires: start + 100, signers: repository.signers(.root))
        try repository.publish()
        var generator = Seeded(state: 20_261_123)
        let store = MemoryStore()
        let updater = repository.updater(store: store)
        let whole = try await state(updater)
        let kept = store.files
        for step in 0..<2_000 {
            let name = files[step % files.count]
            let bytes = try #require(repository.server.metadata.bytes(name), "\(name)")
            if Bool.random(using: &generator) { for role in kept.keys { store.set(role, nil) } }
            repository.server.metadata.set(name, Self.damaged(bytes, &generator))
            do { #expect(try await state(updater) == whole, "step \(step), \(name)") } catch {
                #expect(error is UpdateError, "step \(step), \(name): \(error)")
            }
            repository.server.metadata.set(name, bytes)
            #expect(try await state(updater) == whole, "step \(step), \(name), mended")
        }
    }

    /// The client's findings, as text.
    private func state(_ updater: MetadataUpdater) async throws -> String {
        var trusted = try await updater.refresh(at: start)
        let found = try await updater.target("a", in: &trusted)
        let versions = [trusted.timestamp?.version, trusted.snapshot?.version, trusted.targets?.version]
        return "\(versions) \(found?.hashes.sha256 ?? "") \(found?.role ?? "")"
    }

    /// The bytes with one to three of: a bit, a byte, a piece left out, doubled or moved, a number or a brace more.
    static func damaged(_ bytes: [UInt8], _ generator: inout Seeded) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            guard !bytes.isEmpty else { return bytes }
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 1...40, using: &generator))
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 4: bytes.removeSubrange(end...)
            case 5: bytes.replaceSubrange(place..<end, with: Array("{}[],:\"\\u0e9".utf8).shuffled(using: &generator))
            default:
                let texts = ["-1", "99999999999999999999", "1e9", "null", "\\ud800"]
                bytes.insert(contentsOf: (texts.randomElement(using: &generator) ?? "").utf8, at: place)
            }
        }
        return bytes
    }

    @Test("is refused at every length")
    func truncation() async throws {
        let repository = try repository()
        for name in files.dropFirst() {
            let bytes = try #require(repository.server.metadata.bytes(name))
            for end in 0..<(bytes.count - 2) {
                #expect(
                    await code { _ = try SignedDocument(parsing: Array(bytes[..<end]), role: name) } == .malformed,
                    "\(name), \(end) bytes"
                )
            }
        }
    }

    @Test("with any values in any places, signed or not, is read or refused, but never traps")
    func structures() async throws {
        var generator = Seeded(state: 7)
        var (read, refused) = (0, 0)
        for _ in 0..<20_000 {
            let value = Self.structure(&generator, depth: 0)
            for (type, role) in Self.readers {
                var signed = value
                if case .object(var members) = signed {
                    members["_type"] = .string(role)
                    signed = .object(members)
                }
                do {
                    let again = try type.init(signed, role: role).signed
                    #expect(try again.canonicalBytes(of: role) == signed.canonicalBytes(of: role))
                    read += 1
                } catch { refused += 1 }
            }
        }
        #expect(read > 100 && refused > 100, "\(read) were read, \(refused) refused")
    }

    private static let readers: [(any RoleMetadata.Type, String)] = [
        (Root.self, "root"), (Timestamp.self, "timestamp"), (Snapshot.self, "snapshot"), (Targets.self, "targets"),
    ]

    /// Names that the specification knows, with values that are often what it asks for.
    private static func structure(_ generator: inout Seeded, depth: Int) -> MetadataValue {
        var members: [Name: MetadataValue] = [:]
        let sample: [Name: MetadataValue] = [
            "spec_version": .string("1.0.34"), "version": .integer(3), "expires": .string("2030-01-01T00:00:00Z"),
            "meta": .object(["snapshot.json": .object(["version": .integer(1)])]), "targets": .object([:]),
            "keys": .object([:]), "consistent_snapshot": .bool(true),
            "roles": .object(
                Dictionary(
                    uniqueKeysWithValues: MetadataType.allCases.map {
                        (
                            Name($0.rawValue),
                            MetadataValue.object(["keyids": .array([]), "threshold": .integer(1)])
                        )
                    }
                )
            ),
            "delegations": .object(["keys": .object([:]), "roles": .array([])]),
        ]
        for (name, value) in sample.sorted(by: { $0.key < $1.key }) {
            switch Int.random(in: 0..<14, using: &generator) {
            case 0: continue
            case 1: members[name] = any(&generator, depth: 0)
            default: members[name] = value
            }
        }
        return .object(members)
    }

    private static func any(_ generator: inout Seeded, depth: Int) -> MetadataValue {
        switch Int.random(in: 0..<(depth < 3 ? 8 : 6), using: &generator) {
        case 0: .null
        case 1: .bool(.random(using: &generator))
        case 2: .integer(Int.random(in: -2...3, using: &generator))
        case 3: .integer("1234567890123456789012345678901234567890")
        case 4: .fraction("1.5")
        case 5: .string(["", "root", "sha256", "2030-01-01T00:00:00Z"].randomElement(using: &generator) ?? "")
        case 6: .array((0..<Int.random(in: 0...2, using: &generator)).map { _ in any(&generator, depth: depth + 1) })
        default:
            .object(
                Dictionary(
                    ["keys", "roles", "targets", "length", "hashes", "version", "root"].shuffled(using: &generator)
                        .prefix(2).map { (Name($0), any(&generator, depth: depth + 1)) },
                    uniquingKeysWith: { $1 }
                )
            )
        }
    }
}
