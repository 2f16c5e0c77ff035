import Foundation
import HTTPTypes
import Hummingbird
import ServerBlobs
import ServerCore

/// Uploads of archives, test vectors and deltas.
extension APIRoutes {
    /// The largest accepted archive in bytes.
    static let maximumArchiveByteCount = 10 << 30

    @Sendable func uploadArchive(_ request: Request, _ context: Context) async throws -> Response {
        let (team, actor) = (try context.name("team"), try context.actor)
        let archive = try await upload(request, context) { upload, name, expected in
            try await service.finishArchive(upload, team: team, fileName: name, expecting: expected, as: actor)
        }
        return Answers.json(archive, status: .created)
    }

    @Sendable func uploadVectors(_ request: Request, _ context: Context) async throws -> Response {
        let (team, actor) = (try context.name("team"), try context.actor)
        let vectors = try await upload(request, context) { upload, name, expected in
            try await service.finishVectors(upload, team: team, fileName: name, expecting: expected, as: actor)
        }
        return Answers.json(vectors, status: .created)
    }

    @Sendable func uploadDelta(_ request: Request, _ context: Context) async throws -> Response {
        let (team, actor) = (try context.name("team"), try context.actor)
        let delta = try await upload(request, context) { upload, _, expected in
            try await service.finishDelta(upload, team: team, expecting: expected, as: actor)
        }
        return Answers.json(delta, status: .created)
    }

    /// Stores the body of a request as a file.
    func upload<Stored>(
        _ request: Request,
        _ context: Context,
        finish: (any BlobUpload, _ name: String, _ expected: BlobDigest?) async throws -> Stored
    ) async throws -> Stored {
        let expected = try request.uri.queryParameters["sha256"].map { text in
            guard let digest = BlobDigest(String(text)) else {
                throw ServiceError(.invalid, "A hash has 64 lower-case hexadecimal digits.", field: "sha256")
            }
            return digest
        }
        let name = request.uri.queryParameters["name"].map(String.init) ?? ""
        let upload = try await service.uploadArchive(team: context.name("team"), as: context.actor)
        do {
            var byteCount = 0
            for try await buffer in request.body {
                byteCount += buffer.readableBytes
                guard byteCount <= Self.maximumArchiveByteCount else {
                    throw ServiceError(.tooLarge, "A file has at most \(Self.maximumArchiveByteCount >> 30) GiB.")
                }
                try await upload.append(Array(buffer: buffer))
            }
            return try await finish(upload, name, expected)
        } catch {
            await upload.cancel()
            throw error
        }
    }
}
