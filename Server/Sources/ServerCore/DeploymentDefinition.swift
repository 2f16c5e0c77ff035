import DeploymentPolicy
import Foundation

/// The assignment of releases to devices by a deployment.
public struct DeploymentDefinition: Sendable, Codable, Equatable {
    /// The models that devices get.
    public enum Choice: Sendable, Codable, Equatable {
        /// The release with this number.
        case release(Int)
        /// The models of the app bundle.
        case bundled
        /// The models that the devices already have.
        case keep

        /// Decodes the number of a release, `"bundled"` or `"keep"`.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self = .release(number)
                return
            }
            switch try container.decode(String.self) {
            case "bundled": self = .bundled
            case "keep": self = .keep
            case let text:
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "The number of a release, \"bundled\" or \"keep\" is needed, not \"\(text)\"."
                )
            }
        }

        /// Encodes the number of a release, `"bundled"` or `"keep"`.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .release(let number): try container.encode(number)
            case .bundled: try container.encode("bundled")
            case .keep: try container.encode("keep")
            }
        }

        var outcome: Outcome {
            switch self {
            case .release(let number): .release(number)
            case .bundled: .bundled
            case .keep: .keep
            }
        }

        var release: Int? { if case .release(let number) = self { number } else { nil } }
    }

    /// A rule that gives matching devices something else than the default.
    public struct Rule: Sendable, Codable, Equatable {
        /// The rule's identifier, which stays when the rule is changed.
        public var id: String
        /// The purpose of the rule, for people.
        public var note: String?
        /// A condition in the form of `Documentation/Formats/policy.md`.
        public var when: AnyJSON
        /// The models that matching devices get.
        public var serve: Choice
        /// The share of matching devices that get ``serve``, in percent with three decimals; all when missing.
        public var percentage: Double?
        /// The models that the other matching devices get; the deployment's default when missing.
        public var rest: Choice?

        /// Creates a rule, by default for all matching devices.
        public init(
            id: String,
            note: String? = nil,
            when: AnyJSON,
            serve: Choice,
            percentage: Double? = nil,
            rest: Choice? = nil
        ) {
            self.id = id
            self.note = note
            self.when = when
            self.serve = serve
            self.percentage = percentage
            self.rest = rest
        }
    }

    /// The rules, evaluated in order; the first that matches decides.
    public var rules: [Rule]
    /// The release for devices that no rule matches.
    public var `default`: Choice
    /// The share of these devices that get the default, in percent with three decimals; all when missing.
    public var percentage: Double?
    /// The models that the other devices get; those of the app bundle when missing.
    public var rest: Choice?
    /// The share of devices that are held out for comparison, in percent; none when missing.
    public var holdout: Double?
    /// The steps in which the default is rolled out; to all devices at once when missing.
    public var rollout: Ramp?
    /// The earliest date at which the deployment goes live, such as `2026-11-24T08:00:00Z`; at once when missing.
    public var start: String?
    /// The share of devices that send reports, in percent; all when missing, 0 for none.
    public var reporting: Double?
    /// Groups of devices by name, as lists of install IDs.
    public var segments: [String: [String]]?
    /// Seconds between two checks of a device; six hours when missing.
    public var pollInterval: Int?
    /// The emergency floor: all devices refuse releases below this number, even installed ones.
    public var minimumRelease: Int?

    /// Creates a definition, by default without rules.
    public init(rules: [Rule] = [], default: Choice) {
        self.rules = rules
        self.default = `default`
    }

    /// The numbers of the releases that the definition names.
    var releases: Set<Int> {
        Set(([`default`, rest] + rules.flatMap { [$0.serve, $0.rest] }).compactMap { $0?.release })
    }

    // MARK: Policy

    /// Writes the definition into a policy.
    ///
    /// `salt` decides which devices a percentage selects: they stay selected while it does not change. `rollout` is the
    /// current state of the rollout, `nil` before it has begun. Throws a ``ServiceError`` that names the member.
    func fill(_ policy: inout Policy, salt: String, rollout: Rollout? = nil) throws {
        func served(_ choice: Choice) -> Outcome { rollout?.standIn(for: choice.outcome) ?? choice.outcome }
        policy.rules = try rules.enumerated().map { index, rule in
            let serve = try Self.serving(
                served(rule.serve),
                rule.percentage,
                rest: served(rule.rest ?? `default`),
                holdout: nil,
                salt: "\(salt)/\(rule.id)",
                "rules[\(index)]"
            )
            return DeploymentPolicy.Rule(
                rule.id,
                note: rule.note,
                when: try Self.condition(rule.when, index),
                serve: serve
            )
        }
        if let rollout {
            policy.fallback = rollout.serving
        } else if let plan = try plan(salt: salt) {
            policy.fallback = .rollout(
                salt: salt,
                .release(plan.release),
                share: plan.steps[0].share,
                holdout: plan.holdout,
                rest: plan.rest
            )
        } else {
            policy.fallback = try Self.serving(
                `default`.outcome,
                percentage,
                rest: (rest ?? .bundled).outcome,
                holdout: holdout,
                salt: salt,
                "default"
            )
        }
        policy.segments = (segments ?? [:]).sorted { $0.key < $1.key }.map {
            Segment($0.key, salt: "\(salt)/\($0.key)", installIDs: $0.value)
        }
        policy.minimumCounter = minimumRelease ?? 0
        _ = try startDate()
        let sample = try Self.buckets(reporting ?? 100, "reporting")
        if sample > 0 {
            policy.reporting = Reporting(
                path: Service.reportPath(
                    app: policy.app,
                    environment: policy.environment,
                    collection: policy.collection
                ),
                sampleRate: sample
            )
        }
        if let pollInterval { policy.poll = Poll(interval: pollInterval) }
    }

    private static func serving(
        _ outcome: Outcome,
        _ percentage: Double?,
        rest: Outcome,
        holdout: Double?,
        salt: String,
        _ field: String
    ) throws -> Serving {
        if percentage == nil, holdout == nil { return Serving(outcome) }
        return .rollout(
            salt: salt,
            outcome,
            share: try buckets(percentage ?? 100, "\(field).percentage"),
            holdout: try buckets(holdout ?? 0, "holdout"),
            rest: rest
        )
    }

    /// A percentage as a number of buckets, that is, in thousandths of a percent.
    static func buckets(_ percentage: Double, _ field: String) throws -> Int {
        guard (0...100).contains(percentage) else {
            throw ServiceError.invalid(field, "A percentage must be between 0 and 100, not \(percentage).")
        }
        return Int((percentage * 1000).rounded())
    }

    private static func condition(_ json: AnyJSON, _ index: Int) throws -> Condition {
        let text = try JSON.text(json)
        do throws(PolicyError) { return try Condition(json: Array(text.utf8)) } catch {
            throw ServiceError.invalid(
                "rules[\(index)].when" + (error.path.isEmpty ? "" : "." + error.path),
                error.message
            )
        }
    }
}
