import DeploymentKeys
import Foundation
import MLEncryption
import MLFiles
import Testing

/// The refusals of a service, their reasons, and the device's reactions.
@Suite struct ReleaseTests {
    @Test func aDeviceOfAnotherAppGetsNothing() async throws {
        let world = try World()
        world.store.setApp("weather", team: World.team, EnrolmentPolicy(minimumAttestation: .none))
        let other = try world.device("other", app: "weather")
        try await world.enrol(other)
        #expect(await code { try await world.release(other) } == .notEntitled)
        // Nor does the app itself get what is not its own, although it is wrapped for the same key.
        let device = try world.device()
        try await world.enrol(device)
        let foreign = try World.wrap(.random(), world.ring)
        #expect(await code { try await world.release(device, foreign) } == .notEntitled)
        let renamed = try WrappedContentKey(
            keyID: world.model.keyID,
            content: world.model.content,
            wrapped: foreign.wrapped
        )
        let error = await code { try await world.release(device, renamed) }
        #expect(error == .contentKeyInvalid, "a wrapped key under the name of another does not open")
        let archived = try WrappedContentKey(
            keyID: world.model.keyID,
            content: world.model.content,
            wrapped: world.model.wrapped,
            archive: [UInt8](repeating: 1, count: 32)
        )
        #expect(await code { try await world.release(device, archived) } == .notEntitled)
        #expect(world.store.leases.isEmpty)
    }

    @Test func theAddressNamesTheKeyOfTheRequest() async throws {
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        let request = try device.releaseRequest(world.model)
        let reply = await world.service.release(keyID: KeyIdentifier.random().description, request.body)
        #expect(reply.status == 400)
        #expect(reply.event.failure?.code == .malformed)
        #expect(reply.event.device == device.device)
        #expect(reply.event.team == World.team)
    }

    @Test func aReplayedRequestIsRefused() async throws {
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        let request = try device.releaseRequest(world.model)
        let id = world.model.keyID.description
        let first = await world.service.release(keyID: id, request.body)
        #expect(first.status == 200)
        let second = await world.service.release(keyID: id, request.body)
        #expect(second.event.failure?.code == .replayed)
        #expect(second.status == 409)
        // Much later it is too old, and the device is not taken for a clone.
        for _ in 0..<3 {
            world.clock.pass(400)
            let reply = await world.service.release(keyID: id, request.body)
            #expect([.replayed, .clockSkew].contains(reply.event.failure?.code))
        }
        #expect(world.store.device(device.device, team: World.team)?.status == .active)
        _ = try await world.release(device)
        // The device takes no answer to a request that it made before.
        let next = try device.releaseRequest(world.model)
        #expect(
            await code { try device.accept(first.body, for: next, trusting: world.keys) } == .responseForOtherRequest
        )
        #expect(world.store.leases.count == 2)
    }

    @Test(arguments: [-10 * 365 * 86_400, -301, 301, 10 * 365 * 86_400])
    func aWrongClockNeedsAChallenge(_ offset: Int) async throws {
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        let right = world.clock.now
        // The machine starts anew with a clock that is wrong; the service's is right.
        world.clock.restart()
        let now = right.advanced(by: 3600)
        let service = KeyService(store: world.store, clock: { now })
        world.clock.set(now.advanced(by: offset))
        func release(_ challenge: Challenge?) async throws -> HeldLease {
            let request = try device.releaseRequest(world.model, challenge)
            let reply = await service.release(keyID: world.model.keyID.description, request.body)
            return try device.accept(reply.body, for: request, trusting: world.keys)
        }
        let error = try await #require(throws: DeploymentKeyError.self) { try await release(nil) }
        #expect(error.code == .clockSkew)
        #expect(error.retry == .now)
        let challenge = try #require(error.challenge, "the refusal brings a challenge")
        let lease = try await release(challenge)
        #expect(world.isRight(lease))
        // From the answer on the device knows the time, wherever its clock is.
        #expect(try device.trustedTime() == now)
        #expect(lease.remaining == 37 * 86_400)
        #expect(world.isRight(try await release(nil)))
    }

    @Test func challengesAreTheServicesOwnAndYoung() async throws {
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        let challenge = try await world.challenge(device)
        world.clock.pass(301)
        #expect(await code { try await world.release(device, nil, challenge) } == .challengeRefused)
        let other = try World()
        let stranger = try other.device()
        let (body, nonce) = stranger.challengeRequest()
        let foreign = try stranger.acceptChallenge(
            await other.service.challenge(body).body,
            for: nonce,
            trusting: other.keys
        )
        #expect(await code { try await world.release(device, nil, foreign) } == .challengeRefused)
        #expect(
            await code {
                try device.acceptChallenge(
                    await world.service.challenge(body).body,
                    for: .random(),
                    trusting: world.keys
                )
            } == .responseForOtherRequest
        )
        #expect(
            await code {
                try stranger.acceptChallenge(
                    await world.service.challenge(body).body,
                    for: nonce,
                    trusting: other.keys
                )
            } == .responseUntrusted
        )
    }

    @Test func aClonedDeviceIsFoundWithinTwoRequests() async throws {
        for ahead in [0, 3] {
            let world = try World()
            let device = try world.device()
            try await world.enrol(device)
            _ = try await world.release(device)
            let copy = world.folder + "/copy"
            try FileAccess.linkOrCopyTree(device.folder, to: copy)
            let clone = try #require(try DeviceIdentity.open(in: copy, clock: world.clock.device))
            // Requests that are made and not sent are no sign of a clone.
            for _ in 0..<ahead { _ = try clone.releaseRequest(world.model) }
            _ = try await world.release(clone)
            var codes: [DeploymentKeyError.Code?] = []
            for _ in 0..<ahead + 1 { codes.append(await code { try await world.release(device) }) }
            #expect(codes.first == .cloned, "the first request of the other one shows it")
            #expect(await code { try await world.release(clone) } == .cloned)
            #expect(world.store.device(device.device, team: World.team)?.status == .cloned)
            // Neither renews nor enrols with this identity; a new one does.
            #expect(await code { try await world.enrol(device) } == .cloned)
            #expect(await code { try await renew(device, world) } == .cloned)
            let fresh = try world.device("fresh")
            try await world.enrol(fresh)
            _ = try await world.release(fresh)
        }
    }

    private func renew(_ device: DeviceIdentity, _ world: World) async throws -> DeviceCertificate {
        let request = try device.renewalRequest(try await world.challenge(device))
        return try device.accept(await world.service.renew(request.body).body, for: request, trusting: world.keys)
    }

    @Test func certificatesEndAndAreRenewed() async throws {
        let world = try World()
        let device = try world.device()
        let first = try await world.enrol(device)
        #expect(try device.needsRenewal() == false)
        world.clock.pass(61 * 86_400)
        #expect(try device.needsRenewal())
        world.clock.pass(30 * 86_400)
        let error = try await #require(throws: DeploymentKeyError.self) { try await world.release(device) }
        #expect(error.code == .certificateExpired)
        #expect(error.retry == .renew)
        let second = try await renew(device, world)
        #expect(second.device == first.device)
        #expect(second.serial != first.serial)
        _ = try await world.release(device)
        world.clock.pass(181 * 86_400)
        let late = try await #require(throws: DeploymentKeyError.self) { try await renew(device, world) }
        #expect(late.code == .certificateExpired)
        #expect(late.retry == .never)
    }

    @Test func revokedDevicesGetNothing() async throws {
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        _ = try await world.release(device)
        world.store.setStatus(.revoked, team: World.team, device.device)
        let error = try await #require(throws: DeploymentKeyError.self) { try await world.release(device) }
        #expect(error.code == .revoked)
        #expect(error.isRetryable == false)
        #expect(await code { try await renew(device, world) } == .revoked)
        #expect(await code { try await world.enrol(device) } == .revoked)
        // Its leases open models until the device learns of the revocation, or the lease ends.
        #expect(world.isRight(try device.lease(world.model.content, world.model.keyID)))
        let state = RevocationState(team: World.team, version: 2, time: world.clock.now, devices: [device.device])
        world.store.setRevocations(state)
        let body = await world.service.revocations(team: World.team).body
        #expect(try device.accept(revocations: body, trusting: world.keys).count == 1)
        #expect(try device.lease(world.model.content, world.model.keyID) == nil)
        let older = try world.ring.text(of: RevocationState(team: World.team, version: 1, time: world.clock.now))
        #expect(await code { try device.accept(revocations: older, trusting: world.keys) } == .revocationsOutdated)
    }

    @Test func aLeaseThatWasTakenBackDoesNotComeBackFromACopy() async throws {
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        let lease = try await world.release(device)
        let path = device.folder + "/leases/\(world.model.content).lease"
        let copy = try FileAccess.read(path)
        let state = RevocationState(team: World.team, version: 1, time: world.clock.now, leases: [lease.terms.serial])
        try device.accept(revocations: world.ring.text(of: state), trusting: world.keys)
        try FileAccess.write(copy, to: path)
        #expect(await code { try device.lease(world.model.content, world.model.keyID) } == .leaseRevoked)
    }

    @Test func limitsOfDevicesAndRates() async throws {
        let world = try World()
        world.store.setEntitlement(KeyEntitlement(deviceLimit: 2), app: World.app, team: World.team, world.model)
        var devices: [DeviceIdentity] = []
        for index in 0..<3 {
            devices.append(try world.device("\(index)"))
            try await world.enrol(devices[index])
        }
        _ = try await world.release(devices[0])
        _ = try await world.release(devices[1])
        #expect(await code { try await world.release(devices[2]) } == .deviceLimit)
        for _ in 0..<4 { _ = try await world.release(devices[0]) }
        let error = try await #require(throws: DeploymentKeyError.self) { try await world.release(devices[0]) }
        #expect(error.code == .rateLimited)
        #expect(error.retryAfter == 60)
        world.clock.pass(60)
        var count = 5
        while await code({ try await world.release(devices[0]) }) == nil {
            count += 1
            world.clock.pass(13)
        }
        #expect(count == 30, "30 an hour")
        // Asking on does not make the wait longer.
        for _ in 0..<300 { _ = await code { try await world.release(devices[0]) } }
        world.clock.pass(3600)
        _ = try await world.release(devices[0])
    }

    @Test func countriesAndAttestation() async throws {
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        world.store.setEntitlement(
            KeyEntitlement(countries: ["DE", "FR"]),
            app: World.app,
            team: World.team,
            world.model
        )
        #expect(await code { try await world.release(device) } == .countryRefused)
        let elsewhere = KeyServiceContext(country: "US")
        #expect(await code { try await world.release(device, nil, nil, elsewhere) } == .countryRefused)
        _ = try await world.release(device, nil, nil, KeyServiceContext(country: "FR"))
        world.store.setEntitlement(
            KeyEntitlement(minimumAttestation: .token),
            app: World.app,
            team: World.team,
            world.model
        )
        #expect(await code { try await world.release(device) } == .attestationRequired)
    }

    @Test func forgedCertificatesAndSignaturesAreRefused() async throws {
        let world = try World()
        let other = try World()
        let device = try world.device()
        // A certificate by another service's key, for the same names.
        let (body, nonce) = device.challengeRequest()
        let foreign = try device.acceptChallenge(
            await other.service.challenge(body).body,
            for: nonce,
            trusting: other.keys
        )
        let request = try device.enrolmentRequest(device.enrolment(foreign))
        let answer = await other.service.enrol(request.body).body
        #expect(await code { try device.accept(answer, for: request, trusting: world.keys) } == .responseUntrusted)
        try device.accept(answer, for: request, trusting: other.keys)
        #expect(await code { try await world.release(device) } == .certificateInvalid)
        // A device that the service has forgotten.
        try await world.enrol(device)
        let empty = MemoryKeyServiceStore()
        let forgetful = KeyService(store: empty, clock: world.clock.service)
        empty.setKeyRing(world.ring)
        let release = try device.releaseRequest(world.model)
        let reply = await forgetful.release(keyID: world.model.keyID.description, release.body)
        #expect(reply.event.failure?.code == .certificateInvalid)
        // One key-service key is revoked: what it vouched for is void.
        var ring = world.ring
        let old = try #require(ring.serviceKeys.first)
        try ring.rotateSigner()
        world.store.setKeyRing(ring)
        let next = try device.releaseRequest(world.model)
        let answered = await world.service.release(keyID: world.model.keyID.description, next.body)
        #expect(answered.status == 200, "a retired key's certificates count")
        #expect(await code { try device.accept(answered.body, for: next, trusting: [old]) } == .responseUntrusted)
        try device.accept(answered.body, for: next, trusting: ring.serviceKeys)
        try ring.revokeSigner(old.keyID)
        world.store.setKeyRing(ring)
        let last = try device.releaseRequest(world.model)
        let refused = await world.service.release(keyID: world.model.keyID.description, last.body)
        #expect(refused.event.failure?.code == .certificateInvalid)
    }

    @Test func oldEpochsOpenUntilTheyAreRevoked() async throws {
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        var ring = world.ring
        let newer = try ring.rotate(suite: .xWing)
        world.store.setKeyRing(ring)
        #expect(world.isRight(try await world.release(device)))
        let rewrapped = try ring.rewrap(world.model)
        #expect(rewrapped.keyID == newer.keyID)
        #expect(rewrapped.content == world.model.content)
        world.store.setEntitlement(KeyEntitlement(), app: World.app, team: World.team, rewrapped)
        #expect(world.isRight(try await world.release(device, rewrapped)))
        try ring.revoke(world.model.keyID, destroying: true)
        world.store.setKeyRing(ring)
        #expect(await code { try await world.release(device) } == .keyRevoked)
        #expect(await code { try ring.rewrap(world.model) } == .keyRevoked)
        #expect(world.isRight(try await world.release(device, rewrapped)))
        // A lease for the old name of the key is not one for the new.
        #expect(await code { try device.lease(world.model.content, world.model.keyID) } == .leaseForOtherKey)
    }

    @Test func whatOnlySomebodyInBetweenSaysIsNotFinal() async throws {
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        let request = try device.releaseRequest(world.model)
        let lie = KeyService.failure(
            DeploymentKeyError(.revoked, at: "device", "You are out."),
            body: request.body,
            time: world.clock.now
        )
        let error = try #require(throws: DeploymentKeyError.self) {
            try device.accept(lie, for: request, trusting: world.keys)
        }
        #expect(error.code == .unavailable)
        #expect(error.isRetryable)
        #expect(error.message.contains("revoked"))
        // A true refusal of another request is none of this one.
        world.store.setStatus(.revoked, team: World.team, device.device)
        let other = try device.releaseRequest(world.model)
        let refusal = await world.service.release(keyID: world.model.keyID.description, other.body)
        #expect(await code { try device.accept(refusal.body, for: request, trusting: world.keys) } == .unavailable)
        #expect(await code { try device.accept(refusal.body, for: other, trusting: world.keys) } == .revoked)
        #expect(
            await code { try device.accept(Array("<html>".utf8), for: other, trusting: world.keys) }
                == .responseMalformed
        )
    }

    @Test func aStoreThatFailsIsUnavailable() async throws {
        struct Broken: KeyServiceStore {
            struct Failure: Error {}
            let world: World
            func keyRing(team: String) async throws -> TeamKeyRing? { try await world.store.keyRing(team: team) }
            func enrolmentPolicy(team: String, app: String) async throws -> EnrolmentPolicy? { throw Failure() }
            func enrolmentToken(team: String, id: String) async throws -> EnrolmentTokenRecord? { throw Failure() }
            func enrol(_ device: DeviceRecord, limit: Int?, token: String?) async throws -> EnrolmentOutcome {
                throw Failure()
            }
            func device(_ device: DeviceIdentifier, team: String) async throws -> DeviceRecord? { throw Failure() }
            func updateDevice<R: Sendable>(
                team: String,
                _ device: DeviceIdentifier,
                _ body: @Sendable (inout DeviceRecord?) throws -> R
            ) async throws -> R { throw Failure() }
            func entitlement(_ query: EntitlementQuery) async throws -> KeyEntitlement? { throw Failure() }
            func addHolder(
                _ device: DeviceIdentifier,
                team: String,
                keyID: KeyIdentifier,
                content: ContentIdentifier,
                limit: Int?
            ) async throws -> Bool { throw Failure() }
            func record(_ lease: LeaseTerms) async throws { throw Failure() }
            func revocations(team: String) async throws -> RevocationState? { throw Failure() }
        }
        let world = try World()
        let device = try world.device()
        try await world.enrol(device)
        let service = KeyService(store: Broken(world: world), clock: world.clock.service)
        let request = try device.releaseRequest(world.model)
        let replies = [
            await service.release(keyID: world.model.keyID.description, request.body),
            await service.revocations(team: World.team),
            await service.enrol(try device.enrolmentRequest(device.enrolment(try await world.challenge(device))).body),
            await service.renew(try device.renewalRequest(try await world.challenge(device)).body),
        ]
        for reply in replies {
            #expect(reply.status == 503)
            #expect(reply.event.cause is Broken.Failure)
            #expect(reply.event.failure?.retry == .later)
        }
    }
}
