package import BackgroundTasks
import Synchronization

/// What downloads of models wait for.
public struct DownloadConditions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A network that nobody pays for by the byte: what NetworkManager says of the connection; without NetworkManager, any but those
    /// of modems.
    public static let unmeteredNetwork = DownloadConditions(rawValue: 1)
    /// Power from outside.  Machines without batteries have it.
    public static let externalPower = DownloadConditions(rawValue: 2)
    /// A machine that has little to do, by the measures of `BGTaskScheduler.Policy`: its load is below `idleLoad`, or the download has
    /// waited for `patience`.
    public static let idle = DownloadConditions(rawValue: 4)
}

/// Looks at the machine for what downloads wait for.
package final class ConditionWatch: Sendable {
    private let wanted: DownloadConditions
    private let machine: any Machine
    private let network: NetworkMeter
    private let policy: BGTaskScheduler.Policy
    private let now: @Sendable () -> Date
    /// When the machine was first seen to be busy while something waited for it.
    private let busySince = Mutex<Date?>(nil)

    package init(
        _ wanted: DownloadConditions,
        machine: any Machine = LinuxMachine(),
        network: NetworkMeter = NetworkMeter(),
        policy: BGTaskScheduler.Policy = BGTaskScheduler.shared.policy,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.wanted = wanted
        self.machine = machine
        self.network = network
        self.policy = policy
        self.now = now
    }

    /// What is missing, in words.
    package var obstacles: [String] {
        guard !wanted.isEmpty else { return [] }
        let conditions = machine.conditions
        var obstacles: [String] = []
        if wanted.contains(.unmeteredNetwork), case .metered(let reason) = network.state { obstacles.append(reason) }
        if wanted.contains(.externalPower), !conditions.hasExternalPower {
            obstacles.append("the device runs on its battery")
        }
        if wanted.contains(.idle), isTooBusy(conditions.load) {
            let load = String(format: "%.2f", conditions.load)
            obstacles.append("the machine is busy (a load of \(load) per processor, idle is below \(policy.idleLoad))")
        }
        return obstacles
    }

    private func isTooBusy(_ load: Double) -> Bool {
        busySince.withLock { since in
            guard load >= policy.idleLoad else {
                since = nil
                return false
            }
            let start = since ?? now()
            since = start
            return now().timeIntervalSince(start) < policy.patience
        }
    }
}
