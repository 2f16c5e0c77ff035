package import DeploymentPolicy
import MLEncryption
import MLFiles
import MLNumerics

/// The events that a device has not reported yet about a collection, in one small file.
package struct ReportLog: Sendable, Equatable {
    /// The counts that have not been sent.
    package var waiting: [DeviceReport.Count] = []
    /// The events that are reported once: `3 loaded`, or `3 used 20780` for a day.
    package var noted: [String] = []
    /// The report that the server has not accepted yet, which is sent again unchanged.
    package var sending: DeviceReport?
    /// The release and the hour since 1970 that the server was told last.
    package var acknowledged: Acknowledged?

    package struct Acknowledged: Sendable, Equatable {
        package var release: Int
        package var hour: Int
    }

    package init() {}

    /// The largest number of remembered events.
    private static let maximumEntryCount = 256

    // MARK: Noting

    /// Counts an event: a stage once for each release, a use once a day unless something failed, a failure once a day
    /// for each reason.
    package mutating func note(_ event: DeviceReport.Event, release: Int, day: Int) {
        switch event {
        case .reached(let stage):
            guard remember("\(release) \(stage.rawValue)") else { return }
            if stage == .loaded { _ = remember("\(release) used \(day)") }
        case .used:
            guard remember("\(release) used \(day)") else { return }
        case .failed(let reason):
            guard remember("\(release) failed \(reason.rawValue) \(day)") else { return }
            _ = remember("\(release) used \(day)")
        }
        if let index = waiting.firstIndex(where: { $0.release == release && $0.event == event }) {
            waiting[index].count = min(waiting[index].count + 1, DeviceReport.maximumEventCount)
        } else if waiting.count < DeviceReport.maximumCounterCount {
            waiting.append(.init(release: release, event: event))
        }
    }

    /// Remembers an event, and returns whether it is new.
    private mutating func remember(_ text: String) -> Bool {
        guard !noted.contains(text) else { return false }
        noted.append(text)
        noted = noted.suffix(Self.maximumEntryCount)
        return true
    }

    // MARK: Sending

    /// The report to send now; `nil` when there is nothing to report.
    ///
    /// `make` returns a report without counts, for this device.
    package mutating func begin(
        running: DeviceReport.Running,
        hour: Int,
        _ make: () -> DeviceReport
    ) -> DeviceReport? {
        if let sending { return sending }
        let now = Acknowledged(release: running.release, hour: hour)
        guard !waiting.isEmpty || acknowledged != now else { return nil }
        var report = make()
        report.counts = waiting
        if acknowledged != now { report.running = running }
        (sending, waiting) = (report, [])
        return report
    }

    /// Records that the server has accepted a report, or never will.
    package mutating func end(_ report: DeviceReport, hour: Int) {
        guard sending == report else { return }
        sending = nil
        if let running = report.running { acknowledged = Acknowledged(release: running.release, hour: hour) }
    }

    // MARK: Text

    static let format: Int64 = 1

    var text: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("format", .integer(Self.format)),
            .init("noted", .array(noted.map { .string($0) })),
            .init("waiting", .array(waiting.map(\.json))),
        ]
        if let sending { members.append(.init("sending", sending.json)) }
        if let acknowledged {
            members.append(
                .init("told", .array([.integer(Int64(acknowledged.release)), .integer(Int64(acknowledged.hour))]))
            )
        }
        return CanonicalWriter.bytes(.object(members))
    }

    /// Reads the log; throws `PolicyError` or `ModelError` when the file is damaged.
    init(text: [UInt8]) throws {
        let json = try JSONReader.read(text)
        guard json["format"] == .integer(Self.format), case .array(let noted)? = json["noted"],
            case .array(let waiting)? = json["waiting"]
        else { throw ModelError(.malformed, "This is not a log of reports.") }
        self.noted = noted.compactMap(\.string)
        self.waiting = try waiting.map { try DeviceReport.Count(json: $0) }
        sending = try json["sending"].map { try DeviceReport(json: $0) }
        if case .array(let values)? = json["told"], values.count == 2, case .integer(let release) = values[0],
            case .integer(let hour) = values[1]
        {
            acknowledged = Acknowledged(release: Int(release), hour: Int(hour))
        }
    }
}
