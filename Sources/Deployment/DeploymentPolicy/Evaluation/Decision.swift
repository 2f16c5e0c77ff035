/// The result of evaluating a policy for a device, and the rule it comes from.
public struct Decision: Sendable, Hashable {
    /// The outcome for the device.
    public var outcome: Outcome
    /// The outcome that the rule names; differs from ``outcome`` where it was refused.
    public var named: Outcome
    /// The part of the policy that decided.
    public var source: Source
    /// The device's bucket; `nil` unless buckets decided.
    public var bucket: Int?
    /// The reason why the device does not get what the rule names; `nil` when it does.
    public var refusal: Refusal?
    /// The entry of the release, when the outcome is one.
    public var release: ReleaseReference?

    /// The part of a policy that decides.
    public enum Source: Sendable, Hashable {
        /// The first rule that matched, with its index in the policy and its identifier.
        case rule(index: Int, id: String)
        /// The default, as no rule matched.
        case fallback
        /// The policy's state, as it is paused or halted.
        case state(Policy.State)
    }

    /// A reason why a device runs the bundled models though the policy names a release for it.
    public enum Refusal: Sendable, Hashable {
        /// The release needs a later runtime than the device has, or the device does not know its own.
        case runtime(minimum: VersionNumber, has: VersionNumber?)
        /// The release's counter is below the policy's emergency floor.
        case floor(counter: Int, minimum: Int)
        /// Buckets decide, and the device has no install ID.
        case noInstallID

        /// A stable word for programs and test vectors.
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
    /// The reason as text.
    public var description: String {
        switch self {
        case .runtime(let minimum, let has?): "it needs runtime \(minimum), and the device has \(has)"
        case .runtime(let minimum, nil): "it needs runtime \(minimum), and the device does not know its own"
        case .floor(let counter, let minimum): "its counter \(counter) is below the emergency floor \(minimum)"
        case .noInstallID: "buckets decide, and the device has no install ID"
        }
    }
}
