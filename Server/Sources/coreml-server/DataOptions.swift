import ArgumentParser
import DeploymentKeys
import Foundation
import ServerBlobs
import ServerCore
import ServerDatabase

/// The options of all commands that work on a server's data.
struct DataOptions: ParsableArguments {
    @Option(name: .customLong("data"), help: "The folder for the server's data; created when missing.")
    var folder: String
    @Option(
        help: """
            The address of a PostgreSQL database that several servers share, postgres://user@host/database; otherwise records are in \
            the folder. COREML_DATABASE sets it too.
            """
    )
    var database: String?
    @Option(
        help: """
            S3-compatible storage that several servers share, s3://bucket/prefix?endpoint=https://host&region=name; otherwise \
            files are in the folder. COREML_BLOBS sets it too. Its key: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY.
            """
    )
    var blobs: String?

    @Option(
        name: .customLong("key-service"),
        help: """
            The address of a separate key service, http://host:port; otherwise the keys of models are here. \
            COREML_KEY_SERVICE sets it too.
            """
    )
    var keyService: String?
    @Option(
        name: .customLong("key-service-secret"),
        help:
            "The file with the shared secret, made by coreml-server keys secret. COREML_KEY_SERVICE_SECRET sets it too."
    )
    var keyServiceSecret: String?

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The address of the shared database, if there is one.
    var sharedDatabase: String? { database ?? environment["COREML_DATABASE"] }
    var sharedBlobs: String? { blobs ?? environment["COREML_BLOBS"] }

    /// The key service, where it is a process of its own.
    func link() throws -> KeyServiceLink? {
        guard let address = keyService ?? environment["COREML_KEY_SERVICE"] else { return nil }
        guard let url = URL(string: address), let path = keyServiceSecret ?? environment["COREML_KEY_SERVICE_SECRET"]
        else {
            throw ValidationError(
                "--key-service takes an address, and --key-service-secret a file made by coreml-server keys secret."
            )
        }
        return try KeyServiceLink(url, KeyLinkSecret(contentsOf: path))
    }

    /// Opens the data; `isServing` is true for the folder's server, and false for commands that work beside one.
    func open(isServing: Bool = false) async throws -> Storage {
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let vault = try KeyVault(folder: folder + "/vault")
        let database = try openDatabase()
        let blobs: any BlobStore =
            if let sharedBlobs {
                try S3BlobStore(
                    S3Address(sharedBlobs),
                    S3Signer.Credentials(environment: environment),
                    scratch: isServing
                        ? folder + "/scratch" : NSTemporaryDirectory() + "/coreml-server-\(UUID().uuidString)"
                )
            } else {
                try FolderBlobStore(folder: folder + "/blobs", removesLeftovers: isServing)
            }
        // Servers that share a database share the keys in it; a single server has files of its own.
        let keys: any SigningKeyStore =
            sharedDatabase == nil ? try SigningKeyFolder(folder: folder + "/keys") : SealedSigningKeys(vault: vault)
        let link = try link()
        // Commands beside a server learn its role from its database.
        let stored = try await ServerCore.Service.storedRole(database)
        let role: ServerRole = link != nil ? .control : isServing ? .all : stored ?? .all
        return Storage(database: database, blobs: blobs, keys: keys, vault: vault, role: role, link: link)
    }

    func openDatabase() throws -> any Database {
        if let sharedDatabase { return try PostgreSQLDatabase(sharedDatabase) }
        return try SQLiteDatabase(path: folder + "/server.sqlite")
    }
}

/// A server's data.
struct Storage {
    let database: any Database
    let blobs: any BlobStore
    let keys: any SigningKeyStore
    let vault: KeyVault
    let role: ServerRole
    let link: KeyServiceLink?

    func service(address: String? = nil, redirectsFiles: Bool = false, providers: [IdentityProvider] = []) async throws
        -> ServerCore.Service
    {
        if role == .keys { return try await KeyHost.service(database: database, vault: vault) }
        return try await ServerCore.Service(
            database: database,
            blobs: blobs,
            keys: keys,
            vault: vault,
            role: role,
            keyService: link,
            address: address,
            redirectsFiles: redirectsFiles,
            providers: providers
        )
    }
}
