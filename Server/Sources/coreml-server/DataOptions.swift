import ArgumentParser
import DeploymentKeys
import Foundation
import ServerBlobs
import ServerCore
import ServerDatabase

/// What all commands ask for that work on what a server keeps.
struct DataOptions: ParsableArguments {
    @Option(name: .customLong("data"), help: "The folder that the server keeps everything in; made when missing.")
    var folder: String
    @Option(
        help: """
            The address of a PostgreSQL database that several servers share, postgres://user@host/database; else records lie in \
            the folder. COREML_DATABASE says it too.
            """
    )
    var database: String?
    @Option(
        help: """
            Storage that speaks S3 and that several servers share, s3://bucket/prefix?endpoint=https://host&region=name; else \
            files lie in the folder. COREML_BLOBS says it too. Its key: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY.
            """
    )
    var blobs: String?

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The address of the shared database, if there is one.
    var sharedDatabase: String? { database ?? environment["COREML_DATABASE"] }
    var sharedBlobs: String? { blobs ?? environment["COREML_BLOBS"] }

    /// - Parameter isServing: whether this is the folder's server; others work beside one.
    func open(isServing: Bool = false) throws -> Storage {
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let vault = try KeyVault(folder: folder + "/vault")
        let database: any Database =
            if let sharedDatabase {
                try PostgreSQLDatabase(sharedDatabase)
            } else {
                try SQLiteDatabase(path: folder + "/server.sqlite")
            }
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
        // Servers that share a database share the keys in it; one that stands alone has files of its own.
        let keys: any SigningKeyStore =
            sharedDatabase == nil ? try SigningKeyFolder(folder: folder + "/keys") : SealedSigningKeys(vault: vault)
        return Storage(database: database, blobs: blobs, keys: keys, vault: vault)
    }
}

/// Where a server keeps what it has.
struct Storage {
    let database: any Database
    let blobs: any BlobStore
    let keys: any SigningKeyStore
    let vault: KeyVault

    func service(address: String? = nil, redirectsFiles: Bool = false) async throws -> ServerCore.Service {
        try await ServerCore.Service(
            database: database,
            blobs: blobs,
            keys: keys,
            vault: vault,
            address: address,
            redirectsFiles: redirectsFiles
        )
    }
}
