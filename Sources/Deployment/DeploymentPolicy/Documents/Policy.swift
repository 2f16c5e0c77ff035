/// The `signed` part of `policy.json`: which release of a model collection each device runs.
///
/// Make one, change its members, and ``check()`` or ``bytes()`` it; read one that came signed with ``init(_:)``.
/// Signatures and expiry are the trust layer's business, except that ``isExpired(at:)`` says what the document says.
public struct Policy: Sendable, Hashable {
    /// The evaluator that this version of the module is.  Policies that need a later one are read as far as possible.
    public static let evaluatorVersion = 1

    /// Rises with every change; clients never go back.
    public var version: Int
    public var issued: PolicyDate
    public var expires: PolicyDate
    public var app: String
    public var environment: String
    public var collection: String
    /// The deployment's name, which `MLModelCollection.deploymentID` shows.
    public var deployment: String
    public var state: State = .active
    /// The evaluator that the policy was written for.
    public var evaluator = Policy.evaluatorVersion
    /// Asked in order; the first that matches serves.
    public var rules: [Rule] = []
    /// Serves devices that no rule matched.
    public var fallback: Serving
    public var releases: [ReleaseReference] = []
    public var segments: [Segment] = []
    /// The emergency floor: releases whose counter is lower are refused, also those that devices already have.
    public var minimumCounter = 0
    public var poll = Poll()
    public var reporting: Reporting?

    /// Whether rules apply.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Rules apply.
        case active
        /// Nothing changes on any device: each keeps what it has.
        case paused
        /// Emergency stop: every device runs the bundled models.
        case halted
    }

    public init(
        version: Int,
        issued: PolicyDate,
        expires: PolicyDate,
        app: String,
        environment: String,
        collection: String,
        deployment: String,
        fallback: Serving = .bundled
    ) {
        self.version = version
        self.issued = issued
        self.expires = expires
        self.app = app
        self.environment = environment
        self.collection = collection
        self.deployment = deployment
        self.fallback = fallback
    }

    /// Whether the policy is out of date at `now`: it is good up to and without `expires`.
    public func isExpired(at now: PolicyDate) -> Bool { now >= expires }

    /// The release of a number.
    public func release(_ number: Int) -> ReleaseReference? { releases.first { $0.number == number } }
}

/// Which release a matching device gets.
public struct Rule: Sendable, Hashable {
    /// 1 to 64 letters, digits, points, hyphens and underscores; unique in the policy.
    public var id: String
    /// For people.
    public var note: String?
    public var when: Condition
    public var serve: Serving

    public init(_ id: String, note: String? = nil, when: Condition, serve: Serving) {
        self.id = id
        self.note = note
        self.when = when
        self.serve = serve
    }
}

/// What a device gets.
public enum Outcome: Sendable, Hashable, CustomStringConvertible {
    /// The release of this number.
    case release(Int)
    /// The models that came with the app.
    case bundled
    /// The models that came with the app, and the device counts as the group that others are compared with.
    case holdout
    /// What the device has, as long as that is not below the emergency floor; bundled models where it has nothing.
    case keep

    public var description: String {
        switch self {
        case .release(let number): "release \(number)"
        case .bundled: "bundled"
        case .holdout: "hold-out"
        case .keep: "keep"
        }
    }
}

/// Divides devices by their buckets.
public struct Serving: Sendable, Hashable {
    /// What the install ID is hashed with.  Devices stay where they are as long as the salt does.
    public var salt: String
    /// In order; the last bound is 100,000.
    public var splits: [Split]

    /// The buckets from the split's before it up to and without `below`.
    public struct Split: Sendable, Hashable {
        public var below: Int
        public var outcome: Outcome

        public init(below: Int, _ outcome: Outcome) {
            self.below = below
            self.outcome = outcome
        }
    }

    public init(salt: String, _ splits: [Split]) {
        self.salt = salt
        self.splits = splits
    }

    /// The same for all.
    public init(_ outcome: Outcome) { self.init(salt: "all", [Split(below: Bucket.count, outcome)]) }

    public static let bundled = Serving(.bundled)

    /// A release that is being rolled out: `new` from bucket 0 up, the hold-out from the last bucket down, `rest`
    /// between.  Raising `share` takes it from no device, nor does raising `holdout` as long as they do not meet.
    ///
    /// - Parameter share: devices that get `new`, and `holdout` those held out, in thousandths of a percent.
    public static func rollout(
        salt: String,
        _ new: Outcome,
        share: Int,
        holdout: Int = 0,
        rest: Outcome
    ) -> Serving {
        let top = Bucket.count - min(max(holdout, 0), Bucket.count)
        let reached = min(max(share, 0), top)
        var splits: [Split] = []
        if reached > 0 { splits.append(Split(below: reached, new)) }
        if top > reached { splits.append(Split(below: top, rest)) }
        if top < Bucket.count { splits.append(Split(below: Bucket.count, .holdout)) }
        return Serving(salt: salt, splits)
    }

    /// The one outcome of all devices; `nil` when buckets decide.
    public var single: Outcome? {
        let taken = Set(shares.filter { $0.share > 0 }.map(\.outcome))
        return taken.count == 1 ? taken.first : nil
    }

    /// What each split serves, in thousandths of a percent.
    public var shares: [(outcome: Outcome, share: Int)] {
        var from = 0
        return splits.map { split in
            defer { from = max(from, split.below) }
            return (split.outcome, max(0, split.below - from))
        }
    }

    /// What a bucket gets.
    public func outcome(of bucket: Int) -> Outcome? { splits.first { bucket < $0.below }?.outcome }
}

/// Where a release lies, and what it needs.
public struct ReleaseReference: Sendable, Hashable {
    public var number: Int
    /// The release's counter, which the emergency floor is compared with.
    public var counter: Int
    /// The TUF target: `apps/{app}/collections/{collection}/{number}.json`.
    public var target: String
    /// Of the release document, in lower-case hexadecimal.
    public var sha256: String
    /// Bytes of the release document.
    public var length: Int
    public var minimumRuntime: VersionNumber?

    public init(
        number: Int,
        counter: Int,
        target: String,
        sha256: String,
        length: Int,
        minimumRuntime: VersionNumber? = nil
    ) {
        self.number = number
        self.counter = counter
        self.target = target
        self.sha256 = sha256
        self.length = length
        self.minimumRuntime = minimumRuntime
    }

    /// The TUF target of a release.
    public static func target(app: String, collection: String, number: Int) -> String {
        "apps/\(app)/collections/\(collection)/\(number).json"
    }
}

/// Installations that belong together, of which the policy tells nobody else.
public struct Segment: Sendable, Hashable {
    public var name: String
    public var salt: String
    /// 16 bytes for each installation, see ``Bucket/member(installID:salt:)``.
    public var members: Set<[UInt8]>

    public init(_ name: String, salt: String, members: Set<[UInt8]>) {
        self.name = name
        self.salt = salt
        self.members = members
    }

    public init(_ name: String, salt: String, installIDs: some Sequence<String>) {
        self.init(name, salt: salt, members: Set(installIDs.map { Bucket.member(installID: $0, salt: salt) }))
    }

    public func contains(installID: String) -> Bool {
        members.contains(Bucket.member(installID: installID, salt: salt))
    }
}

/// How often devices ask for the policy.
public struct Poll: Sendable, Hashable {
    /// Seconds from one check to the next, 300 to 2,592,000.
    public var interval: Int
    /// What holds instead while the server has too much to do.
    public var brownOut: BrownOut?

    public struct BrownOut: Sendable, Hashable {
        /// Seconds from one check to the next.
        public var interval: Int
        public var until: PolicyDate

        public init(interval: Int, until: PolicyDate) {
            self.interval = interval
            self.until = until
        }
    }

    public init(interval: Int = 21_600, brownOut: BrownOut? = nil) {
        self.interval = interval
        self.brownOut = brownOut
    }

    /// Seconds to the next check: the longer of both before a brown-out ends.
    public func interval(at now: PolicyDate) -> Int {
        guard let brownOut, now < brownOut.until else { return interval }
        return max(interval, brownOut.interval)
    }
}

/// Where devices tell, without saying who they are, how a release fares.
public struct Reporting: Sendable, Hashable {
    /// The path of the service on the policy's server, beginning with a slash.
    public var path: String
    /// How many of 100,000 reports are sent.
    public var sampleRate: Int

    public init(path: String, sampleRate: Int = 100_000) {
        self.path = path
        self.sampleRate = sampleRate
    }
}
