import Foundation
import FoundationNetworking
import ServerBlobs
import Testing

/// Properties specific to S3.
@Suite struct S3Tests {
    @Test(arguments: [
        "", "http://bucket", "s3://", "s3://key:secret@bucket/", "s3://bucket/a?endpoint=ftp://h", "s3://bucket/ä",
        "s3://bucket?nonsense=1", "s3://bucket?style=x", "s3://bucket?endpoint=http://h/path",
    ])
    func addressesThatAreNoneAreRefused(_ text: String) {
        #expect(throws: BlobError.self) { try S3Address(text) }
    }

    @Test func keysThatAreMissingAreNamed() throws {
        let error = #expect(throws: BlobError.self) { try S3Signer.Credentials(environment: [:]) }
        #expect(error?.description.contains("AWS_ACCESS_KEY_ID") == true)
    }

    /// The example of a GET of an object with a range in S3's reference ("Examples: Signature Calculations").
    @Test func theExampleOfTheReferenceIsSignedAsThere() {
        let signer = S3Signer(
            .init(accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1"
        )
        let request = S3Signer.Request(
            method: "GET",
            host: "examplebucket.s3.amazonaws.com",
            path: "/test.txt",
            headers: [("Range", "bytes=0-9")]
        )
        let headers = signer.headers(
            for: request,
            bodyHash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            at: Date(timeIntervalSince1970: 1_369_353_600)
        )
        #expect(
            headers.last?.value.hasSuffix("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41") == true
        )
    }

    @Test func aStoreThatIsNotThereIsNamed() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/s3-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try S3BlobStore(
            S3Address("s3://models?endpoint=http://127.0.0.1:9"),
            .init(accessKey: "a", secretKey: "topsecret"),
            scratch: folder
        )
        let error = await #expect(throws: BlobError.self) { _ = try await store.byteCount(digest([])) }
        #expect(error?.description.contains("127.0.0.1:9") == true)
        #expect(error?.description.contains("topsecret") == false)
    }

    @Test(.enabled(if: StoreKind.bucket != nil))
    func whoHasATemporaryAddressFetchesWithoutAKey() async throws {
        let sample = try SampleStore(.s3)
        defer { withExtendedLifetime(sample) {} }
        let bytes = sampleBytes(1000)
        let name = try await sample.put(bytes)
        let address = try #require(sample.store.temporaryAddress(name, seconds: 60))
        let (data, answer) = try await URLSession.shared.data(from: address)
        #expect((answer as? HTTPURLResponse)?.statusCode == 200)
        #expect(Array(data) == bytes)
    }

    @Test(.enabled(if: StoreKind.bucket != nil))
    func aBucketThatIsMissingIsNamed() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/s3-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let endpoint = try #require(StoreKind.bucket?.split(separator: "?").last)
        let store = try S3BlobStore(
            S3Address("s3://no-such-bucket?\(endpoint)"),
            .init(accessKey: "a", secretKey: "b"),
            scratch: folder
        )
        let error = await #expect(throws: BlobError.self) { _ = try await store.digests() }
        #expect(error?.description.contains("NoSuchBucket") == true)
    }
}
