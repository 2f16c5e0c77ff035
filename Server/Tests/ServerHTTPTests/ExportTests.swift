import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ServerCore
import Testing
import UpdateFramework

@Suite struct ExportTests {
    private func files(_ folder: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder + "/" + name, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    @Test func `a static host has at each address what the server has there`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let folder = world.folder + "/site"
        let summary = try await world.service.export(to: folder)
        let files = files(folder)
        #expect(summary.written == files.count && summary.kept == 0 && files.count > 8)
        #expect(files.contains("v1/apps/shop/environments/production/collections/Flowers/policy.json"))
        #expect(files.contains("v1/trust/acme/metadata/timestamp.json"))
        #expect(files.contains("b/sha256/\(world.names["sha256"] ?? "")"))
        try await world.run { client in
            for file in files {
                let path = file.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
                let answer = try await client.execute(uri: "/" + path, method: .get)
                #expect(answer.status == .ok, "\(file)")
                let bytes = FileManager.default.contents(atPath: folder + "/" + file)
                #expect(bytes == Data(Array(buffer: answer.body)), "\(file)")
            }
        }
        let again = try await world.service.export(to: folder)
        #expect(again.written == 0 && again.kept == files.count)
    }

    @Test func `a client trusts what it reads from the exported folder`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let folder = world.folder + "/site"
        let summary = try await world.service.export(to: folder, teams: ["acme"])
        #expect(!FileManager.default.fileExists(atPath: folder + "/v1/trust/other"))
        // Policies and timestamps are the first to expire.
        #expect(try #require(summary.expires).timeIntervalSince(World.start) <= 86_400)
        let root = try #require(FileManager.default.contents(atPath: folder + "/v1/trust/acme/metadata/1.root.json"))
        let updater = MetadataUpdater(
            metadata: FolderFetcher(folder: folder + "/v1/trust/acme/metadata/"),
            targets: FolderFetcher(folder: folder + "/v1/trust/acme/targets/"),
            store: try FileMetadataStore(folder: world.folder + "/client"),
            bundledRoot: [UInt8](root)
        )
        var trusted = try await updater.refresh(at: UTCTime(secondsSince1970: Int64(World.start.timeIntervalSince1970)))
        let target = try #require(try await updater.target("apps/shop/collections/Flowers/1.json", in: &trusted))
        #expect(try await updater.download(target, in: trusted).count == target.length)
    }

    @Test func `exporting a team that does not exist says so`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        await #expect(throws: ServiceError.self) {
            _ = try await world.service.export(to: world.folder + "/site", teams: ["none"])
        }
    }
}

/// Files of a folder, as a static host gives them.
private struct FolderFetcher: MetadataFetcher {
    let folder: String

    func fetch(_ path: String, limit: Int) async throws -> [UInt8]? {
        FileManager.default.contents(atPath: folder + (path.removingPercentEncoding ?? path)).map { [UInt8]($0) }
    }
}
