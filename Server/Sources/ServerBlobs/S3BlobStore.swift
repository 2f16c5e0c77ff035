import Crypto
public import Foundation
import Synchronization

/// Blobs as objects of S3-compatible storage, which several servers share: `prefix/b/sha256/abcd…`.
///
/// Bytes that arrive are written to a local file first, because an object's name is their hash; the object appears in
/// the storage when it is complete. Parts of uploads that a crash interrupted stay in the storage, invisible, until the
/// bucket's rule that aborts incomplete uploads removes them.
public final class S3BlobStore: BlobStore {
    private let client: S3Client
    private let copies: LocalCopies

    /// Creates a store; `scratch` is a folder of this server alone for temporary files, which is emptied.
    public init(_ address: S3Address, _ credentials: S3Signer.Credentials, scratch: String) throws {
        client = S3Client(address, credentials)
        copies = try LocalCopies(folder: scratch)
    }

    /// 4 MiB, as each piece is a request.
    public var pieceByteCount: Int { 4 << 20 }

    private func key(_ digest: BlobDigest) -> String { "\(client.address.prefix)b/sha256/\(digest)" }

    /// Begins an upload into a local file.
    public func upload() async throws -> any BlobUpload {
        try S3Upload(file: FileWriter(path: copies.newPath())) { [self] in try await store($0, $1, $2) }
    }

    /// The length of an object; `nil` when there is none.
    public func byteCount(_ digest: BlobDigest) async throws -> Int? {
        let answer = try await client.send("HEAD", key(digest), accepting: [200, 404])
        guard answer.status == 200 else { return nil }
        guard let count = answer.headers["content-length"].flatMap({ Int($0) }), count >= 0 else {
            throw BlobError.failure("\(client.address.host) does not state the length of \(key(digest))")
        }
        return count
    }

    /// Some bytes of an object, by a request with a range.
    public func read(_ digest: BlobDigest, _ range: Range<Int>) async throws -> [UInt8] {
        guard !range.isEmpty else {
            guard try await byteCount(digest) != nil else { throw BlobError.missing(digest) }
            return []
        }
        let answer = try await client.send(
            "GET",
            key(digest),
            headers: [("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")],
            accepting: [200, 206, 404, 416]
        )
        switch answer.status {
        case 206 where answer.body.count == range.count: return Array(answer.body)
        // The request was for the whole object.
        case 200 where range.lowerBound == 0 && answer.body.count == range.count: return Array(answer.body)
        case 404:
            if let code = answer.text("Code"), code != "NoSuchKey" {
                throw BlobError.failure(S3Client.errorDetail(answer))
            }
            throw BlobError.missing(digest)
        default: throw BlobError.failure("\(key(digest)) ends before its byte \(range.upperBound)")
        }
    }

    /// A local copy of an object, which is downloaded and verified unless there is one.
    public func localFile(_ digest: BlobDigest) async throws -> LocalBlob {
        if let copy = copies.take(digest) { return copy }
        guard let byteCount = try await byteCount(digest) else { throw BlobError.missing(digest) }
        let file = try FileWriter(path: copies.newPath())
        var position = 0
        while position < byteCount {
            let end = min(position + Self.partByteCount(byteCount), byteCount)
            try file.append(try await read(digest, position..<end))
            position = end
        }
        let found = file.digest()
        guard found == digest else { throw BlobError.wrongDigest(expected: digest, found: found) }
        return copies.add(digest, try file.close())
    }

    /// The digests of all objects under the prefix.
    public func digests() async throws -> [BlobDigest] {
        let prefix = "\(client.address.prefix)b/sha256/"
        var result: [BlobDigest] = []
        var token: String?
        repeat {
            let query = [("list-type", "2"), ("prefix", prefix)] + (token.map { [("continuation-token", $0)] } ?? [])
            let answer = try await client.send("GET", "", query: query)
            result += answer.texts("Key").filter { $0.hasPrefix(prefix) }.compactMap {
                BlobDigest(String($0.dropFirst(prefix.count)))
            }
            token = answer.text("IsTruncated") == "true" ? answer.text("NextContinuationToken") : nil
        } while token != nil
        return result
    }

    /// Removes an object, if there is one, and its local copy.
    public func remove(_ digest: BlobDigest) async throws {
        copies.remove(digest)
        _ = try await client.send("DELETE", key(digest), accepting: [200, 204, 404])
    }

    /// A presigned URL of an object.
    public func temporaryAddress(_ digest: BlobDigest, seconds: Int) -> URL? {
        let request = S3Signer.Request(
            method: "GET",
            host: client.address.host,
            path: client.address.path(key(digest))
        )
        let query = client.signer.presignedQuery(for: request, seconds: seconds, at: Date())
        return URL(string: "\(client.address.scheme)://\(request.host)\(request.path)?\(query)")
    }

    // MARK: Storing

    /// The largest object that is sent in one request.
    private static let maximumSingleUploadByteCount = 16 << 20

    /// The size of a part, such that no object has more than 10,000.
    private static func partByteCount(_ byteCount: Int) -> Int {
        max(maximumSingleUploadByteCount, byteCount / 9000 + 1)
    }

    private func store(_ path: String, _ digest: BlobDigest, _ byteCount: Int) async throws {
        if try await self.byteCount(digest) != byteCount {
            if byteCount <= Self.maximumSingleUploadByteCount {
                let body = try Data(contentsOf: URL(fileURLWithPath: path))
                _ = try await client.send("PUT", key(digest), body: body)
            } else {
                try await storeInParts(path, digest, byteCount)
            }
        }
        copies.add(digest, path).release()
    }

    private func storeInParts(_ path: String, _ digest: BlobDigest, _ byteCount: Int) async throws {
        let begun = try await client.send("POST", key(digest), query: [("uploads", "")])
        guard let upload = begun.text("UploadId") else {
            throw BlobError.failure("\(client.address.host) does not begin an upload of \(key(digest))")
        }
        do {
            let parts = try await sendParts(path, digest, byteCount, upload)
            try await complete(digest, byteCount, upload, parts)
        } catch {
            // The first error is reported; the bucket's rule removes the parts if this fails, too.
            _ = try? await client.send(
                "DELETE",
                key(digest),
                query: [("uploadId", upload)],
                accepting: [200, 204, 404]
            )
            throw error
        }
    }

    /// The number of parts that are sent at a time.
    private static let parallelParts = 4

    /// Sends the parts of an object and returns their tags.
    private func sendParts(
        _ path: String,
        _ digest: BlobDigest,
        _ byteCount: Int,
        _ upload: String
    ) async throws -> [String] {
        let size = Self.partByteCount(byteCount)
        let starts = Array(stride(from: 0, to: byteCount, by: size))
        return try await withThrowingTaskGroup(of: (Int, String).self) { group in
            var tags = [String](repeating: "", count: starts.count)
            for (index, start) in starts.enumerated() {
                if index >= Self.parallelParts, let (done, tag) = try await group.next() { tags[done] = tag }
                group.addTask { [self] in
                    let body = try readFile(path, start..<min(start + size, byteCount))
                    let answer = try await client.send(
                        "PUT",
                        key(digest),
                        query: [("partNumber", String(index + 1)), ("uploadId", upload)],
                        body: body
                    )
                    guard let tag = answer.headers["etag"] else {
                        throw BlobError.failure("\(client.address.host) returns no tag for a part of \(key(digest))")
                    }
                    return (index, tag)
                }
            }
            while let (done, tag) = try await group.next() { tags[done] = tag }
            return tags
        }
    }

    private func complete(_ digest: BlobDigest, _ byteCount: Int, _ upload: String, _ tags: [String]) async throws {
        let parts = tags.enumerated().map { index, tag in
            let text = tag.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            return "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(text)</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        let answer = try await client.send(
            "POST",
            key(digest),
            query: [("uploadId", upload)],
            body: Data(body.utf8),
            accepting: [200, 404]
        )
        // An error can follow a status of success; an upload that does not exist any more may have been completed by a
        // request whose answer was lost.
        guard try await self.byteCount(digest) == byteCount else {
            throw BlobError.failure("\(key(digest)) is incomplete: \(S3Client.errorDetail(answer))")
        }
    }
}

/// An upload that lies in a local file until it is complete.
private final class S3Upload: BlobUpload {
    private let file: FileWriter
    private let store: @Sendable (_ path: String, BlobDigest, _ byteCount: Int) async throws -> Void

    init(file: FileWriter, store: @escaping @Sendable (String, BlobDigest, Int) async throws -> Void) {
        self.file = file
        self.store = store
    }

    func append(_ bytes: [UInt8]) async throws { try file.append(bytes) }

    func finish(expecting expected: BlobDigest?) async throws -> (digest: BlobDigest, byteCount: Int) {
        let digest = file.digest()
        if let expected, expected != digest { throw BlobError.wrongDigest(expected: expected, found: digest) }
        let byteCount = file.byteCount
        let path = try file.close()
        do { try await store(path, digest, byteCount) } catch {
            unlink(path)
            throw error
        }
        return (digest, byteCount)
    }

    func cancel() async { file.discard() }
}
