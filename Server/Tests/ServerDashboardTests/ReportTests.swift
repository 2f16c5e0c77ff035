import DeploymentPolicy
import DeploymentKeys
import Foundation
import ServerBlobs
import ServerCore
import ServerDatabase
import Testing

@Suite struct ReportTests {
    @Test(arguments: [0, 1, 30, 1000, 40_000])
    func `a sketch counts devices to four per cent, each once`(count: Int) {
        var sketch = DeviceSketch()
        for _ in 0..<2 {
            for device in 0..<count { sketch.insert(Self.mixed(UInt64(device))) }
        }
        #expect(abs(Double(sketch.estimate - count)) <= max(1, 0.04 * Double(count)))
        #expect(DeviceSketch(registers: sketch.registers) == sketch)
    }

    @Test func `merged sketches count what both have once`() {
        var (first, second) = (DeviceSketch(), DeviceSketch())
        for device in 0..<6000 { first.insert(Self.mixed(UInt64(device))) }
        for device in 3000..<9000 { second.insert(Self.mixed(UInt64(device))) }
        let isMerged = first.merge(second)
        #expect(isMerged)
        #expect(abs(first.estimate - 9000) <= 360)
        let isMergedWithOther = first.merge(DeviceSketch(registerCount: 16))
        #expect(!isMergedWithOther)
        #expect(DeviceSketch(registers: [1, 2, 3]) == nil)
        #expect(DeviceSketch(registers: [UInt8](repeating: 200, count: 64)) == nil)
    }

    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The finalizer of SplitMix64.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    @Test func `reports become adoption, a funnel and failures with their intervals`() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/reports-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try SQLiteDatabase(path: folder + "/server.sqlite")
        let service = try await Service(
            database: database,
            blobs: try FolderBlobStore(folder: folder + "/blobs"),
            keys: try SigningKeyFolder(folder: folder + "/keys"),
            vault: try KeyVault(folder: folder + "/vault", strength: .file),
            now: { Self.now }
        )
        let actor = Principal(kind: .server, name: "test", isAdministrator: true)
        _ = try await service.createTeam("acme", name: "Acme", as: actor)
        _ = try await service.createApp(
            "shop",
            team: "acme",
            name: "Shop",
            environments: ["production", "staging"],
            as: actor
        )
        _ = try await service.createCollection("Flowers", app: "shop", description: "", models: ["A"], as: actor)
        let hour = Int(Self.now.timeIntervalSince1970 / 3600)
        var registers: [[UInt8]] = []
        for devices in [0..<500, 250..<750] {
            var sketch = DeviceSketch()
            for device in devices { sketch.insert(Self.mixed(UInt64(device))) }
            registers.append(sketch.registers)
        }
        let rows = registers
        try await database.write { connection in
            for (index, bytes) in rows.enumerated() {
                try connection.execute(
                    "INSERT INTO report_devices VALUES ('shop', 'Flowers', 'production', ?, 2, ?)",
                    hour - index,
                    bytes
                )
            }
            for (event, reason, count) in [
                ("downloaded", "", 120), ("activated", "", 100), ("loaded", "", 95), ("failed", "load", 5),
                ("failed", "crash", 0),
            ] {
                try connection.execute(
                    "INSERT INTO report_counts VALUES ('shop', 'Flowers', 'production', ?, 2, ?, ?, 'iOS', 'phone', ?)",
                    hour,
                    event,
                    reason,
                    count
                )
            }
        }
        let scope = ReportScope(
            app: "shop",
            collection: "Flowers",
            environment: "production",
            since: Self.now.addingTimeInterval(-86_400)
        )
        let devices = try await service.devices(scope, as: actor)
        #expect(abs((devices[2] ?? 0) - 750) <= 30)
        let adoption = try await service.adoption(scope, hours: 1, as: actor)
        #expect(adoption.releases == [2])
        #expect(abs((adoption.points.last?.devices.first ?? 0) - 500) <= 20)
        let funnel = try await service.funnel(scope, release: 2, as: actor)
        #expect(funnel.count(.downloaded) == 120 && funnel.count(.loaded) == 95)
        let failures = try await service.failures(scope, release: 2, as: actor)
        let first = try #require(failures.first)
        #expect(first.reason == "load" && first.count == 5 && first.reports == 100)
        #expect(first.interval == .wilson(5, of: 100))
        let empty = ReportScope(app: "shop", collection: "Flowers", environment: "staging", since: scope.since)
        #expect(try await service.adoption(empty, hours: 1, as: actor).points.isEmpty)
    }
}
