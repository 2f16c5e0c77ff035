extension Rollout {
    /// What can be done with a rollout.
    public enum Action: Sendable, Hashable {
        /// Replaces the plan; an approved rollout becomes a draft again.
        case edit(RolloutPlan)
        case approve
        /// Takes an approval back.
        case withdraw
        case start
        /// Goes to the next step, or completes the rollout, when the gate allows it.
        case advance
        /// The same although the gate does not allow it.
        case skipGate
        /// Lets a gate pass that waits for a person.
        case releaseGate
        case pause
        /// Goes on; after a halt with a fresh test, for those who are sure that it was a false alarm.
        case resume
        case halt(HaltReason)
        case rollBack(RolloutPlan.RollbackTarget)

        /// A stable word.
        public var name: String {
            switch self {
            case .edit: "edit"
            case .approve: "approve"
            case .withdraw: "withdraw"
            case .start: "start"
            case .advance: "advance"
            case .skipGate: "skipGate"
            case .releaseGate: "releaseGate"
            case .pause: "pause"
            case .resume: "resume"
            case .halt: "halt"
            case .rollBack: "rollBack"
            }
        }

        /// Who may do it.
        public func roles(in state: State) -> Set<Role> {
            switch self {
            case .edit, .rollBack: [.owner, .admin, .deployer]
            case .approve: [.owner, .admin, .approver]
            case .withdraw, .pause, .halt: [.owner, .admin, .deployer, .approver]
            case .start, .advance, .releaseGate: [.owner, .admin, .deployer]
            case .skipGate: [.owner, .admin]
            case .resume: if case .halted = state { [.owner, .admin] } else { [.owner, .admin, .deployer] }
            }
        }
    }

    public enum Role: String, Sendable, Hashable, CaseIterable {
        case owner, admin, publisher, deployer, approver, keyCustodian, auditor, viewer
    }

    /// Who asks.
    public struct Actor: Sendable, Hashable {
        public var name: String
        public var roles: Set<Role>
        private var isController = false

        public init(_ name: String, _ roles: Set<Role>) {
            self.name = name
            self.roles = roles
        }

        /// The server itself, which starts, advances, halts and rolls back as the plan says.
        static let controller = {
            var actor = Actor("controller", [])
            actor.isController = true
            return actor
        }()

        /// Whether the role suffices; the state may forbid it still.
        public func mayPerform(_ action: Action, in state: State) -> Bool {
            isController || !roles.isDisjoint(with: action.roles(in: state))
        }
    }

    /// A change, for the audit log.
    public struct Event: Sendable, Hashable {
        public var from: State
        public var to: State
        public var action: Action
        public var actor: String
        public var at: PolicyDate
    }
}

/// Why an action was refused.
public struct RolloutError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The state has no such transition.
        case notAllowedNow
        /// None of the person's roles suffices.
        case notPermitted
        case needsSecondPerson
        /// The gate waits for something, or the release was found bad.
        case gateClosed
        case badPlan
    }

    public var code: Code
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
