import ArgumentParser
import DeploymentClient
import Foundation

/// Shows the models of a device, from its own store.
struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Show the models of a collection on this device, and the reasons.",
        discussion: """
            Reads the store that an app keeps on this device, without contacting a server. coreml deploy explain shows the \
            server's view for a described device.

            Examples:
              coreml deploy device status
              coreml deploy device explain --collection FlowerModels
            """,
        subcommands: [DeviceStatus.self, DeviceExplain.self],
        defaultSubcommand: DeviceStatus.self
    )
}

struct DeviceStoreOptions: ParsableArguments {
    @Option(help: "The store; by default all below $XDG_DATA_HOME/swift-coreml/collections.")
    var store: String?

    /// The folders of existing stores; none is made.
    func folders() throws -> [String] {
        if let store {
            guard Self.isStore(store) else {
                throw ValidationError("\(store) is not a store: it has no folder \"collections\".")
            }
            return [store]
        }
        let environment = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        let base = environment ?? FileManager.default.homeDirectoryForCurrentUser.path + "/.local/share"
        let root = base + "/swift-coreml/collections"
        let apps = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let stores = apps.flatMap { app in
            ((try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(app)")) ?? []).map {
                "\(root)/\(app)/\($0)"
            }
        }
        let found = stores.filter(Self.isStore).sorted()
        guard !found.isEmpty else { throw ValidationError("No app has a store below \(root); name one with --store.") }
        return found
    }

    private static func isStore(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: folder + "/collections")
    }
}

struct DeviceStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the release of each collection and the result of the last check."
    )

    @OptionGroup var stores: DeviceStoreOptions

    func run() throws {
        for folder in try stores.folders() {
            print(folder)
            let store = try CollectionStore(folder: folder)
            for identifier in try store.collections() {
                let status = try CollectionStatus(of: identifier, in: store)
                let check = status.check.map {
                    "asked \($0.date): \($0.result.rawValue)\($0.code.map { " (\($0))" } ?? "")"
                }
                print("  \(status.summary); \(check ?? "never asked")")
            }
        }
    }
}

struct DeviceExplain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain why this device has its models: rules, bucket, checks and failures."
    )

    @OptionGroup var stores: DeviceStoreOptions
    @Option(help: "The collection; all of them by default.") var collection: String?

    func run() throws {
        var isFound = false
        for folder in try stores.folders() {
            let store = try CollectionStore(folder: folder)
            for identifier in try store.collections() where collection == nil || identifier == collection {
                isFound = true
                print(try CollectionStatus(of: identifier, in: store))
            }
        }
        guard isFound else {
            throw ValidationError("No app has used the collection \"\(collection ?? "")\" on this device.")
        }
    }
}
