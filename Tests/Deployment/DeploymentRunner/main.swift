// An app on a device, as a program that tests end at any point and start again.
//   DeploymentRunner publish FOLDER          writes what a server would answer, and three states of it: 1, 2, 3
//   DeploymentRunner publish-large FOLDER    writes a server of one release with a large model
//   DeploymentRunner launch FOLDER STORE     accesses the collection once; prints what the app gets and how the check went
//   DeploymentRunner fetch FOLDER STORE URL CHECKS     checks over the network until the release is there, so often at most
//   DeploymentRunner access FOLDER STORE THREADS ITERATIONS    begins and ends accesses in many threads, and looks at the models
//   DeploymentRunner device FOLDER STORE NAME TIME works|fails    a launch and a check of a device at a time, in seconds since 1970
//   DeploymentRunner flips BODY    lets a server send wrong bits: of each byte of what is signed, and so many of a model
// Reliability/client-kills ends it at each of its calls that change files, and lets each of them fail;
// Reliability/hostile-network stands between it and its server; Reliability/fleet-simulation compares it with simulated devices.

import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import UpdateFramework

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    print("usage: DeploymentRunner publish | launch | fetch | access | device | flips …")
    exit(64)
}
let folder = arguments[2]

func write(_ deployment: SampleDeployment, to folder: String) throws {
    for (path, bytes) in deployment.files {
        let url = URL(fileURLWithPath: folder + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }
    _ = try deployment.configuration(in: folder)
}

/// Three states of a server: release 1, release 2 whose first model differs from that by a delta, and release 3 for nobody but
/// rollback to 1.
func publish() throws {
    var deployment = try SampleDeployment()
    let scratch = FileManager.default.temporaryDirectory.path
    func archive(_ name: String, _ seed: UInt64, head: UInt64) throws -> [UInt8] {
        let weights = SampleDeployment.noise(1 << 20, seed: seed) + SampleDeployment.noise(1 << 16, seed: head)
        return try SampleDeployment.archive(named: name, weights: weights, in: scratch)
    }
    let classifiers = (try archive("Classifier", 1, head: 1), try archive("Classifier", 1, head: 3))
    try deployment.publishRelease(
        1,
        ["Classifier": classifiers.0, "Effects": try archive("Effects", 2, head: 2)]
    )
    try deployment.deploy(1)
    try write(deployment, to: folder + "/1")
    try deployment.publishRelease(
        2,
        ["Classifier": classifiers.1, "Effects": try archive("Effects", 4, head: 4)],
        deltas: [
            (
                "Classifier", classifiers.0,
                try SampleDeployment.delta(from: classifiers.0, to: classifiers.1, in: scratch)
            )
        ]
    )
    try deployment.deploy(2)
    try write(deployment, to: folder + "/2")
    try deployment.deploy(1)
    try write(deployment, to: folder + "/3")
}

/// Throws unless each model's files are those of its archive: what the app would load.
@Sendable func check(_ use: CollectionStore.Use) throws {
    for (name, path) in use.models {
        let weights = try Data(contentsOf: URL(fileURLWithPath: path + "/compiled.bin"))
        guard weights.count == (1 << 20) + (1 << 16) else { throw Failure("\(name) is cut off") }
        let known = [(1, 1), (2, 2), (1, 3), (4, 4)].contains { seed, head in
            weights.prefix(64).elementsEqual(SampleDeployment.noise(64, seed: UInt64(seed)))
                && weights.suffix(1 << 16).elementsEqual(SampleDeployment.noise(1 << 16, seed: UInt64(head)))
        }
        guard known else { throw Failure("\(name) has bytes of no release") }
    }
    guard use.models.isEmpty || use.models.count == 2 else { throw Failure("the release is not whole") }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

@Sendable func now() -> Date { Date(timeIntervalSince1970: Double(SampleDeployment.start.secondsSince1970) + 60) }

func launch(_ store: String) async throws {
    let configuration = try DeploymentConfiguration(contentsOf: folder + "/ModelDeployment.json")
    let place = try CollectionStore(folder: store)
    let updater = Updater(
        configuration: configuration,
        store: place,
        transport: FolderTransport(folder: folder),
        attributes: { DeviceAttributes() },
        now: now
    )
    let client = CollectionClient(
        store: place,
        updater: updater,
        test: { (use, _) throws(DeploymentError) in
            do { try check(use) } catch { throw DeploymentError(.selfTest, "", "\(error)") }
        }
    )
    let use = try await client.open(SampleDeployment.collection)
    try check(use)
    // A mixed state would show as models of different releases.
    print("release \(use.installed.number)")
    let result = try await client.check(SampleDeployment.collection)
    print("check \(result.result)")
}

switch arguments[1] {
case "publish": try publish()
case "publish-large": try publishLarge(folder)
case "launch" where arguments.count == 4:
    do { try await launch(arguments[3]) } catch {
        print("error \(error)")
        exit(error is DeploymentError ? 2 : 1)
    }
case "fetch" where arguments.count == 6:
    exit(try await fetch(folder, store: arguments[3], from: arguments[4], checks: Int(arguments[5]) ?? 1))
case "access" where arguments.count == 6:
    let (threads, iterations) = (Int(arguments[4]) ?? 1, Int(arguments[5]) ?? 1)
    exit(try await access(folder, store: arguments[3], threads: threads, iterations: iterations))
case "device" where arguments.count == 7:
    guard let time = Double(arguments[5]), ["works", "fails"].contains(arguments[6]) else { exit(64) }
    do {
        let date = Date(timeIntervalSince1970: time)
        try await visit(folder, store: arguments[3], installID: arguments[4], at: date, works: arguments[6] == "works")
    } catch {
        print("error \(error)")
        exit(1)
    }
case "flips":
    exit(try await flipBits(bodies: Int(folder) ?? 0))
default:
    print("usage: DeploymentRunner publish | launch | fetch | access | device | flips …")
    exit(64)
}
