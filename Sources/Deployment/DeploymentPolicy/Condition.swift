/// A question about a device, with the answers true, false and unknown.
public indirect enum Condition: Sendable, Hashable {
    /// All of them: false when one is false, else unknown when one is unknown.  True when there are none.
    case all([Condition])
    /// One of them: true when one is true, else unknown when one is unknown.  False when there are none.
    case any([Condition])
    /// The opposite; unknown stays unknown.
    case not(Condition)
    case comparison(Comparison)
    /// Whether the device's installation belongs to the segment of this name.
    case segment(String)
    /// Whether the device's bucket lies in a range.
    case percentage(BucketRange)
    /// A condition of a later evaluator, as canonical JSON: unknown.
    case unreadable(String)

    /// What matches every device.
    public static let always = Condition.all([])

    public struct Comparison: Sendable, Hashable {
        public var attribute: Attribute
        public var `operator`: Operator
        public var values: [AttributeValue]

        public init(_ attribute: Attribute, _ operator: Operator, _ values: [AttributeValue]) {
            self.attribute = attribute
            self.operator = `operator`
            self.values = values
        }
    }

    /// Buckets of a salt, from `from` up to and without `below`, in thousandths of a percent.
    public struct BucketRange: Sendable, Hashable {
        public var salt: String
        public var from: Int
        public var below: Int

        public init(salt: String, from: Int = 0, below: Int) {
            self.salt = salt
            self.from = from
            self.below = below
        }
    }

    /// A comparison whose values are texts, or versions where the attribute is one.  Texts that are no versions stay
    /// texts, which checking the policy finds.
    public static func compare(_ attribute: Attribute, _ operator: Operator, _ values: String...) -> Condition {
        let isVersion = attribute.kind == .version
        return .comparison(
            Comparison(
                attribute,
                `operator`,
                values.map { text in
                    if isVersion, let version = VersionNumber(text) { return .version(version) }
                    return .text(text)
                }
            )
        )
    }

    /// A comparison with numbers.
    public static func compare(_ attribute: Attribute, _ operator: Operator, _ values: Double...) -> Condition {
        .comparison(Comparison(attribute, `operator`, values.map(AttributeValue.number)))
    }

    /// A comparison with a truth value.
    public static func compare(_ attribute: Attribute, _ operator: Operator, _ value: Bool) -> Condition {
        .comparison(Comparison(attribute, `operator`, [.flag(value)]))
    }
}

/// The answer to a condition, in Kleene's logic.
public enum Truth: Int8, Sendable, Hashable, Comparable {
    case `false` = 0
    case unknown = 1
    case `true` = 2

    init(_ value: Bool) { self = value ? .true : .false }

    public static func < (a: Truth, b: Truth) -> Bool { a.rawValue < b.rawValue }

    var opposite: Truth { self == .true ? .false : self == .false ? .true : .unknown }
}
