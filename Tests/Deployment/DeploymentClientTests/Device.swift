import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import MLEncryption
import Synchronization
import UpdateFramework

/// A device with a folder of its own, which is removed with it.
final class Device {
    let folder: String
    let transport: SampleTransport
    private let configuration: DeploymentConfiguration
    /// Seconds since the sample's start.
    private let clock = ClockHand()
    /// The outcome of the next launches' tests: pass, throw, or (by never ending) a crash.
    let verdict = Verdict()
    /// How the key of a model is got.
    var fetchKey: @Sendable (String) async throws(DeploymentError) -> Void = { (_) throws(DeploymentError) in }
    /// The decryption of encrypted models here.
    let vault = Vault()

    /// - Parameter created: when the app's configuration was made.
    init(_ deployment: SampleDeployment, created: UTCTime? = nil) throws {
        folder = FileManager.default.temporaryDirectory.path + "/device-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        transport = SampleTransport(deployment)
        configuration = try deployment.configuration(in: folder, created: created)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func setClock(_ seconds: Double) { clock.set(seconds) }

    /// A process of the app on this device.
    /// - Parameter obstacles: what downloads wait for.
    func launch(
        _ attributes: DeviceAttributes = DeviceAttributes(),
        obstacles: @escaping @Sendable () -> [String] = { [] },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) throws -> CollectionClient {
        let store = try CollectionStore(folder: folder + "/store")
        let (clock, verdict) = (clock, verdict)
        var updater = Updater(
            configuration: configuration,
            store: store,
            transport: transport,
            attributes: { attributes },
            now: { Date(timeIntervalSince1970: Double(SampleDeployment.start.secondsSince1970) + clock.seconds) },
            prefetchKey: fetchKey
        )
        updater.obstacles = obstacles
        updater.vault = vault
        return CollectionClient(
            store: store,
            updater: updater,
            test: { (_, _) throws(DeploymentError) in try verdict.give() },
            events: verdict.events,
            sleep: sleep
        )
    }

    func state() throws -> CollectionState {
        try CollectionStore(folder: folder + "/store").state(SampleDeployment.collection)
    }
}

final class ClockHand: Sendable {
    private let value = Mutex(60.0)
    var seconds: Double { value.withLock { $0 } }
    func set(_ seconds: Double) { value.withLock { $0 = seconds } }
}

/// How tests of releases end.
final class Verdict: Sendable {
    private let error = Mutex<DeploymentError?>(nil)
    private let failures = Mutex<[(release: Int, code: DeploymentError.Code)]>([])

    func set(_ error: DeploymentError?) { self.error.withLock { $0 = error } }

    func give() throws(DeploymentError) {
        if let error = error.withLock({ $0 }) { throw error }
    }

    /// The failures that were reported.
    var reported: [(release: Int, code: DeploymentError.Code)] { failures.withLock { $0 } }

    var events: CollectionClient.Events {
        var events = CollectionClient.Events()
        events.failed = { [self] _, release, error in failures.withLock { $0.append((release, error.code)) } }
        return events
    }
}

extension SampleDeployment {
    /// An archive of a model with some weights.
    static func sample(_ name: String, seed: UInt64, count: Int = 100_000) throws -> [UInt8] {
        try archive(named: name, weights: noise(count, seed: seed), in: FileManager.default.temporaryDirectory.path)
    }
}
