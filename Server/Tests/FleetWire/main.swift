// Devices over the network, and the storm after an outage: points 2 and 3 of section 5.4 of the design.
// `Reliability/fleet-simulation` starts a server for it.

import ArgumentParser
import Foundation

/// The measurements.
struct Summary: Encodable {
    let devices: Int
    let checks: Int
    let connections: Int
    /// Checks that came to their end, and seconds until the last did.
    let served: Int
    let seconds: Double
    let requests: Int
    let statuses: [String: Int]
    let shed: Int
    let shedShare: Double
    let early: Int
    let lost: Int
    let strange: Int
    let unguided: Int
    let mostQueued: Int
    /// From the moment at which a device wants to check until it is done, without the time of back-offs.
    let check: Percentiles
    /// From each request to its answer.
    let answer: [String: Percentiles]
    /// Of the server.
    let processorSeconds: Double?
    let requestsPerProcessorSecond: Double?
    let residentMiB: Double?
    let mostResidentMiB: Double?
}

struct FleetWire: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Devices that check over the network.",
        discussion: "Checks begin at random moments of their own (a Poisson process), however fast the server answers."
    )

    @Option(help: "The server's port on this machine.") var port: UInt16
    @Option(help: "The server's process, whose processor time and memory are measured.") var process: Int32?
    @Option var team = "acme"
    @Option var app = "shop"
    @Option var collection = "Flowers"
    @Option(help: "How many devices there are.") var devices = 1_000_000
    @Option(help: "Seconds within which each device checks once: a storm.") var storm: Double?
    @Option(help: "Without a storm: how many checks begin in a second.") var rate = 1000.0
    @Option(help: "Without a storm: for how many seconds.") var seconds = 10.0
    @Option(help: "How many connections all devices share.") var connections = 256
    @Option(help: "What a check asks: root, timestamp, policy, report; all of them in this order without it.")
    var steps = Step.allCases.map(\.rawValue).joined(separator: ",")
    @Option(help: "Seconds after which it ends, whatever is left.") var limit = 300.0
    @Option(help: "Random numbers begin with it.") var seed: UInt64 = 1
    @Flag(help: "One JSON object.") var json = false

    func run() throws {
        guard devices > 0, connections > 0, limit > 0, rate > 0 else { throw ValidationError("Numbers are above 0.") }
        var plan = Load.Plan()
        plan.devices = devices
        plan.window = Int((storm ?? seconds) * 1_000_000)
        plan.checks = storm == nil ? Int(rate * seconds) : devices
        plan.limit = Int(limit * 1_000_000)
        plan.steps = try steps.split(separator: ",").map { name in
            guard let step = Step(rawValue: String(name)) else { throw ValidationError("\"\(name)\" is no step.") }
            return step
        }
        var requests = Requests(team: team, app: app, collection: collection, seed: seed)
        let policy = try Load.ask(.policy, &requests, port: port)
        guard policy.status == 200, let tag = policy.tag else { throw WireError("there is no policy to ask for") }
        requests.tag = tag
        let before = process.flatMap { ProcessFigures($0) }
        var load = try Load(plan, requests, connections: connections, port: port, seed: seed)
        try load.run()
        let after = process.flatMap { ProcessFigures($0) }
        if process != nil, after == nil { throw WireError("the server has ended") }
        try show(summary(load, plan, before, after))
    }

    private func summary(_ load: Load, _ plan: Load.Plan, _ before: ProcessFigures?, _ after: ProcessFigures?)
        -> Summary
    {
        let totals = load.totals
        let used = before.flatMap { before in after.map { $0.processorSeconds - before.processorSeconds } }
        return Summary(
            devices: plan.devices,
            checks: plan.checks,
            connections: connections,
            served: totals.served,
            seconds: Double(totals.duration) / 1_000_000,
            requests: totals.requests,
            statuses: Dictionary(uniqueKeysWithValues: totals.statuses.map { ("\($0)", $1) }),
            shed: totals.shed,
            shedShare: Double(totals.shed) / Double(max(1, totals.requests)),
            early: totals.early,
            lost: totals.lost,
            strange: totals.strange,
            unguided: totals.unguided,
            mostQueued: totals.mostQueued,
            check: load.checks.percentiles,
            answer: Dictionary(uniqueKeysWithValues: load.answers.map { ($0.rawValue, $1.percentiles) }),
            processorSeconds: used,
            requestsPerProcessorSecond: used.map { Double(totals.requests) / max($0, 0.01) },
            residentMiB: after?.residentMiB,
            mostResidentMiB: after?.mostResidentMiB
        )
    }

    private func show(_ summary: Summary) throws {
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return print(String(decoding: try encoder.encode(summary), as: UTF8.self))
        }
        func text(_ number: Double) -> String { String(format: "%.1f", number) }
        print(
            "\(summary.served) of \(summary.checks) checks of \(summary.devices) devices in \(text(summary.seconds)) s"
        )
        print("\(summary.requests) requests over \(summary.connections) connections: \(summary.statuses)")
        print("sent away: \(summary.shed) (\(text(summary.shedShare * 100)) %); asked too early: \(summary.early)")
        print("connections lost: \(summary.lost); strange answers: \(summary.strange)")
        print("a check: \(summary.check); at most \(summary.mostQueued) waited for a connection")
        for (step, figures) in summary.answer.sorted(by: { $0.key < $1.key }) { print("\(step): \(figures)") }
        guard let used = summary.processorSeconds, let rate = summary.requestsPerProcessorSecond else { return }
        print("the server: \(text(used)) s of processor, \(Int(rate)) requests per processor second")
        print("its memory: \(text(summary.residentMiB ?? 0)) MiB, at most \(text(summary.mostResidentMiB ?? 0))")
    }
}

/// Linux's figures of a process.
struct ProcessFigures {
    let processorSeconds: Double
    let residentMiB: Double
    let mostResidentMiB: Double

    init?(_ process: Int32) {
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return nil }
        processorSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        func mebibytes(_ name: String) -> Double {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            return (Double(line.filter(\.isNumber)) ?? 0) / 1024
        }
        residentMiB = mebibytes("VmRSS")
        mostResidentMiB = mebibytes("VmHWM")
    }
}

FleetWire.main()
