package import BackgroundTasks
import Synchronization

/// A set of conditions that downloads of models wait for.
public struct DownloadConditions: OptionSet, Sendable {
    /// The conditions as a bit mask.
    public let rawValue: Int
    /// Makes a set from a bit mask.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A network that is not paid for by the byte.
    ///
    /// NetworkManager decides; without it, every network but that of a modem counts as unmetered.
    public static let unmeteredNetwork = DownloadConditions(rawValue: 1)
    /// External power; machines without batteries always have it.
    public static let externalPower = DownloadConditions(rawValue: 2)
    /// An idle machine, as `BGTaskScheduler.Policy` defines it.
    ///
    /// Its load is below `idleLoad`, or the download has waited for `patience` seconds.
    public static let idle = DownloadConditions(rawValue: 4)
}

/// Checks the conditions that downloads wait for.
package final class ConditionWatch: Sendable {
    private let wanted: DownloadConditions
    private let machine: any Machine
    private let network: NetworkMeter
    private let policy: BGTaskScheduler.Policy
    private let now: @Sendable () -> Date
    /// The time when the machine was first found busy while a download waited for it.
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

    /// The conditions that are not met, as messages.
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
