import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import Testing
import UpdateFramework

private let flowers = SampleDeployment.collection

private func sample(count: Int = 600_000) throws -> SampleDeployment {
    var deployment = try SampleDeployment()
    try deployment.publishRelease(1, ["Classifier": try SampleDeployment.sample("Classifier", seed: 1, count: count)])
    try deployment.deploy(1)
    return deployment
}

/// The result of a check.
private func failure(of device: Device) async throws -> DeploymentError? {
    let client = try device.launch()
    do throws(DeploymentError) {
        _ = try await client.check(flowers)
        return nil
    } catch { return error }
}

@Suite struct HostilePolicyTests {
    @Test func aPolicyOfAnotherSignerIsRefused() async throws {
        var deployment = try sample()
        try deployment.publishPolicy(signedBy: SigningKey()) { $0.fallback = Serving(.release(1)) }
        #expect(try await failure(of: Device(deployment))?.code == .policySignature)
    }

    @Test func anOlderPolicyIsRefused() async throws {
        var deployment = try sample()
        let old = deployment
        try deployment.deploy(1)
        let device = try Device(deployment)
        #expect(try await failure(of: device) == nil)
        device.transport.serve(old)
        let error = try await failure(of: device)
        #expect(error?.code == .policyRollback)
        #expect(try device.state().next?.number == 1)
    }

    @Test func anExpiredPolicyIsRefused() async throws {
        let device = try Device(try sample())
        device.setClock(86_000)
        #expect(try await failure(of: device) == nil)
        var deployment = try sample()
        try deployment.publishPolicy(lifetime: 3600) { $0.fallback = Serving(.release(1)) }
        let other = try Device(deployment)
        other.setClock(3601)
        #expect(try await failure(of: other)?.code == .policyExpired)
    }

    @Test func aClockThatIsSetBackDoesNotMakeOldPoliciesGood() async throws {
        var deployment = try sample()
        let device = try Device(deployment)
        #expect(try await failure(of: device) == nil)
        // Half a day later the server signs anew; then the device's clock jumps back ten years.
        let later = SampleDeployment.start + 43_200
        try deployment.publishPolicy(issued: later) { $0.fallback = Serving(.release(1)) }
        device.transport.serve(deployment)
        device.setClock(43_260)
        #expect(try await failure(of: device) == nil)
        try deployment.publishPolicy(issued: SampleDeployment.start, lifetime: 40_000) {
            $0.fallback = Serving(.release(1))
        }
        device.transport.serve(deployment)
        device.setClock(-315_360_000)
        #expect(try await failure(of: device)?.code == .policyExpired)
    }

    @Test func thePolicyOfAnotherEnvironmentIsRefused() async throws {
        var deployment = try sample()
        try deployment.publishPolicy { policy in
            policy.environment = "staging"
            policy.fallback = Serving(.release(1))
        }
        #expect(try await failure(of: Device(deployment))?.code == .policyMismatch)
    }

    @Test func aReleaseThatThePublisherDoesNotKnowIsRefused() async throws {
        var deployment = try sample()
        try deployment.publishRelease(
            2,
            ["Classifier": try SampleDeployment.sample("Classifier", seed: 9)],
            vouches: false
        )
        try deployment.deploy(2)
        #expect(try await failure(of: Device(deployment))?.code == .releaseMissing)
    }

    @Test func aReleaseThatPolicyAndPublisherNameDifferentlyIsRefused() async throws {
        var deployment = try sample()
        try deployment.publishPolicy { policy in
            policy.fallback = Serving(.release(1))
            policy.releases[0].sha256 = String(repeating: "0", count: 64)
        }
        #expect(try await failure(of: Device(deployment))?.code == .releaseMismatch)
        try deployment.publishPolicy { policy in
            policy.fallback = Serving(.release(1))
            policy.releases[0].counter = 7
        }
        #expect(try await failure(of: Device(deployment))?.code == .releaseMismatch)
    }

    @Test func expiredMetadataIsRefusedAndNamed() async throws {
        var deployment = try sample()
        try deployment.publishMetadata(timestampExpires: SampleDeployment.start + 30) { _ in }
        let error = try await failure(of: Device(deployment))
        #expect(error?.code == .metadata)
        #expect(error?.culprit == "timestamp: expired")
    }
}

@Suite struct HostileTransferTests {
    @Test(arguments: [0, 20, 300, 100_000, 500_000])
    func changedBytesAreNoticed(_ place: Int) async throws {
        let device = try Device(try sample())
        device.transport.setFault { path, request, answer in
            guard path.hasPrefix("/b/"), let range = request.headers["Range"] else { return answer }
            let start = Int(range.dropFirst(6).prefix { $0.isNumber }) ?? 0
            guard (start..<start + answer.body.count).contains(place) else { return answer }
            var answer = answer
            answer.body[place - start] ^= 1
            return answer
        }
        #expect(try await failure(of: device)?.code == .damaged)
        #expect(try device.state().next == nil)
        // Valid files stay; with a working server the others arrive.
        device.transport.setFault(nil)
        #expect(try await failure(of: device) == nil)
        #expect(try device.state().next?.number == 1)
    }

    @Test func otherBytesThanThoseAskedForAreNoticed() async throws {
        let changes: [@Sendable (TransportAnswer) -> TransportAnswer] = [
            { answer in
                var answer = answer
                answer.body.removeLast()
                return answer
            },
            { answer in
                var answer = answer
                answer.headers["content-range"] = "bytes 7-9/100"
                return answer
            },
            { answer in TransportAnswer(status: 200, body: Array("<html>sign in</html>".utf8)) },
            { answer in TransportAnswer(status: 502, body: Array("<html>bad gateway</html>".utf8)) },
            { answer in
                var answer = answer
                answer.body += [UInt8](repeating: 0, count: 1 << 20)
                return answer
            },
        ]
        for change in changes {
            let device = try Device(try sample())
            device.transport.setFault { path, _, answer in path.hasPrefix("/b/") ? change(answer) : answer }
            #expect(try await failure(of: device) != nil)
            #expect(try device.state().next == nil)
        }
    }

    @Test func anInterruptedDownloadGoesOnWhereItEnded() async throws {
        let deployment = try sample(count: 12_000_000)
        let device = try Device(deployment)
        let total = deployment.files.filter { $0.key.hasPrefix("/b/") }.reduce(0) { $0 + $1.value.count }
        var bytes = 0
        // The second request for pieces fails, five times.
        for _ in 0..<5 {
            let count = Counter()
            device.transport.setFault { path, _, answer in
                if path.hasPrefix("/b/"), count.next() >= 4 { throw DeploymentError(.offline, path, "reset") }
                return answer
            }
            _ = try await failure(of: device)
            bytes += device.transport.takeLog().bytes
        }
        device.transport.setFault(nil)
        #expect(try await failure(of: device) == nil)
        bytes += device.transport.takeLog().bytes
        #expect(Double(bytes) < Double(total) * 1.02)
    }

    /// Lets every transfer of an archive end after some bytes, as when the process is killed: what arrived before
    /// stays.
    /// - Returns: counts the bytes that arrive.
    private func cutTransfers(of device: Device, after count: Int) -> Counter {
        let arrived = Counter()
        device.transport.setFault { path, request, answer in
            guard path.hasPrefix("/b/"), let receive = request.receive, answer.body.count > count else {
                if path.hasPrefix("/b/") { arrived.add(answer.body.count) }
                return answer
            }
            arrived.add(count)
            try receive(TransportRequest.Part(headers: answer.headers, bytes: Array(answer.body.prefix(count))))
            throw DeploymentError(.cancelled, path, "killed")
        }
        return arrived
    }

    @Test func whatArrivedOfAPieceCountsAfterAKill() async throws {
        let deployment = try sample(count: 12_000_000)
        let device = try Device(deployment)
        let total = deployment.files.filter { $0.key.hasPrefix("/b/") }.reduce(0) { $0 + $1.value.count }
        var bytes = 0
        for _ in 0..<10 {
            let arrived = cutTransfers(of: device, after: 1_000_003)
            #expect(try await failure(of: device)?.code == .cancelled)
            bytes += arrived.value
        }
        let arrived = cutTransfers(of: device, after: .max)
        #expect(try await failure(of: device) == nil)
        bytes += arrived.value
        #expect(bytes >= total - 4096)
        #expect(Double(bytes) < Double(total) * 1.02)
    }

    @Test func theBeginningOfAPieceThatIsWrongIsFetchedAnew() async throws {
        let deployment = try sample(count: 3_000_000)
        let device = try Device(deployment)
        _ = cutTransfers(of: device, after: 1_000_003)
        #expect(try await failure(of: device)?.code == .cancelled)
        let archive = try #require(deployment.files.first { $0.key.hasPrefix("/b/") })
        let file = try #require(
            FileHandle(forUpdatingAtPath: "\(device.folder)/store/partial/\(archive.key.dropFirst("/b/sha256/".count))")
        )
        let place = try #require(try file.readToEnd()?.lastIndex { $0 != 0 }) - 2
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: [archive.value[place] ^ 1])
        try file.close()
        device.transport.setFault(nil)
        #expect(try await failure(of: device) == nil)
        #expect(try device.state().next?.number == 1)
    }

    @Test func theHeaderOfAnotherArchiveIsNotRemembered() async throws {
        let deployment = try sample()
        let device = try Device(deployment)
        let other = try SampleDeployment.sample("Classifier", seed: 2, count: 600_000)
        device.transport.setFault { path, request, answer in
            guard path.hasPrefix("/b/"), let range = request.headers["Range"] else { return answer }
            let start = Int(range.dropFirst(6).prefix { $0.isNumber }) ?? 0
            guard start < 4096 else { return answer }
            var answer = answer
            answer.body = Array(other[start..<start + answer.body.count])
            return answer
        }
        #expect(try await failure(of: device)?.code == .damaged)
        device.transport.setFault(nil)
        #expect(try await failure(of: device) == nil)
        #expect(try device.state().next?.number == 1)
    }

    @Test func aLayerInTheMiddleOfTheWeightsCostsAboutItsOwnSize() async throws {
        var deployment = try SampleDeployment()
        let scratch = FileManager.default.temporaryDirectory.path
        let (body, layer) = (SampleDeployment.noise(50_000_000, seed: 1), SampleDeployment.noise(300_000, seed: 2))
        let archives = try [body, body[..<20_000_004] + layer + body[20_000_004...]].map {
            try SampleDeployment.archive(named: "Classifier", weights: Array($0), in: scratch)
        }
        try deployment.publishRelease(1, ["Classifier": archives[0]])
        try deployment.publishRelease(2, ["Classifier": archives[1]])
        try deployment.deploy(1)
        let device = try Device(deployment)
        #expect(try await failure(of: device) == nil)
        _ = device.transport.takeLog()
        try deployment.deploy(2)
        device.transport.serve(deployment)
        #expect(try await failure(of: device) == nil)
        #expect(try device.state().next?.number == 2)
        let bytes = device.transport.takeLog().bytes
        print("a new layer of \(layer.count) bytes costs \(bytes): \(Double(bytes) / Double(archives[1].count))")
        #expect(Double(bytes) < 0.02 * Double(archives[1].count))
    }

    @Test func aModelThatSharesMostOfAnotherCostsLittle() async throws {
        var deployment = try SampleDeployment()
        let scratch = FileManager.default.temporaryDirectory.path
        let body = SampleDeployment.noise(20_000_000, seed: 1)
        let archives = try (2...3).map { head in
            let weights = body + SampleDeployment.noise(300_000, seed: UInt64(head))
            return try SampleDeployment.archive(named: "Classifier", weights: weights, in: scratch)
        }
        try deployment.publishRelease(1, ["Classifier": archives[0]])
        try deployment.publishRelease(2, ["Classifier": archives[1]])
        try deployment.deploy(1)
        let device = try Device(deployment)
        #expect(try await failure(of: device) == nil)
        _ = device.transport.takeLog()
        try deployment.deploy(2)
        device.transport.serve(deployment)
        #expect(try await failure(of: device) == nil)
        let bytes = device.transport.takeLog().bytes
        #expect(Double(bytes) < 0.05 * Double(archives[1].count))
    }
}

final class Counter: @unchecked Sendable {
    // Requests of one check come one after the other.
    private(set) var value = 0
    func next() -> Int {
        value += 1
        return value
    }
    func add(_ count: Int) { value += count }
}
