import Crypto
import Foundation
import ServerBlobs
import Testing

/// The kinds of store that tests run over: folders, and S3 where `COREML_TEST_S3` names a bucket (`scripts/checks/s3-tests`
/// makes one).
enum StoreKind: String, CaseIterable {
    case folder, s3

    static let bucket = ProcessInfo.processInfo.environment["COREML_TEST_S3"]
    static let available: [StoreKind] = bucket == nil ? [.folder] : [.folder, .s3]
}

/// An empty store.
final class SampleStore {
    let folder = FileManager.default.temporaryDirectory.path + "/blobs-\(UUID().uuidString)"
    let store: any BlobStore

    init(_ kind: StoreKind) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        switch kind {
        case .folder: store = try FolderBlobStore(folder: folder + "/blobs")
        case .s3: store = try Self.s3(folder, prefix: UUID().uuidString)
        }
    }

    static func s3(_ folder: String, prefix: String) throws -> S3BlobStore {
        let text = try #require(StoreKind.bucket).replacing("?", with: "/\(prefix)?")
        return try S3BlobStore(
            try S3Address(text),
            try S3Signer.Credentials(environment: ProcessInfo.processInfo.environment),
            scratch: folder + "/scratch-\(UUID().uuidString)"
        )
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func put(_ bytes: [UInt8]) async throws -> BlobDigest {
        let upload = try await store.upload()
        for start in stride(from: 0, to: bytes.count, by: 300_000) {
            try await upload.append(Array(bytes[start..<min(start + 300_000, bytes.count)]))
        }
        return try await upload.finish(expecting: nil).digest
    }
}

/// Bytes that look random and are the same each time.
func sampleBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
    }
}

func digest(_ bytes: [UInt8]) -> BlobDigest { BlobDigest(hash: SHA256.hash(data: bytes)) }

/// The server's requirements of every kind of store.
@Suite struct BlobContractTests {
    /// 0, 1, some, and more than an object that is sent whole.
    @Test(arguments: StoreKind.available, [0, 1, 65_537, 16 << 20, 35_000_001])
    func whatIsStoredIsReadBack(_ kind: StoreKind, _ byteCount: Int) async throws {
        let sample = try SampleStore(kind)
        defer { withExtendedLifetime(sample) {} }
        let bytes = sampleBytes(byteCount)
        let name = try await sample.put(bytes)
        #expect(name == digest(bytes))
        #expect(try await sample.store.byteCount(name) == byteCount)
        #expect(try await sample.store.read(name, 0..<byteCount) == bytes)
        let local = try await sample.store.localFile(name)
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: local.path))) == bytes)
        local.release()
        #expect(try await sample.store.digests() == [name])
    }

    @Test(arguments: StoreKind.available)
    func rangesAreReadAndOnesBeyondTheEndRefused(_ kind: StoreKind) async throws {
        let sample = try SampleStore(kind)
        defer { withExtendedLifetime(sample) {} }
        let bytes = sampleBytes(100_000)
        let name = try await sample.put(bytes)
        for range in [0..<1, 99_999..<100_000, 5..<5, 12_345..<67_890, 0..<100_000] {
            #expect(try await sample.store.read(name, range) == Array(bytes[range]))
        }
        for range in [0..<100_001, 100_000..<100_001, 99_999..<200_000] {
            await #expect(throws: BlobError.self) { _ = try await sample.store.read(name, range) }
        }
    }

    @Test(arguments: StoreKind.available)
    func whatIsNotThereIsMissing(_ kind: StoreKind) async throws {
        let sample = try SampleStore(kind)
        defer { withExtendedLifetime(sample) {} }
        let name = digest([1])
        #expect(try await sample.store.byteCount(name) == nil)
        #expect(try await sample.store.digests().isEmpty)
        for range in [0..<1, 0..<0] {
            let error = await #expect(throws: BlobError.self) { _ = try await sample.store.read(name, range) }
            guard range.isEmpty && kind == .folder || error?.description == BlobError.missing(name).description else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        await #expect(throws: BlobError.self) { _ = try await sample.store.localFile(name) }
        try await sample.store.remove(name)
    }

    @Test(arguments: StoreKind.available)
    func aFileThatIsOpenIsReadToItsEndAndNoFurther(_ kind: StoreKind) async throws {
        let sample = try SampleStore(kind)
        defer { withExtendedLifetime(sample) {} }
        let bytes = sampleBytes(300_000)
        let name = try await sample.put(bytes)
        guard let file = try sample.store.openFile(name) else {
            #expect(kind == .s3)
            return
        }
        #expect(throws: BlobError.self) { _ = try sample.store.openFile(digest([1])) }
        // It stays open when its name is gone.
        try await sample.store.remove(name)
        for range in [0..<300_000, 7..<70_000, 299_999..<300_000, 12..<12, 200_000..<300_001, 300_000..<300_002] {
            file.prefetch(range)
            var read = [UInt8](repeating: 0, count: range.count)
            let isInside = range.upperBound <= bytes.count
            do {
                try read.withUnsafeMutableBytes { try file.read(at: range.lowerBound, into: $0) }
                #expect(isInside && read == Array(bytes[range]))
            } catch {
                #expect(!isInside && error is BlobError)
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func bytesWithAnotherHashAreNotStored(_ kind: StoreKind) async throws {
        let sample = try SampleStore(kind)
        defer { withExtendedLifetime(sample) {} }
        let upload = try await sample.store.upload()
        try await upload.append([1, 2, 3])
        await #expect(throws: BlobError.self) { _ = try await upload.finish(expecting: digest([1, 2])) }
        let dropped = try await sample.store.upload()
        try await dropped.append([4])
        await dropped.cancel()
        #expect(try await sample.store.digests().isEmpty)
    }

    @Test(arguments: StoreKind.available)
    func theSameBytesAreStoredOnceHoweverOftenTheyCome(_ kind: StoreKind) async throws {
        let sample = try SampleStore(kind)
        defer { withExtendedLifetime(sample) {} }
        let bytes = sampleBytes(200_000)
        try await withThrowingTaskGroup(of: BlobDigest.self) { group in
            for _ in 0..<4 {
                group.addTask { [store = sample.store] in
                    let upload = try await store.upload()
                    try await upload.append(bytes)
                    return try await upload.finish(expecting: digest(bytes)).digest
                }
            }
            for try await name in group { #expect(name == digest(bytes)) }
        }
        #expect(try await sample.store.digests() == [digest(bytes)])
        try await sample.store.remove(digest(bytes))
        #expect(try await sample.store.byteCount(digest(bytes)) == nil)
    }

    @Test(arguments: StoreKind.available)
    func manyBlobsAreListed(_ kind: StoreKind) async throws {
        let sample = try SampleStore(kind)
        defer { withExtendedLifetime(sample) {} }
        var names: Set<BlobDigest> = []
        for index in 0..<30 { names.insert(try await sample.put(sampleBytes(10, seed: UInt64(index + 1)))) }
        #expect(Set(try await sample.store.digests()) == names)
    }
}
