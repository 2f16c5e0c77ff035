import CoreMLDeployment
import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import MLFeatures
import MLFiles
import MLNumerics
import MLPackaging
import MLSpecification
import MLTestVectors
import SwiftProtobuf
import Synchronization
import Testing
import UpdateFramework

/// Rows of 512 numbers, multiplied by as many matrices as it has layers.
private func product(layers: Int) -> SpecModel {
    let (rows, size) = (64, 512)
    func array(_ name: String) -> SpecFeatureDescription {
        .with {
            $0.name = name
            $0.type.multiArrayType.shape = [Int64(rows), Int64(size)]
            $0.type.multiArrayType.dataType = .float32
        }
    }
    return .with { model in
        model.specificationVersion = 4
        model.description_p.input = [array("x")]
        model.description_p.output = [array("y")]
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.layers = (0..<layers).map { index in
            .with {
                $0.name = "layer\(index)"
                $0.input = [index == 0 ? "x" : "h\(index)"]
                $0.output = [index == layers - 1 ? "y" : "h\(index + 1)"]
                $0.innerProduct.inputChannels = UInt64(size)
                $0.innerProduct.outputChannels = UInt64(size)
                $0.innerProduct.weights.floatValue = (0..<size * size).map { Float($0 % 7 - 3) / 64 }
            }
        }
    }
}

/// The reasons why releases were rejected.
private final class Failures: Sendable {
    private let found = Mutex<[DeploymentError.Code]>([])
    var codes: [DeploymentError.Code] { found.withLock { $0 } }
    func add(_ code: DeploymentError.Code) { found.withLock { $0.append(code) } }
}

/// An app's device, its publisher, and a server in memory.
private final class Shop {
    static let collection = SampleDeployment.collection
    let folder: String
    var deployment: SampleDeployment
    let failures = Failures()

    init() throws {
        folder = try FileAccess.makeTemporaryFolder("shop")
        deployment = try SampleDeployment()
    }

    deinit { try? FileAccess.remove(folder) }

    /// Publishes a release of a model, with its answers on this machine as what it has to answer.
    func publish(_ number: Int, layers: Int, slowdown: Double?) throws {
        try FileAccess.makeFolder("\(folder)/\(number)")
        let source = "\(folder)/\(number)/Product.mlmodel"
        try Data(try product(layers: layers).serializedData()).write(to: URL(fileURLWithPath: source))
        let archive = folder + "/\(number).mlarchive"
        try ArchivePackaging.archive(source, to: archive)
        let zeros = FeatureData.tensor(
            Tensor(values: [Double](repeating: 0, count: 64 * 512), scalarType: .float32, shape: [64, 512])
        )
        let vectors = folder + "/\(number).npz"
        try VectorWriter.write(
            TestVectors(cases: [
                TestCase(name: "zeros", steps: [.init(inputs: ["x": zeros], outputs: ["y": .value(zeros)])])
            ]),
            to: vectors
        )
        try deployment.publishRelease(
            number,
            ["Product": Array(try Data(contentsOf: URL(fileURLWithPath: archive)))],
            selfTest: ("Product", Array(try Data(contentsOf: URL(fileURLWithPath: vectors)))),
            slowdown: slowdown
        )
    }

    /// The release that a launch uses once it has been downloaded.
    func deploy(_ number: Int) async throws -> Int {
        try deployment.deploy(number)
        _ = try await launch().check(Self.collection)
        return try await launch().open(Self.collection).installed.number
    }

    private func launch() throws -> CollectionClient {
        let store = try CollectionStore(folder: folder + "/store")
        let updater = Updater(
            configuration: try deployment.configuration(in: folder),
            store: store,
            transport: SampleTransport(deployment),
            attributes: { DeviceAttributes() },
            now: { Date(timeIntervalSince1970: Double(SampleDeployment.start.secondsSince1970) + 60) }
        )
        var events = CollectionClient.Events()
        events.failed = { [failures] _, _, error in failures.add(error.code) }
        return CollectionClient(store: store, updater: updater, test: ReleaseTest.run, events: events)
    }
}

@Suite struct ReleaseTestTests {
    @Test func aReleaseThatIsManyTimesSlowerIsGivenUpAtOnce() async throws {
        let shop = try Shop()
        try shop.publish(1, layers: 1, slowdown: 3)
        try shop.publish(2, layers: 24, slowdown: 3)
        try shop.publish(3, layers: 24, slowdown: nil)
        // Nothing is there to be compared with.
        #expect(try await shop.deploy(1) == 1)
        #expect(try await shop.deploy(2) == 1)
        #expect(shop.failures.codes == [.slow])
        // Its publisher knows that it takes longer.
        #expect(try await shop.deploy(3) == 3)
    }

    @Test func aReleaseThatIsAsFastIsKept() async throws {
        let shop = try Shop()
        try shop.publish(1, layers: 8, slowdown: 3)
        try shop.publish(2, layers: 9, slowdown: 3)
        #expect(try await shop.deploy(1) == 1)
        #expect(try await shop.deploy(2) == 2)
        #expect(shop.failures.codes.isEmpty)
    }
}
