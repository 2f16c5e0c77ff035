import Foundation
public import ServerDatabase
public import UpdateFramework

/// A store of the private keys that the server signs with.
public protocol SigningKeyStore: Sendable {
    /// Creates the tables that the store needs.
    func prepare(_ database: any Database) async throws

    /// Creates and stores a key for a role of a team.
    func make(team: String, role: String, _ connection: any Connection) throws -> SigningKey

    /// The keys of a role; empty when they are held elsewhere.
    func keys(team: String, role: String, _ connection: any Connection) throws -> [SigningKey]

    /// Removes the keys of a role that are not among `named`, the ids of its current keys, and returns their number.
    func retire(team: String, role: String, keeping named: Set<String>, _ connection: any Connection) throws -> Int
}

/// The private keys that the server signs with, as files that only its user can read.
///
/// For a new team all keys are here. `coreml trust ceremony` moves those of root and targets to people; operations that
/// need them then fail with an error that says so.
public struct SigningKeyFolder: SigningKeyStore {
    private let folder: String

    /// Opens a folder, which is created when it does not exist.
    public init(folder: String) throws {
        self.folder = folder
        try Self.makeFolder(folder)
    }

    private func folder(_ team: String, _ role: String) -> String { "\(folder)/\(team)/\(role)" }

    /// Does nothing: the keys are not in the database.
    public func prepare(_ database: any Database) async throws {}

    /// Creates a key for a role of a team and writes it to a file.
    public func make(team: String, role: String, _ connection: any Connection) throws -> SigningKey {
        let key = SigningKey()
        let place = folder(team, role)
        try Self.makeFolder(place)
        try key.write(to: "\(place)/\(key.publicKey.id).pem")
        return key
    }

    /// The keys of a role; empty when they are held elsewhere.
    public func keys(team: String, role: String, _ connection: any Connection) throws -> [SigningKey] {
        let place = folder(team, role)
        guard FileManager.default.fileExists(atPath: place) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: place).sorted().filter { $0.hasSuffix(".pem") }.map {
            try SigningKey(readingFrom: place + "/" + $0)
        }
    }

    /// Removes the key files of a role that are not among `named`, and returns their number.
    public func retire(
        team: String,
        role: String,
        keeping named: Set<String>,
        _ connection: any Connection
    ) throws -> Int {
        let place = folder(team, role)
        guard FileManager.default.fileExists(atPath: place) else { return 0 }
        let files = try FileManager.default.contentsOfDirectory(atPath: place).filter {
            $0.hasSuffix(".pem") && !named.contains(String($0.dropLast(4)))
        }
        for file in files { try FileManager.default.removeItem(atPath: place + "/" + file) }
        return files.count
    }

    private static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }
}
