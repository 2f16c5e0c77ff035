import DeploymentClient
import DeploymentPolicy
import DeploymentSupport
import Foundation
import Synchronization
import Testing
import UpdateFramework

private let flowers = SampleDeployment.collection

/// A device whose server takes reports, and those that it was sent.
private struct ReportingDevice {
    let device: Device
    let posts = Posts()
    private(set) var deployment: SampleDeployment
    private var attributes = DeviceAttributes()

    init(sampleRate: Int = 100_000) throws {
        deployment = try SampleDeployment()
        for number in 1...2 {
            try deployment.publishRelease(
                number,
                ["Classifier": try SampleDeployment.sample("Classifier", seed: UInt64(number))]
            )
        }
        device = try Device(deployment)
        attributes.installID = "0123456789abcdef0123456789abcdef"
        attributes.operatingSystem = "Linux"
        attributes.deviceClass = .tablet
        try deploy(1, sampleRate)
    }

    mutating func deploy(_ release: Int, _ sampleRate: Int = 100_000) throws {
        try deployment.publishPolicy { policy in
            policy.fallback = Serving(.release(release))
            policy.reporting = Reporting(path: "/v1/reports", sampleRate: sampleRate)
        }
        device.transport.serve(deployment)
        device.transport.setFault { [posts] path, request, answer in
            guard path == "/v1/reports" else { return answer }
            return TransportAnswer(status: posts.take(request))
        }
    }

    /// Launches the app: what it uses, after a check.
    @discardableResult
    func launch() async throws -> CollectionStore.Use {
        let client = try device.launch(attributes)
        let use = try await client.open(flowers)
        _ = try await client.check(flowers)
        return use
    }

    /// The counts of all reports so far.
    func counts() -> [DeviceReport.Count: Int] {
        posts.reports.flatMap(\.counts).reduce(into: [:]) { sum, count in
            sum[DeviceReport.Count(release: count.release, event: count.event), default: 0] += count.count
        }
    }
}

/// The requests received by the server.
private final class Posts: Sendable {
    private let state = Mutex<(reports: [DeviceReport], status: Int)>(([], 204))

    var reports: [DeviceReport] { state.withLock { $0.reports } }

    func answer(_ status: Int) { state.withLock { $0.status = status } }

    func take(_ request: TransportRequest) -> Int {
        state.withLock { state in
            if let body = request.body, request.method == "POST", let report = try? DeviceReport(body) {
                state.reports.append(report)
            }
            return state.status
        }
    }
}

@Suite struct ReportTests {
    private func count(_ event: DeviceReport.Event, _ release: Int) -> DeviceReport.Count {
        DeviceReport.Count(release: release, event: event)
    }

    @Test func everyStageIsToldOnce() async throws {
        let device = try ReportingDevice()
        for _ in 0..<4 { try await device.launch() }
        let counts = device.counts()
        for stage in AdoptionFunnel.Stage.allCases { #expect(counts[count(.reached(stage), 1)] == 1) }
        #expect(counts.keys.allSatisfy { !$0.event.name.hasPrefix("failed") })
    }

    @Test func aUseIsToldOnceADay() async throws {
        let device = try ReportingDevice()
        for hours in [0, 1, 30, 31, 32, 60] {
            // The policy must not have expired on the further days.
            device.device.setClock(Double(hours) * 3600)
            let client = try device.device.launch(
                {
                    var attributes = DeviceAttributes()
                    attributes.installID = "a"
                    return attributes
                }()
            )
            _ = try await client.open(flowers)
            _ = try? await client.check(flowers)
        }
        let log = try CollectionStore(folder: device.device.folder + "/store").reports(flowers)
        #expect(log.waiting == [DeviceReport.Count(release: 1, event: .used, count: 2)])
    }

    @Test func aReleaseThatFailsIsTold() async throws {
        var device = try ReportingDevice()
        try await device.launch()
        try await device.launch()
        try device.deploy(2)
        device.device.verdict.set(DeploymentError(.selfTest, "Classifier", "wrong"))
        try await device.launch()
        #expect(try await device.launch().installed.number == 1)
        try await device.launch()
        let counts = device.counts()
        #expect(counts[count(.failed(.selfTest), 2)] == 1)
        #expect(counts[count(.reached(.activated), 2)] == 1)
        #expect(counts[count(.reached(.loaded), 2)] == nil)
        #expect(counts[count(.reached(.loaded), 1)] == 1)
    }

    @Test func damageIsTheReleasesFaultAndANetworkIsNot() async throws {
        let device = try ReportingDevice()
        let posts = device.posts
        device.device.transport.setFault { path, request, answer in
            if path == "/v1/reports" { return TransportAnswer(status: posts.take(request)) }
            guard path.hasPrefix("/b/") else { return answer }
            throw DeploymentError(.offline, path, "no network")
        }
        await #expect(throws: DeploymentError.self) { try await device.launch() }
        #expect(device.counts() == [count(.reached(.offered), 1): 1, count(.used, 0): 1])
        device.device.transport.setFault { path, request, answer in
            if path == "/v1/reports" { return TransportAnswer(status: posts.take(request)) }
            guard path.hasPrefix("/b/") else { return answer }
            return TransportAnswer(
                status: answer.status,
                headers: answer.headers,
                body: answer.body.map { $0 ^ 1 }
            )
        }
        await #expect(throws: DeploymentError.self) { try await device.launch() }
        #expect(device.counts()[count(.failed(.verification), 1)] == 1)
    }

    @Test func aReportIsSentAgainAsItIsUntilTheServerTakesIt() async throws {
        let device = try ReportingDevice()
        device.posts.answer(503)
        for _ in 0..<3 { try await device.launch() }
        let reports = device.posts.reports
        #expect(reports.count == 3)
        #expect(Set(reports.map(\.id)).count == 1)
        device.posts.answer(204)
        try await device.launch()
        try await device.launch()
        let last = device.posts.reports.suffix(2)
        #expect(last.first?.id == reports[0].id)
        #expect(last.last?.id != reports[0].id)
        #expect(last.last?.counts.contains(count(.reached(.loaded), 1)) == true)
    }

    @Test func aReportThatTheServerRefusesIsNotSentForEver() async throws {
        let device = try ReportingDevice()
        device.posts.answer(404)
        try await device.launch()
        try await device.launch()
        #expect(Set(device.posts.reports.map(\.id)).count == device.posts.reports.count)
    }

    @Test func theServerLearnsOnceAnHourWhatADeviceRuns() async throws {
        let device = try ReportingDevice()
        for _ in 0..<5 { try await device.launch() }
        #expect(device.posts.reports.compactMap(\.running?.release) == [0, 1])
        device.device.setClock(2 * 3600)
        try await device.launch()
        #expect(device.posts.reports.compactMap(\.running?.release) == [0, 1, 1])
        let places = Set(device.posts.reports.compactMap(\.running?.place))
        #expect(places.count == 1)
    }

    @Test func onlyTheSampleReports() async throws {
        let device = try ReportingDevice(sampleRate: 0)
        for _ in 0..<3 { try await device.launch() }
        #expect(device.posts.reports.isEmpty)
    }

    @Test func aDamagedLogOfReportsCostsNoModels() async throws {
        let device = try ReportingDevice()
        try await device.launch()
        let path = device.device.folder + "/store/collections/\(flowers)/reports.json"
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await device.launch().installed.number == 1)
    }
}

@Suite struct DeviceReportTests {
    private func report() -> DeviceReport {
        var report = DeviceReport(
            id: String(repeating: "0f", count: 16),
            operatingSystem: "Linux",
            deviceClass: .phone
        )
        report.running = .init(release: 3, place: SketchPlace(register: 4095, rank: 53))
        report.counts = [
            .init(release: 3, event: .reached(.loaded)), .init(release: 3, event: .failed(.crash), count: 2),
            .init(release: 0, event: .used, count: 366),
        ]
        return report
    }

    @Test func reportsAreReadAsTheyWereWritten() throws {
        #expect(try DeviceReport(report().bytes()) == report())
    }

    @Test(arguments: [
        ("\"id\":\"0f", "\"id\":\"0F", "id"), ("\"register\":4095", "\"register\":4096", "running.register"),
        ("\"rank\":53", "\"rank\":0", "running.rank"), ("\"count\":366", "\"count\":367", "counts[2].count"),
        ("\"count\":2", "\"count\":-2", "counts[1].count"), ("\"crash\"", "\"boredom\"", "counts[1].reason"),
        ("\"loaded\"", "\"seen\"", "counts[0].event"), ("\"Linux\"", "\"Li\\nux\"", "operatingSystem"),
        ("\"phone\"", "\"toaster\"", "deviceClass"), ("\"format\":1", "\"format\":2", "format"),
    ])
    func badReportsAreRefusedByName(_ old: String, _ new: String, _ path: String) throws {
        let text = String(decoding: report().bytes(), as: UTF8.self)
        let changed = text.replacingOccurrences(of: old, with: new)
        #expect(changed != text)
        let error = #expect(throws: PolicyError.self) { try DeviceReport(Array(changed.utf8)) }
        #expect(error?.path == path)
    }

    @Test func cutOffReportsNeverTrap() {
        let bytes = report().bytes()
        for count in 0..<bytes.count { #expect(throws: PolicyError.self) { try DeviceReport(bytes.prefix(count)) } }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x11
            _ = try? DeviceReport(changed)
        }
    }

    @Test func placesInSketchesAreSpreadEvenly() {
        var registers = [Int](repeating: 0, count: SketchPlace.registerCount)
        var ranks = [Int](repeating: 0, count: SketchPlace.maximumRank + 1)
        for device in 0..<40_960 {
            let place = SketchPlace(installID: "device \(device)", salt: "s")
            registers[place.register] += 1
            ranks[place.rank] += 1
        }
        #expect((registers.min() ?? 0) > 0 || registers.filter { $0 == 0 }.count < 3)
        #expect(abs(ranks[1] - 20_480) < 1000)
        #expect(abs(ranks[2] - 10_240) < 800)
        #expect(ranks[0] == 0)
    }
}
