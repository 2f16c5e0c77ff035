import BackgroundTasks
import Synchronization
import Testing

/// A machine as the test wants it.
private final class TestMachine: Machine {
    private let state: Mutex<MachineConditions>
    init(load: Double) { state = Mutex(MachineConditions(load: load)) }
    var conditions: MachineConditions { state.withLock { $0 } }
    func set(_ change: (inout MachineConditions) -> Void) { state.withLock { change(&$0) } }
}

struct SchedulerTests {
    private static func scheduler(
        _ machine: TestMachine,
        budget: TimeInterval = 60,
        patience: TimeInterval = 3600
    ) -> BGTaskScheduler {
        var policy = BGTaskScheduler.Policy()
        policy.interval = 0.01
        policy.timeBudget = budget
        policy.patience = patience
        policy.gracePeriod = 0.05
        return BGTaskScheduler(policy: policy, machine: machine)
    }

    /// Waits until `condition` holds, at most ten seconds.
    private static func wait(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<1000 {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    @Test func workBeginsWhenTheMachineIsIdle() async throws {
        let machine = TestMachine(load: 3)
        let scheduler = Self.scheduler(machine)
        let begun = Mutex<[String]>([])
        let isNew = scheduler.register(forTaskWithIdentifier: "learn", using: nil) { task in
            begun.withLock { $0.append(task.identifier + (task is BGProcessingTask ? "" : " is not processing")) }
            task.setTaskCompleted(success: true)
        }
        #expect(isNew)
        #expect(!scheduler.register(forTaskWithIdentifier: "learn", using: nil) { _ in })
        #expect(!scheduler.register(forTaskWithIdentifier: "", using: nil) { _ in })
        let request = BGProcessingTaskRequest(identifier: "learn")
        request.requiresExternalPower = true
        try scheduler.submit(request)
        try scheduler.submit(request)
        #expect(await scheduler.pendingTaskRequests().map(\.identifier) == ["learn"])
        try await Task.sleep(for: .milliseconds(100))
        #expect(begun.withLock { $0 }.isEmpty)
        machine.set {
            $0.load = 0.1
            $0.hasExternalPower = false
        }
        try await Task.sleep(for: .milliseconds(100))
        #expect(begun.withLock { $0 }.isEmpty)
        machine.set { $0.hasExternalPower = true }
        #expect(await Self.wait { begun.withLock { $0 } == ["learn"] })
        #expect(await scheduler.pendingTaskRequests().isEmpty)
        // The next request begins too.
        try scheduler.submit(BGProcessingTaskRequest(identifier: "learn"))
        #expect(await Self.wait { begun.withLock { $0.count } == 2 })
    }

    @Test func datesPatienceAndCancelling() async throws {
        let machine = TestMachine(load: 9)
        let scheduler = Self.scheduler(machine, patience: 0.2)
        let begun = Mutex<[String: Date]>([:])
        for name in ["late", "refresh", "never", "next year"] {
            scheduler.register(forTaskWithIdentifier: name, using: .global()) { task in
                begun.withLock { $0[name] = Date() }
                task.setTaskCompleted(success: true)
            }
        }
        let late = BGProcessingTaskRequest(identifier: "late")
        let earliest = Date(timeIntervalSinceNow: 0.1)
        late.earliestBeginDate = earliest
        try scheduler.submit(late)
        try scheduler.submit(BGAppRefreshTaskRequest(identifier: "refresh"))
        try scheduler.submit(BGProcessingTaskRequest(identifier: "never"))
        scheduler.cancel(taskRequestWithIdentifier: "never")
        let far = BGProcessingTaskRequest(identifier: "next year")
        far.earliestBeginDate = Date(timeIntervalSinceNow: 3e7)
        try scheduler.submit(far)
        #expect(await Self.wait { begun.withLock { $0["late"] != nil && $0["refresh"] != nil } })
        // Busy all the time: the work waited its patience out, from its date on; refreshing did not wait.
        let start = try #require(begun.withLock { $0["late"] })
        #expect(start.timeIntervalSince(earliest) >= 0.2)
        #expect(begun.withLock { $0["never"] } == nil && begun.withLock { $0["next year"] } == nil)
        #expect(await scheduler.pendingTaskRequests().map(\.identifier) == ["next year"])
        scheduler.cancelAllTaskRequests()
        #expect(await scheduler.pendingTaskRequests().isEmpty)
    }

    @Test func timeRunsOut() async throws {
        let scheduler = Self.scheduler(TestMachine(load: 0), budget: 0.1)
        let told = Mutex<[String]>([])
        scheduler.register(forTaskWithIdentifier: "heeds", using: nil) { task in
            task.expirationHandler = {
                told.withLock { $0.append("heeds") }
                task.setTaskCompleted(success: false)
            }
        }
        scheduler.register(forTaskWithIdentifier: "does not", using: nil) { task in
            task.expirationHandler = { told.withLock { $0.append("does not") } }
        }
        try scheduler.submit(BGProcessingTaskRequest(identifier: "heeds"))
        try scheduler.submit(BGProcessingTaskRequest(identifier: "does not"))
        #expect(await Self.wait { told.withLock { $0.count } == 2 })
        // One at a time, and each is told once; after the grace period the place is free again.
        try scheduler.submit(BGProcessingTaskRequest(identifier: "does not"))
        #expect(await Self.wait { told.withLock { $0.count } == 3 })
        #expect(told.withLock { $0 } == ["heeds", "does not", "does not"])
    }

    @Test func requestsThatAreRefused() throws {
        let scheduler = Self.scheduler(TestMachine(load: 9))
        do {
            try scheduler.submit(BGProcessingTaskRequest(identifier: "unknown"))
            Issue.record("no error")
        } catch BGTaskScheduler.Error.notPermitted {} catch { Issue.record("\(error)") }
        for index in 0..<11 {
            scheduler.register(forTaskWithIdentifier: "\(index)", using: nil) { _ in }
        }
        for index in 0..<10 { try scheduler.submit(BGProcessingTaskRequest(identifier: "\(index)")) }
        do {
            try scheduler.submit(BGProcessingTaskRequest(identifier: "10"))
            Issue.record("no error")
        } catch let error as BGTaskScheduler.Error {
            #expect(error.code == .tooManyPendingTaskRequests && error.code.rawValue == 2)
            #expect((error as NSError).domain == "BGTaskSchedulerErrorDomain")
        }
        scheduler.cancelAllTaskRequests()
    }

    @Test func theMachineIsReadFromTheKernelsFiles() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("machine-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        func write(_ path: String, _ text: String) throws {
            let url = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: url)
        }
        try write("proc/loadavg", "3.00 2.00 1.00 1/100 1234\n")
        try write("sys/class/net/lo/operstate", "unknown\n")
        let machine = LinuxMachine(root: root.path)
        let cores = Double(ProcessInfo.processInfo.activeProcessorCount)
        #expect(machine.conditions.load == 3 / cores)
        #expect(machine.conditions.hasExternalPower && !machine.conditions.hasNetwork)
        try write("sys/class/net/eth0/operstate", "up\n")
        try write("sys/class/power_supply/hidpp_battery_0/type", "Battery\n")
        try write("sys/class/power_supply/hidpp_battery_0/scope", "Device\n")
        #expect(machine.conditions.hasExternalPower && machine.conditions.hasNetwork)
        try write("sys/class/power_supply/BAT0/type", "Battery\n")
        try write("sys/class/power_supply/AC/type", "Mains\n")
        try write("sys/class/power_supply/AC/online", "0\n")
        #expect(!machine.conditions.hasExternalPower)
        try write("sys/class/power_supply/AC/online", "1\n")
        #expect(machine.conditions.hasExternalPower)
    }

    @Test func theEnvironmentSetsThePolicy() {
        let policy = BGTaskScheduler.Policy(environment: [
            "BACKGROUND_TASK_TIME_BUDGET": "12", "BACKGROUND_TASK_IDLE_LOAD": "0.25", "BACKGROUND_TASK_INTERVAL": "x",
        ])
        #expect(policy.timeBudget == 12 && policy.idleLoad == 0.25 && policy.interval == 10 && policy.patience == 3600)
    }
}
