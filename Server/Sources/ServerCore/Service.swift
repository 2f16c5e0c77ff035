public import DeploymentKeys
public import Foundation
public import ServerBlobs
public import ServerDatabase

/// The work of the server without its interfaces: teams, apps, collections, releases and deployments.
public struct Service: Sendable {
    var database: any Database { changes }
    let changes: CountingDatabase
    let documents: DocumentCache
    let blobs: any BlobStore
    /// The private keys that the server signs with.
    let keys: any SigningKeyStore
    /// The vault that seals the server's secrets, and the keys of models where these are stored here.
    let vault: KeyVault
    /// The part of the work that this server does.
    let role: ServerRole
    /// The key service that has the keys of models, when it is a process of its own and known.
    let link: KeyServiceLink?
    /// The key service for devices, where the keys are stored here.
    let keyService: KeyService
    /// Whether enrolment tokens and conditions are managed only here, for a key service of its own.
    let holdsEnrolment: Bool
    /// The address at which clients reach the server, when it is known.
    let address: String?
    /// Stores the reports of devices.
    let reports: ReportCollector
    /// Verifies the tokens of workloads.
    let workloads: WorkloadVerifier
    /// The identity providers that people can sign in with.
    public let providers: [IdentityProvider]
    let openID: OpenIDClient
    let passwords: PasswordHasher
    /// The uploads in progress.
    let uploads = UploadSlots()
    /// Refused requests that are not yet in the audit log.
    let denials = DenialLog()
    /// Whether devices fetch files directly from the file store, when it has addresses.
    let redirectsFiles: Bool
    /// The current time, which tests can set.
    let now: @Sendable () -> Date

    /// Creates a service, and migrates its database.
    ///
    /// - Parameters:
    ///   - database: the records.
    ///   - blobs: the store of archives, deltas and test vectors.
    ///   - keys: the private keys that the server signs with.
    ///   - vault: seals the server's secrets, and the keys of models where these are stored here.
    ///   - role: the part of the work that this server does, by default all.
    ///   - link: the key service, for a server whose keys are at one of its own.
    ///   - holdsEnrolment: whether enrolment tokens and conditions are managed only here, for a key service of its own.
    ///   - address: the address at which clients reach the server, when it is known.
    ///   - redirectsFiles: whether devices fetch files directly from the file store, when it has addresses.
    ///   - fetcher: fetches documents of identity providers.
    ///   - providers: identity providers that people can sign in with.
    ///   - hasCheapPasswords: whether passwords are hashed cheaply and insecurely, for tests of other parts.
    ///   - now: the current time.
    ///   - uptime: the time by which cached documents age.
    /// - Throws: a ``ServiceError`` when the database has another role, or an error of the database or the keys.
    public init(
        database: any Database,
        blobs: any BlobStore,
        keys: any SigningKeyStore,
        vault: KeyVault,
        role: ServerRole = .all,
        keyService link: KeyServiceLink? = nil,
        holdsEnrolment: Bool = false,
        address: String? = nil,
        redirectsFiles: Bool = false,
        fetcher: any DocumentFetcher = SessionFetcher(),
        providers: [IdentityProvider] = [],
        hasCheapPasswords: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() },
        uptime: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) async throws {
        let changes = CountingDatabase(database)
        documents = DocumentCache(uptime: uptime)
        self.changes = changes
        self.blobs = blobs
        self.keys = keys
        self.vault = vault
        self.role = role
        self.link = link
        self.holdsEnrolment = holdsEnrolment
        keyService = KeyService(
            store: SQLKeyServiceStore(
                database: changes,
                vault: vault,
                believesGrants: role == .keys,
                usualConditions: EnrolmentConditions(requiresToken: holdsEnrolment),
                now: now
            ),
            clock: { ServiceTime(seconds: Int(now().timeIntervalSince1970)) }
        )
        self.address = address
        self.redirectsFiles = redirectsFiles
        workloads = WorkloadVerifier(fetcher: fetcher)
        self.providers = providers
        openID = OpenIDClient(fetcher: fetcher)
        passwords = PasswordHasher(isCheap: hasCheapPasswords)
        self.now = now
        reports = ReportCollector(database: database, now: now)
        try await Self.take(role, database)
        try await keys.prepare(database)
    }

    /// A random identifier of 16 digits and letters.
    static func identifier() -> String {
        let letters = Array("0123456789abcdefghjkmnpqrstvwxyz")
        return String((0..<16).map { _ in letters.randomElement() ?? "0" })
    }

    /// Checks an identifier that becomes part of addresses and signed documents.
    static func checkName(_ name: String, _ field: String) throws(ServiceError) {
        let isRight =
            !name.isEmpty && name.utf8.count <= 64 && name.first != "-" && name.last != "-"
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        guard isRight else {
            throw .invalid(
                field,
                "A name has 1 to 64 letters a–z, digits and hyphens, and begins and ends with a letter "
                    + "or digit, unlike \"\(name)\"."
            )
        }
    }

    /// Checks the identifier of a collection or the name of a model, as code spells them.
    static func checkIdentifier(_ name: String, _ field: String) throws(ServiceError) {
        let isRight =
            !name.isEmpty && name.utf8.count <= 128 && name != "." && name != ".."
            && name.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
                    || $0 == 0x2E || $0 == 0x5F
            }
        guard isRight else {
            throw .invalid(
                field,
                "An identifier has 1 to 128 letters A–Z and a–z, digits, hyphens, dots and underscores, unlike \"\(name)\"."
            )
        }
    }

    /// Checks a text that people read.
    static func checkText(_ text: String, _ field: String, maximum: Int = 1024) throws(ServiceError) {
        guard text.unicodeScalars.count <= maximum,
            !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\n" })
        else {
            throw .invalid(field, "A text of at most \(maximum) characters without control characters is needed.")
        }
    }
}
