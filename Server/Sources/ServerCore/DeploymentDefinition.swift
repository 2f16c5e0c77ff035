import DeploymentPolicy
import Foundation

/// What a deployment gives to which devices.
public struct DeploymentDefinition: Sendable, Codable, Equatable {
    /// What devices get.
    public enum Choice: Sendable, Codable, Equatable {
        case release(Int)
        /// The models that came with the app.
        case bundled
        /// What they have.
        case keep

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

    /// Devices that match get something else than the others.
    public struct Rule: Sendable, Codable, Equatable {
        /// A name that stays when the rule is changed.
        public var id: String
        /// What it is for.
        public var note: String?
        /// A condition of `Documentation/Formats/policy.md`.
        public var when: AnyJSON
        public var serve: Choice
        /// How many of the matching devices get `serve`, in per cent with three decimals; all when missing.
        public var percentage: Double?
        /// What the others of them get: what the deployment's default is when missing.
        public var rest: Choice?

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

    /// Asked in order; the first that matches serves.
    public var rules: [Rule]
    /// What devices get that no rule matches.
    public var `default`: Choice
    /// How many devices get the default, in per cent with three decimals; all when missing.
    public var percentage: Double?
    /// What the others get: the models of the app's bundle when missing.
    public var rest: Choice?
    /// How many devices are held out for comparison, in per cent.
    public var holdout: Double?
    /// How the default comes to more and more devices; to all of them at once when missing.
    public var rollout: Ramp?
    /// Not before this date, such as `2026-11-24T08:00:00Z`, though it was activated earlier.
    public var start: String?
    /// How many devices report how releases fare, in per cent; all when missing, 0 for none.
    public var reporting: Double?
    /// Groups of devices by their install IDs.
    public var segments: [String: [String]]?
    /// Seconds between two checks of a device.
    public var pollInterval: Int?
    /// Releases below this one are refused by all devices, also where they are installed.
    public var minimumRelease: Int?

    public init(rules: [Rule] = [], default: Choice) {
        self.rules = rules
        self.default = `default`
    }

    /// The numbers of the releases that it names.
    var releases: Set<Int> {
        Set(([`default`, rest] + rules.flatMap { [$0.serve, $0.rest] }).compactMap { $0?.release })
    }

    // MARK: Policy

    /// Writes what it says into a policy.
    /// - Parameter salt: what percentages are drawn with: devices keep their place while it stays.
    /// - Throws: `ServiceError` that names the member.
    /// - Parameter rollout: where the rollout stands; one that has not begun when `nil`.
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

    /// Per cent as buckets: thousandths of a percent.
    static func buckets(_ percentage: Double, _ field: String) throws -> Int {
        guard (0...100).contains(percentage) else {
            throw ServiceError.invalid(field, "A percentage lies between 0 and 100; \(percentage) does not.")
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
