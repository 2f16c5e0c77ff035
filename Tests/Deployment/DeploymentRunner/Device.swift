import DeploymentClient
import DeploymentPolicy
import Foundation

/// Launches the app on a device whose name and clock are given, and checks once; `works` says how the trial of a release ends.
///
/// Prints what the launch did (`used`, `loaded` after a trial, or `failed`) and with which release, then the release of the next
/// launch, the version of the policy, and the seconds until the next check.
func visit(_ folder: String, store: String, installID: String, at date: Date, works: Bool) async throws {
    let place = try CollectionStore(folder: store)
    let updater = Updater(
        configuration: try DeploymentConfiguration(contentsOf: folder + "/ModelDeployment.json"),
        store: place,
        transport: PersistentTransport(URLSessionTransport()),
        attributes: {
            var attributes = DeviceAttributes()
            attributes.installID = installID
            attributes.deviceClass = .phone
            return attributes
        },
        now: { date }
    )
    let collection = "Flowers"
    let client = CollectionClient(
        store: place,
        updater: updater,
        test: { (_, _) throws(DeploymentError) in
            if !works { throw DeploymentError(.selfTest, collection, "The device was told that the release fails.") }
        }
    )
    let before = try place.state(collection)
    let use = try await client.open(collection)
    let check = try await client.check(collection)
    let after = try place.state(collection)
    var launch = "used \(use.installed.number)"
    // A release that the device had before is used again without a trial.
    if let next = before.next { launch = use.installed == next ? "loaded \(next.number)" : "failed \(next.number)" }
    let next = (after.next ?? after.current)?.number ?? 0
    print("\(launch), next \(next), policy \(after.policyVersion), interval \(check.pollInterval)")
}
