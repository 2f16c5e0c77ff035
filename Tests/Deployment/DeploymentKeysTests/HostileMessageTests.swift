import DeploymentKeys
import Foundation
import MLEncryption
import Testing

/// Messages that were changed: none does anything, and none traps.
@Suite struct HostileMessageTests {
    /// A conversation that went well.
    private struct Conversation {
        let world: World
        let device: DeviceIdentity
        let challengeRequest: [UInt8]
        let nonce: RequestNonce
        let challenge: [UInt8]
        let enrolment: PendingCertificate
        let certificate: [UInt8]
        let renewal: PendingCertificate
        let release: PendingRelease
        let lease: [UInt8]
        let refusal: [UInt8]
        let revocations: [UInt8]
    }

    private func conversation(_ suite: RecipientSuite, _ signing: SigningAlgorithm) async throws -> Conversation {
        let world = try World(suite: suite)
        let device = try world.device(signing: signing, suite: suite)
        let (challengeRequest, nonce) = device.challengeRequest()
        let challenge = await world.service.challenge(challengeRequest).body
        let draft = device.enrolment(try device.acceptChallenge(challenge, for: nonce, trusting: world.keys))
        let enrolment = try device.enrolmentRequest(draft, EnrolmentToken().evidence(binding: draft.binding))
        let simple = try device.enrolmentRequest(draft)
        let certificate = await world.service.enrol(simple.body).body
        try device.accept(certificate, for: simple, trusting: world.keys)
        let renewal = try device.renewalRequest(try await world.challenge(device))
        let unused = try device.releaseRequest(world.model)
        let lease = await world.service.release(keyID: world.model.keyID.description, unused.body).body
        let missing = try World.wrap(.random(), world.ring)
        let refused = try device.releaseRequest(missing)
        let refusal = await world.service.release(keyID: missing.keyID.description, refused.body)
        #expect(refusal.status == 403)
        let revocations = try world.ring.text(
            of: RevocationState(
                team: World.team,
                version: 3,
                time: world.clock.now,
                devices: [.init(bytes: [UInt8](repeating: 7, count: 16))!],
                leases: [.random(), .random()]
            )
        )
        return Conversation(
            world: world,
            device: device,
            challengeRequest: challengeRequest,
            nonce: nonce,
            challenge: challenge,
            enrolment: enrolment,
            certificate: certificate,
            renewal: renewal,
            release: unused,
            lease: lease,
            refusal: refusal.body,
            revocations: revocations
        )
    }

    /// With this set, tests change every bit of every message, otherwise only of the shortest ones, and one bit of each byte
    /// of the others.
    private static let isThorough = ProcessInfo.processInfo.environment["COREML_EVERY_BIT"] != nil

    private func flips(
        _ bytes: [UInt8],
        all: Bool = true,
        _ body: ([UInt8], Int) async throws -> Void
    ) async throws {
        var bytes = bytes
        for bit in 0..<bytes.count * 8 where all || Self.isThorough || bit % 8 == bit / 8 % 8 {
            bytes[bit / 8] ^= 1 << (bit % 8)
            try await body(bytes, bit)
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
    }

    @Test(arguments: RecipientSuite.allCases, SigningAlgorithm.allCases)
    func everyBitOfAReleaseCounts(_ suite: RecipientSuite, _ signing: SigningAlgorithm) async throws {
        let own = try await conversation(suite, signing)
        let (world, id) = (own.world, own.world.model.keyID.description)
        let all = (suite, signing) == (.x25519, .ed25519)
        let fresh = try own.device.releaseRequest(world.model)
        try await flips(fresh.body, all: all) { body, bit in
            let reply = await world.service.release(keyID: id, body)
            #expect(reply.status != 200, "bit \(bit) of a request")
        }
        // The service has taken none of them for the device's.
        let answered = await world.service.release(keyID: id, fresh.body)
        #expect(answered.status == 200)
        try await flips(answered.body, all: all) { body, bit in
            #expect(throws: DeploymentKeyError.self, "bit \(bit) of an answer") {
                try own.device.accept(body, for: fresh, trusting: world.keys)
            }
        }
        #expect(try own.device.leases().isEmpty)
        #expect(world.isRight(try own.device.accept(answered.body, for: fresh, trusting: world.keys)))
    }

    @Test func everyBitOfTheOtherMessagesCounts() async throws {
        let own = try await conversation(.x25519, .ed25519)
        let (world, device) = (own.world, own.device)
        try await flips(own.enrolment.body, all: false) { body, bit in
            #expect(await world.service.enrol(body).status != 200, "bit \(bit) of an enrolment")
        }
        try await flips(own.renewal.body, all: false) { body, bit in
            #expect(await world.service.renew(body).status != 200, "bit \(bit) of a renewal")
        }
        try await flips(own.challenge) { body, bit in
            #expect(throws: DeploymentKeyError.self, "bit \(bit) of a challenge") {
                try device.acceptChallenge(body, for: own.nonce, trusting: world.keys)
            }
        }
        try await flips(own.certificate, all: false) { body, bit in
            #expect(throws: DeploymentKeyError.self, "bit \(bit) of a certificate") {
                try device.accept(body, for: own.enrolment, trusting: world.keys)
            }
        }
        try await flips(own.revocations, all: false) { body, bit in
            #expect(throws: DeploymentKeyError.self, "bit \(bit) of revocations") {
                try device.accept(revocations: body, trusting: world.keys)
            }
        }
        let refused = try device.releaseRequest(World.wrap(.random(), world.ring))
        let refusal = await world.service.release(keyID: world.model.keyID.description, refused.body).body
        try await flips(refusal) { body, bit in
            let error = #expect(throws: DeploymentKeyError.self) {
                try device.accept(body, for: refused, trusting: world.keys)
            }
            #expect([.unavailable, .responseMalformed].contains(error?.code), "bit \(bit) of a refusal: \(error!)")
        }
        #expect(await code { try device.accept(refusal, for: refused, trusting: world.keys) } == .notEntitled)
    }

    /// Bytes of `sample`, some of them changed, moved, cut out or made of another sample.
    private func mutated(
        _ sample: [UInt8],
        _ others: [[UInt8]],
        _ generator: inout SplitMix
    ) -> [UInt8] {
        var bytes = sample
        for _ in 0...generator.below(4) {
            let place = generator.below(bytes.count + 1)
            let end = min(bytes.count, place + generator.below(40))
            switch generator.below(9) {
            case 0 where place < bytes.count: bytes[place] = UInt8(generator.below(256))
            case 1: bytes.insert(UInt8(generator.below(256)), at: place)
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.removeSubrange(place...)
            case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 5:
                let other = others[generator.below(others.count)]
                let start = generator.below(other.count + 1)
                bytes.replaceSubrange(place..<end, with: other[start..<min(other.count, start + 60)])
            case 6:
                let words = [
                    "\"", "{", "[", "}", "]", ",", ":", "9007199254740992", "-1", "1e9", "null", "\\u0000", "never",
                ]
                bytes.insert(contentsOf: words[generator.below(words.count)].utf8, at: place)
            case 7 where place < bytes.count && (0x30...0x39).contains(bytes[place]):
                bytes[place] = 0x30 + UInt8(generator.below(10))
            default: bytes.swapAt(generator.below(max(bytes.count, 1)) % max(bytes.count, 1), 0)
            }
            if bytes.isEmpty { break }
        }
        return bytes
    }

    @Test func mutatedMessagesNeverTrap() async throws {
        let own = try await conversation(.x25519, .ed25519)
        let (world, device, keys) = (own.world, own.device, own.world.keys)
        let samples = [
            own.challengeRequest, own.challenge, own.enrolment.body, own.certificate, own.renewal.body,
            own.release.body,
            own.lease, own.refusal, own.revocations,
        ]
        let id = world.model.keyID.description
        var generator = SplitMix(state: 16)
        var refused = 0
        for round in 0..<9_000 {
            let sample = samples[round % samples.count]
            let bytes = mutated(sample, samples, &generator)
            guard !samples.contains(bytes) else { continue }
            refused += 1
            switch round % samples.count {
            case 0:
                let reply = await world.service.challenge(bytes)
                // A request for a challenge is not signed: another nonce is another right request.
                #expect(reply.status == 200 || reply.event.failure != nil)
            case 2: #expect(await world.service.enrol(bytes).status != 200)
            case 4: #expect(await world.service.renew(bytes).status != 200)
            case 5: #expect(await world.service.release(keyID: id, bytes).status != 200)
            default:
                let outcomes = [
                    await code { try device.acceptChallenge(bytes, for: own.nonce, trusting: keys) },
                    await code { try device.accept(bytes, for: own.enrolment, trusting: keys) },
                    await code { try device.accept(bytes, for: own.release, trusting: keys) },
                    await code { try device.accept(revocations: bytes, trusting: keys) },
                ]
                #expect(!outcomes.contains(nil))
            }
        }
        #expect(refused > 8_500)
        #expect(world.isRight(try device.accept(own.lease, for: own.release, trusting: keys)))
    }

    @Test func messagesHaveLimits() async throws {
        let world = try World()
        for count in [65_537, 1 << 20] {
            let reply = await world.service.enrol([UInt8](repeating: 0x20, count: count))
            #expect(reply.event.failure?.code == .tooLarge)
            #expect(reply.status == 413)
        }
        #expect(await world.service.release(keyID: "", [UInt8](repeating: 0x5B, count: 16_385)).status == 413)
        #expect(await world.service.release(keyID: "", [UInt8](repeating: 0x5B, count: 16_384)).status == 400)
        #expect(await world.service.challenge([UInt8](repeating: 0x5B, count: 1025)).status == 413)
        let newer = Array(#"{"format":2,"nonce":"","team":"Acme","type":"mlk-challenge-request"}"#.utf8)
        #expect(await world.service.challenge(newer).event.failure?.code == .unsupported)
    }

    @Test func answersOfOneRequestServeNoOther() async throws {
        let own = try await conversation(.x25519, .ed25519)
        let (world, device) = (own.world, own.device)
        // The lease of another device, of another key, and of another request: each has its own code.
        let other = try world.device("other")
        try await world.enrol(other)
        let request = try other.releaseRequest(world.model)
        #expect(await code { try other.accept(own.lease, for: request, trusting: world.keys) } == .leaseForOtherDevice)
        let second = try World.wrap(.random(), world.ring)
        world.store.setEntitlement(KeyEntitlement(), app: World.app, team: World.team, second)
        let foreign = try device.releaseRequest(second)
        #expect(await code { try device.accept(own.lease, for: foreign, trusting: world.keys) } == .leaseForOtherKey)
        let again = try device.releaseRequest(world.model)
        #expect(
            await code { try device.accept(own.lease, for: again, trusting: world.keys) } == .responseForOtherRequest
        )
        #expect(await code { try device.accept(own.lease, for: own.release, trusting: []) } == .responseUntrusted)
        #expect(
            await code { try device.accept(own.certificate, for: own.release, trusting: world.keys) }
                == .responseMalformed
        )
        #expect(
            await code { try device.accept(own.certificate, for: own.renewal, trusting: world.keys) }
                == .responseForOtherRequest
        )
    }

    @Test func codesAreStable() {
        #expect(
            DeploymentKeyError.Code.allCases.map(\.rawValue) == [
                "unavailable", "rate-limited", "clock-skew", "challenge-refused", "replayed", "certificate-expired",
                "malformed", "unsupported", "too-large", "unknown-team", "unknown-app", "signature-invalid",
                "certificate-invalid", "revoked", "cloned", "not-entitled", "unknown-key", "key-revoked",
                "content-key-invalid", "attestation-required", "attestation-unsupported", "attestation-invalid",
                "token-invalid", "token-used-up", "device-limit", "country-refused", "refused", "storage",
                "storage-damaged", "not-enrolled", "response-malformed", "response-untrusted",
                "response-for-other-request", "lease-for-other-device", "lease-for-other-key", "lease-expired",
                "lease-revoked", "no-lease", "revocations-outdated",
            ]
        )
        let error = DeploymentKeyError(.refused, at: "x\u{1B}[31m", "red\ntext")
        #expect(error.description == "refused: x�[31m: red�text")
    }
}

/// Numbers that are the same in every run.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    mutating func below(_ count: Int) -> Int { count <= 0 ? 0 : Int(next() % UInt64(count)) }
}
