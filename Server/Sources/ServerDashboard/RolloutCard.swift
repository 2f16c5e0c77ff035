import DeploymentPolicy
import Foundation
import ServerCore

/// The progress of a rollout, and what its next gate waits for.
struct RolloutCard {
    struct Step {
        let share: String
        let isDone: Bool
        let isCurrent: Bool
    }

    let state: String
    let colour: String
    let steps: [Step]
    let ring: ShareRing.Arc
    let share: String
    let seen: String
    let obstacles: [String]
    let isWaiting: Bool

    init(_ rollout: Rollout, now: Date = Date()) {
        let current: Int
        switch rollout.state {
        case .draft, .approved: (state, colour, current) = ("Not started", "plain", -1)
        case .ramping(let step):
            (state, colour, current) = ("Step \(step + 1) of \(rollout.plan.steps.count)", "info", step)
        case .paused(let step): (state, colour, current) = ("Paused at step \(step + 1)", "warn", step)
        case .complete: (state, colour, current) = ("Complete", "good", rollout.plan.steps.count)
        case .halted(let step, let reason): (state, colour, current) = ("Halted: " + Self.text(reason), "bad", step)
        case .rolledBack: (state, colour, current) = ("Rolled back", "bad", -1)
        }
        steps = rollout.plan.steps.enumerated().map { index, step in
            Step(share: Self.percent(step.share), isDone: index < current, isCurrent: index == current)
        }
        let reached = rollout.serving.shares.filter { $0.outcome == .release(rollout.plan.release) }.reduce(0) {
            $0 + $1.share
        }
        share = Self.percent(reached)
        ring = ShareRing.Arc(
            name: "release \(rollout.plan.release)",
            percent: share,
            colour: 1,
            length: String(format: "%.3f %.3f", Double(reached) / 1000, 100 - Double(reached) / 1000),
            offset: "25"
        )
        let test = rollout.gate.test
        seen =
            "\(Texts.count(rollout.gate.exposed, "device runs", "devices run")) it; \(Texts.number(test.failures)) of "
            + "\(Texts.count(test.reports, "report", "reports")) at this step are failures."
        switch rollout.assess(at: PolicyDate(secondsSince1970: Int(now.timeIntervalSince1970))) {
        case .none: obstacles = []
        case .start, .advance: obstacles = ["All conditions hold: the next step begins within seconds."]
        case .wait(let found): obstacles = found.map { Self.text($0, now) }
        case .halt(let reason): obstacles = ["It will be halted soon: " + Self.text(reason) + "."]
        }
        isWaiting = !obstacles.isEmpty
    }

    private static func percent(_ thousandths: Int) -> String { Texts.trimmed(Double(thousandths) / 1000) + " %" }

    private static func text(_ reason: Rollout.HaltReason) -> String {
        switch reason {
        case .failureRate: "too many failures"
        case .worseThanControl: "more failures than in the control group"
        case .person: "by hand"
        }
    }

    private static func text(_ obstacle: Rollout.Obstacle, _ now: Date) -> String {
        func moment(_ date: PolicyDate) -> String {
            let date = Date(timeIntervalSince1970: Double(date.secondsSince1970))
            return "\(Texts.distance(date, from: now)) (\(Texts.moment(date)) UTC)"
        }
        return switch obstacle {
        case .startsAt(let date): "It starts \(moment(date))."
        case .time(let until): "Its minimum time ends \(moment(until))."
        case .exposed(let count, let requested):
            "It waits for \(Texts.number(requested)) devices; \(Texts.number(count)) run it."
        case .verdict: "It waits until the failure rate is known to be acceptable."
        case .person: "Someone must approve it."
        }
    }
}
