import DeploymentPolicy
import Foundation

extension DeploymentDefinition {
    /// The steps of a rollout, and the conditions that stop it: `Documentation/Rollouts.md`.
    public struct Ramp: Sendable, Codable, Equatable {
        /// One step of a rollout.
        public struct Step: Sendable, Codable, Equatable {
            /// The share of devices that get the default, in percent with three decimals.
            public var percentage: Double
            /// The least duration of the step in hours; 24 when missing.
            public var hours: Double?
            /// The number of devices that must run the release before the next step; none when missing.
            public var devices: Int?
            /// Whether a person must let the rollout continue; no when missing.
            public var waitsForPerson: Bool?
            /// Whether the failure rate must have been found good, which takes about 400 reports.
            ///
            /// When missing, it only must not have been found bad.
            public var needsGoodVerdict: Bool?

            /// Creates a step, by default with the default conditions.
            public init(percentage: Double, hours: Double? = nil, devices: Int? = nil, waitsForPerson: Bool? = nil) {
                self.percentage = percentage
                self.hours = hours
                self.devices = devices
                self.waitsForPerson = waitsForPerson
            }
        }

        /// The action on an automatic halt.
        public enum HaltAction: String, Sendable, Codable, CaseIterable {
            /// No further device gets the release, and none loses it.
            case keep
            /// The release is rolled back: its devices get the release of the others.
            case previous
            /// All devices go back to the models of the app bundle.
            case bundled
        }

        /// The steps, with rising percentages.
        public var steps: [Step]
        /// The share of failures among reports on a usual release; 0.005 when missing.
        public var usualFailureRate: Double?
        /// The share of failures at which a release is bad; 0.02 when missing.
        public var badFailureRate: Double?
        /// The probability with which a usual release may be halted; 0.01 when missing.
        public var falseHalt: Double?
        /// Whether the release is also compared with what the other devices have; yes when missing.
        public var comparesWithRest: Bool?
        /// The action on an automatic halt; `previous` when missing.
        public var onHalt: HaltAction?

        /// Creates a rollout in steps, with the default test.
        public init(steps: [Step]) { self.steps = steps }
    }

    /// The plan of the rollout; `nil` when the definition has none.
    ///
    /// Throws a ``ServiceError`` that names the member.
    func plan(salt: String) throws -> RolloutPlan? {
        guard let ramp = rollout else { return nil }
        guard let release = `default`.release else {
            throw ServiceError.invalid("definition.default", "A rollout needs a release as the default.")
        }
        guard percentage == nil else {
            throw ServiceError.invalid("definition.percentage", "The steps of the rollout state the percentages.")
        }
        var plan = RolloutPlan(
            release: release,
            rest: (rest ?? .bundled).outcome,
            salt: salt,
            steps: try ramp.steps.enumerated().map { index, step in
                try Self.step(step, "definition.rollout.steps[\(index)]")
            }
        )
        plan.holdout = try Self.buckets(holdout ?? 0, "definition.holdout")
        plan.test.usualRate = ramp.usualFailureRate ?? plan.test.usualRate
        plan.test.badRate = ramp.badFailureRate ?? plan.test.badRate
        plan.test.falseHalt = ramp.falseHalt ?? plan.test.falseHalt
        plan.comparesWithControl = ramp.comparesWithRest ?? true
        // The service decides who may approve.
        plan.needsSecondPerson = false
        switch ramp.onHalt ?? .previous {
        case .keep: plan.rollsBackOnHalt = nil
        case .previous: plan.rollsBackOnHalt = .previous
        case .bundled: plan.rollsBackOnHalt = .bundled
        }
        do throws(PolicyError) { try plan.check() } catch {
            throw ServiceError.invalid("definition.rollout.\(error.path)", error.message)
        }
        return plan
    }

    private static func step(_ step: Ramp.Step, _ field: String) throws -> RolloutPlan.Step {
        let hours = step.hours ?? 24
        guard (0...8784).contains(hours) else {
            throw ServiceError.invalid("\(field).hours", "A step lasts 0 to 8784 hours.")
        }
        return RolloutPlan.Step(
            share: try buckets(step.percentage, "\(field).percentage"),
            gate: RolloutPlan.Gate(
                minimumSeconds: Int((hours * 3600).rounded()),
                minimumExposed: step.devices ?? 0,
                isManual: step.waitsForPerson ?? false,
                needsGoodVerdict: step.needsGoodVerdict ?? false
            )
        )
    }

    /// The date at which an activated deployment goes live; `nil` for at once.
    func startDate() throws -> Date? {
        guard let start else { return nil }
        guard let date = PolicyDate(start) else {
            throw ServiceError.invalid("definition.start", "\"\(start)\" is not a date such as 2026-11-24T08:00:00Z.")
        }
        return Date(timeIntervalSince1970: Double(date.secondsSince1970))
    }
}
