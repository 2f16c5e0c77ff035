import MLEncryption
package import MLFiles

/// What a device tells its server about the releases of a collection, without saying which device it is: counts, and the
/// place of the device in a sketch of how many there are.  `Documentation/Formats/report.md` describes the JSON.
public struct DeviceReport: Sendable, Hashable {
    /// 32 hexadecimal digits, random for each report: one that arrives twice is counted once.
    public var id: String
    /// As the attribute of rules.
    public var operatingSystem: String
    public var deviceClass: DeviceClass
    /// What the app uses now; `nil` when the server knows that already for this hour.
    public var running: Running?
    public var counts: [Count]

    /// What the app uses, and the device's place in the sketch of those that use it.
    public struct Running: Sendable, Hashable {
        /// The number of a release; 0 for the models of the app.
        public var release: Int
        public var place: SketchPlace

        public init(release: Int, place: SketchPlace) {
            self.release = release
            self.place = place
        }
    }

    /// How often something happened.
    public struct Count: Sendable, Hashable {
        /// The number of a release; 0 for the models of the app.
        public var release: Int
        public var event: Event
        public var count: Int

        public init(release: Int, event: Event, count: Int = 1) {
            self.release = release
            self.event = event
            self.count = count
        }
    }

    public enum Event: Sendable, Hashable {
        /// The device came to a stage for the first time.
        case reached(AdoptionFunnel.Stage)
        /// The app used the release on a further day, and nothing failed before.
        case used
        case failed(FailureSummary.Reason)

        /// The word that reports and tables have for it.
        public var name: String {
            switch self {
            case .reached(let stage): stage.rawValue
            case .used: "used"
            case .failed: "failed"
            }
        }

        /// Why it failed.
        public var reason: FailureSummary.Reason? { if case .failed(let reason) = self { reason } else { nil } }

        /// Whether it is a trial of the release: one that succeeded, or one that failed.
        public var isTrial: Bool {
            switch self {
            case .reached(let stage): stage == .loaded
            case .used, .failed: true
            }
        }

        /// Why a release fails that devices had begun to use.
        public static let reasonsInUse: [FailureSummary.Reason] = [.prediction, .other]

        /// The names of events that are trials.
        public static let trialNames = [AdoptionFunnel.Stage.loaded.rawValue, "used", "failed"]
    }

    public static let mostCounts = 64
    /// The most that one report may count of an event: a device that was offline for long.
    public static let mostEvents = 366
    /// The largest report in bytes.
    public static let largest = 16 << 10

    public init(id: String, operatingSystem: String, deviceClass: DeviceClass) {
        self.id = id
        self.operatingSystem = operatingSystem
        self.deviceClass = deviceClass
        counts = []
    }

    /// Checks the report; errors name the member.
    public func check() throws(PolicyError) {
        guard id.utf8.count == 32, id.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else {
            throw PolicyError(.badText, at: "id", "32 lower-case hexadecimal digits are needed.")
        }
        let isName =
            (1...32).contains(operatingSystem.utf8.count)
            && operatingSystem.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        guard isName else {
            throw PolicyError(.badText, at: "operatingSystem", "1 to 32 printable ASCII characters are needed.")
        }
        if let running {
            try Check.integer(running.release, 0...Limits.integer, at: "running.release")
            try Check.integer(running.place.register, 0...SketchPlace.registerCount - 1, at: "running.register")
            try Check.integer(running.place.rank, 1...SketchPlace.mostRank, at: "running.rank")
        }
        guard counts.count <= Self.mostCounts else {
            throw PolicyError(.tooMany, at: "counts", "A report has at most \(Self.mostCounts) counts.")
        }
        for (index, count) in counts.enumerated() {
            try Check.integer(count.release, 0...Limits.integer, at: "counts[\(index)].release")
            try Check.integer(count.count, 1...Self.mostEvents, at: "counts[\(index)].count")
        }
    }
}

/// A device's place in a sketch of how many devices there are (HyperLogLog, P. Flajolet and others, 2007): 12 bits that many
/// devices share, and how rare the others are.
public struct SketchPlace: Sendable, Hashable {
    public static let registerCount = 4096
    /// The largest rank: of 52 bits, none is set.
    public static let mostRank = 53

    public var register: Int
    /// One more than the number of leading zeros of what follows the register's bits.
    public var rank: Int

    public init(register: Int, rank: Int) {
        self.register = register
        self.rank = rank
    }

    /// The place of an installation in the sketches of a collection.
    public init(installID: String, salt: String) {
        let bits = Bucket.bits(installID: installID, salt: salt)
        register = Int(bits >> 52)
        rank = min((bits << 12).leadingZeroBitCount, 52) + 1
    }
}

// MARK: JSON

extension DeviceReport {
    /// Reads a report.
    public init(_ bytes: some Collection<UInt8>) throws(PolicyError) {
        guard bytes.count <= Self.largest else {
            throw PolicyError(.tooLarge, at: "", "A report has at most \(Self.largest) bytes.")
        }
        try self.init(try DocumentValue(document: bytes))
        try check()
    }

    package init(json: JSONValue) throws(PolicyError) {
        try self.init(DocumentValue(json))
        try check()
    }

    private init(_ root: DocumentValue) throws(PolicyError) {
        let format = try root.member("format")
        guard try format.integer() == 1 else {
            throw format.error(.unsupported, "Only reports of format 1 can be read.  Use a newer server.")
        }
        try root.expectMembers(["format", "id", "operatingSystem", "deviceClass", "running", "counts"])
        self.init(
            id: try root.member("id").text(),
            operatingSystem: try root.member("operatingSystem").text(),
            deviceClass: try root.member("deviceClass").word(DeviceClass.self)
        )
        if let value = try root.optional("running") {
            try value.expectMembers(["release", "register", "rank"])
            running = Running(
                release: try value.member("release").integer(),
                place: SketchPlace(
                    register: try value.member("register").integer(),
                    rank: try value.member("rank").integer()
                )
            )
        }
        for value in try root.member("counts").list(atMost: Self.mostCounts) { counts.append(try Count(value)) }
    }

    /// The report in canonical JSON.
    public func bytes() -> [UInt8] { CanonicalWriter.bytes(json) }

    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", .integer(1)), .init("id", .string(id)), .init("operatingSystem", .string(operatingSystem)),
            .init("deviceClass", .string(deviceClass.rawValue)), .init("counts", .array(counts.map(\.json))),
        ]
        if let running {
            members.append(
                .init(
                    "running",
                    .object([
                        .init("release", .integer(running.release)),
                        .init("register", .integer(running.place.register)),
                        .init("rank", .integer(running.place.rank)),
                    ])
                )
            )
        }
        return .object(members)
    }
}

extension DeviceReport.Count {
    package init(json: JSONValue) throws(PolicyError) { try self.init(DocumentValue(json)) }

    fileprivate init(_ value: DocumentValue) throws(PolicyError) {
        try value.expectMembers(["release", "event", "reason", "count"])
        let name = try value.member("event")
        let reason = try value.optional("reason")?.word(FailureSummary.Reason.self)
        let event: DeviceReport.Event
        switch try name.text() {
        case "used": event = .used
        case "failed":
            if let reason {
                event = .failed(reason)
            } else {
                event = .failed(try value.member("reason").word(FailureSummary.Reason.self))
            }
        default: event = .reached(try name.word(AdoptionFunnel.Stage.self))
        }
        self.init(
            release: try value.member("release").integer(),
            event: event,
            count: try value.optional("count")?.integer() ?? 1
        )
    }

    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("release", .integer(release)), .init("event", .string(event.name)), .init("count", .integer(count)),
        ]
        if let reason = event.reason { members.append(.init("reason", .string(reason.rawValue))) }
        return .object(members)
    }
}
