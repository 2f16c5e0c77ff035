/// What a document may hold at most, so that hostile ones cost little.  `policy.md` states the same.
public enum Limits {
    /// Bytes of a policy or a release document.
    public static let documentBytes = 1 << 20
    /// Bytes of a text that has no limit of its own.
    public static let textBytes = 1024
    /// Bytes of the notes of a release.
    public static let notesBytes = 16_384
    /// Bytes of an install ID or a salt.
    public static let installIDBytes = 128
    public static let rules = 200
    /// Levels of conditions in each other; a comparison alone is one level.
    public static let depth = 16
    /// Conditions of all rules together.
    public static let conditions = 5000
    /// Values of one comparison.
    public static let values = 200
    /// Splits of one rule.
    public static let splits = 100
    public static let releases = 200
    public static let segments = 50
    /// Members of all segments together.
    public static let segmentMembers = 20_000
    public static let models = 200
    public static let deltas = 32
    public static let metrics = 200
    public static let annotations = 64
    /// The largest whole number in a document, 2^53 - 1: every JSON reader has it exactly.
    public static let integer = 1 << 53 - 1
    /// The shortest time between two checks, in seconds.
    public static let shortestPollInterval = 300
    /// The longest time between two checks, in seconds: 30 days.
    public static let longestPollInterval = 2_592_000
}
