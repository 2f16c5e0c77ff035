import Foundation
import UpdateFramework

/// A client with the command line of tuf-conformance (its CLIENT-CLI.md).
struct ConformanceClient {
    private struct UsageError: Error, CustomStringConvertible { let description: String }

    private var options: [String: [String]] = [:]
    private var command: [String] = []

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument.hasPrefix("--") {
                guard let value = rest.popFirst() else { throw UsageError(description: "\(argument) needs a value") }
                options[argument, default: []].append(value)
            } else {
                command.append(argument)
            }
        }
    }

    func run() async throws {
        switch command.first {
        case "init" where command.count == 2: try initialize(command[1])
        case "refresh": _ = try await updater().refresh(at: .now)
        case "download": try await download()
        default: throw UsageError(description: "init ROOT, refresh or download was expected")
        }
    }

    private func option(_ name: String) throws -> String {
        guard let value = options[name]?.last else { throw UsageError(description: "\(name) is missing") }
        return value
    }

    private func initialize(_ path: String) throws {
        let root = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        _ = try TrustedMetadata(trustedRoot: root, start: .now)
        try FileMetadataStore(folder: option("--metadata-dir")).store("root", root)
    }

    private func updater() throws -> MetadataUpdater {
        MetadataUpdater(
            metadata: try WebFetcher(base: option("--metadata-url")),
            targets: try WebFetcher(base: options["--target-base-url"]?.last ?? option("--metadata-url")),
            store: try FileMetadataStore(folder: option("--metadata-dir")),
            bundledRoot: nil
        )
    }

    private func download() async throws {
        let updater = try updater()
        var trusted = try await updater.refresh(at: .now)
        for name in options["--target-name"] ?? [] {
            guard let target = try await updater.target(name, in: &trusted) else {
                throw UsageError(description: "\(name) is no target")
            }
            let file = URL(fileURLWithPath: try option("--target-dir"))
                .appendingPathComponent(name.replacingOccurrences(of: "/", with: "%2F"))
            if let old = try? Data(contentsOf: file), (try? target.verify([UInt8](old))) != nil { continue }
            try Data(try await updater.download(target, in: trusted)).write(to: file, options: .atomic)
        }
    }
}
