import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import MLEncryption
import MLNumerics
import Testing

private let flowers = SampleDeployment.collection
private let scratch = FileManager.default.temporaryDirectory.path

/// A model whose weights all change by a little, with and without encryption; the first release is deployed.
private struct Retrain {
    var deployment: SampleDeployment
    let archives: [[UInt8]]
    let delta: [UInt8]

    /// - Parameter deltaBytes: changes what the server has in place of the delta.
    init(key: ModelKey? = nil, deltaBytes: ([UInt8]) -> [UInt8] = { $0 }) throws {
        deployment = try SampleDeployment()
        let weights = SampleDeployment.noise(1_000_000, seed: 1)
        archives = try [weights, weights.map { $0 &+ 1 }].map { weights in
            guard let key else {
                return try SampleDeployment.archive(named: "Classifier", weights: weights, in: scratch)
            }
            return try SampleDeployment.encryptedArchive(named: "Classifier", weights: weights, key: key, in: scratch)
        }
        delta = try SampleDeployment.delta(from: archives[0], to: archives[1], key: key, in: scratch)
        try deployment.publishRelease(1, ["Classifier": archives[0]])
        try deployment.publishRelease(
            2,
            ["Classifier": archives[1]],
            deltas: [("Classifier", archives[0], deltaBytes(delta))]
        )
        try deployment.deploy(1)
    }

    /// A device that has the first release and is to have the second.
    /// - Parameter key: what the device's key service gives out content keys of.
    mutating func device(_ key: ModelKey? = nil) async throws -> Device {
        let device = try Device(deployment)
        if let key {
            let vault = device.vault
            vault.setService { (request) throws(ModelError) in
                KeyLease(contentKey: try request.record.contentKey(key), seconds: nil, isShared: false)
            }
            device.fetchKey = { (path) throws(DeploymentError) in
                do throws(ModelError) { try await vault.renewKey(for: path) } catch {
                    throw DeploymentError(.key, path, error.description)
                }
            }
        }
        #expect(try await device.launch().check(flowers).result == .staged)
        #expect(try await device.launch().open(flowers).installed.number == 1)
        _ = device.transport.takeLog()
        try deployment.deploy(2)
        device.transport.serve(deployment)
        return device
    }

    func path(_ bytes: [UInt8]) -> String { "/b/sha256/" + SampleDeployment.hash(bytes) }

    /// The files of the model that the device has of the second release.
    func files(of device: Device) throws -> [String: Data] {
        let folder = "\(device.folder)/store/models/\(SampleDeployment.hash(archives[1]))/Classifier.mlmodelc"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0))) }
        )
    }

    /// The state of a device that never had the first release.
    mutating func filesOfWholeDownload() async throws -> [String: Data] {
        let device = try Device(deployment)
        #expect(try await device.launch().check(flowers).result == .staged)
        return try files(of: device)
    }
}

@Suite(.serialized) struct DeltaDownloadTests {
    @Test func aDeltaBringsTheModelThatAWholeDownloadBrings() async throws {
        var retrain = try Retrain()
        let device = try await retrain.device()
        #expect(try await device.launch().check(flowers).result == .staged)
        let log = device.transport.takeLog()
        #expect(log.paths.contains(retrain.path(retrain.delta)))
        #expect(!log.paths.contains(retrain.path(retrain.archives[1])))
        #expect(log.bytes < 100_000)
        #expect(try retrain.files(of: device) == (try await retrain.filesOfWholeDownload()))
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.folder + "/store/partial").isEmpty)
        #expect(try await device.launch().open(flowers).installed.number == 2)
    }

    @Test func aDeltaOfAnEncryptedModelBringsItsEncryptedFiles() async throws {
        let key = try ModelKey.make(.aes, team: "Acme", created: Dates.now)
        var retrain = try Retrain(key: key)
        let device = try await retrain.device(key)
        #expect(try await device.launch().check(flowers).result == .staged)
        #expect(!device.transport.takeLog().paths.contains(retrain.path(retrain.archives[1])))
        #expect(try retrain.files(of: device) == (try await retrain.filesOfWholeDownload()))
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.folder + "/store/partial").isEmpty)
    }

    @Test func withoutTheKeyTheEncryptedArchiveIsFetched() async throws {
        let key = try ModelKey.make(.aes, team: "Acme", created: Dates.now)
        var retrain = try Retrain(key: key)
        let device = try await retrain.device()
        #expect(try await device.launch().check(flowers).result == .staged)
        #expect(device.transport.takeLog().paths.contains(retrain.path(retrain.archives[1])))
        #expect(try retrain.files(of: device) == (try await retrain.filesOfWholeDownload()))
    }

    @Test func aDeltaThatIsDamagedOrMissingOrOfAnotherArchiveCostsTheArchive() async throws {
        let other = try SampleDeployment.delta(
            from: try SampleDeployment.sample("Classifier", seed: 3),
            to: try SampleDeployment.sample("Classifier", seed: 4),
            in: scratch
        )
        // Each of these is what the publisher signed, by mistake; the last is damaged on its way.
        let wrong: [([UInt8]) -> [UInt8]] = [
            { Array($0.dropLast()) }, { $0.dropLast(9) + [UInt8](repeating: 7, count: 9) }, { _ in other },
            { _ in Array("no delta".utf8) },
        ]
        for change in wrong {
            var retrain = try Retrain(deltaBytes: change)
            let device = try await retrain.device()
            #expect(try await device.launch().check(flowers).result == .staged)
            #expect(try retrain.files(of: device) == (try await retrain.filesOfWholeDownload()))
            #expect(try FileManager.default.contentsOfDirectory(atPath: device.folder + "/store/partial").isEmpty)
            let record = try CollectionStore(folder: device.folder + "/store").lastCheck(flowers)
            #expect(record?.message?.contains("A delta could not be used") == true && record?.code == nil)
        }
        let faults: [@Sendable (TransportAnswer) -> TransportAnswer] = [
            { _ in TransportAnswer(status: 404) }, { _ in TransportAnswer(status: 500) },
            { answer in
                var answer = answer
                answer.body[answer.body.count / 2] ^= 1
                return answer
            },
        ]
        for fault in faults {
            var retrain = try Retrain()
            let device = try await retrain.device()
            let place = retrain.path(retrain.delta)
            device.transport.setFault { path, _, answer in path == place ? fault(answer) : answer }
            #expect(try await device.launch().check(flowers).result == .staged)
            #expect(try retrain.files(of: device) == (try await retrain.filesOfWholeDownload()))
        }
    }

    @Test func anInterruptedDeltaGoesOnWhereItEnded() async throws {
        var retrain = try Retrain()
        let device = try await retrain.device()
        let (place, arrived) = (retrain.path(retrain.delta), Counter())
        let part = retrain.delta.count / 4
        for _ in 0..<3 {
            device.transport.setFault { path, request, answer in
                guard path == place else { return answer }
                arrived.add(part)
                try request.receive?(
                    TransportRequest.Part(headers: answer.headers, bytes: Array(answer.body.prefix(part)))
                )
                throw DeploymentError(.cancelled, path, "killed")
            }
            await #expect(throws: DeploymentError.self) { try await device.launch().check(flowers) }
        }
        device.transport.setFault { path, _, answer in
            if path == place { arrived.add(answer.body.count) }
            return answer
        }
        // Partial files of an interrupted launch are still there.
        let work = "\(device.folder)/store/partial/\(SampleDeployment.hash(retrain.delta)).work"
        try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
        try Data("half".utf8).write(to: URL(fileURLWithPath: work + "/result"))
        #expect(try await device.launch().check(flowers).result == .staged)
        #expect(arrived.value <= retrain.delta.count + 16)
        #expect(try retrain.files(of: device) == (try await retrain.filesOfWholeDownload()))
    }
}
