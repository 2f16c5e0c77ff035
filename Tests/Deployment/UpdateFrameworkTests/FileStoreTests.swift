import Foundation
import Testing
import UpdateFramework

/// Runs `body` with a new folder that is removed afterwards.
func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("trust-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.path)
}

func mode(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
}

func setMode(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

@Suite("A folder of trusted metadata")
struct FileStoreTests {
    @Test("keeps what was stored under any name, and nothing else lies in it")
    func names() async throws {
        try await withFolder { folder in
            let store = try FileMetadataStore(folder: "\(folder)/a/b")
            let roles = [
                "root", "a/b", "..", "../x", "é", "e\u{301}", "app.collection", "flowers@director", "%2F", " ",
            ]
            for (index, role) in roles.enumerated() {
                #expect(try store.load(role) == nil)
                try store.store(role, [0])
                try store.store(role, [UInt8(index)])
            }
            for (index, role) in roles.enumerated() { #expect(try store.load(role) == [UInt8(index)], "\(role)") }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/a/b").count == roles.count)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
            try store.remove("..")
            try store.remove("..")
            #expect(try store.load("..") == nil)
        }
    }

    @Test("carries a client from one start to the next")
    func restart() async throws {
        try await withFolder { folder in
            let repository = try SampleRepository()
            _ = try await repository.updater(store: FileMetadataStore(folder: folder)).refresh(
                at: SampleRepository.start
            )
            repository.server.metadata.forgetRequests()
            _ = try await repository.updater(store: FileMetadataStore(folder: folder)).refresh(
                at: SampleRepository.start
            )
            #expect(repository.server.metadata.requests == ["2.root.json", "timestamp.json"])
        }
    }

    @Test("says what is wrong with it")
    func failures() async throws {
        try await withFolder { folder in
            try Data().write(to: URL(fileURLWithPath: "\(folder)/file"))
            #expect(await code { _ = try FileMetadataStore(folder: "\(folder)/file") } == .storage)
            #expect(await code { _ = try FileMetadataStore(folder: "\(folder)/file/below") } == .storage)
            let store = try FileMetadataStore(folder: "\(folder)/store")
            try FileManager.default.createDirectory(
                atPath: "\(folder)/store/root.json",
                withIntermediateDirectories: false
            )
            #expect(await code { _ = try store.load("root") } == .storage)
            #expect(await code { try store.store("root", [1]) } == .storage)
            #expect(await code { try store.store(String(repeating: "x", count: 300), [1]) } == .storage)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/store") == ["root.json"])
            try Data(count: 9 << 20).write(to: URL(fileURLWithPath: "\(folder)/store/big.json"))
            #expect(try store.load("big")?.count == 8 << 20)
            try FileManager.default.removeItem(atPath: "\(folder)/store")
            #expect(await code { try store.store("root", [1]) } == .storage)
        }
    }

    @Test("is cleared of what a killed writer left, but not of what one is writing")
    func leftovers() async throws {
        try await withFolder { folder in
            for (name, age) in [(".new-1-old", 7_200.0), (".new-2-young", 60.0), ("root.json", 7_200.0)] {
                try Data([1]).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -age)],
                    ofItemAtPath: "\(folder)/\(name)"
                )
            }
            _ = try FileMetadataStore(folder: folder)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [".new-2-young", "root.json"]
            )
        }
    }
}

@Suite("Moments")
struct UTCTimeTests {
    @Test("are read and written as Foundation reads and writes them")
    func calendar() throws {
        let formatter = ISO8601DateFormatter()
        var generator = Seeded(state: 1)
        for _ in 0..<20_000 {
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator)
            let text = UTCTime(secondsSince1970: seconds).description
            #expect(UTCTime(text)?.secondsSince1970 == seconds)
            guard seconds > -12_219_292_800 else { continue }  // Foundation counts by the Julian calendar before 1582
            #expect(text == formatter.string(from: Date(timeIntervalSince1970: Double(seconds))))
        }
    }

    @Test(
        "have one spelling",
        arguments: [
            "", "2027-01-01", "2027-1-01T00:00:00Z", "2027-01-01 00:00:00Z", "2027-01-01T00:00:00",
            "2027-01-01T00:00:00+00:00",
            "2027-02-29T00:00:00Z", "2027-13-01T00:00:00Z", "2027-00-01T00:00:00Z", "2027-04-31T00:00:00Z",
            "2027-01-01T24:00:00Z", "2027-01-01T00:60:00Z", "2027-01-01T00:00:60Z", "0000-01-01T00:00:00Z",
            "2027-01-01T00:00:00z", "２027-01-01T00:00:00Z", "2027-01-01T00:00:00.0Z",
        ]
    )
    func spelling(text: String) { #expect(UTCTime(text) == nil) }

    @Test("do not overflow")
    func limits() {
        #expect(UTCTime(secondsSince1970: .max) + 1 == UTCTime(secondsSince1970: .max))
        #expect(UTCTime(secondsSince1970: .min) + -1 == UTCTime(secondsSince1970: .min))
        #expect(UTCTime(secondsSince1970: .max).description == "9999-12-31T23:59:59Z")
        #expect(UTCTime(secondsSince1970: .min).description == "0001-01-01T00:00:00Z")
        #expect(UTCTime("2028-02-29T23:59:59Z")?.secondsSince1970 == 1_835_481_599)
    }
}
