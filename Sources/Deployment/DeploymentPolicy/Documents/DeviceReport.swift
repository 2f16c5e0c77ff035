import MLEncryption
package import MLFiles

/// A device's report to its server about the releases of a collection, which does not identify the device.
///
/// It has counts of events, and the device's place in a sketch that estimates the number of devices.
/// `Documentation/Formats/report.md` describes the JSON.
public struct DeviceReport: Sendable, Hashable {
    /// The report's identifier, 32 random hexadecimal digits: a report that arrives twice is counted once.
    public var id: String
    /// The operating system's name, 1 to 32 printable ASCII characters, as in ``DeviceAttributes/operatingSystem``.
    public var operatingSystem: String
    /// The class of the device.
    public var deviceClass: DeviceClass
    /// The release that the app uses now; `nil` when the server has been told within this hour.
    public var running: Running?
    /// The counts of events, at most ``maximumCounterCount``.
    public var counts: [Count]

    /// The release that the app uses, and the device's place in the sketch of the devices that use it.
    public struct Running: Sendable, Hashable {
        /// The number of the release; 0 for the models of the app bundle.
        public var release: Int
        /// The device's place in the sketch.
        public var place: SketchPlace

        /// Creates the statement that the app uses a release.
        public init(release: Int, place: SketchPlace) {
            self.release = release
            self.place = place
        }
    }

    /// The number of times that something happened with a release.
    public struct Count: Sendable, Hashable {
        /// The number of the release; 0 for the models of the app bundle.
        public var release: Int
        /// The event that is counted.
        public var event: Event
        /// The number of occurrences, 1 to ``maximumEventCount``.
        public var count: Int

        /// Creates a count of an event, by default 1.
        public init(release: Int, event: Event, count: Int = 1) {
            self.release = release
            self.event = event
            self.count = count
        }
    }

    /// An event in a device's use of a release.
    public enum Event: Sendable, Hashable {
        /// The device reached a stage for the first time.
        case reached(AdoptionFunnel.Stage)
        /// The app used the release on another day, and nothing failed on it.
        case used
        /// The release failed on the device, for a reason.
        case failed(FailureSummary.Reason)

        /// The event's name in reports and tables.
        public var name: String {
            switch self {
            case .reached(let stage): stage.rawValue
            case .used: "used"
            case .failed: "failed"
            }
        }

        /// The reason of a failure; `nil` for other events.
        public var reason: FailureSummary.Reason? { if case .failed(let reason) = self { reason } else { nil } }

        /// Whether the event counts as a trial of the release, successful or failed.
        public var isTrial: Bool {
            switch self {
            case .reached(let stage): stage == .loaded
            case .used, .failed: true
            }
        }

        /// The reasons for which a release fails after devices have begun to use it.
        public static let reasonsInUse: [FailureSummary.Reason] = [.prediction, .other]

        /// The names of the events that count as trials.
        public static let trialNames = [AdoptionFunnel.Stage.loaded.rawValue, "used", "failed"]
    }

    /// The largest number of counts in one report.
    public static let maximumCounterCount = 64
    /// The largest count of an event in one report, which a device reaches after a long time offline.
    public static let maximumEventCount = 366
    /// The largest size of a report in bytes.
    public static let maximumByteCount = 16 << 10

    /// Creates a report without counts.
    public init(id: String, operatingSystem: String, deviceClass: DeviceClass) {
        self.id = id
        self.operatingSystem = operatingSystem
        self.deviceClass = deviceClass
        counts = []
    }

    /// Checks the report against the format.
    ///
    /// Throws a ``PolicyError`` that names the first member whose value is not allowed.
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
            try Check.integer(running.place.rank, 1...SketchPlace.maximumRank, at: "running.rank")
        }
        guard counts.count <= Self.maximumCounterCount else {
            throw PolicyError(.tooMany, at: "counts", "A report has at most \(Self.maximumCounterCount) counts.")
        }
        for (index, count) in counts.enumerated() {
            try Check.integer(count.release, 0...Limits.integer, at: "counts[\(index)].release")
            try Check.integer(count.count, 1...Self.maximumEventCount, at: "counts[\(index)].count")
        }
    }
}

/// A device's place in a HyperLogLog sketch of the number of devices (Flajolet and others, 2007).
///
/// It is a register that many devices share, and the rank of the remaining bits of the hash.
public struct SketchPlace: Sendable, Hashable {
    /// The number of registers of a sketch.
    public static let registerCount = 4096
    /// The largest rank, reached when none of the remaining 52 bits is set.
    public static let maximumRank = 53

    /// The register, 0 to 4,095: the first 12 bits of the hash.
    public var register: Int
    /// One more than the number of leading zeros in the bits after the register's, 1 to ``maximumRank``.
    public var rank: Int

    /// Creates a place from its register and rank.
    public init(register: Int, rank: Int) {
        self.register = register
        self.rank = rank
    }

    /// The place of an installation in the sketches of a collection, from the hash of install ID and salt.
    public init(installID: String, salt: String) {
        let bits = Bucket.bits(installID: installID, salt: salt)
        register = Int(bits >> 52)
        rank = min((bits << 12).leadingZeroBitCount, 52) + 1
    }
}

// MARK: JSON

extension DeviceReport {
    /// Reads a report and checks it.
    ///
    /// - Parameter bytes: JSON in UTF-8, at most ``maximumByteCount`` bytes.
    /// - Throws: a ``PolicyError`` that names the member, also for unknown members.
    public init(_ bytes: some Collection<UInt8>) throws(PolicyError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw PolicyError(.tooLarge, at: "", "A report has at most \(Self.maximumByteCount) bytes.")
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
            deviceClass: try root.member("deviceClass").enumeration(DeviceClass.self)
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
        for value in try root.member("counts").list(atMost: Self.maximumCounterCount) {
            counts.append(try Count(value))
        }
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
        let reason = try value.optional("reason")?.enumeration(FailureSummary.Reason.self)
        let event: DeviceReport.Event
        switch try name.text() {
        case "used": event = .used
        case "failed":
            if let reason {
                event = .failed(reason)
            } else {
                event = .failed(try value.member("reason").enumeration(FailureSummary.Reason.self))
            }
        default: event = .reached(try name.enumeration(AdoptionFunnel.Stage.self))
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
