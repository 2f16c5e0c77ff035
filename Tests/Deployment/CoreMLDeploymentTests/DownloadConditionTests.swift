import BackgroundTasks
import CoreMLDeployment
import Foundation
import Glibc
import Synchronization
import Testing

/// A machine whose conditions a test sets.
private final class SampleMachine: Machine {
    private let state = Mutex(MachineConditions(load: 0))
    var conditions: MachineConditions { state.withLock { $0 } }
    func set(_ conditions: MachineConditions) { state.withLock { $0 = conditions } }
}

private final class Clock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 0))
    var now: Date { time.withLock { $0 } }
    func pass(_ seconds: Double) { time.withLock { $0 += seconds } }
}

/// A folder in place of "/".
private final class Root {
    let path = FileManager.default.temporaryDirectory.path + "/root-\(UInt32.random(in: 0 ... .max))"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to file: String) throws {
        let url = URL(fileURLWithPath: path + file)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
}

@Suite struct ConditionWatchTests {
    private let policy: BGTaskScheduler.Policy = {
        var policy = BGTaskScheduler.Policy()
        (policy.idleLoad, policy.patience) = (0.5, 3600)
        return policy
    }()

    @Test func nothingIsWaitedForUnlessTheAppSaysSo() {
        let machine = SampleMachine()
        machine.set(MachineConditions(load: 9, hasExternalPower: false))
        #expect(ConditionWatch([], machine: machine, policy: policy).obstacles.isEmpty)
    }

    @Test func batteriesAreWaitedFor() {
        let machine = SampleMachine()
        let watch = ConditionWatch(.externalPower, machine: machine, policy: policy)
        #expect(watch.obstacles.isEmpty)
        machine.set(MachineConditions(load: 0, hasExternalPower: false))
        #expect(watch.obstacles == ["the device runs on its battery"])
    }

    @Test func busyMachinesAreWaitedForButNotForEver() {
        let (machine, clock) = (SampleMachine(), Clock())
        let watch = ConditionWatch(.idle, machine: machine, policy: policy, now: { clock.now })
        machine.set(MachineConditions(load: 2))
        #expect(watch.obstacles.count == 1)
        clock.pass(3599)
        #expect(watch.obstacles.count == 1)
        clock.pass(1)
        #expect(watch.obstacles.isEmpty)
        // Idle for a moment, then busy again: the wait begins anew.
        machine.set(MachineConditions(load: 0.1))
        #expect(watch.obstacles.isEmpty)
        machine.set(MachineConditions(load: 2))
        #expect(watch.obstacles.count == 1)
    }
}

@Suite struct NetworkMeterTests {
    private static let routes = """
        Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
        eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
        wwan0\t00000000\t0100A8C0\t0003\t0\t0\t700\t00000000\t0\t0\t0
        eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0

        """

    @Test func withoutNetworkManagerOnlyModemsAreMetered() throws {
        let root = Root()
        #expect(NetworkMeter(root: root.path).state == .unmetered)
        try root.write(Self.routes, to: "/proc/net/route")
        #expect(NetworkMeter(root: root.path).state == .unmetered)
        try root.write(Self.routes.replacing("\t100\t", with: "\t900\t"), to: "/proc/net/route")
        #expect(NetworkMeter(root: root.path).state == .metered("the network is that of the modem wwan0"))
        // A modem with another name, which the kernel knows.
        try root.write(Self.routes.replacing("wwan0", with: "enx01"), to: "/proc/net/route")
        try root.write("DEVTYPE=wwan\nINTERFACE=eth0\n", to: "/sys/class/net/eth0/uevent")
        #expect(NetworkMeter(root: root.path).state == .metered("the network is that of the modem eth0"))
    }

    @Test(arguments: [UInt32(0), 1, 2, 3, 4])
    func networkManagerIsAsked(_ metered: UInt32) throws {
        let root = Root()
        let bus = try SampleBus(root.path) { _ in SampleBus.variant(metered) }
        let isMetered = [1, 3].contains(metered)
        let expected: NetworkMeter.State =
            isMetered ? .metered("NetworkManager states that the network is metered") : .unmetered
        #expect(NetworkMeter(root: root.path, patience: 120).state == expected)
        withExtendedLifetime(bus) {}
    }

    @Test func answersThatAreNoneCountForNothing() throws {
        let answers: [[UInt8]] = [
            [], [1], [1, 117, 0, 0], [1, 115, 0, 0, 1, 0, 0, 0], [UInt8](repeating: 255, count: 4000),
        ]
        for answer in answers {
            let root = Root()
            let bus = try SampleBus(root.path) { _ in answer }
            #expect(NetworkMeter(root: root.path).state == .unmetered)
            withExtendedLifetime(bus) {}
        }
    }
}

/// A message bus that answers each call; what it is asked is looked at, too.
private final class SampleBus: Sendable {
    private let listener: Int32

    static func variant(_ number: UInt32) -> [UInt8] { [1, UInt8(ascii: "u"), 0, 0] + little(number) }

    private static func little(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }

    init(_ root: String, answer: @escaping @Sendable (_ call: [UInt8]) -> [UInt8]) throws {
        let path = root + "/run/dbus/system_bus_socket"
        try FileManager.default.createDirectory(atPath: root + "/run/dbus", withIntermediateDirectories: true)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0 && listen(listener, 1) == 0)
        self.listener = listener
        Thread.detachNewThread { Self.serve(listener, answer) }
    }

    deinit { close(listener) }

    private static func serve(_ listener: Int32, _ answer: @Sendable ([UInt8]) -> [UInt8]) {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        defer { close(client) }
        func line() -> String {
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while bytes.last != 10, recv(client, &byte, 1, 0) == 1 { if byte != 0 { bytes.append(byte) } }
            return String(decoding: bytes, as: UTF8.self)
        }
        func take(_ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            guard count == 0 || recv(client, &bytes, count, Int32(MSG_WAITALL)) == count else { return nil }
            return bytes
        }
        func give(_ bytes: [UInt8]) {
            _ = bytes.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        guard line().hasPrefix("AUTH EXTERNAL ") else { return }
        give(Array("OK 0123456789abcdef\r\n".utf8))
        guard line() == "BEGIN\r\n" else { return }
        var isFirst = true
        while let start = take(16) {
            let length = Int(start[4]) | Int(start[5]) << 8
            let fields = ((Int(start[12]) | Int(start[13]) << 8) + 7) & ~7
            guard start[0] == UInt8(ascii: "l"), start[1] == 1, let rest = take(fields + length) else { return }
            let serial = Array(start[8..<12])
            // A signal that nobody asked for comes before the answer.
            let signal: [UInt8] = [1, 1, UInt8(ascii: "s"), 0] + little(1) + [97, 0]
            give(
                [UInt8(ascii: "l"), 4, 1, 1] + little(0) + little(7) + little(UInt32(signal.count)) + signal + [
                    0, 0, 0, 0, 0, 0,
                ]
            )
            let field: [UInt8] = [5, 1, UInt8(ascii: "u"), 0] + serial
            let body = isFirst ? little(4) + Array(":1.7".utf8) + [0] : answer(rest)
            give(
                [UInt8(ascii: "l"), 2, 1, 1] + little(UInt32(body.count)) + little(8) + little(UInt32(field.count))
                    + field + body
            )
            isFirst = false
        }
    }
}
