import Foundation
import Synchronization
import UpdateFramework

/// Follows made-up repositories: a line of JSON says what to do, a line of JSON says what came of it
/// (`Oracles/update-framework/histories` writes and compares them).
enum Histories {
    private struct Request: Decodable {
        /// The folder of the client's store.
        let store: String
        /// The folder that holds the repository's folders `metadata` and `targets`.
        let repository: String
        /// The file of the root that the client's app bundles.
        let bundled: String?
        let time: Int64
        /// Files that cannot be fetched.
        let broken: [String]
        let paths: [String]
    }

    private struct Problem: Encodable {
        let code: String
        let role: String
        let text: String

        init(_ error: any Error) {
            let error = error as? UpdateError
            code = error?.code.rawValue ?? "foreign"
            role = error?.role ?? ""
            text = error.map(String.init(describing:)) ?? ""
        }
    }

    private struct Lookup: Encodable {
        var role: String?
        var sha256: String?
        var problem: Problem?
    }

    private struct Answer: Encodable {
        var problem: Problem?
        var lookups: [Lookup] = []
        var requests: [String] = []
        /// The state known without a network: the expiry, or the error.
        var validUntil: String?
        var cachedProblem: Problem?
    }

    static func run() async throws {
        while let line = readLine() {
            let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
            let answer = try JSONEncoder().encode(try await follow(request))
            FileHandle.standardOutput.write(answer + Data("\n".utf8))
        }
    }

    private static func follow(_ request: Request) async throws -> Answer {
        let log = RequestLog()
        let updater = MetadataUpdater(
            metadata: FolderFetcher(request.repository + "/metadata", broken: request.broken, log: log),
            targets: FolderFetcher(request.repository + "/targets", broken: request.broken, log: log),
            store: try FileMetadataStore(folder: request.store),
            bundledRoot: try request.bundled.map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0))) }
        )
        let time = UTCTime(secondsSince1970: request.time)
        var answer = Answer()
        do {
            var trusted = try await updater.refresh(at: time)
            for path in request.paths { answer.lookups.append(await lookUp(path, updater, &trusted)) }
        } catch { answer.problem = Problem(error) }
        do { answer.validUntil = try updater.cached(at: time).validUntil.description } catch {
            answer.cachedProblem = Problem(error)
        }
        answer.requests = log.names.withLock { $0 }
        return answer
    }

    private static func lookUp(
        _ path: String,
        _ updater: MetadataUpdater,
        _ trusted: inout TrustedMetadata
    ) async -> Lookup {
        var lookup = Lookup()
        do {
            guard let target = try await updater.target(path, in: &trusted) else { return lookup }
            lookup.role = target.role
            lookup.sha256 = FileHashes(of: try await updater.download(target, in: trusted)).sha256
        } catch { lookup.problem = Problem(error) }
        return lookup
    }
}

final class RequestLog: Sendable {
    let names = Mutex<[String]>([])
}

/// Fetches from a folder.
struct FolderFetcher: MetadataFetcher {
    private struct Broken: Error {}

    private let folder: String
    private let broken: [String]
    private let log: RequestLog

    init(_ folder: String, broken: [String], log: RequestLog) {
        (self.folder, self.broken, self.log) = (folder, broken, log)
    }

    func fetch(_ path: String, limit: Int) async throws -> [UInt8]? {
        log.names.withLock { $0.append(path) }
        if broken.contains(path) { throw Broken() }
        return FileManager.default.contents(atPath: "\(folder)/\(path)").map { [UInt8]($0) }
    }
}
