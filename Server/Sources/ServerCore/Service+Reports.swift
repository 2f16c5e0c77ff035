public import DeploymentPolicy
public import Foundation
import ServerDatabase

// Reports of devices, for charts. Counts only: no device is identified.
//
// `report_counts.event` is the name of a `DeviceReport.Event`; `reason` is the raw value of a `FailureSummary.Reason`
// for failures. `hour` counts hours since 1970; `release_number` 0 stands for the models of the app bundle.

/// The number of devices that ran each release, over time.
public struct Adoption: Sendable {
    /// The releases that devices ran; 0 stands for the models of the app bundle.
    public let releases: [Int]
    /// The counts in the order of time.
    public let points: [Point]

    /// The counts of one period.
    public struct Point: Sendable {
        /// The date at which the period begins.
        public let from: Date
        /// The estimated number of different devices that ran each of ``Adoption/releases``.
        public let devices: [Int]
    }
}

/// The failures of a release for one reason on one kind of devices.
public struct FailureGroup: Sendable {
    /// The reason, as in `FailureSummary.Reason`.
    public let reason: String
    /// The operating system.
    public let operatingSystem: String
    /// The class of the devices.
    public let deviceClass: String
    /// The number of failures.
    public let count: Int
    /// The number of trials on devices of this kind, successful or failed.
    public let reports: Int

    /// The Wilson interval of the failure rate at a confidence of 95 %.
    public var interval: RateInterval { .wilson(count, of: max(reports, count)) }
}

/// The collection, the environment and the time that reports are read for.
public struct ReportScope: Sendable {
    /// The app's identifier.
    public let app: String
    /// The collection's identifier.
    public let collection: String
    /// The environment's identifier.
    public let environment: String
    /// The date from which reports count, to the hour.
    public let since: Date

    /// Creates a scope.
    public init(app: String, collection: String, environment: String, since: Date) {
        self.app = app
        self.collection = collection
        self.environment = environment
        self.since = since
    }

    fileprivate var arguments: [Value] {
        [app.value, collection.value, environment.value, Int(since.timeIntervalSince1970 / 3600).value]
    }

    fileprivate static let condition = "app = ? AND collection = ? AND environment = ? AND hour >= ?"
}

extension Service {
    /// Throws unless the collection and the environment exist and the actor may see them.
    private func check(_ scope: ReportScope, as actor: Principal) async throws {
        _ = try await collection(scope.collection, app: scope.app, as: actor)
        guard try await app(scope.app, as: actor).environments.contains(scope.environment) else {
            throw ServiceError.notFound("environment \"\(scope.environment)\" of the app \"\(scope.app)\"")
        }
    }

    /// The number of devices that ran each release, in periods of `hours` hours.
    public func adoption(_ scope: ReportScope, hours: Int, as actor: Principal) async throws -> Adoption {
        try await check(scope, as: actor)
        let first = Int(scope.since.timeIntervalSince1970 / 3600) / hours
        let last = max(Int(now().timeIntervalSince1970 / 3600) / hours, first)
        return try await database.read { connection in
            var sketches: [Int: [Int: DeviceSketch]] = [:]
            for (hour, release, sketch) in try Self.sketches(scope, connection) {
                Self.add(sketch, to: &sketches[hour / hours, default: [:]][release])
            }
            let releases = Set(sketches.values.flatMap(\.keys)).sorted()
            guard !releases.isEmpty else { return Adoption(releases: [], points: []) }
            let points = (first...last).map { slot in
                Adoption.Point(
                    from: Date(timeIntervalSince1970: Double(slot * hours) * 3600),
                    devices: releases.map { sketches[slot]?[$0]?.estimate ?? 0 }
                )
            }
            return Adoption(releases: releases, points: points)
        }
    }

    /// The estimated number of different devices that ran each release.
    public func devices(_ scope: ReportScope, as actor: Principal) async throws -> [Int: Int] {
        try await check(scope, as: actor)
        return try await database.read { connection in
            var sketches: [Int: DeviceSketch] = [:]
            for (_, release, sketch) in try Self.sketches(scope, connection) {
                Self.add(sketch, to: &sketches[release])
            }
            return sketches.mapValues(\.estimate)
        }
    }

    private static func add(_ sketch: DeviceSketch, to sum: inout DeviceSketch?) {
        guard var merged = sum else { return sum = sketch }
        // Sketches of another size were written by another version: the larger count stands.
        if !merged.merge(sketch) { sum = merged.estimate >= sketch.estimate ? merged : sketch } else { sum = merged }
    }

    static func sketches(_ scope: ReportScope, _ connection: any Connection) throws
        -> [(hour: Int, release: Int, sketch: DeviceSketch)]
    {
        try connection.query(
            "SELECT hour, release_number, registers FROM report_devices WHERE \(ReportScope.condition)",
            scope.arguments
        ).map { row in
            guard let sketch = DeviceSketch(registers: try row.bytes("registers")) else {
                throw DatabaseError.unexpected("registers", try row["registers"])
            }
            return (try row.integer("hour"), try row.integer("release_number"), sketch)
        }
    }

    /// The number of devices that reached each stage of adopting a release.
    public func funnel(_ scope: ReportScope, release: Int, as actor: Principal) async throws -> AdoptionFunnel {
        try await check(scope, as: actor)
        return try await database.read { connection in
            var funnel = AdoptionFunnel()
            for row in try connection.query(
                "SELECT event, SUM(count) AS n FROM report_counts WHERE \(ReportScope.condition) "
                    + "AND release_number = ? GROUP BY event",
                scope.arguments + [release.value]
            ) {
                guard let stage = AdoptionFunnel.Stage(rawValue: try row.text("event")) else { continue }
                funnel.add(try row.integer("n"), at: stage)
            }
            return funnel
        }
    }

    /// The failures of a release by reason and kind of devices, the most frequent first.
    public func failures(_ scope: ReportScope, release: Int, as actor: Principal) async throws -> [FailureGroup] {
        try await check(scope, as: actor)
        return try await database.read { connection in
            let rows = try connection.query(
                "SELECT event, reason, operating_system, device_class, SUM(count) AS n FROM report_counts "
                    + "WHERE \(ReportScope.condition) AND release_number = ? "
                    + "GROUP BY event, reason, operating_system, device_class",
                scope.arguments + [release.value]
            )
            var reports: [[String]: Int] = [:]
            for row in rows where try DeviceReport.Event.trialNames.contains(row.text("event")) {
                reports[[try row.text("operating_system"), try row.text("device_class")], default: 0] +=
                    try row.integer("n")
            }
            return try rows.filter { try $0.text("event") == "failed" }.map { row in
                let kind = [try row.text("operating_system"), try row.text("device_class")]
                return FailureGroup(
                    reason: try row.text("reason"),
                    operatingSystem: kind[0],
                    deviceClass: kind[1],
                    count: try row.integer("n"),
                    reports: reports[kind] ?? 0
                )
            }.sorted { ($0.count, $1.reason) > ($1.count, $0.reason) }
        }
    }
}
