import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation

/// Writes a server whose release has a large model and a small one, and what their weights have to be.
func publishLarge(_ folder: String) throws {
    var deployment = try SampleDeployment()
    let scratch = FileManager.default.temporaryDirectory.path
    var archives: [String: [UInt8]] = [:]
    var expected = ""
    for (name, count) in [("Classifier", 24 << 20), ("Effects", 300_000)] {
        let weights = SampleDeployment.noise(count, seed: UInt64(count))
        archives[name] = try SampleDeployment.archive(named: name, weights: weights, in: scratch)
        expected += "\(name) \(SampleDeployment.hash(weights))\n"
    }
    try deployment.publishRelease(1, archives, selfTest: ("Classifier", SampleDeployment.noise(3000, seed: 3)))
    try deployment.deploy(1)
    try write(deployment, to: folder)
    try Data(expected.utf8).write(to: URL(fileURLWithPath: folder + "/expected"))
}

/// Throws unless the models are whole and those that were published, or none at all.
private func compare(_ use: CollectionStore.Use, with list: String) throws {
    guard !use.models.isEmpty else { return }
    let lines = String(decoding: try Data(contentsOf: URL(fileURLWithPath: list)), as: UTF8.self).split(separator: "\n")
    guard use.models.count == lines.count else { throw Failure("the release is not whole") }
    for line in lines {
        let words = line.split(separator: " ").map(String.init)
        guard let path = use.models[words[0]] else { throw Failure("\(words[0]) is missing") }
        let weights = Array(try Data(contentsOf: URL(fileURLWithPath: path + "/compiled.bin")))
        guard SampleDeployment.hash(weights) == words[1] else { throw Failure("\(words[0]) has wrong bytes") }
    }
}

/// Checks over the network until there is something to use, and prints how each check went and how much memory was used.
/// - Returns: 0 when the release is there, 2 when it is not, 1 when what is there is wrong.
func fetch(_ folder: String, store: String, from address: String, checks: Int) async throws -> Int32 {
    let path = folder + "/ModelDeployment.json"
    guard let url = URL(string: address) else { throw Failure("\(address) is no address") }
    var configuration = try DeploymentConfiguration(contentsOf: path)
    configuration.server = url
    let place = try CollectionStore(folder: store)
    let updater = Updater(
        configuration: configuration,
        store: place,
        transport: PersistentTransport(URLSessionTransport()),
        attributes: { DeviceAttributes() },
        now: now
    )
    var isDone = false
    for _ in 0..<checks where !isDone {
        let start = ContinuousClock.now
        do throws(DeploymentError) {
            print("check \(try await updater.check(SampleDeployment.collection) { _, _ in }.result)")
            isDone = true
        } catch {
            print("refused \(error.code.rawValue): \(error)")
        }
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        print("seconds \(Double(seconds) + Double(attoseconds) / 1e18)")
    }
    let status = String(decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/self/status")), as: UTF8.self)
    let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
    print("memory \(peak.filter(\.isNumber))")
    let use = try place.use(SampleDeployment.collection) { _ in }
    do { try compare(use, with: folder + "/expected") } catch {
        print("wrong \(error)")
        return 1
    }
    print("release \(use.installed.number)")
    return isDone ? 0 : 2
}
