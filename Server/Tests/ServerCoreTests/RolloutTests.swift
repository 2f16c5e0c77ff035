import DeploymentPolicy
import Foundation
import FoundationNetworking
import ServerCore
import ServerDatabase
import ServerTesting
import Synchronization
import Testing

private let place = ReportDestination(app: "shop", collection: "Flowers", environment: "production")

/// Devices that run a release, each with one trial of it.
private func send(
    _ release: Int,
    devices: Range<Int>,
    failing: Int,
    inUse: Bool = false,
    to service: Service
) async throws {
    for device in devices {
        var report = DeviceReport(
            id: (0..<16).map { _ in String(format: "%02x", UInt8.random(in: .min ... .max)) }.joined(),
            operatingSystem: "Linux",
            deviceClass: .tablet
        )
        report.running = .init(
            release: release,
            place: SketchPlace(installID: "device \(device)", salt: "flowers")
        )
        let failed = device - devices.lowerBound < failing
        let event: DeviceReport.Event =
            switch (failed, inUse) {
            case (false, false): .reached(.loaded)
            case (false, true): .used
            case (true, false): .failed(.selfTest)
            case (true, true): .failed(.prediction)
            }
        report.counts = [.init(release: release, event: event)]
        try await service.take(report, at: place)
    }
}

extension SampleServer {
    /// Two releases, the first of them live.
    fileprivate func publishTwo() async throws {
        _ = try await publish()
        let archive = try await upload(SampleArchive.bytes("plain"))
        _ = try await service.createRelease(
            NewRelease(models: ["Classifier": .init(archive: archive.sha256)]),
            app: "shop",
            collection: "Flowers",
            as: admin
        )
        _ = try await deploy(DeploymentDefinition(default: .release(1)))
    }

    fileprivate func report(
        _ release: Int,
        devices: Range<Int>,
        failing: Int = 0,
        inUse: Bool = false
    ) async throws {
        try await send(release, devices: devices, failing: failing, inUse: inUse, to: service)
    }

    fileprivate var ramp: DeploymentDefinition {
        var definition = DeploymentDefinition(default: .release(2))
        definition.rest = .release(1)
        definition.rollout = .init(steps: [
            .init(percentage: 1, hours: 1, devices: 20), .init(percentage: 25, hours: 2),
            .init(percentage: 100, hours: 1),
        ])
        return definition
    }

    /// The share of devices that the policy gives a release, in per cent.
    fileprivate func share(of release: Int) async throws -> Double {
        let shares = try await policy().policy.fallback.shares
        return Double(shares.filter { $0.outcome == .release(release) }.reduce(0) { $0 + $1.share }) / 1000
    }

    fileprivate func state(_ id: String) async throws -> Deployment.State {
        try await service.deployment(id, as: admin).state
    }
}

@Suite struct ReportTakingTests {
    private func report(_ id: Character, _ counts: [DeviceReport.Count]) -> DeviceReport {
        var report = DeviceReport(
            id: String(repeating: id, count: 32),
            operatingSystem: "iOS",
            deviceClass: .phone
        )
        report.counts = counts
        return report
    }

    private func scope(_ server: SampleServer) -> ReportScope {
        ReportScope(
            app: "shop",
            collection: "Flowers",
            environment: "production",
            since: server.clock.now.addingTimeInterval(-7200)
        )
    }

    @Test func whatDevicesReportIsCountedOnce() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let first = report(
            "a",
            [.init(release: 1, event: .reached(.offered), count: 2), .init(release: 1, event: .failed(.load))]
        )
        for _ in 0..<3 { try await server.service.take(first, at: place) }
        try await server.service.take(report("b", [.init(release: 1, event: .used, count: 9)]), at: place)
        let funnel = try await server.service.funnel(scope(server), release: 1, as: server.admin)
        #expect(funnel.count(.offered) == 2)
        let failures = try await server.service.failures(scope(server), release: 1, as: server.admin)
        #expect(failures.map(\.count) == [1])
        #expect(failures.map(\.reports) == [10])
        #expect(failures.first?.reason == "load")
    }

    @Test func reportsThatArriveTogetherAreAllStored() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let service = server.service
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await send(1, devices: 0..<20, failing: 0, to: service) } }
            try await group.waitForAll()
        }
        let funnel = try await server.service.funnel(scope(server), release: 1, as: server.admin)
        #expect(funnel.count(.loaded) == 1000)
        let devices = try await server.service.devices(scope(server), as: server.admin)
        #expect(Array(devices.keys) == [1])
        #expect(abs((devices[1] ?? 0) - 20) <= 1)
    }

    @Test func reportsOfWhatDoesNotExistAreRefused() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let service = server.service
        #expect(
            await code { try await service.take(report("a", [.init(release: 3, event: .used)]), at: place) } == .invalid
        )
        for (app, collection, environment) in [
            ("nobody", "Flowers", "production"), ("shop", "Trees", "production"), ("shop", "Flowers", "moon"),
        ] {
            let place = ReportDestination(app: app, collection: collection, environment: environment)
            #expect(await code { try await service.take(report("a", []), at: place) } == .notFound)
        }
        // A refused report leaves nothing, also beside accepted ones.
        try await service.take(report("a", [.init(release: 1, event: .used)]), at: place)
    }

    @Test func inventedSystemsDoNotFillTheDisk() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        for index in 0..<200 {
            var report = report("a", [.init(release: 1, event: .failed(.crash))])
            report.id = String(format: "%032x", index)
            report.operatingSystem = "system \(index)"
            try await server.service.take(report, at: place)
        }
        let failures = try await server.service.failures(scope(server), release: 1, as: server.admin)
        #expect(failures.reduce(0) { $0 + $1.count } == 200)
        #expect(failures.count <= 49)
        #expect(failures.contains { $0.operatingSystem == "other" })
    }
}

@Suite struct RolloutTests {
    @Test func aRolloutGoesOnWhenItsGatesOpen() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let id = try await server.deploy(server.ramp).id
        #expect(try await server.share(of: 2) == 1)
        #expect(try await server.share(of: 1) == 99)
        server.clock.advance(3601)
        try await server.service.runRollouts()
        // The time is over, and nobody runs it.
        #expect(try await server.share(of: 2) == 1)
        try await server.report(2, devices: 0..<30)
        try await server.service.runRollouts()
        #expect(try await server.share(of: 2) == 25)
        try await server.service.runRollouts()
        let status = try await server.service.rolloutStatus(of: id, as: server.admin)
        #expect(status.step == 1)
        #expect(abs(status.exposed - 30) <= 1)
        #expect(status.reports == 0)
        server.clock.advance(7201)
        try await server.service.runRollouts()
        server.clock.advance(3601)
        try await server.service.runRollouts()
        #expect(try await server.share(of: 2) == 100)
        #expect(try await server.service.rolloutStatus(of: id, as: server.admin).state == "complete")
        #expect(try await server.state(id) == .active)
        let audit = try await server.service.audit(of: "acme", matching: AuditFilter(), as: server.admin)
        #expect(audit.filter { $0.action == "deployment.rollout-advance" && $0.actor == "server" }.count == 3)
    }

    @Test func aRolloutHaltsWhenDevicesFail() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let id = try await server.deploy(server.ramp).id
        let version = try await server.policy().policy.version
        try await server.report(2, devices: 0..<60, failing: 20)
        try await server.service.runRollouts()
        #expect(try await server.state(id) == .halted)
        // The release is taken back from those that had it: they get the release before.
        #expect(try await server.share(of: 2) == 0)
        #expect(try await server.share(of: 1) == 100)
        let policy = try await server.policy().policy
        #expect(policy.state == .active)
        #expect(policy.version == version + 1)
        // Nothing happens any more.
        try await server.service.runRollouts()
        #expect(try await server.policy().policy.version == version + 1)
        #expect(await code { _ = try await server.service.operate(.resume, id, as: server.admin) } == .conflict)
    }

    @Test func rulesDoNotServeAReleaseThatWasTakenBack() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        var definition = server.ramp
        let tablets = AnyJSON.object([
            "attribute": .text("deviceClass"), "operator": .text("is"), "values": .list([.text("tablet")]),
        ])
        definition.rules = [
            .init(id: "tablets", when: tablets, serve: .release(2)),
            .init(id: "half", when: tablets, serve: .release(1), percentage: 50, rest: .release(2)),
        ]
        _ = try await server.deploy(definition)
        var rules = try await server.policy().policy.rules
        #expect(rules.map { $0.serve.shares.map(\.outcome) } == [[.release(2)], [.release(1), .release(2)]])
        try await server.report(2, devices: 0..<60, failing: 20)
        try await server.service.runRollouts()
        rules = try await server.policy().policy.rules
        #expect(rules.allSatisfy { Set($0.serve.shares.map(\.outcome)) == [.release(1)] })
    }

    @Test func aHaltCanLeaveTheReleaseWhereItIs() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        var definition = server.ramp
        definition.rollout?.onHalt = .keep
        let id = try await server.deploy(definition).id
        try await server.report(2, devices: 0..<60, failing: 20)
        try await server.service.runRollouts()
        let shares = try await server.policy().policy.fallback.shares
        #expect(shares.map(\.outcome) == [.keep, .release(1)])
        #expect(shares.map(\.share) == [1000, 99_000])
        // A person who is sure that it was a false alarm continues, with a fresh test.
        _ = try await server.service.operate(.resume, id, as: server.admin)
        #expect(try await server.share(of: 2) == 1)
        try await server.service.runRollouts()
        #expect(try await server.state(id) == .active)
    }

    @Test func reportsFromBeforeTheRolloutDoNotCount() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        try await server.report(2, devices: 0..<60, failing: 60)
        let id = try await server.deploy(server.ramp).id
        try await server.service.runRollouts()
        #expect(try await server.state(id) == .active)
        #expect(try await server.service.rolloutStatus(of: id, as: server.admin).reports == 0)
    }

    @Test func aReleaseThatIsWorseThanTheOthersHalts() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        var definition = server.ramp
        // A rate that by itself would not be bad.
        definition.rollout?.usualFailureRate = 0.2
        definition.rollout?.badFailureRate = 0.5
        let id = try await server.deploy(definition).id
        for round in 0..<20 {
            try await server.report(1, devices: round * 40..<round * 40 + 40, inUse: true)
            try await server.report(2, devices: round * 40..<round * 40 + 40, failing: 10, inUse: true)
            try await server.service.runRollouts()
        }
        #expect(try await server.state(id) == .halted)
        let audit = try await server.service.audit(of: "acme", matching: AuditFilter(), as: server.admin)
        let halt = try #require(audit.first { $0.action == "deployment.rollout-halt" })
        #expect(halt.detail["rollout after"]?.contains("rolledBack") == true)
    }

    @Test func devicesThatBeginAreNotComparedWithThoseThatHaveUsedTheirsForLong() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let id = try await server.deploy(server.ramp).id
        // A usual release: 4 of 2,000 devices cannot load it, and nobody else has anything to complain of.
        for round in 0..<4 {
            try await server.report(1, devices: 0..<500, inUse: true)
            try await server.report(2, devices: round * 500..<round * 500 + 500, failing: 1)
            try await server.service.runRollouts()
        }
        #expect(try await server.state(id) == .active)
    }

    @Test func pausingFreezesARolloutAndResumingGoesOn() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let id = try await server.deploy(server.ramp).id
        _ = try await server.service.operate(.pause, id, as: server.admin)
        #expect(try await server.policy().policy.state == .paused)
        server.clock.advance(10_000)
        try await server.report(2, devices: 0..<30)
        try await server.service.runRollouts()
        _ = try await server.service.operate(.resume, id, as: server.admin)
        #expect(try await server.share(of: 2) == 1)
        try await server.service.runRollouts()
        #expect(try await server.share(of: 2) == 25)
    }

    @Test func somebodyCanLetAGatePass() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        var definition = server.ramp
        definition.rollout?.steps = [
            .init(percentage: 1, hours: 0, waitsForPerson: true), .init(percentage: 100, hours: 0),
        ]
        let id = try await server.deploy(definition).id
        try await server.service.runRollouts()
        #expect(try await server.share(of: 2) == 1)
        #expect(
            await code { _ = try await server.service.operate(.releaseGate, id, as: server.token(.viewer)) }
                == .forbidden
        )
        _ = try await server.service.operate(.releaseGate, id, as: server.admin)
        try await server.service.runRollouts()
        #expect(try await server.share(of: 2) == 100)
    }

    @Test func deployersCannotSkipGates() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let id = try await server.deploy(server.ramp).id
        let deployer = try await server.token(.deployer)
        #expect(await code { _ = try await server.service.operate(.skipGate, id, as: deployer) } == .forbidden)
        #expect(await code { _ = try await server.service.operate(.advance, id, as: deployer) } == .conflict)
        _ = try await server.service.operate(.skipGate, id, as: server.admin)
        #expect(try await server.share(of: 2) == 25)
    }

    @Test func rollingBackGivesWhatWasThereBefore() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let id = try await server.deploy(DeploymentDefinition(default: .release(2))).id
        let back = try await server.service.operate(.rollBack, id, as: server.admin)
        #expect(back.definition.default == .release(1))
        #expect(back.state == .active)
        #expect(try await server.state(id) == .rolledBack)
        #expect(try await server.share(of: 1) == 100)
        _ = try await server.service.operate(.rollBackToBundled, back.id, as: server.admin)
        #expect(try await server.policy().policy.state == .halted)
    }

    @Test func theFirstDeploymentHasNothingBeforeIt() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        let id = try await server.deploy(DeploymentDefinition(default: .release(1))).id
        #expect(await code { _ = try await server.service.operate(.rollBack, id, as: server.admin) } == .conflict)
        #expect(try await server.state(id) == .active)
    }

    @Test func aRolloutIsRolledBackToItsControlOrToTheBundle() async throws {
        for (operation, outcome) in [
            (Service.Operation.rollBack, Outcome.release(1)), (.rollBackToBundled, .bundled),
        ] {
            let server = try await SampleServer()
            try await server.publishTwo()
            let id = try await server.deploy(server.ramp).id
            _ = try await server.service.operate(operation, id, as: server.admin)
            #expect(try await server.policy().policy.fallback.single == outcome)
            #expect(try await server.policy().policy.state == .active)
        }
    }

    @Test func aDateIsWaitedFor() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        var definition = DeploymentDefinition(default: .release(2))
        definition.start = PolicyDate(secondsSince1970: Int(server.clock.now.timeIntervalSince1970) + 3600).description
        let scheduled = try await server.deploy(definition)
        #expect(scheduled.state == .scheduled)
        try await server.service.runRollouts()
        #expect(try await server.share(of: 1) == 100)
        server.clock.advance(3601)
        try await server.service.runRollouts()
        #expect(try await server.state(scheduled.id) == .active)
        #expect(try await server.share(of: 2) == 100)
    }

    @Test(arguments: [
        ("definition.rollout.steps[1].share", [1.0, 1.0]), ("definition.rollout.steps[0].percentage", [-1.0]),
        ("definition.rollout.steps", []), ("definition.rollout.steps[1].percentage", [1.0, 101.0]),
    ])
    func badPlansAreRefusedByName(_ field: String, _ percentages: [Double]) async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        var definition = server.ramp
        definition.rollout?.steps = percentages.map { .init(percentage: $0) }
        do {
            _ = try await server.deploy(definition)
            Issue.record("the plan was taken")
        } catch let error as ServiceError { #expect(error.field == field) }
    }
}

@Suite struct ApprovalTests {
    @Test func aSecondPersonMustApproveWhereTheAppSaysSo() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        _ = try await server.service.setApprovals(["production"], app: "shop", as: server.admin)
        let deployment = try await server.service.createDeployment(
            server.ramp,
            name: "",
            app: "shop",
            collection: "Flowers",
            environment: "production",
            as: server.admin
        )
        let service = server.service
        #expect(await code { _ = try await service.operate(.activate, deployment.id, as: server.admin) } == .conflict)
        #expect(await code { _ = try await service.operate(.approve, deployment.id, as: server.admin) } == .conflict)
        let deployer = try await server.token(.deployer)
        #expect(await code { _ = try await service.operate(.approve, deployment.id, as: deployer) } == .forbidden)
        // A token is not a person: its creator would be their own second person.
        let token = try await server.token(.approver)
        #expect(await code { _ = try await service.operate(.approve, deployment.id, as: token) } == .conflict)
        let approver = Principal(kind: .account(id: "eve"), name: "eve@example.org", roles: ["acme": [.approver]])
        _ = try await service.operate(.approve, deployment.id, as: approver)
        // The approved definition is the one that goes live.
        var changed = server.ramp
        changed.default = .release(1)
        changed.rest = .bundled
        let edited = try await service.edit(deployment.id, changed, name: nil, as: deployer)
        #expect(edited.state == .draft)
        #expect(await code { _ = try await service.operate(.activate, deployment.id, as: deployer) } == .conflict)
        _ = try await service.operate(.approve, deployment.id, as: approver)
        _ = try await service.operate(.activate, deployment.id, as: deployer)
        #expect(try await server.share(of: 1) == 1)
        #expect(await code { _ = try await service.edit(deployment.id, changed, name: nil, as: deployer) } == .conflict)
    }
}

@Suite struct WebhookTests {
    /// A webhook's requests.
    private final class Sink: Sendable {
        let requests = Mutex<[URLRequest]>([])
        let status = Mutex(200)

        @Sendable func send(_ request: URLRequest) async throws -> Int {
            requests.withLock { $0.append(request) }
            return status.withLock { $0 }
        }
    }

    @Test func whatHappensIsToldAndSigned() async throws {
        let server = try await SampleServer()
        try await server.publishTwo()
        let (webhook, secret) = try await server.service.createWebhook(
            "https://chat.example.org/hook",
            actions: ["deployment"],
            team: "acme",
            as: server.admin
        )
        #expect(secret.hasPrefix("whsec_"))
        let id = try await server.deploy(DeploymentDefinition(default: .release(2))).id
        let sink = Sink()
        sink.status.withLock { $0 = 500 }
        try await server.service.deliverWebhooks(sink.send)
        #expect(sink.requests.withLock { $0.count } == 2)
        try await server.service.deliverWebhooks(sink.send)
        #expect(sink.requests.withLock { $0.count } == 2)
        sink.status.withLock { $0 = 204 }
        server.clock.advance(60)
        try await server.service.deliverWebhooks(sink.send)
        server.clock.advance(86_400)
        try await server.service.deliverWebhooks(sink.send)
        let requests = sink.requests.withLock { $0 }
        #expect(requests.count == 4)
        // The same message has the same ID.
        let identifiers = requests.map { $0.value(forHTTPHeaderField: "webhook-id") ?? "" }
        #expect(Set(identifiers.prefix(2)) == Set(identifiers.suffix(2)))
        let bodies = requests.map { String(decoding: $0.httpBody ?? Data(), as: UTF8.self) }
        #expect(bodies.contains { $0.contains("deployment.activate") && $0.contains(id) })
        #expect(requests[0].value(forHTTPHeaderField: "webhook-signature")?.hasPrefix("v1,") == true)
        #expect(try await server.service.webhooks(of: "acme", as: server.admin).map(\.lastStatus) == ["204"])
        #expect(
            await code { _ = try await server.service.webhooks(of: "acme", as: server.token(.deployer)) } == .forbidden
        )
        try await server.service.removeWebhook(webhook.id, of: "acme", as: server.admin)
        #expect(try await server.service.webhooks(of: "acme", as: server.admin).isEmpty)
    }

    @Test(arguments: ["ftp://example.org", "example.org", "https://", "https://user:pw@example.org/", ""])
    func addressesThatAreNoneAreRefused(_ address: String) async throws {
        let server = try await SampleServer()
        #expect(
            await code {
                _ = try await server.service.createWebhook(address, actions: [], team: "acme", as: server.admin)
            } == .invalid
        )
    }
}
