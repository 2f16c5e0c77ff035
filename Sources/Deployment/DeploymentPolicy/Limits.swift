/// The largest numbers and sizes that documents may have, so that hostile ones cost little.
///
/// `policy.md` states the same.
public enum Limits {
    /// Bytes of a policy or a release document: 1 MiB.
    public static let documentBytes = 1 << 20
    /// Bytes of a text that has no limit of its own.
    public static let textBytes = 1024
    /// Bytes of the notes of a release.
    public static let notesBytes = 16_384
    /// Bytes of an install ID or a salt.
    public static let installIDBytes = 128
    /// Rules of a policy.
    public static let rules = 200
    /// Levels of nested conditions; a comparison alone is one level.
    public static let depth = 16
    /// Conditions of all rules together.
    public static let conditions = 5000
    /// Values of one comparison.
    public static let values = 200
    /// Splits of one serving.
    public static let splits = 100
    /// Releases that a policy lists.
    public static let releases = 200
    /// Segments of a policy.
    public static let segments = 50
    /// Members of all segments together.
    public static let segmentMembers = 20_000
    /// Models of a release.
    public static let models = 200
    /// Deltas of one model of a release.
    public static let deltas = 32
    /// Metrics of a release.
    public static let metrics = 200
    /// Annotations of a release.
    public static let annotations = 64
    /// The largest whole number in a document, 2^53 - 1, which every JSON reader represents exactly.
    public static let integer = 1 << 53 - 1
    /// The shortest time between two checks, in seconds.
    public static let minimumPollInterval = 300
    /// The longest time between two checks, in seconds: 30 days.
    public static let maximumPollInterval = 2_592_000
}
