/// A release: all models of a collection together, as one TUF target (format 1).
public struct ReleaseDocument: Sendable, Hashable {
    /// The app's identifier, `[a-z0-9-]{1,64}`.
    public var app: String
    /// The identifier of the model collection.
    public var collection: String
    /// The release's number, 1 and up, which names its target.
    public var number: Int
    /// The counter, which rises with every release of the collection; the emergency floor is compared with it.
    public var counter: Int
    /// The date at which the release was created.
    public var created: PolicyDate
    /// The earliest runtime that can load the models; `nil` for any.
    public var minimumRuntime: VersionNumber?
    /// The models, 1 to 200; their names differ even if the case of ASCII letters is ignored.
    public var models: [Model]
    /// Notes for people, with line feeds between lines; at most ``Limits/notesBytes``.
    public var notes: String?
    /// Measurements that were made before the release.
    public var metrics: [Metric] = []
    /// Names and values that the publisher chooses: a commit, a training run.
    public var annotations: [String: String] = [:]

    /// A file that the server has under `/b/sha256/`.
    public struct Blob: Sendable, Hashable {
        /// The file's SHA-256 in lower-case hexadecimal digits.
        public var sha256: String
        /// The file's length in bytes, 1 and up.
        public var length: Int

        /// Creates the description of a file.
        public init(sha256: String, length: Int) {
            self.sha256 = sha256
            self.length = length
        }
    }

    /// A model of the release.
    public struct Model: Sendable, Hashable {
        /// The model's identifier in the collection's `entries`.
        public var name: String
        /// The model's `.mlarchive`.
        public var archive: Blob
        /// The model's own version, for people; 1 to 128 bytes.
        public var version: String?
        /// The key that the archive is encrypted with; `nil` for an archive in the clear.
        public var encryption: Encryption?
        /// The test that a device runs before it trusts the model; `nil` for none.
        public var selfTest: SelfTest?
        /// Deltas from earlier archives, at most ``Limits/deltas``.
        public var deltas: [Delta] = []

        /// Creates a model in the clear, without self-test and deltas.
        public init(_ name: String, archive: Blob) {
            self.name = name
            self.archive = archive
        }
    }

    /// The key that an archive is encrypted with.
    public struct Encryption: Sendable, Hashable {
        /// The key's identifier, 16 bytes in lower-case hexadecimal digits, as in `.mlmodelkey`.
        public var keyID: String
        /// The team whose key it is, 1 to 200 bytes.
        public var team: String

        /// Creates the description of a key.
        public init(keyID: String, team: String) {
            self.keyID = keyID
            self.team = team
        }
    }

    /// Stored inputs and outputs that a device runs before it trusts a model.
    public struct SelfTest: Sendable, Hashable {
        /// The file of test vectors.
        public var vectors: Blob
        /// The largest relative difference from the stored outputs; `nil` where the vectors state it.
        public var tolerance: Double?
        /// The largest ratio of the new model's time for the vectors to the current model's, 1 or more.
        ///
        /// `nil` allows any time.
        public var slowdown: Double?

        /// Creates a self-test, by default with the vectors' own tolerance and without a limit of time.
        public init(vectors: Blob, tolerance: Double? = nil, slowdown: Double? = nil) {
            self.vectors = vectors
            self.tolerance = tolerance
            self.slowdown = slowdown
        }
    }

    /// A file that makes this archive out of an earlier one.
    public struct Delta: Sendable, Hashable {
        /// The SHA-256 of the earlier archive in lower-case hexadecimal digits.
        public var from: String
        /// The `.mldelta`.
        public var delta: Blob

        /// Creates the description of a delta.
        public init(from: String, _ delta: Blob) {
            self.from = from
            self.delta = delta
        }
    }

    /// A measurement that was made before the release.
    public struct Metric: Sendable, Hashable {
        /// The metric's name, 1 to 128 bytes.
        public var name: String
        /// The measured value, a finite number.
        public var value: Double
        /// The model that was measured; `nil` for the whole collection.
        public var model: String?

        /// Creates a measurement, by default of the whole collection.
        public init(_ name: String, _ value: Double, model: String? = nil) {
            self.name = name
            self.value = value
            self.model = model
        }
    }

    /// Creates a release without minimum runtime, notes, metrics and annotations.
    public init(app: String, collection: String, number: Int, counter: Int, created: PolicyDate, models: [Model]) {
        self.app = app
        self.collection = collection
        self.number = number
        self.counter = counter
        self.created = created
        self.models = models
    }

    /// The path of the TUF target that the document is.
    public var target: String { ReleaseReference.target(app: app, collection: collection, number: number) }

    /// Checks that a policy's entry means this document.
    ///
    /// This keeps an attacker who controls the policy from relabelling releases. Throws `mismatch` where app,
    /// collection, number, counter or minimum runtime differ.
    public func check(against reference: ReleaseReference, of policy: Policy) throws(PolicyError) {
        func requireEqual(_ isEqual: Bool, _ path: String, _ here: String, _ there: String) throws(PolicyError) {
            guard !isEqual else { return }
            throw PolicyError(
                .mismatch,
                at: path,
                "The release says \(here), the policy \(there).  Publish both again."
            )
        }
        try requireEqual(app == policy.app, "app", app, policy.app)
        try requireEqual(collection == policy.collection, "collection", collection, policy.collection)
        try requireEqual(number == reference.number, "number", "\(number)", "\(reference.number)")
        try requireEqual(counter == reference.counter, "counter", "\(counter)", "\(reference.counter)")
        try requireEqual(
            minimumRuntime == reference.minimumRuntime,
            "minimumRuntime",
            minimumRuntime?.description ?? "none",
            reference.minimumRuntime?.description ?? "none"
        )
    }
}
