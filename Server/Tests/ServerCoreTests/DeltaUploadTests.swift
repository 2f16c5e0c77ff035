import DeploymentPolicy
import Foundation
import ServerBlobs
import ServerCore
import ServerTesting
import Testing

@Suite struct DeltaUploadTests {
    private func upload(_ bytes: [UInt8], to server: SampleServer, as actor: Principal? = nil) async throws
        -> StoredDelta
    {
        let actor = actor ?? server.admin
        let upload = try await server.service.uploadArchive(team: "acme", as: actor)
        try await upload.append(bytes)
        return try await server.service.finishDelta(upload, team: "acme", expecting: nil, as: actor)
    }

    @Test func releasesListTheDeltasToTheirArchives() async throws {
        let server = try await SampleServer()
        let first = try await server.publish()
        #expect(first.models[0].deltas.isEmpty)
        let archive = try await server.upload(SampleArchive.bytes("small pieces"))
        let delta = try await upload(SampleArchive.delta("copies"), to: server)
        #expect(delta.from == first.models[0].archive && delta.to == archive.sha256)
        // Once more changes nothing.
        #expect(try await upload(SampleArchive.delta("copies"), to: server).sha256 == delta.sha256)
        let release = try await server.service.createRelease(
            NewRelease(models: ["Classifier": .init(archive: archive.sha256)]),
            app: "shop",
            collection: "Flowers",
            as: server.admin
        )
        let listed = release.models[0].deltas
        #expect(listed.map(\.from) == [delta.from] && listed.map(\.sha256) == [delta.sha256])
        #expect(listed.map(\.byteCount) == [delta.byteCount])
        // It is served, checked and exported as what releases name.
        let digest = try #require(BlobDigest(delta.sha256))
        #expect(try await server.service.byteCount(of: digest) == delta.byteCount)
    }

    @Test func deltasThatAreNoneOrOfOtherArchivesAreRefusedAndNotKept() async throws {
        let server = try await SampleServer()
        #expect(await code { _ = try await upload(SampleArchive.delta("copies"), to: server) } == .invalid)
        _ = try await server.upload(SampleArchive.bytes("plain"))
        #expect(await code { _ = try await upload(SampleArchive.delta("copies"), to: server) } == .invalid)
        _ = try await server.upload(SampleArchive.bytes("small pieces"))
        for name in [
            "empty", "only the beginning", "changed header", "a newer format", "a length that is not the archive's",
        ] {
            #expect(await code { _ = try await upload(SampleArchive.delta(name), to: server) } == .invalid, "\(name)")
        }
        #expect(try await FolderBlobStore(folder: server.folder + "/blobs").digests().count == 2)
        #expect(try await upload(SampleArchive.delta("copies"), to: server).byteCount > 0)
    }

    @Test func aDeltaIsNoTestOfAModelAndNothingElseIsCalledOne() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        let archive = try await server.upload(SampleArchive.bytes("small pieces"))
        let delta = try await upload(SampleArchive.delta("copies"), to: server)
        let release = NewRelease(models: ["Classifier": .init(archive: archive.sha256, selfTest: delta.sha256)])
        #expect(
            await code {
                _ = try await server.service.createRelease(
                    release,
                    app: "shop",
                    collection: "Flowers",
                    as: server.admin
                )
            } == .invalid
        )
        let name = "mldelta \(delta.from) \(delta.to)"
        let vectors = try await server.service.uploadArchive(team: "acme", as: server.admin)
        try await vectors.append([0x50, 0x4B, 0x03, 0x04])
        #expect(
            await code {
                _ = try await server.service.finishVectors(
                    vectors,
                    team: "acme",
                    fileName: name,
                    expecting: nil,
                    as: server.admin
                )
            } == .invalid
        )
    }
}
