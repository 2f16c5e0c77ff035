/// The `signed` part of `policy.json`: which release of a model collection each device runs.
///
/// Create one, set its members, and call ``check()`` or ``bytes()``; read one that came signed with ``init(_:)``.
/// Signatures and expiry are checked by the trust layer; ``isExpired(at:)`` only reports what the document states.
public struct Policy: Sendable, Hashable {
    /// The version of this module's evaluator; of policies that need a later one, it reads as much as it can.
    public static let evaluatorVersion = 1

    /// The policy's version, 1 and up: it rises with every change, and clients never accept a lower one.
    public var version: Int
    /// The date at which the policy was issued, before ``expires``.
    public var issued: PolicyDate
    /// The date from which the policy is no longer valid.
    public var expires: PolicyDate
    /// The app's identifier, `[a-z0-9-]{1,64}`.
    public var app: String
    /// The environment's identifier, such as `production`, `[a-z0-9-]{1,64}`.
    public var environment: String
    /// The identifier of the model collection.
    public var collection: String
    /// The deployment's identifier, which apps see as `MLModelCollection.deploymentID`.
    public var deployment: String
    /// Whether rules apply; `active` by default.
    public var state: State = .active
    /// The version of the evaluator that the policy was written for.
    public var evaluator = Policy.evaluatorVersion
    /// The rules, evaluated in order; the first that matches decides; at most ``Limits/rules``.
    public var rules: [Rule] = []
    /// The serving for devices that no rule matches; `default` in the document.
    public var fallback: Serving
    /// The releases that rules can name.
    public var releases: [ReleaseReference] = []
    /// The segments that conditions can name.
    public var segments: [Segment] = []
    /// The emergency floor: releases with a lower counter are refused, even where they are installed; by default 0.
    public var minimumCounter = 0
    /// The interval between devices' checks for a new policy, by default six hours.
    public var poll = Poll()
    /// The destination of devices' reports; `nil` when they send none.
    public var reporting: Reporting?

    /// Whether a policy's rules apply.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Rules apply.
        case active
        /// Nothing changes on any device: each keeps what it has.
        case paused
        /// Emergency stop: every device runs the bundled models.
        case halted
    }

    /// Creates an active policy without rules, releases and segments.
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

    /// Whether the policy has expired at `now`; it is valid up to but not including ``expires``.
    public func isExpired(at now: PolicyDate) -> Bool { now >= expires }

    /// The release with a number; `nil` when the policy does not list it.
    public func release(_ number: Int) -> ReleaseReference? { releases.first { $0.number == number } }
}

/// A rule of a policy: a condition, and the outcomes for devices that satisfy it.
public struct Rule: Sendable, Hashable {
    /// The rule's identifier, unique in the policy: 1 to 64 letters, digits, points, hyphens and underscores.
    public var id: String
    /// A remark for people.
    public var note: String?
    /// The condition; the rule matches where it is true.
    public var when: Condition
    /// The outcomes for matching devices.
    public var serve: Serving

    /// Creates a rule.
    public init(_ id: String, note: String? = nil, when: Condition, serve: Serving) {
        self.id = id
        self.note = note
        self.when = when
        self.serve = serve
    }
}

/// The models that a device gets.
public enum Outcome: Sendable, Hashable, CustomStringConvertible {
    /// The release with this number.
    case release(Int)
    /// The models of the app bundle.
    case bundled
    /// The models of the app bundle; the device belongs to the hold-out group that others are compared with.
    case holdout
    /// The device's present models, unless they are below the emergency floor; bundled ones where it has none.
    case keep

    /// The outcome as text: `release 8`, `bundled`, `hold-out`, `keep`.
    public var description: String {
        switch self {
        case .release(let number): "release \(number)"
        case .bundled: "bundled"
        case .holdout: "hold-out"
        case .keep: "keep"
        }
    }
}

/// The assignment of outcomes to devices by their buckets.
public struct Serving: Sendable, Hashable {
    /// The salt that the install ID is hashed with, 1 to 128 bytes.
    ///
    /// Devices keep their buckets as long as the salt does not change.
    public var salt: String
    /// The splits in order of their bounds; the last bound is 100,000.
    public var splits: [Split]

    /// The outcome of the buckets from the previous split's bound up to but not including `below`.
    public struct Split: Sendable, Hashable {
        /// The end of the range of buckets, not included.
        public var below: Int
        /// The outcome for devices in these buckets.
        public var outcome: Outcome

        /// Creates a split.
        public init(below: Int, _ outcome: Outcome) {
            self.below = below
            self.outcome = outcome
        }
    }

    /// Creates a serving from splits.
    public init(salt: String, _ splits: [Split]) {
        self.salt = salt
        self.splits = splits
    }

    /// Creates a serving with the same outcome for all devices.
    public init(_ outcome: Outcome) { self.init(salt: "all", [Split(below: Bucket.count, outcome)]) }

    /// The serving that gives all devices the models of the app bundle.
    public static let bundled = Serving(.bundled)

    /// The serving of a release that is being rolled out.
    ///
    /// Buckets from 0 up get `new`, those from the last down are held out, and those between get `rest`. Raising
    /// `share` takes `new` from no device, nor does raising `holdout` as long as the two do not meet.
    ///
    /// - Parameters:
    ///   - salt: the salt that decides the devices' buckets.
    ///   - new: the release that is rolled out.
    ///   - share: the devices that get `new`, in thousandths of a percent; clamped to what the hold-out leaves.
    ///   - holdout: the devices that are held out, in thousandths of a percent; clamped to 0 to 100,000.
    ///   - rest: what all other devices get.
    /// - Returns: a serving with up to three splits, leaving out empty ones.
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
        let used = Set(shares.filter { $0.share > 0 }.map(\.outcome))
        return used.count == 1 ? used.first : nil
    }

    /// The outcome of each split with its share in thousandths of a percent.
    public var shares: [(outcome: Outcome, share: Int)] {
        var from = 0
        return splits.map { split in
            defer { from = max(from, split.below) }
            return (split.outcome, max(0, split.below - from))
        }
    }

    /// The outcome of a bucket; `nil` beyond the last bound.
    public func outcome(of bucket: Int) -> Outcome? { splits.first { bucket < $0.below }?.outcome }
}

/// A policy's entry for a release: where its document is, and what it needs.
public struct ReleaseReference: Sendable, Hashable {
    /// The number of the release.
    public var number: Int
    /// The release's counter, which the emergency floor is compared with.
    public var counter: Int
    /// The path of the TUF target: `apps/{app}/collections/{collection}/{number}.json`.
    public var target: String
    /// The SHA-256 of the release document in lower-case hexadecimal digits.
    public var sha256: String
    /// The length of the release document in bytes.
    public var length: Int
    /// The earliest runtime that can load the release's models; `nil` for any.
    public var minimumRuntime: VersionNumber?

    /// Creates the entry of a release.
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

    /// The path of the TUF target of a release.
    public static func target(app: String, collection: String, number: Int) -> String {
        "apps/\(app)/collections/\(collection)/\(number).json"
    }
}

/// A group of installations, listed by hashes that do not reveal them.
public struct Segment: Sendable, Hashable {
    /// The segment's name, unique in the policy.
    public var name: String
    /// The salt that install IDs are hashed with, 1 to 128 bytes.
    public var salt: String
    /// The members' hashes of 16 bytes each; see ``Bucket/member(installID:salt:)``.
    public var members: Set<[UInt8]>

    /// Creates a segment from its members' hashes.
    public init(_ name: String, salt: String, members: Set<[UInt8]>) {
        self.name = name
        self.salt = salt
        self.members = members
    }

    /// Creates a segment from install IDs, which it hashes.
    public init(_ name: String, salt: String, installIDs: some Sequence<String>) {
        self.init(name, salt: salt, members: Set(installIDs.map { Bucket.member(installID: $0, salt: salt) }))
    }

    /// Whether an installation is a member.
    public func contains(installID: String) -> Bool {
        members.contains(Bucket.member(installID: installID, salt: salt))
    }
}

/// The interval between devices' checks for a new policy.
public struct Poll: Sendable, Hashable {
    /// Seconds from one check to the next, 300 to 2,592,000.
    public var interval: Int
    /// A longer interval for a time in which the server is overloaded.
    public var brownOut: BrownOut?

    /// An interval that applies until a date.
    public struct BrownOut: Sendable, Hashable {
        /// Seconds from one check to the next.
        public var interval: Int
        /// The date at which the brown-out ends.
        public var until: PolicyDate

        /// Creates a brown-out.
        public init(interval: Int, until: PolicyDate) {
            self.interval = interval
            self.until = until
        }
    }

    /// Creates an interval, by default of six hours.
    public init(interval: Int = 21_600, brownOut: BrownOut? = nil) {
        self.interval = interval
        self.brownOut = brownOut
    }

    /// Seconds to the next check: the longer of both intervals until a brown-out ends.
    public func interval(at now: PolicyDate) -> Int {
        guard let brownOut, now < brownOut.until else { return interval }
        return max(interval, brownOut.interval)
    }
}

/// The destination of devices' anonymous reports on the performance of a release.
public struct Reporting: Sendable, Hashable {
    /// The path of the reporting service on the policy's server, beginning with one slash.
    public var path: String
    /// The number of devices among 100,000 that send reports.
    public var sampleRate: Int

    /// Creates the settings, by default with reports from all devices.
    public init(path: String, sampleRate: Int = 100_000) {
        self.path = path
        self.sampleRate = sampleRate
    }
}
