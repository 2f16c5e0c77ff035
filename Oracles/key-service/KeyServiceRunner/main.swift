// Plays a key service, or a device, for Oracles/key-service/check: a JSON line on standard input for each request,
// another for its answer. All bytes are hexadecimal. `measure` prints what a release costs, `rest` makes and opens a
// vault and a device.

import DeploymentKeys
import Foundation
import Glibc
import MLEncryption
import MLFiles

struct Refusal: Error { let text: String }

typealias Object = [String: Any]

func text(_ object: Object, _ name: String) throws -> String {
    guard let text = object[name] as? String else { throw Refusal(text: "no \(name)") }
    return text
}

func bytes(_ object: Object, _ name: String) throws -> [UInt8] {
    guard let bytes = Hexadecimal.bytes(try text(object, name).utf8) else { throw Refusal(text: "\(name): no bytes") }
    return bytes
}

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String { Hexadecimal.text(bytes) }

func suite(_ name: String) -> RecipientSuite { name == "xwing" ? .xWing : .x25519 }

func key(_ object: Object) throws -> SigningPublicKey {
    guard let algorithm = SigningAlgorithm(rawValue: try text(object, "algorithm")) else {
        throw Refusal(text: "algorithm")
    }
    return try SigningPublicKey(algorithm, bytes: try bytes(object, "publicKey"))
}

/// One conversation: a service whose time is set, and a device.
final class Conversation {
    static let team = "Acme Gärten"
    static let app = "flowers"

    let store = MemoryKeyServiceStore()
    let clock = Clock()
    let service: KeyService
    var ring: TeamKeyRing?
    var device: DeviceIdentity?
    var trusted: [SigningPublicKey] = []
    var certificate: PendingCertificate?
    var release: PendingRelease?

    final class Clock: @unchecked Sendable {
        var now = ServiceTime(seconds: 1_764_000_000)
    }

    init() {
        service = KeyService(store: store, clock: { [clock] in clock.now })
    }

    func answer(_ request: Object) async throws -> Object {
        switch try text(request, "verb") {
        case "time":
            clock.now = ServiceTime(seconds: request["seconds"] as? Int ?? 0)
            return [:]
        // The service, and a device that the caller plays.
        case "team":
            let ring = try TeamKeyRing(
                team: Self.team,
                suite: suite(text(request, "suite")),
                signing: SigningAlgorithm(rawValue: text(request, "signing")) ?? .ed25519,
                created: clock.now
            )
            self.ring = ring
            store.setKeyRing(ring)
            store.setApp(Self.app, team: Self.team, EnrolmentPolicy(minimumAttestation: .none))
            guard let epoch = ring.active, let signer = ring.serviceKeys.first else { throw Refusal(text: "no keys") }
            return [
                "file": String(decoding: epoch.publicFile, as: UTF8.self),
                "algorithm": signer.algorithm.rawValue, "publicKey": hexadecimal(signer.bytes),
            ]
        case "token":
            let token = try EnrolmentToken()
            store.addToken(
                EnrolmentTokenRecord(token, app: nil, notAfter: clock.now.advanced(by: 1000), remainingUses: 1),
                team: Self.team
            )
            return ["token": token.secretText]
        case "entitle":
            store.setEntitlement(KeyEntitlement(), app: Self.app, team: Self.team, try model(request))
            return [:]
        case "service": return try await serve(request)
        // The device, and a service that the caller plays.
        case "device": return try makeDevice(request)
        case "trust":
            trusted = [try key(request)]
            return [:]
        default: return try ask(request)
        }
    }

    private func model(_ request: Object) throws -> WrappedContentKey {
        guard let keyID = KeyIdentifier(try text(request, "keyID")),
            let content = ContentIdentifier(try text(request, "contentID"))
        else { throw Refusal(text: "names") }
        let archive = request["archive"] == nil ? nil : try bytes(request, "archive")
        return try WrappedContentKey(
            keyID: keyID,
            content: content,
            wrapped: bytes(request, "wrapped"),
            archive: archive
        )
    }

    private func serve(_ request: Object) async throws -> Object {
        let body = try bytes(request, "body")
        let reply =
            switch try text(request, "route") {
            case "challenge": await service.challenge(body)
            case "enroll": await service.enrol(body)
            case "renew": await service.renew(body)
            case "revocations": await service.revocations(team: Self.team)
            default: await service.release(keyID: try text(request, "keyID"), body)
            }
        return ["status": reply.status, "body": hexadecimal(reply.body)]
    }

    private func makeDevice(_ request: Object) throws -> Object {
        let folder = try FileAccess.makeTemporaryFolder("key-service-runner")
        let device = try DeviceIdentity.make(
            in: folder + "/device",
            team: Self.team,
            app: Self.app,
            signing: SigningAlgorithm(rawValue: text(request, "signing")) ?? .ed25519,
            suite: suite(text(request, "suite")),
            strength: .file,
            clock: DeviceClock(now: { [clock] in clock.now }, sinceStart: { ("", 0) })
        )
        self.device = device
        return ["device": device.device.description, "folder": folder]
    }

    private func ask(_ request: Object) throws -> Object {
        guard let device else { throw Refusal(text: "no device") }
        func challenge() throws -> Challenge? {
            guard request["challenge"] != nil else { return nil }
            let nonce = RequestNonce(try text(request, "nonce")) ?? .random()
            return try device.acceptChallenge(bytes(request, "challenge"), for: nonce, trusting: trusted)
        }
        switch try text(request, "verb") {
        case "challenge":
            let (body, nonce) = device.challengeRequest()
            return ["body": hexadecimal(body), "nonce": nonce.description]
        case "enroll":
            guard let challenge = try challenge() else { throw Refusal(text: "no challenge") }
            let draft = device.enrolment(challenge)
            let token = try (request["token"] as? String).map { try EnrolmentToken($0) }
            let pending = try device.enrolmentRequest(draft, token?.evidence(binding: draft.binding) ?? .none)
            certificate = pending
            return ["body": hexadecimal(pending.body), "binding": hexadecimal(draft.binding)]
        case "renew":
            guard let challenge = try challenge() else { throw Refusal(text: "no challenge") }
            let pending = try device.renewalRequest(challenge)
            certificate = pending
            return ["body": hexadecimal(pending.body)]
        case "certificate":
            guard let certificate else { throw Refusal(text: "no request") }
            return [
                "serial": try device.accept(bytes(request, "body"), for: certificate, trusting: trusted).serial
                    .description
            ]
        case "release":
            let pending = try device.releaseRequest(model(request), challenge())
            release = pending
            return ["body": hexadecimal(pending.body)]
        case "lease":
            guard let release else { throw Refusal(text: "no request") }
            let held = try device.accept(bytes(request, "body"), for: release, trusting: trusted)
            return ["contentKey": held.contentKey.withBytes { hexadecimal($0) }, "remaining": held.remaining ?? -1]
        case "revocations":
            return ["count": try device.accept(revocations: bytes(request, "body"), trusting: trusted).count]
        case let verb: throw Refusal(text: "unknown verb \(verb)")
        }
    }
}

/// Seconds that this process has computed.
func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Releases of devices for so many processor seconds each, request to answer, the store in memory.
func measure(_ seconds: Double) async throws {
    for (name, teamSuite, deviceSuite) in [
        ("X-Wing", RecipientSuite.xWing, RecipientSuite.xWing), ("X25519", .x25519, .x25519),
        ("team X-Wing, device X25519", .xWing, .x25519),
    ] {
        let folder = try FileAccess.makeTemporaryFolder("key-service-rate")
        defer { try? FileAccess.remove(folder) }
        let store = MemoryKeyServiceStore()
        let ring = try TeamKeyRing(team: "Acme", suite: teamSuite)
        store.setKeyRing(ring)
        store.setApp("app", team: "Acme", EnrolmentPolicy(minimumAttestation: .none))
        var policy = KeyServicePolicy()
        (policy.releasesPerDevice, policy.releasesPerKey) = (RateLimit(1_000_000, per: 1), RateLimit(1_000_000, per: 1))
        (policy.clockTolerance, policy.challengeLifetime) = (300, 300)
        let service = KeyService(store: store, policy: policy)
        guard let epoch = ring.active else { throw Refusal(text: "no key") }
        let content = ContentIdentifier.random()
        let publicKey = try epoch.publicFile.withUnsafeBytes { try ModelKey(text: $0) }
        let wrapped = try KeyPair.wrap(
            .random(),
            with: publicKey,
            purpose: Array("mlk/1 wrap\0".utf8) + epoch.keyID.bytes + content.bytes
        )
        let model = try WrappedContentKey(keyID: epoch.keyID, content: content, wrapped: wrapped)
        store.setEntitlement(KeyEntitlement(), app: "app", team: "Acme", model)
        // Many devices, so that none has a long memory; all requests are made before the clock starts.
        var bodies: [[UInt8]] = []
        for index in 0..<40 {
            let device = try DeviceIdentity.make(
                in: "\(folder)/\(index)",
                team: "Acme",
                app: "app",
                suite: deviceSuite,
                strength: .file
            )
            let (body, nonce) = device.challengeRequest()
            let challenge = try device.acceptChallenge(
                await service.challenge(body).body,
                for: nonce,
                trusting: ring.serviceKeys
            )
            let request = try device.enrolmentRequest(device.enrolment(challenge))
            try device.accept(await service.enrol(request.body).body, for: request, trusting: ring.serviceKeys)
            for _ in 0..<200 { bodies.append(try device.releaseRequest(model).body) }
        }
        // Device by device in turn, each in the order of its counter.
        let order = (0..<200).flatMap { step in (0..<40).map { $0 * 200 + step } }
        let start = processorSeconds()
        var count = 0
        for index in order where processorSeconds() - start < seconds {
            let reply = await service.release(keyID: epoch.keyID.description, bodies[index])
            guard reply.status == 200 else { throw Refusal(text: String(decoding: reply.body, as: UTF8.self)) }
            count += 1
        }
        let rate = Double(count) / (processorSeconds() - start)
        print("\(name): \(Int(rate)) releases per processor second (\(count) measured)")
    }
}

/// Answers a line at a time.
func converse() async {
    var conversation = Conversation()
    while let line = readLine() {
        var answer: Object
        do {
            guard let request = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? Object else {
                throw Refusal(text: "no object")
            }
            if request["verb"] as? String == "new" { conversation = Conversation() }
            answer = request["verb"] as? String == "new" ? [:] : try await conversation.answer(request)
        } catch let error as DeploymentKeyError {
            answer = ["error": error.code.rawValue, "message": error.description]
        } catch { answer = ["error": "runner", "message": "\(error)"] }
        print(String(decoding: (try? JSONSerialization.data(withJSONObject: answer)) ?? Data(), as: UTF8.self))
        fflush(nil)
    }
}

/// Makes a vault with a team's keys and a device in a folder, or opens what lies there; prints how they rest.
func rest(_ folder: String, _ strength: StorageStrength) throws {
    let ringPath = folder + "/ring.json"
    if FileAccess.kind(of: ringPath) == nil {
        let vault = try KeyVault(folder: folder + "/vault", strength: strength)
        try FileAccess.write(vault.seal(TeamKeyRing(team: "Acme")), to: ringPath)
        _ = try DeviceIdentity.make(in: folder + "/device", team: "Acme", app: "app", strength: strength)
        return print("made")
    }
    let vault = try KeyVault(folder: folder + "/vault")
    let ring = try vault.open(FileAccess.read(ringPath))
    guard let device = try DeviceIdentity.open(in: folder + "/device") else { throw Refusal(text: "no device") }
    print("\(ring.epochs.count) \(vault.strength) \(device.strength)")
}

/// The addresses of halves of a key in this process's memory. The needle is masked, so that looking for it makes no
/// copy.
func places(ofMasked needle: [UInt8]) throws -> [String] {
    let chunk = 1 << 20
    guard let buffer = mmap(nil, chunk + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        buffer != MAP_FAILED
    else { throw Refusal(text: "no memory") }
    defer { munmap(buffer, chunk + 64) }
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    let memory = Glibc.open("/proc/self/mem", O_RDONLY)
    guard memory >= 0 else { throw Refusal(text: "/proc/self/mem cannot be read") }
    defer { close(memory) }
    let halves = [needle.prefix(16), needle.suffix(16)].map(Array.init)
    var found: [String] = []
    for line in maps.split(separator: "\n") {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard fields[1].hasPrefix("r"), bounds.count == 2, !line.contains("[v"),
            !(bounds[0]..<bounds[1]).contains(UInt(bitPattern: buffer))
        else { continue }
        var position = bounds[0]
        while position < bounds[1] {
            let count = pread(memory, buffer, min(chunk + 16, Int(bounds[1] - position)), off_t(position))
            // Memory for secrets cannot be read like this, which is its purpose.
            guard count > 16 else { break }
            let bytes = UnsafeRawBufferPointer(start: buffer, count: count)
            for half in halves {
                for start in 0...(count - 16) where bytes[start] == half[0] ^ 0xA5 {
                    guard (1..<16).allSatisfy({ bytes[start + $0] == half[$0] ^ 0xA5 }) else { continue }
                    found.append(String(line))
                }
            }
            position += UInt(chunk)
        }
    }
    return found
}

/// Leases go from a service through devices to memory and disk and back; the content key, masked, once nobody has it.
func usedContentKey() async throws -> [UInt8] {
    let folder = try FileAccess.makeTemporaryFolder("key-service-hygiene")
    defer { try? FileAccess.remove(folder) }
    let secret = SecretBytes.random()
    let masked = secret.withBytes { bytes in bytes.map { $0 ^ 0xA5 } }
    for (index, suite) in [RecipientSuite.xWing, .x25519, .xWing, .x25519].enumerated() {
        let store = MemoryKeyServiceStore()
        let ring = try TeamKeyRing(team: "Acme", suite: suite)
        store.setKeyRing(ring)
        store.setApp("app", team: "Acme", EnrolmentPolicy(minimumAttestation: .none))
        let service = KeyService(store: store)
        guard let epoch = ring.active else { throw Refusal(text: "no key") }
        let content = ContentIdentifier.random()
        let publicKey = try epoch.publicFile.withUnsafeBytes { try ModelKey(text: $0) }
        let purpose = Array("mlk/1 wrap\0".utf8) + epoch.keyID.bytes + content.bytes
        let wrapped = try KeyPair.wrap(secret, with: publicKey, purpose: purpose)
        let model = try WrappedContentKey(keyID: epoch.keyID, content: content, wrapped: wrapped)
        store.setEntitlement(KeyEntitlement(), app: "app", team: "Acme", model)
        let device = try DeviceIdentity.make(
            in: "\(folder)/\(index)",
            team: "Acme",
            app: "app",
            suite: suite,
            strength: .file
        )
        let (body, nonce) = device.challengeRequest()
        let challenge = try device.acceptChallenge(
            await service.challenge(body).body,
            for: nonce,
            trusting: ring.serviceKeys
        )
        let request = try device.enrolmentRequest(device.enrolment(challenge))
        try device.accept(await service.enrol(request.body).body, for: request, trusting: ring.serviceKeys)
        let release = try device.releaseRequest(model)
        let reply = await service.release(keyID: epoch.keyID.description, release.body)
        let lease = try device.accept(reply.body, for: release, trusting: ring.serviceKeys)
        let held = try DeviceIdentity.open(in: device.folder)?.lease(content, epoch.keyID)
        let isRight = [lease.contentKey, held?.contentKey].allSatisfy { key in
            key?.withBytes { found in secret.withBytes { found.elementsEqual($0) } } ?? false
        }
        guard isRight else { throw Refusal(text: "another key") }
        _ = try ring.rewrap(model)
    }
    return masked
}

/// Prints how many traces a content key that was used has left in memory, and how many one has that lies in an array.
func hygiene() async throws {
    let used = try places(ofMasked: await usedContentKey())
    for place in Set(used) { print(place) }
    let planted = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    let found = try places(ofMasked: planted.map { $0 ^ 0xA5 })
    print("\(used.count) traces, \(withExtendedLifetime(planted) { found.isEmpty } ? "blind" : "seeing")")
}

let arguments = CommandLine.arguments.dropFirst()
do {
    switch arguments.first {
    case "measure": try await measure(Double(arguments.dropFirst().first ?? "2") ?? 2)
    case "hygiene": try await hygiene()
    case "rest":
        let strengths: [String: StorageStrength] = ["tpm": .tpm, "host": .host, "file": .file]
        guard arguments.count == 3, let strength = strengths[arguments[arguments.startIndex + 2]] else {
            throw Refusal(text: "rest FOLDER STRENGTH")
        }
        try rest(arguments[arguments.startIndex + 1], strength)
    default: await converse()
    }
} catch {
    print("\(error)")
    exit(1)
}
