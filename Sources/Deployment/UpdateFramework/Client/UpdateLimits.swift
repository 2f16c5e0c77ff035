/// How much of a repository a client takes before it gives up (TUF specification, sections 5.3.3, 5.4.1 and 5.6.7.2).
public struct UpdateLimits: Sendable {
    /// Newer roots in one update.
    public var roots = 256
    /// Roles in one search for a target, the top-level targets not among them.
    public var delegations = 32
    /// Bytes of a root.
    public var rootLength = 512_000
    public var timestampLength = 16_384
    /// Bytes of a snapshot whose length the timestamp does not say.
    public var snapshotLength = 2_000_000
    /// Bytes of targets metadata whose length the snapshot does not say.
    public var targetsLength = 5_000_000
    /// A start time before this one is a clock's that was never set.
    public var earliestStart = UTCTime(secondsSince1970: 1_577_836_800)

    public init() {}
}
