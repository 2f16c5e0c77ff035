import DeploymentPolicy
import Foundation
import ServerCore

/// Devices that check, launch and report as real ones do, without disks: 24 bytes each.
struct Fleet {
    /// A launch and a check of a device, for comparison with a real one.
    struct Visit: Sendable {
        let device: UInt32
        /// What `DeploymentRunner device` prints of it.
        let record: String
        /// Whether the trial of a release failed.
        let hasFailed: Bool
    }

    /// The results of all devices.
    struct Totals: Encodable {
        var checks = 0
        var policiesFetched = 0
        var reports = 0
        /// Devices that ever ran the new release.
        var exposed = 0
        /// Devices to which the new release was offered and that were offered something else while it was being rolled
        /// out.
        var removed = 0
        var failed = 0
        var busiestMinute = 0
    }

    private struct Device {
        var current: UInt8 = 0
        /// The release used from the next launch on.
        var next: UInt8 = 0
        /// Releases that failed here, as bits.
        var failed: UInt8 = 0
        var wasOffered = false
        /// The version of the policy that it has.
        var policy: UInt32 = 0
        /// The hour of its last report and what it ran then.
        var told: UInt32 = .max
    }

    let count: Int
    /// How often a trial of the new release fails.
    let failureRate: Double
    /// How many devices, the first ones, exist in reality too: these report themselves.
    let realCount: Int
    private var devices: [Device]
    /// The devices that check in a minute.
    private var wheel: [[UInt32]]
    private var random: Generator
    private(set) var totals = Totals()
    /// What the devices that exist in reality did in the last minute.
    private(set) var visits: [Visit] = []
    static let newRelease: UInt8 = 2
    /// Seconds between two checks, as policies say when nothing else is wanted.
    static let interval = 6 * 3600

    /// SplitMix64: each run is the same.
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    init(count: Int, minutes: Int, failureRate: Double, running release: UInt8, realCount: Int = 0) {
        self.count = count
        self.failureRate = failureRate
        self.realCount = realCount
        devices = [Device](repeating: Device(current: release, next: release), count: count)
        wheel = [[UInt32]](repeating: [], count: minutes)
        random = Generator(state: 1)
        for device in 0..<count {
            wheel[Int.random(in: 0..<min(minutes, Self.interval / 60), using: &random)].append(UInt32(device))
        }
    }

    static func installID(_ device: UInt32) -> String { "device-\(device)" }

    /// The devices whose time has come check, and launch before that.
    /// - Returns: what they report.
    mutating func check(minute: Int, _ evaluator: PolicyEvaluator) -> [DeviceReport] {
        let due = wheel[minute]
        wheel[minute] = []
        visits = []
        totals.busiestMinute = max(totals.busiestMinute, due.count)
        var reports: [DeviceReport] = []
        let policy = UInt32(evaluator.policy.version)
        for number in due {
            totals.checks += 1
            let report = check(number, evaluator, policy, hour: UInt32(minute / 60))
            if let report, number >= realCount { reports.append(report) }
            // As the client spreads its checks.
            let seconds = Double(Self.interval) * (1 + 0.2 * Double.random(in: 0..<1, using: &random))
            let next = minute + Int(seconds / 60)
            if next < wheel.count { wheel[next].append(number) }
        }
        totals.reports += reports.count
        return reports
    }

    private mutating func check(
        _ number: UInt32,
        _ evaluator: PolicyEvaluator,
        _ policy: UInt32,
        hour: UInt32
    ) -> DeviceReport? {
        var device = devices[Int(number)]
        defer { devices[Int(number)] = device }
        let installID = Self.installID(number)
        var report = DeviceReport(id: identifier(), operatingSystem: "Linux", deviceClass: .phone)
        let (failed, launched) = (device.failed, launch(&device, &report))
        if device.policy != policy { totals.policiesFetched += 1 }
        device.policy = policy
        var attributes = DeviceAttributes()
        attributes.installID = installID
        attributes.deviceClass = .phone
        decide(&device, evaluator.evaluate(attributes).outcome, &report)
        if number < realCount {
            let record = "\(launched), next \(device.next), policy \(policy), interval \(Self.interval)"
            visits.append(Visit(device: number, record: record, hasFailed: device.failed != failed))
        }
        if device.told != hour {
            device.told = hour
            report.running = .init(
                release: Int(device.current),
                place: SketchPlace(installID: installID, salt: "production/Flowers")
            )
        }
        return report.counts.isEmpty && report.running == nil ? nil : report
    }

    /// A downloaded release becomes current, and shows whether it works.
    /// - Returns: what happened with which release.
    private mutating func launch(_ device: inout Device, _ report: inout DeviceReport) -> String {
        guard device.next != device.current else {
            report.counts.append(.init(release: Int(device.current), event: .used))
            return "used \(device.current)"
        }
        let release = device.next
        report.counts.append(.init(release: Int(release), event: .reached(.activated)))
        if release == Self.newRelease { totals.exposed += 1 }
        if release == Self.newRelease, Double.random(in: 0..<1, using: &random) < failureRate {
            totals.failed += 1
            device.failed |= 1 << release
            device.next = device.current
            report.counts.append(.init(release: Int(release), event: .failed(.selfTest)))
            return "failed \(release)"
        }
        device.current = release
        report.counts.append(.init(release: Int(release), event: .reached(.loaded)))
        return "loaded \(release)"
    }

    private mutating func decide(_ device: inout Device, _ outcome: Outcome, _ report: inout DeviceReport) {
        let target: UInt8
        switch outcome {
        case .release(let number): target = UInt8(number)
        case .bundled, .holdout: target = 0
        case .keep: return
        }
        if target == Self.newRelease { device.wasOffered = true } else if device.wasOffered { totals.removed += 1 }
        guard target != device.current, device.failed & (1 << target) == 0 else { return }
        device.next = target
        for stage in [AdoptionFunnel.Stage.offered, .downloaded, .verified] {
            report.counts.append(.init(release: Int(target), event: .reached(stage)))
        }
    }

    private mutating func identifier() -> String {
        let text = String(random.next(), radix: 16) + String(random.next(), radix: 16)
        return String(repeating: "0", count: 32 - text.utf8.count) + text
    }

    /// How many devices run a release.
    func running(_ release: UInt8) -> Int { devices.reduce(0) { $0 + ($1.current == release ? 1 : 0) } }

    /// How many devices the policy gives the new release, of all.
    func offered(_ evaluator: PolicyEvaluator) -> Int {
        var count = 0
        var attributes = DeviceAttributes()
        for device in devices.indices {
            attributes.installID = Self.installID(UInt32(device))
            if evaluator.evaluate(attributes).outcome == .release(Int(Self.newRelease)) { count += 1 }
        }
        return count
    }
}
