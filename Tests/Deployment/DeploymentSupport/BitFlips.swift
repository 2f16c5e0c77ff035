package import DeploymentClient
import DeploymentPolicy
import Foundation
import UpdateFramework

/// A device that a server with one wrong bit is to fool: what it must refuse, or take only when nothing that was signed
/// is changed.
package final class BitFlips {
    /// How a device that met a wrong bit ended up.
    package enum Outcome: Sendable, Equatable {
        /// It kept what it had.
        case refused(DeploymentError.Code)
        /// It has the signed models: the bit is one that means nothing, such as the case of a digit of a signature.
        case unchanged
        /// It has something else.
        case fooled
    }

    /// The files of a server, by their paths.
    package let files: [String: [UInt8]]
    private let transport: SampleTransport
    private let configuration: DeploymentConfiguration
    private let folder: String
    private let weights: [UInt8]

    /// - Parameter weights: how many bytes the model has.
    package init(weights count: Int) throws {
        folder = FileManager.default.temporaryDirectory.path + "/flips-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        weights = SampleDeployment.noise(count, seed: 1)
        var deployment = try SampleDeployment()
        let archive = try SampleDeployment.archive(named: "Classifier", weights: weights, in: folder)
        try deployment.publishRelease(
            1,
            ["Classifier": archive],
            selfTest: ("Classifier", SampleDeployment.noise(300, seed: 2))
        )
        try deployment.deploy(1)
        files = deployment.files
        transport = SampleTransport(deployment)
        configuration = try deployment.configuration(in: folder)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The files that a device reads on its way to release 1, the older versions of metadata not among them.
    package func readFiles() async throws -> [String] {
        _ = transport.takeLog()
        guard try await check() == .unchanged else { return [] }
        return Set(transport.takeLog().paths).filter { files[$0] != nil }.sorted()
    }

    /// The result of a new device when one bit of a file is wrong.
    package func outcome(_ path: String, at offset: Int, bit: Int) async throws -> Outcome {
        transport.flip(path, at: offset, bit: bit)
        defer { transport.flip(path, at: offset, bit: bit) }
        return try await check()
    }

    private func check() async throws -> Outcome {
        let place = folder + "/store"
        try? FileManager.default.removeItem(atPath: place)
        let store = try CollectionStore(folder: place)
        let updater = Updater(
            configuration: configuration,
            store: store,
            transport: transport,
            attributes: { DeviceAttributes() },
            now: { Date(timeIntervalSince1970: Double(SampleDeployment.start.secondsSince1970) + 60) }
        )
        let collection = SampleDeployment.collection
        let code: DeploymentError.Code
        do throws(DeploymentError) {
            _ = try await updater.check(collection) { _, _ in }
            return try isRight(store) ? .unchanged : .fooled
        } catch { code = error.code }
        let state = try store.state(collection)
        let kept = try ["releases", "vectors"].flatMap {
            try FileManager.default.contentsOfDirectory(atPath: "\(place)/\($0)")
        }
        // An archive may be there and right when something else of the release is not.
        let models = try FileManager.default.contentsOfDirectory(atPath: place + "/models")
        let areRight = models.allSatisfy { hasRightWeights("\(place)/models/\($0)/Classifier.mlmodelc") }
        return state.next == nil && state.current == nil && kept.isEmpty && areRight ? .refused(code) : .fooled
    }

    /// Whether what the app gets next is release 1 as it was signed.
    private func isRight(_ store: CollectionStore) throws(DeploymentError) -> Bool {
        let use = try store.use(SampleDeployment.collection) { _ in }
        guard use.installed.number == 1, let path = use.models["Classifier"] else { return false }
        return hasRightWeights(path)
    }

    private func hasRightWeights(_ model: String) -> Bool {
        FileManager.default.contents(atPath: model + "/compiled.bin").map { $0.elementsEqual(weights) } ?? false
    }
}
