public import DeploymentPolicy
public import Foundation
import ServerDatabase

// What devices report, for pictures.  Counts only: no device is known.
//
// `report_counts.event` is the name of a `DeviceReport.Event`, with the raw value of a `FailureSummary.Reason` as its reason
// where it failed.  `hour` counts hours since 1970; `release_number` 0 are the models of the app.

/// How many devices ran which release, over time.
public struct Adoption: Sendable {
    /// The releases that devices ran; 0 are the models of the app.
    public let releases: [Int]
    public let points: [Point]

    public struct Point: Sendable {
        /// When the time begins in which the devices were counted.
        public let from: Date
        /// About how many different devices ran each of `releases`.
        public let devices: [Int]
    }
}

/// How often a release failed for a reason, on a system and a class of devices.
public struct FailureGroup: Sendable {
    public let reason: String
    public let operatingSystem: String
    public let deviceClass: String
    public let count: Int
    /// How many devices of the kind came so far that they could fail.
    public let reports: Int

    /// Where the true rate lies, with a certainty of 95 %.
    public var interval: RateInterval { .wilson(count, of: max(reports, count)) }
}

/// Where devices report, and from when.
public struct ReportScope: Sendable {
    public let app: String
    public let collection: String
    public let environment: String
    public let since: Date

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

    /// How many devices ran which release.
    /// - Parameter hours: how many hours are counted together.
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

    /// About how many different devices ran each release in the time.
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
                throw DatabaseError.unexpected("registers", row["registers"])
            }
            return (try row.integer("hour"), try row.integer("release_number"), sketch)
        }
    }

    /// How far devices came with a release.
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

    /// How often a release failed, the most frequent first.
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
