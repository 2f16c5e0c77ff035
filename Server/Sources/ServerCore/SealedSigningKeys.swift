import Crypto
public import DeploymentKeys
import Foundation
public import ServerDatabase
public import UpdateFramework

/// The private keys that the server signs with, sealed in its database, for servers that share one.
///
/// Anyone with the vault's key can use them. Each is encrypted (AES-256-GCM) under a key that is in the database, too,
/// sealed by the vault.
public struct SealedSigningKeys: SigningKeyStore {
    private static let purpose = "signing keys"

    private static let tables = [
        Migration(
            version: 1,
            "CREATE TABLE signing_master (id BIGINT NOT NULL PRIMARY KEY, sealed BYTES NOT NULL)",
            """
            CREATE TABLE signing_keys (
                team TEXT NOT NULL, role TEXT NOT NULL, key_id TEXT NOT NULL, sealed BYTES NOT NULL,
                PRIMARY KEY (team, role, key_id)
            )
            """
        )
    ]

    private let vault: KeyVault

    /// Creates a store whose keys a vault seals.
    public init(vault: KeyVault) { self.vault = vault }

    /// Creates the tables and the sealing key, unless they exist.
    ///
    /// Throws when the database's keys were sealed with another vault than this server's.
    public func prepare(_ database: any Database) async throws {
        try await database.migrate(Self.tables, of: "signing")
        let vault = vault
        try await database.write { connection in
            if try connection.first("SELECT id FROM signing_master") == nil {
                let key = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
                try connection.execute(
                    "INSERT INTO signing_master (id, sealed) VALUES (1, ?)",
                    try vault.seal(key, purpose: Self.purpose)
                )
            }
            _ = try Self.master(vault, connection)
        }
    }

    private static func master(_ vault: KeyVault, _ connection: any Connection) throws -> SymmetricKey {
        guard let sealed = try connection.first("SELECT sealed FROM signing_master WHERE id = 1")?.bytes("sealed")
        else {
            throw DatabaseError.failure("the key that seals signing keys is gone; restore a backup")
        }
        return SymmetricKey(data: try vault.open(sealed, purpose: purpose))
    }

    /// Creates a key for a role of a team and stores it.
    public func make(team: String, role: String, _ connection: any Connection) throws -> SigningKey {
        let key = SigningKey()
        let id = try "\(key.publicKey.id)"
        let box = try AES.GCM.seal(
            Data(key.pem.utf8),
            using: try Self.master(vault, connection),
            authenticating: Self.context(team, role, id)
        )
        guard let sealed = box.combined else { preconditionFailure("a nonce has 12 bytes") }
        try connection.execute(
            "INSERT INTO signing_keys (team, role, key_id, sealed) VALUES (?, ?, ?, ?)",
            team,
            role,
            id,
            Array(sealed)
        )
        return key
    }

    /// The keys of a role; empty when they are held elsewhere.
    public func keys(team: String, role: String, _ connection: any Connection) throws -> [SigningKey] {
        let rows = try connection.query(
            "SELECT key_id, sealed FROM signing_keys WHERE team = ? AND role = ?",
            team,
            role
        )
        guard !rows.isEmpty else { return [] }
        let master = try Self.master(vault, connection)
        return try rows.map { ($0, try $0.text("key_id")) }.sorted { $0.1 < $1.1 }.map { row, id in
            guard let box = try? AES.GCM.SealedBox(combined: row.bytes("sealed")),
                let text = try? AES.GCM.open(box, using: master, authenticating: Self.context(team, role, id))
            else {
                throw DatabaseError.failure(
                    "the signing key \(id) of \(team)/\(role) does not open: it was changed; restore a backup"
                )
            }
            return try SigningKey(pem: String(decoding: text, as: UTF8.self))
        }
    }

    /// Removes the keys of a role that are not among `named`, and returns their number.
    public func retire(
        team: String,
        role: String,
        keeping named: Set<String>,
        _ connection: any Connection
    ) throws -> Int {
        let rows = try connection.query("SELECT key_id FROM signing_keys WHERE team = ? AND role = ?", team, role)
        let old = try rows.map { try $0.text("key_id") }.filter { !named.contains($0) }
        for id in old {
            try connection.execute(
                "DELETE FROM signing_keys WHERE team = ? AND role = ? AND key_id = ?",
                team,
                role,
                id
            )
        }
        return old.count
    }

    /// The additional data that a sealed key is bound to.
    private static func context(_ team: String, _ role: String, _ id: String) -> Data {
        Data([team, role, id].joined(separator: "\0").utf8)
    }
}

/// The signing keys of a store within a transaction.
struct SigningKeys {
    let store: any SigningKeyStore
    let connection: any Connection

    func make(team: String, role: String) throws -> SigningKey {
        try store.make(team: team, role: role, connection)
    }

    func keys(team: String, role: String) throws -> [SigningKey] {
        try store.keys(team: team, role: role, connection)
    }

    func retire(team: String, role: String, keeping named: Set<String>) throws -> Int {
        try store.retire(team: team, role: role, keeping: named, connection)
    }
}
