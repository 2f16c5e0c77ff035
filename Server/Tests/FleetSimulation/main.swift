// A million devices against the real service, its rollout controller and its database, in virtual time: section 5.4 of
//   the design. FleetSimulation [DEVICES] [HOURS] [FAILURE RATE] [REAL RUNNER]
// So many of the devices, REAL, exist in reality too: each of their launches is a process of RUNNER (DeploymentRunner) with a disk
// of its own, which must do what the simulated device does.
// `Reliability/fleet-simulation` runs a rollout that fares well, and one that fails.

import DeploymentKeys
import DeploymentPolicy
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServerBlobs
import ServerCore
import ServerDatabase
import ServerHTTP
import ServerTesting
import ServiceLifecycle
import Synchronization
import UpdateFramework

/// The service's clock.
final class VirtualClock: Sendable {
    private let seconds = Mutex(1_800_000_000.0)
    var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }
    func advance(_ interval: Double) { seconds.withLock { $0 += interval } }
}

struct StepRow: Encodable {
    let hour: Double
    let state: String
    let percentage: Double
    let wanted: Int
    let offered: Int
    /// How many standard deviations of the binomial distribution lie between both.
    let deviations: Double
}

struct Summary: Encodable {
    let devices: Int
    let hours: Int
    let failureRate: Double
    let totals: Fleet.Totals
    let steps: [StepRow]
    let state: String
    let runningNew: Int
    /// How many devices the server counted in the last eight hours; one that changed counts with both releases.
    let estimated: Int
    let real: RealDevices.Comparison?
    let seconds: Double
}

/// The server, with release 1 on all devices.
struct Scene {
    let folder = FileManager.default.temporaryDirectory.path + "/fleet-\(UUID().uuidString)"
    let clock = VirtualClock()
    let service: ServerCore.Service
    let admin = Principal(kind: .server, name: "server", isAdministrator: true)

    init() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let clock = clock
        service = try await ServerCore.Service(
            database: try SQLiteDatabase(path: folder + "/server.sqlite"),
            blobs: try FolderBlobStore(folder: folder + "/blobs"),
            keys: try SigningKeyFolder(folder: folder + "/keys"),
            vault: try KeyVault(folder: folder + "/vault", strength: .file),
            now: { clock.now }
        )
        _ = try await service.createTeam("acme", name: "Acme", as: admin)
        _ = try await service.createApp("shop", team: "acme", name: "Shop", as: admin)
        _ = try await service.createCollection("Flowers", app: "shop", description: "", models: ["A"], as: admin)
        for _ in 1...2 {
            let upload = try await service.uploadArchive(team: "acme", as: admin)
            try await upload.append(SampleArchive.bytes("plain"))
            let archive = try await service.finishArchive(
                upload,
                team: "acme",
                fileName: "a",
                expecting: nil,
                as: admin
            )
            _ = try await service.createRelease(
                NewRelease(models: ["A": .init(archive: archive.sha256)]),
                app: "shop",
                collection: "Flowers",
                as: admin
            )
        }
        _ = try await deploy(DeploymentDefinition(default: .release(1)))
    }

    func deploy(_ definition: DeploymentDefinition) async throws -> String {
        let made = try await service.createDeployment(
            definition,
            name: "",
            app: "shop",
            collection: "Flowers",
            environment: "production",
            as: admin
        )
        return try await service.operate(.activate, made.id, as: admin).id
    }

    func evaluator() async throws -> PolicyEvaluator {
        guard
            let bytes = try await service.signedPolicy(app: "shop", collection: "Flowers", environment: "production")
        else { preconditionFailure("a deployment is live") }
        let document = try SignedDocument(parsing: bytes, role: "policy")
        return try PolicyEvaluator(try Policy(try document.message(of: "policy")))
    }

    func send(_ reports: [DeviceReport]) async throws {
        let place = ReportDestination(app: "shop", collection: "Flowers", environment: "production")
        let service = service
        for start in stride(from: 0, to: reports.count, by: 5000) {
            let part = reports[start..<min(start + 5000, reports.count)]
            try await withThrowingTaskGroup { group in
                for report in part { group.addTask { try await service.take(report, at: place) } }
                try await group.waitForAll()
            }
        }
    }
}

/// How many devices exist in reality, and the program that they run.
struct Reality {
    let count: Int
    let runner: String
}

/// Simulates with a server of its own, on a port where there are real devices.
func simulate(devices: Int, hours: Int, failureRate: Double, _ reality: Reality?) async throws -> Summary {
    let scene = try await Scene()
    defer { try? FileManager.default.removeItem(atPath: scene.folder) }
    guard let reality else {
        return try await simulate(scene, devices: devices, hours: hours, failureRate: failureRate, nil)
    }
    let server: (Logger, @escaping @Sendable (any Channel) async -> Void) -> any ServiceLifecycle.Service = {
        Application(
            router: makeRouter(scene.service),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: $1,
            logger: $0
        )
    }
    return try await serving(server) { port in
        let configuration = try await scene.service.clientConfiguration(
            app: "shop",
            environment: "production",
            server: "http://127.0.0.1:\(port)",
            as: scene.admin
        )
        let real = try RealDevices(
            count: reality.count,
            runner: reality.runner,
            folder: scene.folder + "/devices",
            configuration: configuration
        )
        // As simulated devices begin: with release 1, which they got and tried.
        let policy = try await scene.evaluator().policy.version
        for record in ["used 0, next 1", "loaded 1, next 1"] {
            let visits = (0..<UInt32(reality.count)).map { device in
                let expected = "\(record), policy \(policy), interval \(Fleet.interval)"
                return Fleet.Visit(device: device, record: expected, hasFailed: false)
            }
            try await real.repeats(visits, at: scene.clock.now)
        }
        return try await simulate(scene, devices: devices, hours: hours, failureRate: failureRate, real)
    }
}

/// Rolls release 2 out to all devices, a virtual minute at a time.
func simulate(
    _ scene: Scene,
    devices: Int,
    hours: Int,
    failureRate: Double,
    _ real: RealDevices?
) async throws -> Summary {
    let start = ContinuousClock.now
    var definition = DeploymentDefinition(default: .release(2))
    definition.rest = .release(1)
    // A device tries what it gets two checks later, so each step waits until a fifth of its devices has.
    definition.rollout = .init(
        steps: [0.1, 1, 10, 50, 100].map { percentage in
            .init(percentage: percentage, hours: 1, devices: Int(Double(devices) * percentage / 500))
        }
    )
    let id = try await scene.deploy(definition)
    var fleet = Fleet(
        count: devices,
        minutes: hours * 60,
        failureRate: failureRate,
        running: 1,
        realCount: real?.comparison.devices ?? 0
    )
    var evaluator = try await scene.evaluator()
    var steps: [StepRow] = []
    func note(_ minute: Int) async throws {
        let status = try await scene.service.rolloutStatus(of: id, as: scene.admin)
        let (offered, p) = (fleet.offered(evaluator), status.percentage / 100)
        let sigma = (Double(devices) * p * (1 - p)).squareRoot()
        steps.append(
            StepRow(
                hour: Double(minute) / 60,
                state: status.state,
                percentage: status.percentage,
                wanted: Int((Double(devices) * p).rounded()),
                offered: offered,
                deviations: sigma == 0 ? 0 : (Double(offered) - Double(devices) * p) / sigma
            )
        )
        print("hour \(minute / 60): \(status.state), \(status.percentage) %: \(offered) devices")
    }
    try await note(0)
    for minute in 0..<hours * 60 {
        try await scene.send(fleet.check(minute: minute, evaluator))
        try await real?.repeats(fleet.visits, at: scene.clock.now)
        scene.clock.advance(60)
        try await scene.service.runRollouts()
        if minute % 60 == 59 { try await scene.service.renewSignatures() }
        let version = evaluator.policy.version
        let share = evaluator.policy.fallback
        evaluator = try await scene.evaluator()
        if evaluator.policy.version != version, evaluator.policy.fallback != share { try await note(minute + 1) }
    }
    let scope = ReportScope(
        app: "shop",
        collection: "Flowers",
        environment: "production",
        since: scene.clock.now.addingTimeInterval(-8 * 3600)
    )
    let estimates = try await scene.service.devices(scope, as: scene.admin)
    return Summary(
        devices: devices,
        hours: hours,
        failureRate: failureRate,
        totals: fleet.totals,
        steps: steps,
        state: try await scene.service.deployment(id, as: scene.admin).state.rawValue,
        runningNew: fleet.running(Fleet.newRelease),
        estimated: estimates.values.reduce(0, +),
        real: real?.comparison,
        seconds: start.duration(to: .now) / .seconds(1)
    )
}

let arguments = CommandLine.arguments.dropFirst()
let devices = arguments.first.flatMap { Int($0) } ?? 1_000_000
let hours = arguments.dropFirst().first.flatMap { Int($0) } ?? 24
let failureRate = arguments.dropFirst(2).first.flatMap { Double($0) } ?? 0
var reality: Reality?
if arguments.count > 3 {
    guard arguments.count == 5, let count = Int(arguments[4]), count >= 0,
        FileManager.default.isExecutableFile(atPath: arguments[5])
    else {
        FileHandle.standardError.write(Data("FleetSimulation: REAL is a number, and RUNNER after it a program\n".utf8))
        exit(64)
    }
    reality = Reality(count: min(count, devices), runner: arguments[5])
}
let summary = try await simulate(devices: devices, hours: hours, failureRate: failureRate, reality)
let encoder = JSONEncoder()
encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
print(String(decoding: try encoder.encode(summary), as: UTF8.self))

// Requirements: shares as configured, nobody loses a release that works, and one that fails is stopped before many have
// it.
var problems: [String] = []
for step in summary.steps where abs(step.deviations) > 3 {
    problems.append("\(step.percentage) % reach \(step.offered) devices, not about \(step.wanted)")
}
if summary.totals.removed > 0, summary.state == "active" {
    problems.append("\(summary.totals.removed) devices lost it")
}
if failureRate < 0.01, summary.state != "active" { problems.append("a release that fares well was halted") }
if failureRate > 0.02 {
    if summary.state != "halted" { problems.append("a release that fails was not halted") }
    // A fifth of a percent of a million devices is enough to tell; of fewer devices, it takes more of them.
    if summary.totals.exposed > max(devices / 100, 3000) {
        problems.append("\(summary.totals.exposed) devices got it first")
    }
}
if let real = summary.real { problems += real.differences }
for problem in problems { FileHandle.standardError.write(Data("FleetSimulation: \(problem)\n".utf8)) }
exit(problems.isEmpty ? 0 : 1)
