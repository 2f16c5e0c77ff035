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

/// Numbers that look random and are the same in every run (SplitMix64).
struct Draws: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Whether something of this probability happens.
    mutating func happens(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }

    /// How many of `count` things of this probability happen.
    mutating func binomial(_ count: Int, _ probability: Double) -> Int {
        (0..<count).count { _ in happens(probability) }
    }

    /// An install ID as apps make it.
    mutating func installID() -> String {
        String(next(), radix: 16) + "-" + String(next(), radix: 16)
    }
}
