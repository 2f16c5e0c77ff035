/// A release: all models of a collection together, as one TUF target (format 1).
public struct ReleaseDocument: Sendable, Hashable {
    public var app: String
    public var collection: String
    /// The release's number, which names its target.
    public var number: Int
    /// Rises with every release of the collection; the policy's emergency floor is compared with it.
    public var counter: Int
    public var created: PolicyDate
    /// The runtime that the models need.
    public var minimumRuntime: VersionNumber?
    /// Their names are unique, also without regard to the case of ASCII letters.
    public var models: [Model]
    /// For people; lines are separated by line feeds.
    public var notes: String?
    /// What was measured before the release.
    public var metrics: [Metric] = []
    /// The maker's own: a commit, a training run.
    public var annotations: [String: String] = [:]

    /// Bytes that lie under `/b/sha256/`.
    public struct Blob: Sendable, Hashable {
        /// In lower-case hexadecimal.
        public var sha256: String
        /// Bytes.
        public var length: Int

        public init(sha256: String, length: Int) {
            self.sha256 = sha256
            self.length = length
        }
    }

    public struct Model: Sendable, Hashable {
        /// The model's identifier in the collection's `entries`.
        public var name: String
        /// The `.mlarchive`.
        public var archive: Blob
        /// The model's own version, for people.
        public var version: String?
        public var encryption: Encryption?
        public var selfTest: SelfTest?
        public var deltas: [Delta] = []

        public init(_ name: String, archive: Blob) {
            self.name = name
            self.archive = archive
        }
    }

    /// The key that an archive is encrypted with.
    public struct Encryption: Sendable, Hashable {
        /// 16 bytes in lower-case hexadecimal, as `.mlmodelkey` has it.
        public var keyID: String
        public var team: String

        public init(keyID: String, team: String) {
            self.keyID = keyID
            self.team = team
        }
    }

    /// Stored inputs and outputs that a device runs before it trusts a model.
    public struct SelfTest: Sendable, Hashable {
        public var vectors: Blob
        /// The greatest relative difference; `nil` where the vectors say it.
        public var tolerance: Double?
        /// How many times as long as the model that the device has, a model may take for the vectors: 1 or more; `nil` for
        /// any time.
        public var slowdown: Double?

        public init(vectors: Blob, tolerance: Double? = nil, slowdown: Double? = nil) {
            self.vectors = vectors
            self.tolerance = tolerance
            self.slowdown = slowdown
        }
    }

    /// What makes this archive out of an earlier one.
    public struct Delta: Sendable, Hashable {
        /// SHA-256 of the earlier archive.
        public var from: String
        public var delta: Blob

        public init(from: String, _ delta: Blob) {
            self.from = from
            self.delta = delta
        }
    }

    public struct Metric: Sendable, Hashable {
        public var name: String
        public var value: Double
        /// The model it was measured of; `nil` for the whole collection.
        public var model: String?

        public init(_ name: String, _ value: Double, model: String? = nil) {
            self.name = name
            self.value = value
            self.model = model
        }
    }

    public init(app: String, collection: String, number: Int, counter: Int, created: PolicyDate, models: [Model]) {
        self.app = app
        self.collection = collection
        self.number = number
        self.counter = counter
        self.created = created
        self.models = models
    }

    /// The TUF target that the document is.
    public var target: String { ReleaseReference.target(app: app, collection: collection, number: number) }

    /// Checks that the policy means this document: an attacker who controls the policy cannot relabel releases.
    public func check(against reference: ReleaseReference, of policy: Policy) throws(PolicyError) {
        func agree(_ isEqual: Bool, _ path: String, _ here: String, _ there: String) throws(PolicyError) {
            guard !isEqual else { return }
            throw PolicyError(.mismatch, at: path, "The release says \(here), the policy \(there).  Publish both anew.")
        }
        try agree(app == policy.app, "app", app, policy.app)
        try agree(collection == policy.collection, "collection", collection, policy.collection)
        try agree(number == reference.number, "number", "\(number)", "\(reference.number)")
        try agree(counter == reference.counter, "counter", "\(counter)", "\(reference.counter)")
        try agree(
            minimumRuntime == reference.minimumRuntime,
            "minimumRuntime",
            minimumRuntime?.description ?? "none",
            reference.minimumRuntime?.description ?? "none"
        )
    }
}
