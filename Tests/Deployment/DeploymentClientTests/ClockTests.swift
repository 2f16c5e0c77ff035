import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import Testing
import UpdateFramework

private let flowers = SampleDeployment.collection
private let years = 365.0 * 86_400

private func sample() throws -> SampleDeployment {
    var deployment = try SampleDeployment()
    for release in 1...2 {
        let archive = try SampleDeployment.sample("Classifier", seed: UInt64(release), count: 1000)
        try deployment.publishRelease(release, ["Classifier": archive])
    }
    try deployment.deploy(1)
    return deployment
}

/// The culprit and kind of what a check ends with; `nil` when it succeeds.
private func refusal(_ device: Device) async throws -> String? {
    let client = try device.launch()
    do throws(DeploymentError) {
        _ = try await client.check(flowers)
        return nil
    } catch {
        return error.code == .metadata ? error.culprit : error.code.rawValue
    }
}

private func number(_ device: Device) async throws -> Int {
    try await device.launch().open(flowers).installed.number
}

@Suite struct ClockTests {
    @Test func aClockTenYearsAheadInstallsNothingAndRecoversWhenItIsSet() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 1)
        try deployment.deploy(2)
        device.transport.serve(deployment)
        device.setClock(10 * years)
        #expect(try await refusal(device) == "root: expired")
        #expect(try await number(device) == 1)
        device.setClock(120)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 2)
    }

    @Test func aClockTenYearsBehindIsReplacedByWhatIsKnownToBePast() async throws {
        let deployment = try sample()
        let device = try Device(deployment)
        #expect(try await refusal(device) == nil)
        device.setClock(-10 * years)
        #expect(try await refusal(device) == nil)
        // Metadata that expired before the newest signed time stays expired.
        var later = deployment
        try later.publishPolicy(issued: SampleDeployment.start + 7200) { $0.fallback = Serving(.release(1)) }
        device.setClock(7300)
        device.transport.serve(later)
        #expect(try await refusal(device) == nil)
        try later.publishPolicy(issued: SampleDeployment.start, lifetime: 3600) { $0.fallback = Serving(.release(2)) }
        device.transport.serve(later)
        device.setClock(-10 * years)
        #expect(try await refusal(device) == "policyExpired")
        #expect(try await number(device) == 1)
    }

    @Test func aClockThatWasNeverSetBeginsWithTheConfigurations() async throws {
        var deployment = try sample()
        let unknown = try Device(deployment)
        unknown.setClock(-1_800_000_000)
        #expect(try await refusal(unknown) == "clock: clock")
        let known = try Device(deployment, created: SampleDeployment.start + 60)
        known.setClock(-1_800_000_000)
        #expect(try await refusal(known) == nil)
        // Metadata that was past its time when the app was made is refused, whatever the clock says.
        try deployment.publishMetadata(timestampExpires: SampleDeployment.start + 30) { _ in }
        let late = try Device(deployment, created: SampleDeployment.start + 60)
        late.setClock(-1_800_000_000)
        #expect(try await refusal(late) == "timestamp: expired")
    }

    @Test func aClockThatStandsStillGoesOnWithWhatIsSigned() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        device.setClock(60)
        #expect(try await refusal(device) == nil)
        for hour: Int64 in 1...5 {
            try deployment.publishMetadata(timestampExpires: SampleDeployment.start + hour * 3600 + 86_400) { _ in }
            try deployment.publishPolicy(issued: SampleDeployment.start + hour * 3600, lifetime: 7200) {
                $0.fallback = Serving(.release(hour == 5 ? 2 : 1))
            }
            device.transport.serve(deployment)
            #expect(try await refusal(device) == nil)
        }
        // An attacker cannot freeze it at what was good when the clock stopped.
        try deployment.publishPolicy(issued: SampleDeployment.start + 3600, lifetime: 7200) {
            $0.fallback = Serving(.release(1))
        }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == "policyExpired")
        #expect(try await number(device) == 2)
    }

    @Test func clocksThatJumpChangeNothing() async throws {
        let deployment = try sample()
        let device = try Device(deployment)
        for jump in [60, -3600, 80_000, -10 * years, 30, 10 * years, 90] as [Double] {
            device.setClock(jump)
            let refusal = try await refusal(device)
            #expect(refusal == (jump > years ? "root: expired" : nil), "after a jump to \(jump)")
        }
        #expect(try await number(device) == 1)
    }

    @Test func aDirectorAloneCannotPushDevicesIntoTheFuture() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        try deployment.publishPolicy(issued: SampleDeployment.start + UTCTime.days(3000)) {
            $0.fallback = Serving(.release(1))
        }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == nil)
        try deployment.publishPolicy { $0.fallback = Serving(.release(2)) }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 2)
    }

    @Test func aNewRootEndsAFutureThatThievesSigned() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        #expect(try await refusal(device) == nil)
        // Both online keys are stolen: a timestamp that is good for years, and a policy dated in the future.
        var stolen = deployment
        let future = SampleDeployment.start + UTCTime.days(300)
        try stolen.publishMetadata(timestampExpires: SampleDeployment.start + UTCTime.days(3000)) { _ in }
        try stolen.publishPolicy(issued: future) { $0.fallback = Serving(.release(1)) }
        device.transport.serve(stolen)
        #expect(try await refusal(device) == nil)
        device.transport.serve(deployment)
        #expect(try await refusal(device) != nil)
        try deployment.replaceOnlineKeys()
        try deployment.publishPolicy(version: 100) { $0.fallback = Serving(.release(2)) }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 2)
    }

    @Test(arguments: ["root", "timestamp", "snapshot", "targets"])
    func expiredMetadataIsNamedAndRecoveredFromByItself(_ role: String) async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 1)
        let ages: [String: Double] = ["root": 366, "timestamp": 2, "snapshot": 8, "targets": 91]
        let days = ages[role] ?? 0
        let now = SampleDeployment.start + Int64(days * 86_400)
        device.setClock(days * 86_400)
        try deployment.renew(at: now, without: role)
        try deployment.publishPolicy(issued: now) { $0.fallback = Serving(.release(2)) }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == "\(role): expired")
        #expect(try await number(device) == 1)
        try deployment.renew(at: now, without: nil)
        device.transport.serve(deployment)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 2)
    }
}
