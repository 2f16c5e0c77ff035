/// What a policy gives a device, and by which rule.
public struct Decision: Sendable, Hashable {
    /// What the device gets.
    public var outcome: Outcome
    /// What the rule named; differs from ``outcome`` where that was refused.
    public var named: Outcome
    public var source: Source
    /// The device's bucket, where buckets decided.
    public var bucket: Int?
    /// Why the device does not get what the rule named.
    public var refusal: Refusal?
    /// Where the release lies, when the outcome is one.
    public var release: ReleaseReference?

    public enum Source: Sendable, Hashable {
        case rule(index: Int, id: String)
        /// No rule matched.
        case fallback
        /// The policy is paused or halted.
        case state(Policy.State)
    }

    /// Why a device runs the bundled models though a release was named.
    public enum Refusal: Sendable, Hashable {
        /// The release needs a later runtime than the device has, or the device does not know its own.
        case runtime(minimum: VersionNumber, has: VersionNumber?)
        /// The release's counter is below the policy's emergency floor.
        case floor(counter: Int, minimum: Int)
        /// Buckets decide, and the device has no install ID.
        case noInstallID

        /// A stable word for programs and vectors.
        public var code: String {
            switch self {
            case .runtime: "runtime"
            case .floor: "floor"
            case .noInstallID: "installID"
            }
        }
    }
}

extension Decision.Refusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .runtime(let minimum, let has?): "it needs runtime \(minimum), and the device has \(has)"
        case .runtime(let minimum, nil): "it needs runtime \(minimum), and the device does not know its own"
        case .floor(let counter, let minimum): "its counter \(counter) is below the emergency floor \(minimum)"
        case .noInstallID: "buckets decide, and the device has no install ID"
        }
    }
}
