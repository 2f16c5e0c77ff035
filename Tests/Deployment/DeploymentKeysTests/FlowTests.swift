import CoreML
import CoreMLEncryption
import DeploymentKeys
import Foundation
import MLEncryption
import MLFiles
import MLPackaging
import Synchronization
import TestSupport
import Testing

/// A clock that tests set.
final class TestClock: Sendable {
    struct State {
        var now = ServiceTime("2026-11-23T14:00:00Z")!
        var start = "first"
        var seconds = 1000
    }

    let state = Mutex(State())

    var now: ServiceTime { state.withLock { $0.now } }
    var service: @Sendable () -> ServiceTime { { self.now } }
    var device: DeviceClock {
        DeviceClock(now: { self.now }, sinceStart: { self.state.withLock { ($0.start, $0.seconds) } })
    }

    /// Lets time pass, as a clock that is right shows it.
    func pass(_ seconds: Int) {
        state.withLock { state in
            state.now = state.now.advanced(by: seconds)
            state.seconds += seconds
        }
    }

    /// Sets the clock, while no time passes.
    func set(_ time: ServiceTime) { state.withLock { $0.now = time } }

    /// Starts the machine anew.
    func restart() {
        state.withLock { state in
            state.start += "+"
            state.seconds = 10
        }
    }
}

/// A team with a key service, an app and a model's content key.
final class World: Sendable {
    static let team = "Acme"
    static let app = "flowers"

    let folder: String
    let clock = TestClock()
    let store = MemoryKeyServiceStore()
    let ring: TeamKeyRing
    let service: KeyService
    let contentKey: SecretBytes
    let model: WrappedContentKey

    var keys: [SigningPublicKey] { ring.serviceKeys }

    init(
        suite: RecipientSuite = .x25519,
        policy: KeyServicePolicy = KeyServicePolicy(),
        verifiers: [any AttestationVerifier] = []
    ) throws {
        folder = try FileAccess.makeTemporaryFolder("deployment-keys")
        ring = try TeamKeyRing(team: Self.team, suite: suite, server: "https://keys.example")
        store.setKeyRing(ring)
        store.setApp(Self.app, team: Self.team, EnrolmentPolicy(minimumAttestation: .none))
        service = KeyService(store: store, policy: policy, verifiers: verifiers, clock: clock.service)
        contentKey = .random()
        model = try Self.wrap(contentKey, ring)
        store.setEntitlement(KeyEntitlement(), app: Self.app, team: Self.team, model)
    }

    deinit { try? FileAccess.remove(folder) }

    /// A build machine with the public file.
    static func wrap(
        _ contentKey: SecretBytes,
        _ ring: TeamKeyRing,
        content: ContentIdentifier = .random()
    ) throws -> WrappedContentKey {
        let epoch = try #require(ring.active)
        let key = try epoch.publicFile.withUnsafeBytes { try ModelKey(text: $0) }
        let purpose = Array("mlk/1 wrap\0".utf8) + epoch.keyID.bytes + content.bytes
        let wrapped = try KeyPair.wrap(contentKey, with: key, purpose: purpose)
        return try WrappedContentKey(keyID: epoch.keyID, content: content, wrapped: wrapped)
    }

    func device(
        _ name: String = "device",
        app: String = World.app,
        signing: SigningAlgorithm = .ed25519,
        suite: RecipientSuite = .x25519
    ) throws -> DeviceIdentity {
        try DeviceIdentity.make(
            in: folder + "/" + name,
            team: Self.team,
            app: app,
            signing: signing,
            suite: suite,
            strength: .file,
            clock: clock.device
        )
    }

    func challenge(_ device: DeviceIdentity) async throws -> Challenge {
        let (body, nonce) = device.challengeRequest()
        return try device.acceptChallenge(await service.challenge(body).body, for: nonce, trusting: keys)
    }

    @discardableResult
    func enrol(
        _ device: DeviceIdentity,
        _ token: EnrolmentToken? = nil,
        _ context: KeyServiceContext = KeyServiceContext()
    ) async throws -> DeviceCertificate {
        let draft = device.enrolment(try await challenge(device))
        let evidence = try token?.evidence(binding: draft.binding) ?? .none
        let request = try device.enrolmentRequest(draft, evidence)
        return try device.accept(await service.enrol(request.body, context).body, for: request, trusting: keys)
    }

    func release(
        _ device: DeviceIdentity,
        _ model: WrappedContentKey? = nil,
        _ challenge: Challenge? = nil,
        _ context: KeyServiceContext = KeyServiceContext()
    ) async throws -> HeldLease {
        let model = model ?? self.model
        let request = try device.releaseRequest(model, challenge)
        let reply = await service.release(keyID: model.keyID.description, request.body, context)
        return try device.accept(reply.body, for: request, trusting: keys)
    }

    func isRight(_ lease: HeldLease?) -> Bool {
        lease.map { lease in
            contentKey.withBytes { own in lease.contentKey.withBytes { $0.elementsEqual(own) } }
        } ?? false
    }
}

/// The code of the error that `body` throws.
func code<R>(_ body: () async throws -> R) async -> DeploymentKeyError.Code? {
    do { _ = try await body() } catch { return (error as? DeploymentKeyError)?.code }
    return nil
}

@Suite struct FlowTests {
    @Test(arguments: SigningAlgorithm.allCases, RecipientSuite.allCases)
    func aDeviceEnrolsAndOpensALeaseWithoutTheService(_ signing: SigningAlgorithm, _ suite: RecipientSuite) async throws
    {
        let world = try World(suite: suite)
        let device = try world.device(signing: signing, suite: suite)
        #expect(await code { try device.releaseRequest(world.model) } == .notEnrolled)
        let certificate = try await world.enrol(device)
        #expect(certificate.device == device.device)
        #expect(certificate.notAfter == world.clock.now.advanced(by: 90 * 86_400))
        let lease = try await world.release(device)
        #expect(world.isRight(lease))
        #expect(lease.remaining == 37 * 86_400)
        #expect(world.store.leases.map(\.serial) == [lease.terms.serial])
        // Another process, later, offline.
        world.clock.pass(3600)
        let again = try #require(try DeviceIdentity.open(in: device.folder, clock: world.clock.device))
        let held = try again.lease(world.model.content, world.model.keyID)
        #expect(world.isRight(held))
        #expect(held?.isInGrace == false)
        #expect(try again.leases().count == 1)
    }
}

/// An app's operations: models are opened with leases, and missing leases are requested.
private struct Client: ModelKeyService {
    let world: World
    let device: DeviceIdentity
    let asked = Counter()

    final class Counter: Sendable {
        let count = Mutex(0)
    }

    /// The lease on the disk, unless it has ended.
    private func stored(_ model: WrappedContentKey) throws(DeploymentKeyError) -> HeldLease? {
        do throws(DeploymentKeyError) { return try device.lease(model.content, model.keyID) } catch {
            guard error.code == .leaseExpired else { throw error }
            return nil
        }
    }

    func lease(for model: EncryptedModelInfo) async throws -> ModelKeyLease {
        asked.count.withLock { $0 += 1 }
        do {
            let wrapped = try WrappedContentKey(
                keyID: #require(KeyIdentifier(model.keyID)),
                content: #require(ContentIdentifier(model.contentID)),
                wrapped: Array(model.wrappedKey)
            )
            var lease = try stored(wrapped)
            if lease == nil { lease = try await world.release(device, wrapped) }
            let held = try #require(lease)
            return ModelKeyLease(
                contentKey: held.contentKey.withBytes { Data($0) },
                duration: held.remaining.map { .seconds($0) }
            )
        } catch let error as DeploymentKeyError {
            throw error.isRetryable
                ? ModelKeyError.unreachable("\(error)") : ModelKeyError.refused("\(error)")
        }
    }
}

@Suite(.serialized) struct ModelFlowTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/digits").path

    @Test func anEncryptedModelLoadsWithALease() async throws {
        let world = try World(suite: .xWing)
        let device = try world.device(suite: .xWing)
        try await world.enrol(device)
        let active = try #require(world.ring.active)
        try FileAccess.write(active.publicFile, to: world.folder + "/K.mlmodelkey")
        let path = try EncryptedCompilation.compile(
            ModelFile.open(path: Self.fixtures + "/Digits.mlpackage"),
            into: world.folder,
            key: world.folder + "/K.mlmodelkey"
        )
        let url = URL(fileURLWithPath: path)
        let info = try #require(try ModelKeys.info(for: url))
        #expect(info.server == URL(string: "https://keys.example"))
        let client = Client(world: world, device: device)
        try await Turn.keyService.take {
            ModelKeys.register(client)
            defer { ModelKeys.register(nil) }
            // The team has not yet said that the app may have it.
            var error = try await #require(throws: MLModelError.self) { try await MLModel.load(contentsOf: url) }
            #expect(error.code == .modelDecryptionKeyFetch)
            #expect(error.localizedDescription.contains("not-entitled"), "\(error.localizedDescription)")
            let model = try WrappedContentKey(
                keyID: #require(KeyIdentifier(info.keyID)),
                content: #require(ContentIdentifier(info.contentID)),
                wrapped: Array(info.wrappedKey)
            )
            world.store.setEntitlement(KeyEntitlement(), app: World.app, team: World.team, model)
            let loaded = try await MLModel.load(contentsOf: url)
            #expect(loaded.modelDescription.inputDescriptionsByName.isEmpty == false)
            // A new process opens the lease that lies on the disk.
            try ModelKeys.forget(for: url)
            world.store.setEntitlement(nil, app: World.app, team: World.team, model)
            _ = try await MLModel.load(contentsOf: url)
            #expect(world.store.leases.count == 1)
            // When the lease has ended and the app may not have the key any more, nothing opens.
            try ModelKeys.forget(for: url)
            world.clock.pass(38 * 86_400)
            error = try await #require(throws: MLModelError.self) { try await MLModel.load(contentsOf: url) }
            #expect(error.code == .modelDecryptionKeyFetch)
            #expect(error.localizedDescription.contains("not-entitled"), "\(error.localizedDescription)")
        }
    }
}
