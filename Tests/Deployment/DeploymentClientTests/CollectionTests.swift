import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import Testing
import UpdateFramework

private let flowers = SampleDeployment.collection

/// Two releases of one model, the first of them deployed.
private func sample() throws -> SampleDeployment {
    var deployment = try SampleDeployment()
    try deployment.publishRelease(1, ["Classifier": try SampleDeployment.sample("Classifier", seed: 1)])
    try deployment.publishRelease(2, ["Classifier": try SampleDeployment.sample("Classifier", seed: 2)])
    try deployment.deploy(1)
    return deployment
}

/// Checks, then launches the app again.
private func checkAndRelaunch(_ device: Device) async throws -> CollectionStore.Use {
    let check = try await device.launch().check(flowers)
    #expect(check.result == .staged)
    return try await device.launch().open(flowers)
}

@Suite struct CollectionTests {
    @Test func whatArrivesIsUsedFromTheNextLaunchOn() async throws {
        let device = try Device(try sample())
        let first = try device.launch()
        #expect(try await first.open(flowers).models.isEmpty)
        #expect(try await first.check(flowers).result == .staged)
        #expect(try await first.open(flowers).models.isEmpty)
        let use = try await device.launch().open(flowers)
        #expect(use.installed.number == 1)
        #expect(use.installed.deployment == "deployment-1")
        let path = try #require(use.models["Classifier"])
        let weights = try Data(contentsOf: URL(fileURLWithPath: path + "/compiled.bin"))
        #expect(weights.elementsEqual(SampleDeployment.noise(100_000, seed: 1)))
    }

    @Test func nothingIsFetchedTwice() async throws {
        let device = try Device(try sample())
        _ = try await checkAndRelaunch(device)
        _ = device.transport.takeLog()
        #expect(try await device.launch().check(flowers).result == .current)
        #expect(!device.transport.takeLog().paths.contains { $0.hasPrefix("/b/") })
    }

    @Test func anUpdateWaitsUntilNoProcessUsesTheOldModels() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        _ = try await checkAndRelaunch(device)
        let running = try device.launch()
        #expect(try await running.open(flowers).installed.number == 1)
        try deployment.deploy(2)
        device.transport.serve(deployment)
        #expect(try await running.check(flowers).result == .staged)
        // Another process, while the first runs on.
        #expect(try await device.launch().open(flowers).installed.number == 1)
        let path = try #require(try await running.open(flowers).models["Classifier"])
        #expect(FileManager.default.fileExists(atPath: path + "/compiled.bin"))
        withExtendedLifetime(running) {}
    }

    @Test func anUpdateIsUsedWhenTheOldProcessesHaveEnded() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        _ = try await checkAndRelaunch(device)
        try deployment.deploy(2)
        device.transport.serve(deployment)
        #expect(try await checkAndRelaunch(device).installed.number == 2)
    }

    @Test func rulesAreAskedOnTheDevice() async throws {
        var deployment = try sample()
        try deployment.publishPolicy { policy in
            policy.fallback = Serving(.release(1))
            policy.rules = [
                Rule("tablets", when: .compare(.deviceClass, .is, "tablet"), serve: Serving(.release(2)))
            ]
        }
        let device = try Device(deployment)
        var tablet = DeviceAttributes()
        tablet.deviceClass = .tablet
        _ = try await device.launch(tablet).check(flowers)
        #expect(try await device.launch(tablet).open(flowers).installed.number == 2)
        let phone = try Device(deployment)
        _ = try await phone.launch().check(flowers)
        #expect(try await phone.launch().open(flowers).installed.number == 1)
    }

    @Test func devicesGoBackToTheBundleWhenADeploymentIsHalted() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        _ = try await checkAndRelaunch(device)
        try deployment.publishPolicy { policy in
            policy.fallback = Serving(.release(1))
            policy.state = .halted
        }
        device.transport.serve(deployment)
        let use = try await checkAndRelaunch(device)
        #expect(use.models.isEmpty)
        #expect(use.isDecided)
    }

    @Test func aPausedDeploymentChangesNothing() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        _ = try await checkAndRelaunch(device)
        try deployment.publishPolicy { policy in
            policy.fallback = Serving(.release(2))
            policy.state = .paused
        }
        device.transport.serve(deployment)
        #expect(try await device.launch().check(flowers).result == .current)
        #expect(try await device.launch().open(flowers).installed.number == 1)
    }

    @Test func theEmergencyFloorTakesAReleaseFromDevicesThatHaveIt() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        _ = try await checkAndRelaunch(device)
        try deployment.publishPolicy { policy in
            policy.fallback = Serving(.keep)
            policy.minimumCounter = 2
        }
        device.transport.serve(deployment)
        #expect(try await checkAndRelaunch(device).models.isEmpty)
    }

    @Test func whatNobodyNeedsIsRemoved() async throws {
        var deployment = try sample()
        try deployment.publishRelease(3, ["Classifier": try SampleDeployment.sample("Classifier", seed: 3)])
        let device = try Device(deployment)
        for release in [1, 2, 3] {
            try deployment.deploy(release)
            device.transport.serve(deployment)
            #expect(try await checkAndRelaunch(device).installed.number == release)
        }
        _ = try await device.launch().check(flowers)
        // The current release and the one before it.
        let models = try FileManager.default.contentsOfDirectory(atPath: device.folder + "/store/models")
        #expect(models.count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.folder + "/store/partial").isEmpty)
    }

    @Test func downloadsThatNobodyGoesOnWithAreRemoved() async throws {
        let device = try Device(try sample())
        _ = try await checkAndRelaunch(device)
        let partial = device.folder + "/store/partial/"
        for (name, days) in [("old", 15.0), ("new", 13.0)] {
            try Data([1]).write(to: URL(fileURLWithPath: partial + name))
            let date = Date(timeIntervalSinceNow: -days * 24 * 3600)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: partial + name)
        }
        try device.launch().store.collectGarbage()
        #expect(try FileManager.default.contentsOfDirectory(atPath: partial) == ["new"])
    }

    @Test func endingTheAccessRemovesTheModels() async throws {
        let device = try Device(try sample())
        _ = try await checkAndRelaunch(device)
        let client = try device.launch()
        _ = try await client.open(flowers)
        #expect(try await client.end(flowers))
        #expect(try await !client.end(flowers))
        try device.launch().store.collectGarbage()
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.folder + "/store/models").isEmpty)
    }

    @Test func threadsAndProcessesFetchOnce() async throws {
        let device = try Device(try sample())
        let processes = try (0..<2).map { _ in try device.launch() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<16 {
                group.addTask {
                    let client = processes[index % 2]
                    _ = try await client.open(flowers)
                    _ = try await client.check(flowers)
                }
            }
            try await group.waitForAll()
        }
        // The start, the header and all pieces of one archive.
        #expect(device.transport.takeLog().paths.filter { $0.hasPrefix("/b/") }.count == 3)
        withExtendedLifetime(processes) {}
    }
}

@Suite struct TrialTests {
    @Test func aReleaseThatFailsItsTestIsGivenUpAtOnce() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        _ = try await checkAndRelaunch(device)
        try deployment.deploy(2)
        device.transport.serve(deployment)
        device.verdict.set(DeploymentError(.selfTest, "Classifier", "wrong"))
        #expect(try await checkAndRelaunch(device).installed.number == 1)
        #expect(device.verdict.reported.contains { $0.release == 2 && $0.code == .selfTest })
    }

    @Test func aReleaseThatFailedIsNotTriedAgain() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        device.verdict.set(DeploymentError(.load, "Classifier", "cannot be loaded"))
        #expect(try await checkAndRelaunch(device).models.isEmpty)
        device.verdict.set(nil)
        #expect(try await device.launch().check(flowers).result == .current)
        #expect(try await device.launch().open(flowers).models.isEmpty)
        try deployment.deploy(2)
        device.transport.serve(deployment)
        #expect(try await checkAndRelaunch(device).installed.number == 2)
    }

    @Test func aReleaseThatCrashesTwiceIsGivenUp() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        _ = try await checkAndRelaunch(device)
        try deployment.deploy(2)
        device.transport.serve(deployment)
        _ = try await device.launch().check(flowers)
        // A crash is a use whose trial never ends.
        for attempt in 1...2 {
            let store = try CollectionStore(folder: device.folder + "/store")
            let use = try store.use(flowers) { _ in Issue.record("given up at the attempt \(attempt)") }
            #expect(use.isOnTrial)
            #expect(use.installed.number == 2)
        }
        let use = try await device.launch().open(flowers)
        #expect(use.installed.number == 1)
        #expect(!use.isOnTrial)
        #expect(device.verdict.reported.contains { $0.release == 2 && $0.code == .crash })
    }

    @Test func aReleaseThatWorksIsNotTestedAgain() async throws {
        let device = try Device(try sample())
        _ = try await checkAndRelaunch(device)
        device.verdict.set(DeploymentError(.selfTest, "", "must not be asked"))
        #expect(try await device.launch().open(flowers).installed.number == 1)
    }
}
