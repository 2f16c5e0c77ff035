import BackgroundTasks
import Synchronization
import TestSupport
import Testing

/// A machine as the test wants it.
private final class TestMachine: Machine {
    private let state: Mutex<MachineConditions>
    init(load: Double) { state = Mutex(MachineConditions(load: load)) }
    var conditions: MachineConditions { state.withLock { $0 } }
    func set(_ change: (inout MachineConditions) -> Void) { state.withLock { change(&$0) } }
}

struct SchedulerTests {
    private let time = VirtualTime()

    private func scheduler(_ machine: TestMachine) -> BGTaskScheduler {
        BGTaskScheduler(policy: BGTaskScheduler.Policy(environment: [:]), machine: machine, time: time)
    }

    @Test func workBeginsWhenTheMachineIsIdle() async throws {
        let machine = TestMachine(load: 3)
        let scheduler = scheduler(machine)
        let begun = Mutex<[String]>([])
        let isNew = scheduler.register(forTaskWithIdentifier: "learn", using: time.handlers) { task in
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
        time.pass(60)
        #expect(begun.withLock { $0 }.isEmpty)
        machine.set {
            $0.load = 0.1
            $0.hasExternalPower = false
        }
        time.pass(60)
        #expect(begun.withLock { $0 }.isEmpty)
        machine.set { $0.hasExternalPower = true }
        time.pass(10)
        #expect(begun.withLock { $0 } == ["learn"])
        #expect(await scheduler.pendingTaskRequests().isEmpty)
        // The next request begins too.
        try scheduler.submit(BGProcessingTaskRequest(identifier: "learn"))
        time.pass(0)
        #expect(begun.withLock { $0.count } == 2)
    }

    @Test func handlersWithoutAQueueRunInTheBackground() async throws {
        let scheduler = scheduler(TestMachine(load: 0))
        let (calls, call) = AsyncStream<String>.makeStream()
        scheduler.register(forTaskWithIdentifier: "learn", using: nil) { task in
            task.setTaskCompleted(success: true)
            call.yield(task.identifier)
        }
        try scheduler.submit(BGProcessingTaskRequest(identifier: "learn"))
        time.pass(0)
        #expect(await calls.first { _ in true } == "learn")
    }

    @Test func datesPatienceAndCancelling() async throws {
        let machine = TestMachine(load: 9)
        let scheduler = scheduler(machine)
        let begun = Mutex<[String]>([])
        for name in ["late", "refresh", "never", "next year", "any time"] {
            scheduler.register(forTaskWithIdentifier: name, using: time.handlers) { task in
                begun.withLock { $0.append(name) }
                task.setTaskCompleted(success: true)
            }
        }
        let late = BGProcessingTaskRequest(identifier: "late")
        late.earliestBeginDate = time.now.addingTimeInterval(100)
        try scheduler.submit(late)
        try scheduler.submit(BGAppRefreshTaskRequest(identifier: "refresh"))
        try scheduler.submit(BGProcessingTaskRequest(identifier: "never"))
        scheduler.cancel(taskRequestWithIdentifier: "never")
        let far = BGProcessingTaskRequest(identifier: "next year")
        far.earliestBeginDate = time.now.addingTimeInterval(3e7)
        try scheduler.submit(far)
        time.pass(0)
        #expect(begun.withLock { $0 } == ["refresh"], "refreshing does not wait")
        time.pass(50)
        try scheduler.submit(BGProcessingTaskRequest(identifier: "any time"))
        // Busy all the time: the work waits its patience out, from its submission or its date on.
        time.pass(3599)
        #expect(begun.withLock { $0 } == ["refresh"])
        time.pass(11)
        #expect(begun.withLock { $0 } == ["refresh", "any time"])
        time.pass(30)
        #expect(begun.withLock { $0 } == ["refresh", "any time"])
        time.pass(20)
        #expect(begun.withLock { $0 } == ["refresh", "any time", "late"])
        time.pass(10_000)
        #expect(await scheduler.pendingTaskRequests().map(\.identifier) == ["next year"])
        scheduler.cancelAllTaskRequests()
        #expect(await scheduler.pendingTaskRequests().isEmpty)
        #expect(begun.withLock { $0.count } == 3)
    }

    @Test func timeRunsOut() throws {
        let scheduler = scheduler(TestMachine(load: 0))
        let told = Mutex<[String]>([])
        scheduler.register(forTaskWithIdentifier: "heeds", using: time.handlers) { task in
            task.expirationHandler = {
                told.withLock { $0.append("heeds") }
                task.setTaskCompleted(success: false)
            }
        }
        scheduler.register(forTaskWithIdentifier: "does not", using: time.handlers) { task in
            task.expirationHandler = { told.withLock { $0.append("does not") } }
        }
        try scheduler.submit(BGProcessingTaskRequest(identifier: "heeds"))
        try scheduler.submit(BGProcessingTaskRequest(identifier: "does not"))
        time.pass(299)
        #expect(told.withLock { $0 }.isEmpty)
        time.pass(1)
        #expect(told.withLock { $0 } == ["heeds"])
        // One at a time: the second began when the first had ended.
        time.pass(299)
        #expect(told.withLock { $0 } == ["heeds"])
        time.pass(11)
        #expect(told.withLock { $0 } == ["heeds", "does not"])
        // Each is told once; after the grace period the place is free again.
        try scheduler.submit(BGProcessingTaskRequest(identifier: "does not"))
        time.pass(299)
        #expect(told.withLock { $0 } == ["heeds", "does not"])
        time.pass(31)
        #expect(told.withLock { $0 } == ["heeds", "does not", "does not"])
        time.pass(10_000)
        #expect(told.withLock { $0.count } == 3)
    }

    @Test func requestsThatAreRefused() throws {
        let scheduler = scheduler(TestMachine(load: 9))
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
