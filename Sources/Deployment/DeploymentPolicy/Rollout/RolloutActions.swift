extension Rollout {
    /// An action on a rollout.
    public enum Action: Sendable, Hashable {
        /// Replaces the plan; an approved rollout becomes a draft again.
        case edit(RolloutPlan)
        /// Approves a draft.
        case approve
        /// Withdraws an approval; the rollout becomes a draft again.
        case withdraw
        /// Starts the ramp of an approved rollout, not before the date of its plan.
        case start
        /// Goes to the next step, or completes the rollout, when the gate is open but for a person's release.
        case advance
        /// Goes to the next step even though the gate is closed.
        case skipGate
        /// Releases a gate that waits for a person.
        case releaseGate
        /// Pauses the ramp.
        case pause
        /// Resumes a paused rollout, or a halted one with a new test after a false alarm.
        case resume
        /// Halts the rollout, which is then served `keep`.
        case halt(HaltReason)
        /// Sends devices back to the control group's models or to the bundled ones.
        case rollBack(RolloutPlan.RollbackTarget)

        /// A stable word for programs.
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

        /// The roles that may perform the action in a state.
        public func roles(in state: State) -> Set<Role> {
            switch self {
            case .edit, .rollBack: [.owner, .admin, .deployer]
            case .approve: [.owner, .approver]
            case .withdraw, .pause, .halt: [.owner, .admin, .deployer, .approver]
            case .start, .advance, .releaseGate: [.owner, .admin, .deployer]
            case .skipGate: [.owner, .admin]
            case .resume: if case .halted = state { [.owner, .admin] } else { [.owner, .admin, .deployer] }
            }
        }
    }

    /// A role of a member of a team.
    public enum Role: String, Sendable, Hashable, CaseIterable {
        /// The roles, spelled alike in documents and the API.
        case owner, admin, publisher, deployer, approver, keyCustodian, auditor, viewer
    }

    /// The person, or the controller, who performs an action.
    public struct Actor: Sendable, Hashable {
        /// The person's name for the audit log.
        public var name: String
        /// The person's roles.
        public var roles: Set<Role>
        private var isController = false

        /// Creates a person with roles.
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

        /// Whether one of the roles allows the action; the state may still forbid it.
        public func mayPerform(_ action: Action, in state: State) -> Bool {
            isController || !roles.isDisjoint(with: action.roles(in: state))
        }
    }

    /// A change of a rollout, for the audit log.
    public struct Event: Sendable, Hashable {
        /// The state before.
        public var from: State
        /// The state after.
        public var to: State
        /// The action that was performed.
        public var action: Action
        /// The name of who performed it; `controller` for the server.
        public var actor: String
        /// The date of the change.
        public var at: PolicyDate
    }
}

/// The refusal of an action on a rollout.
public struct RolloutError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a refusal, stable for programs.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The state has no such transition.
        case notAllowedNow
        /// None of the person's roles allows the action.
        case notPermitted
        /// The author must not approve the plan.
        case needsSecondPerson
        /// The gate waits for something, or the release was found bad.
        case gateClosed
        /// The new plan is invalid.
        case badPlan
    }

    /// The kind of the refusal.
    public var code: Code
    /// The refused action and the reason.
    public var message: String

    /// Creates a refusal.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The same as ``message``.
    public var description: String { message }
}
