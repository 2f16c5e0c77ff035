/// The conditions of the machine that decide whether background work may begin.
package struct MachineConditions: Sendable {
    /// The load average of the last minute, divided by the number of processors.
    package var load: Double
    package var hasExternalPower: Bool
    package var hasNetwork: Bool

    package init(load: Double, hasExternalPower: Bool = true, hasNetwork: Bool = true) {
        self.load = load
        self.hasExternalPower = hasExternalPower
        self.hasNetwork = hasNetwork
    }
}

package protocol Machine: Sendable {
    var conditions: MachineConditions { get }
}

/// Reads the machine's conditions from /proc and /sys.
package struct LinuxMachine: Machine {
    /// The folder to use in place of "/", for tests.
    private let root: String

    package init(root: String = "") { self.root = root }

    package var conditions: MachineConditions {
        MachineConditions(load: load, hasExternalPower: hasExternalPower, hasNetwork: hasNetwork)
    }

    private var load: Double {
        let first = text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) } ?? 0
        return first / Double(max(ProcessInfo.processInfo.activeProcessorCount, 1))
    }

    /// Whether the machine has external power: it has no battery, or one of its power supplies is online.
    private var hasExternalPower: Bool {
        let folder = "/sys/class/power_supply"
        var hasBattery = false
        for name in names(folder) {
            let type = text("\(folder)/\(name)/type")
            if type == "Battery" {
                // Batteries of mice and keyboards do not feed the machine.
                if text("\(folder)/\(name)/scope") != "Device" { hasBattery = true }
            } else if text("\(folder)/\(name)/online") == "1" {
                return true
            }
        }
        return !hasBattery
    }

    private var hasNetwork: Bool {
        let folder = "/sys/class/net"
        return names(folder).contains { name in
            guard name != "lo" else { return false }
            let state = text("\(folder)/\(name)/operstate")
            return state == "up" || state == "unknown" && text("\(folder)/\(name)/carrier") == "1"
        }
    }

    private func names(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []).sorted()
    }

    private func text(_ path: String) -> String {
        guard let data = FileManager.default.contents(atPath: root + path) else { return "" }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
