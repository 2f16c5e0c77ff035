import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import Synchronization
import Testing
import UpdateFramework

private let flowers = SampleDeployment.collection

private func sample(count: Int = 100_000) throws -> SampleDeployment {
    var deployment = try SampleDeployment()
    try deployment.publishRelease(1, ["Classifier": try SampleDeployment.sample("Classifier", seed: 1, count: count)])
    try deployment.deploy(1)
    return deployment
}

/// The condition that downloads wait for, until it is removed.
private final class Obstacle: Sendable {
    private let text: Mutex<String?>
    private let looks = Atomic<Int>(0)

    init(_ text: String?) { self.text = Mutex(text) }
    func set(_ text: String?) { self.text.withLock { $0 = text } }
    var all: [String] { text.withLock { $0.map { [$0] } ?? [] } }
    /// Becomes an obstacle at a look.
    func appears(atLook number: Int) -> [String] {
        looks.wrappingAdd(1, ordering: .relaxed).newValue >= number ? ["the battery"] : []
    }
}

@Suite struct ConditionTests {
    @Test func aDownloadWaitsAndThePolicyDoesNot() async throws {
        let device = try Device(try sample())
        let obstacle = Obstacle("the device runs on its battery")
        let client = try device.launch(obstacles: { obstacle.all })
        let check = try await client.check(flowers)
        #expect(check.result == .deferred)
        #expect(!device.transport.takeLog().paths.contains { $0.hasPrefix("/b/") })
        #expect(try device.state().policyVersion == 1)
        let record = try #require(try client.store.lastCheck(flowers))
        #expect(record.result == .deferred)
        #expect(record.message?.contains("battery") == true)
        obstacle.set(nil)
        #expect(try await client.check(flowers).result == .staged)
        #expect(try client.store.lastCheck(flowers)?.result == .arrived)
    }

    @Test func whoAsksNowDoesNotWait() async throws {
        let device = try Device(try sample())
        let client = try device.launch(obstacles: { ["the network is metered"] })
        #expect(try await client.check(flowers, ignoresConditions: true).result == .staged)
    }

    @Test func aDownloadStopsWhenItHasToWaitAgainAndGoesOnLater() async throws {
        let deployment = try sample(count: 20_000_000)
        let device = try Device(deployment)
        let obstacle = Obstacle(nil)
        #expect(try await device.launch(obstacles: { obstacle.appears(atLook: 3) }).check(flowers).result == .deferred)
        let first = device.transport.takeLog().bytes
        #expect(first > 5_000_000 && first < 15_000_000)
        #expect(try await device.launch().check(flowers).result == .staged)
        #expect(Double(first + device.transport.takeLog().bytes) < 1.01 * 20_000_000 + 100_000)
    }

    @Test func emergenciesDoNotWait() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        _ = try await device.launch().check(flowers)
        #expect(try await device.launch().open(flowers).installed.number == 1)
        try deployment.publishPolicy { policy in
            policy.fallback = Serving(.release(1))
            policy.state = .halted
        }
        device.transport.serve(deployment)
        #expect(try await device.launch(obstacles: { ["the battery"] }).check(flowers).result == .staged)
        #expect(try await device.launch().open(flowers).models.isEmpty)
    }
}

@Suite struct CheckRecordTests {
    @Test func aDeviceSaysWhyItHasWhatItHas() async throws {
        var deployment = try sample()
        try deployment.publishPolicy { policy in
            policy.rules = [Rule("tablets", when: .compare(.deviceClass, .is, "tablet"), serve: Serving(.bundled))]
            policy.fallback = Serving(.release(1))
        }
        let device = try Device(deployment)
        var phone = DeviceAttributes()
        phone.deviceClass = .phone
        let client = try device.launch(phone)
        #expect(try CollectionStatus(of: flowers, in: client.store).description.contains("never contacted"))
        _ = try await client.check(flowers)
        let status = try CollectionStatus(of: flowers, in: client.store).description
        #expect(status.contains("from the next launch on: release 1"))
        #expect(status.contains("the default, as no rule matched"))
        #expect(status.contains("tablets: not matched"))
        #expect(status.contains("has phone"))
    }

    @Test func aCheckThatFailsLeavesWhatWasKnownBefore() async throws {
        let device = try Device(try sample())
        let client = try device.launch()
        _ = try await client.check(flowers)
        let before = try #require(try client.store.lastCheck(flowers))
        #expect(before.next == PolicyDate(secondsSince1970: before.date.secondsSince1970 + Poll().interval))
        device.transport.setFault { path, _, _ in throw DeploymentError(.offline, path, "no network") }
        await #expect(throws: DeploymentError.self) { _ = try await client.check(flowers) }
        let after = try #require(try client.store.lastCheck(flowers))
        #expect(after.result == .failed)
        #expect(after.code == "offline")
        #expect(after.explanation == before.explanation)
        #expect(after.policyVersion == 1)
        #expect(after.next == nil)
    }

    @Test(.timeLimit(.minutes(20))) func theNextCheckCanBeSeen() async throws {
        let device = try Device(try sample())
        let (waits, waiting) = AsyncStream<Duration>.makeStream()
        let (never, end) = AsyncStream<Void>.makeStream()
        let client = try device.launch(sleep: { duration in
            waiting.yield(duration)
            for await _ in never {}
            throw CancellationError()
        })
        _ = try await client.open(flowers)
        #expect(client.nextCheck(of: flowers) == nil)
        let checks = client.keepUpToDate(flowers, progress: { _, _ in }, first: { _ in })
        var iterator = waits.makeAsyncIterator()
        let delay = try #require(await iterator.next()) / .seconds(1)
        let next = try #require(client.nextCheck(of: flowers))
        checks.cancel()
        end.finish()
        await checks.value
        let interval = Double(Poll().interval)
        #expect(delay > interval - 1 && delay < interval * 1.2 + 1)
        #expect(next <= Date(timeIntervalSinceNow: delay))
    }
}
