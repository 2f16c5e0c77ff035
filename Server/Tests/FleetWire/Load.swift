import Glibc

/// Devices that check over connections to a server, at moments that do not depend on how fast it answers.
struct Load {
    struct Plan {
        var devices = 1_000_000
        /// Microseconds within which devices begin to check.
        var window = 60_000_000
        /// How many checks begin in that time.
        var checks = 1_000_000
        var steps: [Step] = Step.allCases
        /// Microseconds after which what is left undone stays so.
        var limit = 600_000_000
    }

    struct Totals {
        var requests = 0
        /// Answers by their status.
        var statuses: [Int: Int] = [:]
        /// Requests that the server sent away: 429 and 503.
        var shed = 0
        /// Those of them that did not say when to come again.
        var unguided = 0
        /// Connections that ended.
        var lost = 0
        /// Answers that are none of those that devices hope for.
        var strange = 0
        /// Devices that asked before their time had come.
        var early = 0
        /// Checks that came to their end.
        var served = 0
        /// Microseconds until the last of them.
        var duration = 0
        var mostQueued = 0
    }

    private let plan: Plan
    private let connections: [Connection]
    /// The events requested from the system for each connection.
    private var polled: [pollfd]
    private let start: Int
    private var requests: Requests
    private var random: Generator
    private var idle: [Int]
    /// Checks that wait for a connection.
    private var queue: [Check] = []
    private var queueStart = 0
    private var nextArrival = 0
    private var begun = 0
    /// Devices that come again, by hundredths of seconds.
    private var later: [[UInt32]]
    private var laterTick = 0
    private var failures: [UInt8]
    /// Hundredths of seconds before which a device may not ask.
    private var notBefore: [UInt32]
    private(set) var totals = Totals()
    /// From when a device wants to check until it has what it wants, this time.
    private(set) var checks = Histogram()
    /// From when a request is sent until its answer is there.
    private(set) var answers: [Step: Histogram] = [:]

    init(_ plan: Plan, _ requests: Requests, connections count: Int, port: UInt16, seed: UInt64) throws {
        self.plan = plan
        self.requests = requests
        random = Generator(state: seed)
        connections = try (0..<count).map { _ in try Connection(port: port) }
        idle = Array(0..<count)
        polled = connections.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
        later = [[UInt32]](repeating: [], count: plan.limit / 10_000 + 2)
        failures = [UInt8](repeating: 0, count: plan.devices)
        notBefore = [UInt32](repeating: 0, count: plan.devices)
        for step in plan.steps { answers[step] = Histogram() }
        start = Self.clock()
    }

    /// Microseconds.
    private static func clock() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }

    private var now: Int { Self.clock() - start }

    /// Runs until all checks came to their end, or time is over.
    mutating func run() throws {
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { scratch.deallocate() }
        while totals.served < plan.checks, now < plan.limit {
            arrive(now)
            try dispatch()
            let count = poll(&polled, nfds_t(polled.count), wait())
            guard count >= 0 || errno == EINTR else { throw WireError("poll: \(Connection.message())") }
            guard count > 0 else { continue }
            for index in polled.indices where polled[index].revents != 0 { try receive(index, scratch) }
        }
        totals.duration = now
    }

    /// Milliseconds until something happens by itself.
    private func wait() -> Int32 {
        if queueStart < queue.count, !idle.isEmpty { return 0 }
        if begun < plan.checks, nextArrival <= now + 500 { return 0 }
        return 1
    }

    /// The devices that want to check by now: a Poisson process, and those that were sent away before.
    private mutating func arrive(_ now: Int) {
        while begun < plan.checks, nextArrival <= now {
            queue.append(Check(device: UInt32(begun % plan.devices), wanted: nextArrival))
            begun += 1
            let mean = Double(plan.window) / Double(plan.checks)
            nextArrival += Int((-mean * log(1 - Double.random(in: 0..<1, using: &random))).rounded())
        }
        while laterTick * 10_000 <= now, laterTick < later.count {
            for device in later[laterTick] { queue.append(Check(device: device, wanted: laterTick * 10_000)) }
            later[laterTick] = []
            laterTick += 1
        }
        totals.mostQueued = max(totals.mostQueued, queue.count - queueStart)
    }

    private mutating func dispatch() throws {
        while queueStart < queue.count, let index = idle.popLast() {
            let check = queue[queueStart]
            queueStart += 1
            if now / 10_000 < notBefore[Int(check.device)] { totals.early += 1 }
            connections[index].check = check
            try ask(index)
        }
        if queueStart > 65_536 {
            queue.removeFirst(queueStart)
            queueStart = 0
        }
    }

    private mutating func ask(_ index: Int) throws {
        let connection = connections[index]
        guard let check = connection.check else { return }
        connection.asked = now
        totals.requests += 1
        if !connection.send(requests.bytes(plan.steps[check.step], device: check.device)) { try lose(index) }
    }

    private mutating func receive(_ index: Int, _ scratch: UnsafeMutableRawBufferPointer) throws {
        let connection = connections[index]
        let answer: Answer
        do {
            guard let whole = try connection.receive(into: scratch) else { return }
            answer = whole
        } catch { return try lose(index) }
        guard var check = connection.check else {
            totals.strange += 1
            return
        }
        let step = plan.steps[check.step]
        let duration = now - connection.asked
        answers[step]?.add(duration)
        totals.statuses[answer.status, default: 0] += 1
        let isBusy = answer.status == 429 || answer.status == 503
        if isBusy {
            totals.shed += 1
            if answer.retryAfter == nil { totals.unguided += 1 }
        } else if ![200, 204, 304, step == .root ? 404 : 200].contains(answer.status) {
            totals.strange += 1
        }
        // A report is kept and sent with the next check: it is no part of whether a check succeeds.
        if isBusy, step != .report { return comeLater(index, check, answer.retryAfter) }
        check.step += 1
        connection.check = check
        guard check.step == plan.steps.count else { return try ask(index) }
        totals.served += 1
        let end = now
        checks.add(end - check.wanted)
        failures[Int(check.device)] = 0
        connection.check = nil
        idle.append(index)
    }

    /// The connection ended: the device waits as after any failure.
    private mutating func lose(_ index: Int) throws {
        totals.lost += 1
        let check = connections[index].check
        try connections[index].reconnect()
        polled[index].fd = connections[index].socket
        if let check { comeLater(index, check, nil) }
    }

    /// As the client waits after a failure (`Schedule.delay`).
    private mutating func comeLater(_ index: Int, _ check: Check, _ retryAfter: Int?) {
        connections[index].check = nil
        idle.append(index)
        let device = Int(check.device)
        failures[device] = min(failures[device] + 1, 20)
        let backOff = min(6 * 3600, 60 * Double(1 << Int(failures[device])))
        let delay = max(Double(retryAfter ?? 0), backOff / 2) * (1 + Double.random(in: 0..<1, using: &random))
        let tick = (now + Int(delay * 1_000_000)) / 10_000 + 1
        notBefore[device] = UInt32(tick)
        if tick < later.count { later[tick].append(check.device) }
    }

    /// Asks one request by itself.
    static func ask(_ step: Step, _ requests: inout Requests, port: UInt16) throws -> Answer {
        let connection = try Connection(port: port)
        guard connection.send(requests.bytes(step, device: 0)) else { throw WireError("a request cannot be sent") }
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { scratch.deallocate() }
        let end = clock() + 10_000_000
        while clock() < end {
            if let answer = try connection.receive(into: scratch) { return answer }
            var arrival = pollfd(fd: connection.socket, events: Int16(POLLIN), revents: 0)
            let patience = Int32(max(1, (end - clock()) / 1000))
            guard poll(&arrival, 1, patience) >= 0 || errno == EINTR else {
                throw WireError("poll: \(Connection.message())")
            }
        }
        throw WireError("the server does not answer within 10 s")
    }
}
