public import DeploymentKeys
public import Foundation
public import ServerBlobs
public import ServerDatabase

/// What the server does, apart from how it is asked: teams, apps, collections, releases and deployments.
public struct Service: Sendable {
    var database: any Database { changes }
    let changes: CountingDatabase
    let documents = DocumentCache()
    let blobs: any BlobStore
    /// Where private keys lie.
    let keys: any SigningKeyStore
    /// What seals the server's secrets, and the keys of models where these lie here.
    let vault: KeyVault
    /// What of the work this server does.
    let role: ServerRole
    /// The key service that has the keys of models, when it is a process of its own and known.
    let link: KeyServiceLink?
    /// Gives devices the keys of the models that they are to have, where they lie here.
    let keyService: KeyService
    /// Whether who may enrol is decided here and nowhere else, for a key service of its own.
    let holdsEnrolment: Bool
    /// Where clients reach the server, when that is known.
    let address: String?
    /// What takes the reports of devices.
    let reports: ReportCollector
    /// What verifies the tokens of workloads.
    let workloads: WorkloadVerifier
    /// The providers that people sign in with.
    public let providers: [IdentityProvider]
    let openID: OpenIDClient
    let passwords: PasswordHasher
    /// How many uploads go on.
    let uploads = UploadSlots()
    /// What was refused to whom, until it is written into the audit log.
    let denials = DenialLog()
    /// Whether devices fetch files from where they lie, when that has addresses.
    let redirectsFiles: Bool
    /// The time, for tests to turn.
    let now: @Sendable () -> Date

    /// - Parameters:
    ///   - role: what of the work this server does.
    ///   - link: the key service, for a server whose keys lie with one of its own.
    ///   - providers: identity providers that people sign in with.
    ///   - hasCheapPasswords: for tests of what is around passwords: they are then easy to find again.
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
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws {
        let changes = CountingDatabase(database)
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

    /// A random name of 16 digits and letters.
    static func identifier() -> String {
        let letters = Array("0123456789abcdefghjkmnpqrstvwxyz")
        return String((0..<16).map { _ in letters.randomElement() ?? "0" })
    }

    /// Checks a name that stands in addresses and in signed documents.
    static func checkName(_ name: String, _ field: String) throws(ServiceError) {
        let isRight =
            !name.isEmpty && name.utf8.count <= 64 && name.first != "-" && name.last != "-"
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        guard isRight else {
            throw .invalid(
                field,
                "A name has 1 to 64 letters a–z, digits and hyphens, and begins and ends with none of the "
                    + "latter; \"\(name)\" has not."
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
                "An identifier has 1 to 128 letters A–Z and a–z, digits, hyphens, dots and underscores; \"\(name)\" has not."
            )
        }
    }

    /// Checks a text that people read.
    static func checkText(_ text: String, _ field: String, most: Int = 1024) throws(ServiceError) {
        guard text.unicodeScalars.count <= most, !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\n" })
        else {
            throw .invalid(field, "A text of at most \(most) characters without control characters is needed.")
        }
    }
}
