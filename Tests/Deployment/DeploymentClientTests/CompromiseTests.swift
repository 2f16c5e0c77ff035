import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import Testing
import UpdateFramework

// The effects of stolen keys on devices, and the recovery: the drills of Documentation/KeyRecovery.md.

private let flowers = SampleDeployment.collection
private let metadata = "/v1/trust/\(SampleDeployment.team)/metadata/"

/// A device that has release 1.
private func deviceWithReleaseOne(_ deployment: SampleDeployment) async throws -> Device {
    let device = try Device(deployment)
    _ = try await device.launch().check(flowers)
    #expect(try await device.launch().open(flowers).installed.number == 1)
    return device
}

private func sample() throws -> SampleDeployment {
    var deployment = try SampleDeployment()
    try deployment.publishRelease(1, ["Classifier": try SampleDeployment.sample("Classifier", seed: 1, count: 5000)])
    try deployment.deploy(1)
    return deployment
}

private func refusal(_ device: Device) async throws -> String? {
    let client = try device.launch()
    do throws(DeploymentError) {
        _ = try await client.check(flowers)
        return nil
    } catch { return error.code == .metadata ? error.culprit : error.code.rawValue }
}

private func number(_ device: Device) async throws -> Int {
    try await device.launch().open(flowers).installed.number
}

/// A foreign model as release 7, as the thief of these keys can make it.
private struct Thief {
    var stolen: SampleDeployment
    /// The thief's own key, in place of the publisher's.
    let own = SigningKey()

    init(_ deployment: SampleDeployment) { stolen = deployment }

    /// A release that the publisher never signed, and a policy that names it.
    mutating func publishForeign() throws {
        let foreign = try SampleDeployment.sample("Classifier", seed: 666, count: 5000)
        try stolen.publishRelease(7, ["Classifier": foreign], vouches: false)
        try stolen.deploy(7)
    }

    /// Metadata of the publisher's role that vouches for the foreign release, signed with `key`.
    func forgedRole(signedBy key: SigningKey) throws -> (version: Int, bytes: [UInt8]) {
        let reference = try #require(stolen.references[7])
        let path = try #require(stolen.files.keys.first { $0.contains("/targets/") && $0.contains(reference.sha256) })
        let target = Target(path: reference.target, bytes: try #require(stolen.files[path]))
        let expires = SampleDeployment.start + UTCTime.days(90)
        var draft = try stolen.metadata.targetsDraft(SampleDeployment.role, expires: expires) {
            targets throws(UpdateError) in targets.set(target)
        }
        try draft.sign(with: key)
        return (try Targets(draft.signed, role: SampleDeployment.role).version, draft.bytes)
    }

    /// Puts forged metadata of the role before devices, with a snapshot and a timestamp that name it.
    mutating func serve(_ role: (version: Int, bytes: [UInt8])) throws {
        let name = "\(SampleDeployment.role).json"
        var snapshot = try #require(try stolen.metadata.snapshotMetadata)
        snapshot.header = Header(version: snapshot.version + 1, expires: SampleDeployment.start + UTCTime.days(7))
        snapshot.files[Name(name)] = MetadataFile(version: role.version, bytes: role.bytes)
        var snapshotFile = SignedDocument(signed: snapshot.signed)
        try snapshotFile.sign(with: stolen.snapshot)
        var timestamp = try #require(try stolen.metadata.timestampMetadata)
        timestamp.header = Header(version: timestamp.version + 1, expires: SampleDeployment.start + UTCTime.days(1))
        timestamp.snapshot = MetadataFile(version: snapshot.version, bytes: snapshotFile.bytes)
        var timestampFile = SignedDocument(signed: timestamp.signed)
        try timestampFile.sign(with: stolen.timestamp)
        stolen.replaceFile(metadata + "\(role.version).\(name)", with: role.bytes)
        stolen.replaceFile(metadata + "\(snapshot.version).snapshot.json", with: snapshotFile.bytes)
        stolen.replaceFile(metadata + "timestamp.json", with: timestampFile.bytes)
    }
}

@Suite struct CompromiseTests {
    @Test func stolenOnlineKeysInstallNoForeignModel() async throws {
        let deployment = try sample()
        let device = try await deviceWithReleaseOne(deployment)
        // Timestamp, snapshot and director: all that a server has after a ceremony.
        var thief = Thief(deployment)
        try thief.publishForeign()
        device.transport.serve(thief.stolen)
        #expect(try await refusal(device) == "releaseMissing")
        let forged = try thief.forgedRole(signedBy: thief.own)
        try thief.serve(forged)
        device.transport.serve(thief.stolen)
        #expect(try await refusal(device) == "\(SampleDeployment.role): threshold")
        #expect(try await number(device) == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.folder + "/store/models").count == 1)
    }

    @Test func afterTheftOfOnlineKeysANewRootBringsDevicesBackInOneCheck() async throws {
        var deployment = try sample()
        let device = try await deviceWithReleaseOne(deployment)
        var thief = Thief(deployment)
        try thief.publishForeign()
        // Versions far ahead, so that what the team publishes next looks old.
        try thief.stolen.publishPolicy(version: 1_000_000) { $0.fallback = Serving(.release(1)) }
        device.transport.serve(thief.stolen)
        #expect(try await refusal(device) == nil)
        try deployment.publishRelease(
            2,
            ["Classifier": try SampleDeployment.sample("Classifier", seed: 2, count: 5000)]
        )
        try deployment.replaceOnlineKeys()
        try deployment.publishPolicy(version: 1_000_001) { $0.fallback = Serving(.release(2)) }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 2)
        // The thief's new signatures have no effect on the device.
        device.transport.serve(thief.stolen)
        #expect(try await refusal(device) != nil)
        #expect(try await number(device) == 2)
    }

    /// A thief of the director's key takes the last version that there is, so that no policy of the team's could
    /// follow.
    @Test func aNewDirectorEndsTheLastVersionThatAThiefSigned() async throws {
        var deployment = try sample()
        let device = try await deviceWithReleaseOne(deployment)
        var thief = Thief(deployment)
        try thief.stolen.publishPolicy(version: 1 << 53 - 1) { $0.fallback = Serving(.release(1)) }
        device.transport.serve(thief.stolen)
        #expect(try await refusal(device) == nil)
        // Without new keys nothing of the team's own counts any more.
        try deployment.publishPolicy(version: 1_000_000) { $0.fallback = Serving(.release(1)) }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == "policyRollback")
        try deployment.replaceOnlineKeys()
        try deployment.publishPolicy(version: 1_000_001) { $0.fallback = Serving(.release(1)) }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == nil)
        // From there on versions only grow again.
        try deployment.publishPolicy(version: 1_000_000) { $0.fallback = Serving(.release(1)) }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == "policyRollback")
    }

    @Test func oneOfThreeRootKeysChangesNothing() async throws {
        var deployment = try sample()
        let holders = (0..<3).map { _ in SigningKey() }
        try deployment.shareRoot(among: holders, threshold: 2)
        let device = try await deviceWithReleaseOne(deployment)
        let own = SigningKey().publicKey
        var draft = try deployment.metadata.rootDraft(expires: SampleDeployment.start + UTCTime.days(365)) {
            root throws(UpdateError) in
            for type in MetadataType.allCases { try root.setKeys([own], threshold: 1, of: type) }
        }
        try draft.sign(with: holders[0])
        var files = deployment.files
        files[metadata + "3.root.json"] = draft.bytes
        device.transport.serve(files)
        #expect(try await refusal(device) == "root: threshold")
        #expect(try await number(device) == 1)
        // Two of them take the third away.
        try deployment.metadataWithoutHolder(holders)
        device.transport.serve(deployment)
        #expect(try await refusal(device) == nil)
    }

    @Test func oneDelegationAloneInstallsNothing() async throws {
        let deployment = try sample()
        let device = try await deviceWithReleaseOne(deployment)
        var thief = Thief(deployment)
        try thief.publishForeign()
        // The publisher's key alone: metadata and a policy of the thief's, which nobody else signed.
        let forged = try thief.forgedRole(signedBy: deployment.publisher)
        var files = deployment.files
        files[metadata + "\(forged.version).\(SampleDeployment.role).json"] = forged.bytes
        for (path, bytes) in thief.stolen.files where path.contains("/targets/") || path.hasPrefix("/b/") {
            files[path] = bytes
        }
        device.transport.serve(files)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 1)
        // In place of the version that the snapshot names, too.
        let current = try #require(
            try deployment.metadata.targetsMetadata(SampleDeployment.role)?.version
        )
        files[metadata + "\(current).\(SampleDeployment.role).json"] = forged.bytes
        let new = try Device(deployment)
        new.transport.serve(files)
        // It is longer than the snapshot says, so no more of it is taken.
        #expect(try await refusal(new) != nil)
        #expect(try await number(new) == 0)
    }

    @Test func aDelegationWithTheServersKeysHarmsItsCollectionAlone() async throws {
        let deployment = try sample()
        let device = try await deviceWithReleaseOne(deployment)
        var thief = Thief(deployment)
        try thief.publishForeign()
        try thief.serve(try thief.forgedRole(signedBy: deployment.publisher))
        device.transport.serve(thief.stolen)
        // Both that have to agree are the thief's: this is the case that keys in two places are for.
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 7)
        // The role vouches for nothing outside its collection: another one's release under it is found by nobody.
        let other = Target(path: "apps/\(SampleDeployment.app)/collections/birds/1.json", bytes: [1])
        var draft = try deployment.metadata.targetsDraft(
            SampleDeployment.role,
            expires: SampleDeployment.start + UTCTime.days(90)
        ) { targets throws(UpdateError) in targets.set(other) }
        try draft.sign(with: deployment.publisher)
        let root = try TrustedMetadata(
            trustedRoot: deployment.metadata.root.bytes,
            start: SampleDeployment.start
        ).root
        #expect(root.keys(of: .targets).keyIDs == [try deployment.targets.publicKey.id])
        let top = try #require(try deployment.metadata.targetsMetadata("targets"))
        let role = try #require(top.delegations?.roles.first { $0.name == SampleDeployment.role })
        #expect(!role.paths.contain(other.path))
    }

    @Test func recoveryFromTheWorstBringsDevicesBackInOneCheck() async throws {
        var deployment = try sample()
        let device = try await deviceWithReleaseOne(deployment)
        var thief = Thief(deployment)
        try thief.publishForeign()
        try thief.serve(try thief.forgedRole(signedBy: deployment.publisher))
        device.transport.serve(thief.stolen)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 7)
        // Root and targets are elsewhere: new keys for everything that was stolen, a higher floor, and release 8.
        try deployment.replacePublisher()
        try deployment.publishRelease(
            8,
            ["Classifier": try SampleDeployment.sample("Classifier", seed: 8, count: 5000)]
        )
        try deployment.replaceOnlineKeys()
        try deployment.publishPolicy(version: 50) { policy in
            policy.fallback = Serving(.release(8))
            policy.minimumCounter = 8
        }
        device.transport.serve(deployment)
        #expect(try await refusal(device) == nil)
        #expect(try await number(device) == 8)
    }
}
