public import DeploymentPolicy
import Foundation
import ServerDatabase
import Synchronization

/// The destination of reports: the collection of an app in an environment.
public struct ReportDestination: Sendable, Hashable {
    /// The app's identifier.
    public let app: String
    /// The collection's identifier.
    public let collection: String
    /// The environment's identifier.
    public let environment: String

    /// Creates a place.
    public init(app: String, collection: String, environment: String) {
        self.app = app
        self.collection = collection
        self.environment = environment
    }
}

extension ReportDestination {
    fileprivate var order: [String] { [app, collection, environment] }
}

/// Stores reports of devices in batches.
///
/// Reports that arrive within a moment, or while others are being stored, are stored in one transaction, and each is
/// acknowledged when it is stored: a slow disk makes transactions larger rather than more.
final class ReportCollector: Sendable {
    private struct Waiting {
        let place: ReportDestination
        let report: DeviceReport
        let done: @Sendable (Result<Void, any Error>) -> Void
    }

    private struct State {
        var waiting: [Waiting] = []
        var isStoring = false
    }

    private let database: any Database
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    /// The largest number of reports that wait.
    private static let maximumQueueLength = 20_000
    /// The largest number of reports that are stored together.
    private static let maximumBatchSize = 5000
    /// The time for which a report waits for others: a transaction costs as much as some tens of reports.
    private static let moment = Duration.milliseconds(4)

    init(database: any Database, now: @escaping @Sendable () -> Date) {
        self.database = database
        self.now = now
    }

    /// Stores a report; one that was stored before changes nothing.
    ///
    /// `done` gets success when it is stored; a ``ServiceError`` when the place or a release does not exist, or too
    /// many reports wait; or a `DatabaseError`.
    func take(
        _ report: DeviceReport,
        at place: ReportDestination,
        done: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        let (isTaken, begins) = state.withLock { state in
            guard state.waiting.count < Self.maximumQueueLength else { return (false, false) }
            state.waiting.append(Waiting(place: place, report: report, done: done))
            defer { state.isStoring = true }
            return (true, !state.isStoring)
        }
        guard isTaken else {
            return done(
                .failure(ServiceError(.unavailable, "Too many reports are arriving: try again later.", retryAfter: 60))
            )
        }
        if begins { Task { await storeAll() } }
    }

    /// The next reports to store; when there are none, storing has ended.
    private func nextBatch() -> [Waiting] {
        state.withLock { state in
            let batch = Array(state.waiting.prefix(Self.maximumBatchSize))
            state.waiting.removeFirst(batch.count)
            state.isStoring = !batch.isEmpty
            return batch
        }
    }

    private func storeAll() async {
        while true {
            // Nobody cancels this task.
            try? await Task.sleep(for: Self.moment)
            let batch = nextBatch()
            if batch.isEmpty { return }
            let hour = Int(now().timeIntervalSince1970 / 3600)
            do {
                let refusals = try await database.write { connection in
                    var storage = ReportStorage(connection: connection, hour: hour)
                    let refusals = try batch.map { try storage.add($0.report, at: $0.place) }
                    try storage.store()
                    return refusals
                }
                for (entry, refusal) in zip(batch, refusals) {
                    entry.done(refusal.map { .failure($0) } ?? .success(()))
                }
            } catch {
                for entry in batch { entry.done(.failure(error)) }
            }
        }
    }
}

/// Sums reports within a transaction.
private struct ReportStorage {
    private struct CountKey: Hashable {
        let place: ReportDestination
        let release: Int
        let event: String
        let reason: String
        let kind: DeviceKind

        /// All of the key: rows of two keys never compare as equal.
        var order: [String] {
            place.order + [String(release), event, reason, kind.operatingSystem, kind.deviceClass]
        }
    }

    private struct SketchKey: Hashable {
        let place: ReportDestination
        let release: Int

        var order: [String] { place.order + [String(release)] }
    }

    private struct DeviceKind: Hashable {
        let operatingSystem: String
        let deviceClass: String
    }

    let connection: any Connection
    let hour: Int
    private var releases: [ReportDestination: Int?] = [:]
    private var kinds: [ReportDestination: Set<DeviceKind>] = [:]
    private var counts: [CountKey: Int] = [:]
    private var sketches: [SketchKey: DeviceSketch] = [:]

    /// The number of kinds of devices that are distinguished in an hour, so that anonymous reports cannot fill the
    /// disk.
    private static let maximumKindCount = 48

    init(connection: any Connection, hour: Int) {
        self.connection = connection
        self.hour = hour
    }

    /// Adds a report, and returns the reason when it is refused.
    mutating func add(_ report: DeviceReport, at place: ReportDestination) throws -> ServiceError? {
        guard let latest = try latestRelease(of: place) else {
            return .notFound("collection \"\(place.collection)\" in this environment of the app \"\(place.app)\"")
        }
        let named = report.counts.map(\.release) + [report.running?.release ?? 0]
        if let unknown = named.first(where: { $0 > latest }) {
            return .invalid("release", "The collection has no release \(unknown).")
        }
        let isNew = try connection.execute(
            "INSERT INTO report_ids (id, hour) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
            report.id,
            hour
        )
        guard isNew == 1 else { return nil }
        let kind = try kind(of: report, place)
        for count in report.counts {
            let key = CountKey(
                place: place,
                release: count.release,
                event: count.event.name,
                reason: count.event.reason?.rawValue ?? "",
                kind: kind
            )
            counts[key, default: 0] += count.count
        }
        if let running = report.running {
            sketches[SketchKey(place: place, release: running.release), default: DeviceSketch()].insert(running.place)
        }
        return nil
    }

    /// The number of the latest release; `nil` when there is no such collection or environment.
    private mutating func latestRelease(of place: ReportDestination) throws -> Int? {
        if let known = releases[place] { return known }
        let row = try connection.first(
            "SELECT c.releases, a.environments FROM collections c JOIN apps a ON a.id = c.app WHERE c.app = ? AND c.id = ?",
            place.app,
            place.collection
        )
        var latest: Int?
        if let row, try JSON.read([String].self, row.text("environments")).contains(place.environment) {
            latest = try row.integer("releases")
        }
        releases[place] = latest
        return latest
    }

    private mutating func kind(of report: DeviceReport, _ place: ReportDestination) throws -> DeviceKind {
        if kinds[place] == nil {
            kinds[place] = Set(
                try connection.query(
                    "SELECT DISTINCT operating_system, device_class FROM report_counts "
                        + "WHERE app = ? AND collection = ? AND environment = ? AND hour = ?",
                    place.app,
                    place.collection,
                    place.environment,
                    hour
                ).map {
                    DeviceKind(
                        operatingSystem: try $0.text("operating_system"),
                        deviceClass: try $0.text("device_class")
                    )
                }
            )
        }
        let kind = DeviceKind(operatingSystem: report.operatingSystem, deviceClass: report.deviceClass.rawValue)
        let known = kinds[place] ?? []
        guard !known.contains(kind), known.count >= Self.maximumKindCount else {
            kinds[place]?.insert(kind)
            return kind
        }
        return DeviceKind(operatingSystem: "other", deviceClass: report.deviceClass.rawValue)
    }

    /// Writes the sums, with rows in a fixed order, so that replicas do not wait for each other in a circle.
    func store() throws {
        for (key, count) in counts.sorted(by: { $0.key.order.lexicographicallyPrecedes($1.key.order) }) {
            try connection.execute(
                "INSERT INTO report_counts (app, collection, environment, hour, release_number, event, reason, "
                    + "operating_system, device_class, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                    + "ON CONFLICT (app, collection, environment, hour, release_number, event, reason, operating_system, "
                    + "device_class) DO UPDATE SET count = report_counts.count + excluded.count",
                key.place.app,
                key.place.collection,
                key.place.environment,
                hour,
                key.release,
                key.event,
                key.reason,
                key.kind.operatingSystem,
                key.kind.deviceClass,
                count
            )
        }
        for (key, sketch) in sketches.sorted(by: { $0.key.order.lexicographicallyPrecedes($1.key.order) }) {
            try merge(sketch, key)
        }
    }

    private func merge(_ sketch: DeviceSketch, _ key: SketchKey) throws {
        let place: [Value] = [
            key.place.app.value, key.place.collection.value, key.place.environment.value, hour.value, key.release.value,
        ]
        let stored = try connection.query(
            "SELECT registers FROM report_devices WHERE app = ? AND collection = ? AND environment = ? AND hour = ? "
                + "AND release_number = ?",
            place
        ).first?.bytes("registers")
        var sum = sketch
        if let stored, let old = DeviceSketch(registers: stored) {
            guard sum.merge(old), sum != old else { return }
        }
        try connection.execute(
            "INSERT INTO report_devices (app, collection, environment, hour, release_number, registers) "
                + "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (app, collection, environment, hour, release_number) "
                + "DO UPDATE SET registers = excluded.registers",
            place + [sum.registers.value]
        )
    }
}

extension Service {
    /// The path to which devices of a collection send their reports.
    static func reportPath(app: String, environment: String, collection: String) -> String {
        "/v1/apps/\(app)/environments/\(environment)/collections/\(collection)/reports"
    }

    /// Stores a device's report; anybody may send one, and one that arrives twice counts once.
    ///
    /// Throws a ``ServiceError`` when the place or a release does not exist, or when too many reports wait.
    public func take(_ report: DeviceReport, at place: ReportDestination) async throws {
        try await withCheckedThrowingContinuation { continuation in
            reports.take(report, at: place) { continuation.resume(with: $0) }
        }
    }

    /// Stores a device's report without waiting.
    ///
    /// `done` is called on any thread with success when it is stored, or with a ``ServiceError`` or `DatabaseError`.
    public func take(
        _ report: DeviceReport,
        at place: ReportDestination,
        done: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) { reports.take(report, at: place, done: done) }

    /// The hours for which the IDs of reports, and for which their counts, are kept.
    private static let (idHours, countHours) = (7 * 24, 400 * 24)

    /// Removes reports that are too old to be sent again, or to be of use.
    public func forgetOldReports() async throws {
        let hour = Int(now().timeIntervalSince1970 / 3600)
        try await database.write { connection in
            try connection.execute("DELETE FROM report_ids WHERE hour < ?", hour - Self.idHours)
            try connection.execute("DELETE FROM report_counts WHERE hour < ?", hour - Self.countHours)
            try connection.execute("DELETE FROM report_devices WHERE hour < ?", hour - Self.countHours)
        }
    }
}
