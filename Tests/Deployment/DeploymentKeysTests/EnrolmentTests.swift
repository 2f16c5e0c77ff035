import DeploymentKeys
import Foundation
import MLEncryption
import Testing

/// The enrolment policy.
@Suite struct EnrolmentTests {
    @Test func enrolmentTokens() async throws {
        let world = try World()
        world.store.setApp(World.app, team: World.team, EnrolmentPolicy(minimumAttestation: .token))
        let token = try EnrolmentToken()
        let end = world.clock.now.advanced(by: 1000)
        world.store.addToken(
            EnrolmentTokenRecord(token, app: World.app, notAfter: end, remainingUses: 2),
            team: World.team
        )
        let device = try world.device()
        #expect(await code { try await world.enrol(device) } == .attestationRequired)
        let copy = try EnrolmentToken(token.secretText)
        #expect(try await world.enrol(device, copy).attestation == .token)
        // The same device again does not use it up.
        try await world.enrol(device, copy)
        try await world.enrol(world.device("second"), copy)
        #expect(await code { try await world.enrol(world.device("third"), copy) } == .tokenUsedUp)
        #expect(await code { try await world.enrol(world.device("fourth"), EnrolmentToken()) } == .tokenInvalid)
        let other = try EnrolmentToken()
        world.store.addToken(
            EnrolmentTokenRecord(other, app: "weather", notAfter: end, remainingUses: nil),
            team: World.team
        )
        #expect(await code { try await world.enrol(world.device("fifth"), other) } == .tokenInvalid)
        // Evidence made for one device serves no other.
        let stolen = try world.device("sixth")
        let draft = stolen.enrolment(try await world.challenge(stolen))
        let evidence = try token.evidence(binding: device.enrolment(try await world.challenge(device)).binding)
        let request = try stolen.enrolmentRequest(draft, evidence)
        #expect(await world.service.enrol(request.body).event.failure?.code == .tokenInvalid)
        world.clock.pass(1001)
        #expect(await code { try await world.enrol(device, token) } == .tokenInvalid)
    }

    @Test func aMistypedTokenIsRecognised() throws {
        let token = try EnrolmentToken()
        let text = token.secretText
        #expect(text.hasPrefix("mlk_enroll_\(token.id)_"))
        #expect(try EnrolmentToken(text).publicKey == token.publicKey)
        #expect(!"\(token)".contains(text.suffix(40)))
        for index in text.indices {
            var wrong = text
            wrong.replaceSubrange(index...index, with: text[index] == "1" ? "2" : "1")
            #expect(throws: DeploymentKeyError.self) { try EnrolmentToken(wrong) }
        }
        for wrong in ["", "mlk_enroll__", String(text.dropLast()), text + "0", text.uppercased(), "mlk_ci_1_2"] {
            #expect(throws: DeploymentKeyError.self) { try EnrolmentToken(wrong) }
        }
    }

    /// A verifier of evidence that is the binding itself.
    struct Mirror: AttestationVerifier {
        let kind = "mirror"
        func verify(
            _ evidence: [UInt8],
            binding: [UInt8],
            team: String,
            app: String
        ) async throws(AttestationRefusal) -> AttestationLevel {
            guard team == World.team, app == World.app else { throw AttestationRefusal("another app") }
            if evidence.isEmpty { throw AttestationRefusal("the verifier sleeps", isTemporary: true) }
            guard evidence == binding else { throw AttestationRefusal("not for this device") }
            return .platform
        }
    }

    @Test func evidenceOfOtherKinds() async throws {
        let world = try World(verifiers: [Mirror()])
        world.store.setApp(World.app, team: World.team, EnrolmentPolicy(minimumAttestation: .platform))
        let device = try world.device()
        func enrol(_ evidence: (EnrolmentDraft) -> AttestationEvidence) async throws -> DeviceCertificate {
            let draft = device.enrolment(try await world.challenge(device))
            let request = try device.enrolmentRequest(draft, evidence(draft))
            return try device.accept(await world.service.enrol(request.body).body, for: request, trusting: world.keys)
        }
        #expect(try await enrol { .other(kind: "mirror", evidence: $0.binding) }.attestation == .platform)
        #expect(await code { try await enrol { _ in .other(kind: "mirror", evidence: [1]) } } == .attestationInvalid)
        #expect(await code { try await enrol { _ in .other(kind: "mirror", evidence: []) } } == .unavailable)
        let error = try await #require(throws: DeploymentKeyError.self) {
            try await enrol { .other(kind: "tpm2-quote", evidence: $0.binding) }
        }
        #expect(error.code == .attestationUnsupported)
        #expect(error.message.contains("\"tpm2-quote\""))
        #expect(error.message.contains("none, token, mirror"))
        // The member in a request of a kind must be of that kind.
        #expect(await code { try await enrol { _ in .other(kind: "none", evidence: [1]) } } != nil)
        #expect(await code { try await enrol { _ in .other(kind: "Not A Kind", evidence: [1]) } } != nil)
    }

    @Test func doorsThatAreClosed() async throws {
        let world = try World()
        #expect(await code { try await world.enrol(world.device("a", app: "weather")) } == .unknownApp)
        world.store.setApp(World.app, team: World.team, EnrolmentPolicy(minimumAttestation: .none, deviceLimit: 1))
        let first = try world.device("b")
        try await world.enrol(first)
        #expect(await code { try await world.enrol(world.device("c")) } == .deviceLimit)
        world.store.setApp(
            World.app,
            team: World.team,
            EnrolmentPolicy(admitsNewDevices: false, minimumAttestation: .none)
        )
        try await world.enrol(first)
        #expect(await code { try await world.enrol(world.device("d")) } == .deviceLimit)
        world.store.setApp(World.app, team: World.team, EnrolmentPolicy(minimumAttestation: .none, countries: ["DE"]))
        #expect(await code { try await world.enrol(first) } == .countryRefused)
        try await world.enrol(first, nil, KeyServiceContext(country: "DE"))
        let stranger = try DeviceIdentity.make(
            in: world.folder + "/stranger",
            team: "Nobody",
            app: World.app,
            strength: .file,
            clock: world.clock.device
        )
        let (body, _) = stranger.challengeRequest()
        let reply = await world.service.challenge(body)
        #expect(reply.status == 404)
        #expect(reply.event.failure?.code == .unknownTeam)
    }

    @Test func manyEnrolmentsOfOneAddress() async throws {
        let world = try World()
        let context = KeyServiceContext(address: "203.0.113.7")
        let device = try world.device()
        var outcomes: [Int] = []
        for _ in 0..<10_000 {
            let reply = await world.service.enrol([], context)
            outcomes.append(reply.status)
        }
        #expect(outcomes.count { $0 == 400 } == 10)
        #expect(outcomes.count { $0 == 429 } == 9_990)
        #expect(await code { try await world.enrol(device, nil, context) } == .rateLimited)
        try await world.enrol(device, nil, KeyServiceContext(address: "203.0.113.8"))
        world.clock.pass(3601)
        try await world.enrol(device, nil, context)
    }

    @Test func devicesBelongToTeamAndApp() async throws {
        let key = try World().device().identityKey
        let names = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc")].map {
            DeviceIdentifier(team: $0.0, app: $0.1, identity: key)
        }
        #expect(Set(names).count == 4)
    }
}
