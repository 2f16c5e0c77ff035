import DeploymentPolicy
import Glibc

/// Prints the figures R8 (halts), P4 (evaluations) and P6 (percentages); ends with 1 when one of them is missed.
///
///     RolloutRunner [halts [COUNT]] [evaluations] [shares [DEVICES]]
@main
struct RolloutRunner {
    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        let which = arguments.popFirst()
        let number = arguments.popFirst().flatMap { Int($0) }
        var isMissed = false
        if which == nil || which == "halts" { isMissed = try !Halts.run(count: number ?? 10_000) || isMissed }
        if which == nil || which == "shares" { isMissed = !Shares.run(devices: number ?? 1_000_000) || isMissed }
        if which == nil || which == "evaluations" { isMissed = try !Evaluations.run() || isMissed }
        exit(isMissed ? 1 : 0)
    }

    /// A line of the report; whether the figure is reached.
    static func report(_ name: String, _ value: Double, _ isReached: Bool, _ wanted: String) -> Bool {
        let rounded = (value * 1000).rounded() / 1000
        print("\(isReached ? "pass" : "MISS")  \(name): \(rounded)  (\(wanted))")
        return isReached
    }
}
