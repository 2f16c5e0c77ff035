import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import Testing
import UpdateFramework

private let flowers = SampleDeployment.collection
private let metadata = "/v1/trust/\(SampleDeployment.team)/metadata/"

/// Two releases; the first is deployed.
private func sample() throws -> SampleDeployment {
    var deployment = try SampleDeployment()
    for release in 1...2 {
        let classifier = try SampleDeployment.sample("Classifier", seed: UInt64(release), count: 700_000)
        let effects = try SampleDeployment.sample("Effects", seed: UInt64(release + 10), count: 700_000)
        try deployment.publishRelease(release, ["Classifier": classifier, "Effects": effects])
    }
    try deployment.deploy(1)
    return deployment
}

/// The code of what a check ends with, and of metadata the role and its code; `nil` when it succeeds.
private func refusal(_ device: Device) async throws -> String? {
    let client = try device.launch()
    do throws(DeploymentError) {
        _ = try await client.check(flowers)
        return nil
    } catch { return error.code == .metadata ? error.culprit : error.code.rawValue }
}

/// The error of a device that has release 1 when it meets other files than the server's.
private func refusal(of change: (SampleDeployment, inout [String: [UInt8]]) throws -> Void) async throws -> String? {
    var deployment = try sample()
    let device = try Device(deployment)
    #expect(try await refusal(device) == nil)
    try deployment.deploy(2)
    var files = deployment.files
    try change(deployment, &files)
    device.transport.serve(files)
    let result = try await refusal(device)
    let use = try await device.launch().open(flowers)
    #expect(use.installed.number == 1)
    #expect(use.models.count == 2)
    return result
}

/// The newest file of a role.
private func newest(_ role: String, _ files: [String: [UInt8]]) throws -> String {
    let all = files.keys.filter { $0.hasPrefix(metadata) && $0.hasSuffix(".\(role).json") }
    return try #require(
        all.max {
            (Int($0.dropFirst(metadata.count).prefix { $0.isNumber }) ?? 0)
                < (Int($1.dropFirst(metadata.count).prefix { $0.isNumber }) ?? 0)
        }
    )
}

@Suite struct AttackTests {
    // MARK: Rollback

    @Test func aTimestampThatWasGoodBeforeIsARollback() async throws {
        var deployment = try sample()
        let first = try #require(deployment.files[metadata + "timestamp.json"])
        try deployment.publishMetadata { _ in }
        let device = try Device(deployment)
        #expect(try await refusal(device) == nil)
        var files = deployment.files
        files[metadata + "timestamp.json"] = first
        device.transport.serve(files)
        #expect(try await refusal(device) == "timestamp: rollback")
    }

    @Test func aPolicyThatWasGoodBeforeIsARollback() async throws {
        let old = try sample()
        var deployment = old
        try deployment.deploy(2)
        let device = try Device(deployment)
        #expect(try await refusal(device) == nil)
        device.transport.serve(old)
        #expect(try await refusal(device) == "policyRollback")
        #expect(try await device.launch().open(flowers).installed.number == 2)
    }

    // MARK: Freeze

    @Test func aServerThatStandsStillIsNoticedWhenWhatItSignedExpires() async throws {
        let device = try Device(try sample())
        #expect(try await refusal(device) == nil)
        device.setClock(86_401)
        #expect(try await refusal(device) == "timestamp: expired")
        var deployment = try sample()
        try deployment.publishPolicy(lifetime: 600) { $0.fallback = Serving(.release(1)) }
        let other = try Device(deployment)
        other.setClock(601)
        #expect(try await refusal(other) == "policyExpired")
    }

    // MARK: Mix and match

    @Test func metadataOfSeveralTimesIsNoticed() async throws {
        let role = SampleDeployment.role
        #expect(
            try await refusal { deployment, files in
                // The publisher's role as it was before, under the name of what it is now.
                var changed = deployment
                try changed.publishMetadata { _ in }
                files = changed.files
                files[try newest(role, files)] = deployment.files[try newest(role, deployment.files)]
            } == "\(role): wrongHash"
        )
        #expect(
            try await refusal { deployment, files in
                var changed = deployment
                try changed.publishMetadata { _ in }
                files = changed.files
                files[try newest("snapshot", files)] = deployment.files[try newest("snapshot", deployment.files)]
            } == "snapshot: wrongHash"
        )
    }

    @Test func thePoliciesOfOthersAreNoticed() async throws {
        #expect(
            try await refusal { deployment, files in
                var other = deployment
                try other.publishPolicy { policy in
                    policy.collection = "birds"
                    policy.releases = []
                    policy.fallback = Serving(.keep)
                }
                files[SampleDeployment.policyPath] = other.files[SampleDeployment.policyPath]
            } == "policyMismatch"
        )
        #expect(
            try await refusal { deployment, files in
                var other = deployment
                try other.publishPolicy { policy in
                    policy.fallback = Serving(.release(2))
                    policy.releases[1].sha256 = policy.releases[0].sha256
                    policy.releases[1].length = policy.releases[0].length
                }
                files[SampleDeployment.policyPath] = other.files[SampleDeployment.policyPath]
            } == "releaseMismatch"
        )
        #expect(
            try await refusal { deployment, files in
                var other = deployment
                try other.publishPolicy(signedBy: SigningKey()) { $0.fallback = Serving(.release(2)) }
                files[SampleDeployment.policyPath] = other.files[SampleDeployment.policyPath]
            } == "policySignature"
        )
    }

    @Test func aReleaseThatThePublisherTookBackIsNoticed() async throws {
        #expect(
            try await refusal { deployment, files in
                var changed = deployment
                let target = try #require(deployment.references[2]?.target)
                try changed.publishMetadata { $0.removeTarget(target) }
                files = changed.files
            } == "releaseMissing"
        )
    }

    @Test func theDocumentOfAnotherReleaseIsNoticed() async throws {
        #expect(
            try await refusal { deployment, files in
                let documents = files.keys.filter { $0.contains("/targets/") }
                let (first, second) = (try #require(deployment.references[1]), try #require(deployment.references[2]))
                let old = try #require(documents.first { $0.contains(first.sha256) })
                let new = try #require(documents.first { $0.contains(second.sha256) })
                files[new] = files[old]
            } == "\(try #require(try sample().references[2]).target): wrongHash"
        )
    }

    @Test func modelsThatChangedPlacesAreNoticed() async throws {
        #expect(
            try await refusal { deployment, files in
                let archives = try archives(deployment, 2, files)
                (files[archives[0]], files[archives[1]]) = (files[archives[1]], files[archives[0]])
            } == "damaged"
        )
        #expect(
            try await refusal { deployment, files in
                files[try archives(deployment, 2, files)[0]] = files[try archives(deployment, 1, files)[0]]
            } == "damaged"
        )
    }

    @Test func piecesThatChangedPlacesAreNoticed() async throws {
        let piece = 256 << 10
        #expect(
            try await refusal { deployment, files in
                let path = try archives(deployment, 2, files)[0]
                var bytes = try #require(files[path])
                let start = bytes.count - 700_000
                for place in start..<start + piece { bytes.swapAt(place, place + piece) }
                files[path] = bytes
            } == "damaged"
        )
    }

    /// The paths of a release's archives, by the names of its models.
    private func archives(
        _ deployment: SampleDeployment,
        _ number: Int,
        _ files: [String: [UInt8]]
    ) throws -> [String] {
        let reference = try #require(deployment.references[number])
        let path = try #require(files.keys.first { $0.contains("/targets/") && $0.contains(reference.sha256) })
        let document = try ReleaseDocument(try #require(files[path]))
        return document.models.map { "/b/sha256/" + $0.archive.sha256 }
    }
}

@Suite struct WrongBitTests {
    /// `Reliability/hostile-network --figures` tries every bit of signed files and 100,000 of a model.
    @Test func noWrongBitFoolsADevice() async throws {
        let trial = try BitFlips(weights: 20_000)
        let paths = try await trial.readFiles()
        #expect(paths.count >= 8)
        for path in paths {
            let count = try #require(trial.files[path]?.count)
            for place in stride(from: 0, to: count, by: max(1, count / 40)) {
                let outcome = try await trial.outcome(path, at: place, bit: place % 8)
                #expect(outcome != .fooled, "bit \(place % 8) of byte \(place) of \(path)")
                if path.hasSuffix(".shop.flowers.json") { #expect(outcome == .refused(.metadata)) }
            }
        }
    }
}
