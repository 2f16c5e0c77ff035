import CoreML
import CoreMLEncryption
import Foundation
import MLEncryption
import MLFiles
import MLNumerics
import MLPackaging
import Synchronization
import TestSupport
import Testing

/// A key service as a deployment client will be one: it holds the private half and unwraps content keys.
private final class Service: ModelKeyService {
    struct State {
        var asked = 0
        var duration: Duration?
        var failure: (any Error)?
    }

    let key: ModelKey
    let state = Mutex(State())

    init(_ key: ModelKey) { self.key = key }

    func lease(for model: EncryptedModelInfo) async throws -> ModelKeyLease {
        let (duration, failure) = state.withLock { state in
            state.asked += 1
            return (state.duration, state.failure)
        }
        if let failure { throw failure }
        guard let content = Hexadecimal.bytes(model.contentID.utf8) else {
            throw ModelKeyError.refused("no content ID")
        }
        let purpose = Array("mlk/1 wrap\0".utf8) + key.keyID.bytes + content
        let secret = try KeyPair.unwrap(Array(model.wrappedKey), with: key, purpose: purpose)
        return ModelKeyLease(contentKey: secret.withBytes { Data($0) }, duration: duration)
    }
}

/// Apps and encrypted models: which error means what, and when a key service is asked.
@Suite(.serialized) struct KeyServiceTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/digits").path

    /// An encrypted model whose private half only the service has.
    private func withModel(_ body: (URL, Service) async throws -> Void) async throws {
        let folder = try FileAccess.makeTemporaryFolder("key-service")
        defer { try? FileAccess.remove(folder) }
        let key = try ModelKey.make(.xWing, team: "Acme", created: Dates.now, server: "https://keys.example")
        try KeyFiles.write(key.with(.publicKey), to: folder + "/K.mlmodelkey")
        let path = try EncryptedCompilation.compile(
            ModelFile.open(path: Self.fixtures + "/Digits.mlpackage"),
            into: folder,
            key: folder + "/K.mlmodelkey"
        )
        let service = Service(key)
        try await Turn.keyService.take {
            ModelKeys.register(service)
            defer { ModelKeys.register(nil) }
            try await body(URL(fileURLWithPath: path), service)
        }
    }

    @Test func loadingAsksTheService() async throws {
        try await withModel { url, service in
            let info = try #require(try ModelKeys.info(for: url))
            #expect(info.team == "Acme")
            #expect(info.server == URL(string: "https://keys.example"))
            #expect(info.keyID == service.key.keyID.description)
            // Without waiting for a network there is no key yet.
            let error = try #require(throws: MLModelError.self) { try MLModel(contentsOf: url) }
            #expect(error.code == .modelDecryptionKeyFetch)
            #expect(error.localizedDescription.contains("which https://keys.example gives out"))
            let model = try await MLModel.load(contentsOf: url)
            #expect(model.modelDescription.inputDescriptionsByName.isEmpty == false)
            #expect(service.state.withLock { $0.asked } == 1)
            // The lease serves from now on, also those who cannot wait.
            _ = try await MLModel.load(contentsOf: url)
            _ = try MLModel(contentsOf: url)
            _ = try await MLModelStructure.load(contentsOf: url)
            _ = try await MLModelAsset(url: url).modelDescription
            #expect(service.state.withLock { $0.asked } == 1)
            try ModelKeys.forget(for: url)
            #expect(throws: MLModelError.self) { try MLModel(contentsOf: url) }
        }
    }

    @Test func plansAskTheService() async throws {
        try await withModel { url, service in
            _ = try await MLComputePlan.load(asset: MLModelAsset(url: url), configuration: MLModelConfiguration())
            #expect(service.state.withLock { $0.asked } == 1)
            try ModelKeys.forget(for: url)
            _ = try await MLComputePlan.load(contentsOf: url, configuration: MLModelConfiguration())
            #expect(service.state.withLock { $0.asked } == 2)
        }
    }

    @Test func keysCanBeFetchedAhead() async throws {
        try await withModel { url, service in
            try await ModelKeys.prefetch(for: url)
            _ = try MLModel(contentsOf: url)
            #expect(service.state.withLock { $0.asked } == 1)
            try await ModelKeys.prefetch(for: url)
            #expect(service.state.withLock { $0.asked } == 2, "a lease is renewed")
        }
    }

    @Test func leasesEnd() async throws {
        try await withModel { url, service in
            let clock = VirtualClock()
            Vault.shared.setClock { clock.now }
            defer { Vault.shared.setClock(nil) }
            service.state.withLock { $0.duration = .seconds(3600) }
            _ = try await MLModel.load(contentsOf: url)
            clock.pass(.milliseconds(3_599_999))
            _ = try MLModel(contentsOf: url)
            clock.pass(.milliseconds(1))
            #expect(throws: MLModelError.self) { try MLModel(contentsOf: url) }
            _ = try await MLModel.load(contentsOf: url)
            #expect(service.state.withLock { $0.asked } == 2)
            service.state.withLock { $0.duration = .seconds(0) }
            try ModelKeys.forget(for: url)
            await #expect(throws: MLModelError.self) { try await MLModel.load(contentsOf: url) }
        }
    }

    @Test func failuresOfTheServiceAreKeyFetchErrors() async throws {
        try await withModel { url, service in
            let failures: [(any Error, String)] = [
                (ModelKeyError.unreachable("no network"), "cannot be fetched now: no network.  Try again"),
                (ModelKeyError.refused("revoked"), "refuses this machine the key"),
                (CocoaError(.fileNoSuchFile), "could not be fetched"),
            ]
            for (failure, part) in failures {
                service.state.withLock { $0.failure = failure }
                let error = try await #require(throws: MLModelError.self) { try await MLModel.load(contentsOf: url) }
                #expect(error.code == MLModelError.modelKeyFetch)
                #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
            }
        }
    }

    @Test func aWrongKeyIsADecryptionError() async throws {
        struct Liar: ModelKeyService {
            let bytes: Int
            func lease(for model: EncryptedModelInfo) async throws -> ModelKeyLease {
                ModelKeyLease(contentKey: Data(repeating: 7, count: bytes))
            }
        }
        try await withModel { url, _ in
            ModelKeys.register(Liar(bytes: 32))
            var error = try await #require(throws: MLModelError.self) { try await MLModel.load(contentsOf: url) }
            #expect(error.code == .modelDecryption)
            ModelKeys.register(Liar(bytes: 16))
            error = try await #require(throws: MLModelError.self) { try await MLModel.load(contentsOf: url) }
            #expect(error.code == .modelDecryptionKeyFetch)
        }
    }

    @Test func damagedModelsAreDecryptionErrors() async throws {
        try await withModel { url, _ in
            try await ModelKeys.prefetch(for: url)
            func damage(_ name: String) throws {
                let path = url.path + "/" + name
                var bytes = try FileAccess.read(path)
                bytes[bytes.count / 2] ^= 1
                try FileAccess.write(bytes, to: path)
            }
            // Loading reads the compiled graphs alone; compiling anew reads the specification.
            try damage("specification.bin")
            #expect(throws: MLModelError.self) { try MLModel.compileModel(at: url) as URL }
            try damage("compiled.bin")
            let error = try #require(throws: MLModelError.self) { try MLModel(contentsOf: url) }
            #expect(error.code == .modelDecryption)
            #expect(error.localizedDescription.contains("compiled.bin"), "\(error.localizedDescription)")
        }
    }
}

/// The same source, linked with the product for encryption and without it.
@Suite struct LinkingTests {
    private func run(_ program: String, _ arguments: String..., store: String) throws -> (status: Int32, output: String)
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent(program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["COREML_KEY_STORE": store]) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    @Test func linkingIsAllThatAnAppDoes() throws {
        let folder = try FileAccess.makeTemporaryFolder("linking")
        defer { try? FileAccess.remove(folder) }
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Fixtures/digits").path
        let key = try ModelKey.make(.x25519, team: "Acme", created: Dates.now)
        let store = KeyStore(folder: folder + "/keys")
        try store.store(key, strength: .file)
        try KeyFiles.write(key.with(.publicKey), to: folder + "/K.mlmodelkey")
        let package = try ModelFile.open(path: fixtures + "/Digits.mlpackage")
        let model = try EncryptedCompilation.compile(package, into: folder, key: folder + "/K.mlmodelkey")
        let archive = folder + "/Digits.mlarchive"
        try ArchivePackaging.archive(fixtures + "/Digits.mlpackage", to: archive)
        for path in [model, archive] {
            for arguments in ["--now", "--load"] {
                let linked = try run("EncryptedApp", path, arguments, store: store.folder)
                #expect(linked.status == 0, "\(linked.output)")
                let other = try run("ClearApp", path, arguments, store: store.folder)
                #expect(other.status == 1)
                #expect(
                    other.output.hasPrefix("error \(MLModelError.Code.modelDecryption.rawValue)"),
                    "\(other.output)"
                )
                #expect(other.output.contains("add the product CoreMLEncryption"), "\(other.output)")
            }
        }
        #expect(try run("ClearApp", fixtures + "/Digits.mlpackage", store: store.folder).status == 0)
    }
}
