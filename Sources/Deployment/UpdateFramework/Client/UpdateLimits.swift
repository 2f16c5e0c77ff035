/// The limits of what a client takes from a repository (TUF specification, sections 5.3.3, 5.4.1 and 5.6.7.2).
public struct UpdateLimits: Sendable {
    /// The largest number of newer roots in one update.
    public var roots = 256
    /// The largest number of roles in one search for a target, not counting the top-level targets.
    public var delegations = 32
    /// The largest length of a root in bytes.
    public var rootLength = 512_000
    /// The largest length of a timestamp in bytes.
    public var timestampLength = 16_384
    /// The largest length in bytes of a snapshot whose length the timestamp does not state.
    public var snapshotLength = 2_000_000
    /// The largest length in bytes of targets metadata whose length the snapshot does not state.
    public var targetsLength = 5_000_000
    /// The earliest start time, 2020 by default: an earlier one comes from a clock that was never set.
    public var earliestStart = UTCTime(secondsSince1970: 1_577_836_800)

    /// Creates the default limits.
    public init() {}
}
