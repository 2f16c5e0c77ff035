import DeploymentKeys
import Foundation
import MLEncryption
import MLFiles
import Testing

/// The data stored on a device and at a service.
@Suite struct StorageTests {
    private func enrolled(_ world: World, _ name: String = "device") async throws -> DeviceIdentity {
        let device = try world.device(name)
        try await world.enrol(device)
        return device
    }

    private func open(_ device: DeviceIdentity, _ world: World) throws -> DeviceIdentity {
        try #require(try DeviceIdentity.open(in: device.folder, clock: world.clock.device))
    }

    private func lease(_ device: DeviceIdentity, _ world: World) throws -> HeldLease? {
        try open(device, world).lease(world.model.content, world.model.keyID)
    }

    @Test func leasesEndWithTheirGrace() async throws {
        let world = try World()
        world.store.setEntitlement(
            KeyEntitlement(leaseDuration: 1000, offlineGrace: 100),
            app: World.app,
            team: World.team,
            world.model
        )
        let device = try await enrolled(world)
        _ = try await world.release(device)
        world.clock.pass(999)
        #expect(try lease(device, world)?.isInGrace == false)
        world.clock.pass(1)
        #expect(try lease(device, world)?.isInGrace == true)
        #expect(try lease(device, world)?.remaining == 100)
        world.clock.pass(99)
        #expect(world.isRight(try lease(device, world)))
        world.clock.pass(1)
        #expect(await code { try lease(device, world) } == .leaseExpired)
        world.store.setEntitlement(KeyEntitlement(leaseDuration: nil), app: World.app, team: World.team, world.model)
        #expect(try await world.release(device).remaining == nil)
        world.clock.pass(100 * 365 * 86_400)
        #expect(world.isRight(try lease(device, world)))
    }

    @Test func settingTheClockBackMakesNoLeaseLonger() async throws {
        let world = try World()
        world.store.setEntitlement(
            KeyEntitlement(leaseDuration: 100_000, offlineGrace: 0),
            app: World.app,
            team: World.team,
            world.model
        )
        let device = try await enrolled(world)
        _ = try await world.release(device)
        let start = world.clock.now
        // While the machine runs, the clock does not matter at all.
        world.clock.pass(99_999)
        world.clock.set(start.advanced(by: -1_000_000))
        #expect(try lease(device, world)?.remaining == 1)
        world.clock.set(start.advanced(by: 1_000_000))
        #expect(try lease(device, world)?.remaining == 1)
        // Started anew with a clock from before: what was seen before counts.
        world.clock.restart()
        world.clock.set(start.advanced(by: -1_000_000))
        #expect(try lease(device, world)?.remaining == 1)
        world.clock.set(start.advanced(by: 100_000))
        #expect(await code { try lease(device, world) } == .leaseExpired)
    }

    @Test func aClockThatIsFarAheadDoesNoHarmForLong() async throws {
        let world = try World()
        let device = try await enrolled(world)
        _ = try await world.release(device)
        let start = world.clock.now
        world.clock.restart()
        world.clock.set(start.advanced(by: 10 * 365 * 86_400))
        #expect(await code { try lease(device, world) } == .leaseExpired)
        world.clock.set(start.advanced(by: 86_400))
        #expect(world.isRight(try lease(device, world)), "once the clock is right, all is well")
        // Days ahead, within the lease, and back: the lease is shorter until the service tells the time.
        world.clock.set(start.advanced(by: 36 * 86_400))
        #expect(try lease(device, world)?.remaining == 86_400)
        world.clock.set(start.advanced(by: 2 * 86_400))
        #expect(try lease(device, world)?.remaining == 86_400)
        _ = try await world.challenge(device)
        #expect(try lease(device, world)?.remaining == 35 * 86_400)
    }

    @Test func oldNewsDoNotStopTheClock() async throws {
        let world = try World()
        let device = try await enrolled(world)
        _ = try await world.release(device)
        let news = try world.ring.text(of: RevocationState(team: World.team, version: 1, time: world.clock.now))
        world.clock.restart()
        world.clock.pass(10 * 86_400)
        try device.accept(revocations: news, trusting: world.keys)
        #expect(try device.trustedTime() == world.clock.now, "what was signed ten days ago is not the present")
        #expect(try lease(device, world)?.remaining == 27 * 86_400)
        // Newer news than the clock: it is at least that time.
        let later = world.clock.now.advanced(by: 86_400)
        try device.accept(
            revocations: world.ring.text(of: RevocationState(team: World.team, version: 2, time: later)),
            trusting: world.keys
        )
        #expect(try device.trustedTime() == later)
    }

    @Test func filesAreTheirOwnersAlone() async throws {
        let world = try World()
        let device = try await enrolled(world)
        _ = try await world.release(device)
        try device.accept(
            revocations: world.ring.text(of: RevocationState(team: World.team, version: 1, time: world.clock.now)),
            trusting: world.keys
        )
        let manager = FileManager.default
        let paths = try #require(manager.enumerator(atPath: device.folder)).compactMap { $0 as? String }
        #expect(paths.count >= 9, "\(paths)")
        for path in paths {
            let attributes = try manager.attributesOfItem(atPath: device.folder + "/" + path)
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode == (attributes[.type] as? FileAttributeType == .typeDirectory ? 0o700 : 0o600), "\(path)")
        }
        #expect(try manager.attributesOfItem(atPath: device.folder)[.posixPermissions] as? Int == 0o700)
    }

    @Test func noSecretLiesOpenOnTheDisk() async throws {
        let world = try World()
        let device = try await enrolled(world)
        _ = try await world.release(device)
        let paths = try #require(FileManager.default.enumerator(atPath: device.folder)).compactMap { $0 as? String }
        let needles = world.contentKey.withBytes { key in
            [Data(key), Data(Base64.text(Array(key)).utf8), Data(Hexadecimal.text(Array(key)).utf8)]
        }
        for path in paths where FileAccess.kind(of: device.folder + "/" + path) == .file {
            let data = try Data(contentsOf: URL(fileURLWithPath: device.folder + "/" + path))
            for needle in needles { #expect(data.range(of: needle) == nil, "\(path)") }
        }
    }

    @Test func nothingShowsBytesOfKeys() async throws {
        let world = try World()
        let device = try await enrolled(world)
        let lease = try await world.release(device)
        var texts = ["\(lease)", "\(lease.contentKey)", String(reflecting: lease), "\(world.ring)", "\(device)"]
        for value in [lease as Any, lease.contentKey, device, world.ring, try EnrolmentToken()] {
            var text = ""
            dump(value, to: &text)
            texts.append(text)
        }
        let (hexadecimal, list) = world.contentKey.withBytes { key in
            (Hexadecimal.text(Array(key.prefix(4))), "\(Array(key.prefix(4)))".dropLast())
        }
        for text in texts {
            #expect(!text.contains(hexadecimal))
            #expect(!text.contains(list))
        }
        #expect("\(lease.contentKey)" == "content key (not shown)")
    }

    @Test func changedFilesAreFound() async throws {
        let world = try World()
        let device = try await enrolled(world)
        _ = try await world.release(device)
        let paths = [
            "device.json", "sealing.json", "state.json", "leases/\(world.model.content).lease", "certificate.json",
        ]
        for path in paths {
            let place = device.folder + "/" + path
            let right = try FileAccess.read(place)
            for offset in stride(from: 0, to: right.count, by: 7) {
                var wrong = right
                wrong[offset] ^= 1
                try FileAccess.write(wrong, to: place)
                let found = await code {
                    let device = try open(device, world)
                    _ = try device.lease(world.model.content, world.model.keyID)
                    _ = try device.releaseRequest(world.model)
                }
                if path == "certificate.json", found == nil {
                    // A certificate is the service's to check: what was changed in it gives nothing.
                    let request = try device.releaseRequest(world.model)
                    let reply = await world.service.release(keyID: world.model.keyID.description, request.body)
                    #expect(reply.status != 200, "byte \(offset) of \(path)")
                } else if path == "sealing.json", found == nil {
                    // The word for the strength is a note for people.
                    #expect(try open(device, world).device == device.device)
                } else {
                    let codes: [DeploymentKeyError.Code] = [.storageDamaged, .leaseForOtherDevice, .leaseForOtherKey]
                    #expect(
                        found.map { codes.contains($0) } ?? false,
                        "byte \(offset) of \(path): \(String(describing: found))"
                    )
                }
            }
            try FileAccess.write(Array(right.dropLast()), to: place)
            #expect(
                await code { try open(device, world).releaseRequest(world.model) } != nil || path.hasSuffix(".lease")
            )
            try FileAccess.write(right, to: place)
        }
        #expect(world.isRight(try lease(device, world)))
    }

    @Test func leasesServeNoOtherDeviceAndNoOtherModel() async throws {
        let world = try World()
        let (first, second) = (try await enrolled(world, "first"), try await enrolled(world, "second"))
        _ = try await world.release(first)
        try FileAccess.makeFolder(second.folder + "/leases")
        let name = "/leases/\(world.model.content).lease"
        try FileAccess.write(FileAccess.read(first.folder + name), to: second.folder + name)
        #expect(await code { try lease(second, world) } == .leaseForOtherDevice)
        let other = ContentIdentifier.random()
        try FileAccess.write(FileAccess.read(first.folder + name), to: first.folder + "/leases/\(other).lease")
        #expect(await code { try first.lease(other, world.model.keyID) } == .leaseForOtherKey)
        #expect(await code { try first.lease(world.model.content, .random()) } == .leaseForOtherKey)
        // The device's names in front of another one's keys.
        try FileAccess.write(FileAccess.read(first.folder + "/device.json"), to: second.folder + "/device.json")
        #expect(await code { try open(second, world) } == .storageDamaged)
    }

    @Test func requestsOfManyThreadsHaveNumbersOfTheirOwn() async throws {
        let world = try World()
        let device = try await enrolled(world)
        let again = try open(device, world)
        let counters = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<60 {
                group.addTask {
                    try ReleaseRequest(text: (index % 2 == 0 ? device : again).releaseRequest(world.model).body).counter
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(counters) == Set(1...60))
    }

    @Test func foldersHoldOneDevice() throws {
        let world = try World()
        let device = try world.device()
        #expect(throws: DeploymentKeyError.self) { try world.device() }
        #expect(try DeviceIdentity.open(in: world.folder + "/nothing") == nil)
        try DeviceIdentity.erase(device.folder)
        #expect(try DeviceIdentity.open(in: device.folder) == nil)
        #expect(try world.device().device != device.device)
    }

    // MARK: The service's side

    @Test func ringsRestSealed() throws {
        let folder = try FileAccess.makeTemporaryFolder("vault")
        defer { try? FileAccess.remove(folder) }
        let vault = try KeyVault(folder: folder + "/a", strength: .file)
        var ring = try TeamKeyRing(team: "Acme", server: "https://keys.example")
        let content = SecretBytes.random()
        let model = try World.wrap(content, ring)
        try ring.rotate(suite: .x25519)
        try ring.rotateSigner(.p256)
        let text = try vault.seal(ring)
        let again = try KeyVault(folder: folder + "/a").open(text)
        #expect(again.version == ring.version)
        #expect(again.epochs.map(\.keyID) == ring.epochs.map(\.keyID))
        #expect(again.serviceKeys == ring.serviceKeys)
        let opened = try again.contentKey(model)
        #expect(content.withBytes { own in opened.withBytes { $0.elementsEqual(own) } })
        // Another vault, a changed text.
        let other = try KeyVault(folder: folder + "/b", strength: .file)
        #expect(throws: DeploymentKeyError.self) { try other.open(text) }
        for offset in 0..<text.count {
            var wrong = text
            wrong[offset] ^= 1
            #expect(throws: DeploymentKeyError.self, "byte \(offset)") { try vault.open(wrong) }
        }
        // A copy of the key under a passphrase opens it elsewhere.
        let backup = try vault.backup(passphrase: "correct horse".utf8)
        #expect(throws: DeploymentKeyError.self) {
            try KeyVault.restore(backup, passphrase: "wrong horse".utf8, to: folder + "/c", strength: .file)
        }
        let restored = try KeyVault.restore(
            backup,
            passphrase: "correct horse".utf8,
            to: folder + "/c",
            strength: .file
        )
        #expect(try restored.open(text).version == ring.version)
        #expect(throws: DeploymentKeyError.self) {
            try KeyVault.restore(backup, passphrase: "correct horse".utf8, to: folder + "/c", strength: .file)
        }
    }

    @Test func keysOfATeam() throws {
        var ring = try TeamKeyRing(team: "Acme", suite: .xWing)
        let first = try #require(ring.active)
        let signer = SigningKey()
        try ring.sign(first.keyID, withPEM: Array(signer.pem.utf8))
        let signed = try #require(ring.active)
        let key = try signed.publicFile.withUnsafeBytes { try ModelKey(text: $0) }
        #expect(key.signature?.signer == signer.publicKey.bytes)
        #expect(key.secret == nil)
        // A key made by coreml key create joins the ring.
        let made = try ModelKey.make(.x25519, team: "Acme", created: Dates.now)
        #expect(try ring.importKey(made.text).keyID.description == made.keyID.description)
        #expect(ring.epochs.map(\.state) == [.retired, .active])
        #expect(throws: DeploymentKeyError.self) { try ring.importKey(made.text) }
        #expect(throws: DeploymentKeyError.self) { try ring.importKey(made.with(.publicKey).text) }
        let foreign = try ModelKey.make(.x25519, team: "Other", created: Dates.now)
        #expect(throws: DeploymentKeyError.self) { try ring.importKey(foreign.text) }
        #expect(throws: DeploymentKeyError.self) { try ring.importKey(Array("{}".utf8)) }
        try ring.revoke(KeyIdentifier(made.keyID.description)!, destroying: false)
        #expect(ring.active == nil)
        #expect(throws: DeploymentKeyError.self) { try ring.rewrap(World.wrap(.random(), TeamKeyRing(team: "Acme"))) }
        #expect(throws: DeploymentKeyError.self) { try ring.revoke(.random(), destroying: true) }
        #expect(throws: DeploymentKeyError.self) { try TeamKeyRing(team: "") }
        #expect(throws: DeploymentKeyError.self) { try TeamKeyRing(team: "a\nb") }
    }

    @Test func deviceRecordsSurviveADatabase() async throws {
        let world = try World()
        let device = try await enrolled(world)
        for _ in 0..<5 { _ = try await world.release(device) }
        let record = try #require(world.store.device(device.device, team: World.team))
        #expect(record.counter == 5)
        #expect(try DeviceRecord(text: record.text) == record)
        #expect(throws: DeploymentKeyError.self) { try DeviceRecord(text: record.text.dropLast()) }
    }

    @Test func times() throws {
        var generator = SplitMix(state: 5)
        for _ in 0..<20_000 {
            let time = ServiceTime(seconds: generator.below(253_402_300_800))
            #expect(ServiceTime(time.description) == time)
        }
        for text in [
            "", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-23T24:00:00Z", "2026-11-23T08:00:60Z",
            "2026-11-23 08:00:00Z", "2026-11-23T08:00:00z", "1969-12-31T23:59:59Z", "2026-11-00T08:00:00Z",
            "٢026-11-23T08:00:00Z", "2026-11-23T08:00:00.0Z", "0026-11-23T08:00:00Z0",
        ] { #expect(ServiceTime(text) == nil, "\(text)") }
        #expect(ServiceTime(seconds: Int.max).description == "9999-12-31T23:59:59Z")
        #expect(ServiceTime(seconds: 5).advanced(by: Int.min) == ServiceTime(seconds: 0))
        #expect(ServiceTime(seconds: 5).advanced(by: Int.max) == ServiceTime(seconds: Int.max))
        #expect(ServiceTime("2024-02-29T23:59:59Z")?.seconds == 1_709_251_199)
    }
}

/// Keys that the TPM2 or systemd seals; the TPM2 is one in software.
@Suite(.serialized) struct SealingTests {
    private static func isThere(_ program: String) -> Bool {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].contains { FileAccess.kind(of: $0 + program) == .file }
    }

    private static let hasTPM =
        isThere("swtpm") && isThere("systemd-creds")
        && ["/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/"]
            .contains {
                FileAccess.kind(of: $0 + "libtss2-tcti-swtpm.so.0") == .file
                    && FileAccess.kind(of: $0 + "libtss2-esys.so.0") == .file
            }

    private func run(_ program: String, _ arguments: [String], _ environment: [String: String] = [:]) throws -> (
        status: Int32, output: String
    ) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    private func rest(_ folder: String, _ strength: String, port: Int? = nil) throws -> (status: Int32, output: String)
    {
        let runner = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("KeyServiceRunner").path
        let device = port.map { ["SYSTEMD_TPM2_DEVICE": "swtpm:host=127.0.0.1,port=\($0)"] } ?? [:]
        return try run(runner, ["rest", folder, strength], device)
    }

    /// Runs `body` while a TPM2 in software with the state in `folder` listens; it is told the port.
    private func withTPM(_ folder: String, _ body: (Int) throws -> Void) throws {
        try FileAccess.makeFolder(folder)
        for _ in 0..<20 {
            let port = Int.random(in: 20_000..<60_000)
            let address = { (port: Int) -> String in "type=tcp,port=\(port),bindaddr=127.0.0.1" }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/swtpm")
            process.arguments = [
                "socket", "--tpm2", "--tpmstate", "dir=\(folder)", "--server", address(port), "--ctrl",
                address(port + 1), "--flags", "not-need-init,startup-clear", "--pid", "file=\(folder)/pid",
            ]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            // Nothing but the file tells that this other program listens.
            var waited = 0
            while process.isRunning, FileAccess.byteCount(of: folder + "/pid") ?? 0 == 0, waited < 1200 {
                usleep(50_000)
                waited += 1
            }
            // Another program may have the port.
            guard process.isRunning, waited < 1200 else {
                if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                continue
            }
            defer {
                // Threads of Dispatch block other signals, and their children with them.
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                try? FileAccess.remove(folder + "/pid")
            }
            return try body(port)
        }
        Issue.record("swtpm does not start")
    }

    @Test(.enabled(if: hasTPM, "needs swtpm, libtss2-esys and libtss2-tcti-swtpm")) func theTPMSealsKeys() throws {
        let folder = try FileAccess.makeTemporaryFolder("tpm")
        defer { try? FileAccess.remove(folder) }
        // It has room for few sessions and nobody who clears them: each command gets it anew.
        try withTPM(folder + "/one") { port in
            let made = try rest(folder, "tpm", port: port)
            #expect(made.output == "made\n")
            #expect(made.status == 0)
        }
        // The same TPM, started again.
        try withTPM(folder + "/one") { port in
            let again = try rest(folder, "tpm", port: port)
            #expect(again.output == "1 tpm tpm\n")
        }
        // On a machine with another one the files are of no use.
        try withTPM(folder + "/two") { port in
            let foreign = try rest(folder, "tpm", port: port)
            #expect(foreign.status == 1)
            #expect(foreign.output.hasPrefix("storage-damaged"), "\(foreign.output)")
        }
        let sealed = try FileAccess.names(in: folder + "/vault/keys")
        #expect(sealed.count == 1 && sealed[0].hasSuffix(".cred"), "\(sealed)")
    }

    @Test func contentKeysLeaveNoTraceInMemory() throws {
        let runner = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("KeyServiceRunner").path
        let result = try run(runner, ["hygiene"])
        #expect(result.output == "0 traces, seeing\n")
    }

    @Test func aMachineWithoutTPMSaysSo() throws {
        let folder = try FileAccess.makeTemporaryFolder("no-tpm")
        defer { try? FileAccess.remove(folder) }
        // A port on which nothing listens.
        let refused = try rest(folder, "tpm", port: 1)
        #expect(refused.status == 1)
        #expect(refused.output.hasPrefix("storage: "), "\(refused.output)")
        #expect(refused.output.contains("TPM2"), "\(refused.output)")
        #expect(try rest(folder, "file").output == "made\n")
        #expect(try rest(folder, "file").output == "1 file file\n")
    }

    @Test(
        .enabled(
            if: FileAccess.kind(of: "/var/lib/systemd/credential.secret") == .file,
            "needs systemd's key of the machine"
        )
    )
    func systemdSealsKeys() throws {
        let folder = try FileAccess.makeTemporaryFolder("host")
        defer { try? FileAccess.remove(folder) }
        #expect(try rest(folder, "host").output == "made\n")
        #expect(try rest(folder, "host").output == "1 host host\n")
    }
}
