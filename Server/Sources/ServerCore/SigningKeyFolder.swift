import Foundation
public import ServerDatabase
public import UpdateFramework

/// Where the private keys lie that the server signs with.
public protocol SigningKeyStore: Sendable {
    /// Makes what the store needs of the database.
    func prepare(_ database: any Database) async throws

    /// Makes a key for a role of a team.
    func make(team: String, role: String, _ connection: any Connection) throws -> SigningKey

    /// The keys of a role that are here; none when they lie elsewhere.
    func keys(team: String, role: String, _ connection: any Connection) throws -> [SigningKey]

    /// Removes the keys of a role that nobody is to trust any more.
    /// - Parameter named: the ids of the keys that the role has now.
    /// - Returns: how many were removed.
    func retire(team: String, role: String, keeping named: Set<String>, _ connection: any Connection) throws -> Int
}

/// The private keys that the server signs with, as files that only its user can read.
///
/// In easy mode all of a team's keys lie here.  `coreml trust ceremony` takes those of root and targets away; what needs them
/// then says so.
public struct SigningKeyFolder: SigningKeyStore {
    private let folder: String

    /// - Parameter folder: made when it does not exist.
    public init(folder: String) throws {
        self.folder = folder
        try Self.makeFolder(folder)
    }

    private func folder(_ team: String, _ role: String) -> String { "\(folder)/\(team)/\(role)" }

    public func prepare(_ database: any Database) async throws {}

    public func make(team: String, role: String, _ connection: any Connection) throws -> SigningKey {
        let key = SigningKey()
        let place = folder(team, role)
        try Self.makeFolder(place)
        try key.write(to: "\(place)/\(key.publicKey.id).pem")
        return key
    }

    public func keys(team: String, role: String, _ connection: any Connection) throws -> [SigningKey] {
        let place = folder(team, role)
        guard FileManager.default.fileExists(atPath: place) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: place).sorted().filter { $0.hasSuffix(".pem") }.map {
            try SigningKey(readingFrom: place + "/" + $0)
        }
    }

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
