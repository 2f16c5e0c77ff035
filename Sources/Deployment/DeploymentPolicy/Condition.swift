/// A question about a device, whose answer is true, false or unknown.
public indirect enum Condition: Sendable, Hashable {
    /// Whether all parts are true: false when one is false, else unknown when one is unknown; true without parts.
    case all([Condition])
    /// Whether one part is true: true when one is true, else unknown when one is unknown; false without parts.
    case any([Condition])
    /// The negation of a condition; unknown stays unknown.
    case not(Condition)
    /// The comparison of an attribute with values.
    case comparison(Comparison)
    /// Whether the device's installation belongs to the segment of this name.
    case segment(String)
    /// Whether the device's bucket lies in a range.
    case percentage(BucketRange)
    /// A condition of a later evaluator, as canonical JSON; its answer is always unknown.
    case unreadable(String)

    /// The condition that holds for every device.
    public static let always = Condition.all([])

    /// The comparison of one attribute with one or more values.
    public struct Comparison: Sendable, Hashable {
        /// The attribute that is compared.
        public var attribute: Attribute
        /// The relation that must hold between attribute and values.
        public var `operator`: Operator
        /// The values, as many as the operator's ``Operator/valueCount`` allows.
        public var values: [AttributeValue]

        /// Creates a comparison; ``Policy/check()`` finds values that do not fit attribute and operator.
        public init(_ attribute: Attribute, _ operator: Operator, _ values: [AttributeValue]) {
            self.attribute = attribute
            self.operator = `operator`
            self.values = values
        }
    }

    /// The buckets of a salt from `from` up to but not including `below`, in thousandths of a percent.
    public struct BucketRange: Sendable, Hashable {
        /// The salt that the install ID is hashed with, 1 to 128 bytes.
        public var salt: String
        /// The first bucket, 0 to `below`.
        public var from: Int
        /// The end of the range, up to 100,000; this bucket is not included.
        public var below: Int

        /// Creates a range of buckets, by default from bucket 0 on.
        public init(salt: String, from: Int = 0, below: Int) {
            self.salt = salt
            self.from = from
            self.below = below
        }
    }

    /// A comparison with texts, or with versions where the attribute is a version.
    ///
    /// Texts that are not valid versions stay texts, which ``Policy/check()`` reports.
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

    /// A comparison with a Boolean.
    public static func compare(_ attribute: Attribute, _ operator: Operator, _ value: Bool) -> Condition {
        .comparison(Comparison(attribute, `operator`, [.flag(value)]))
    }
}

/// The answer to a condition in Kleene's three-valued logic, ordered false < unknown < true.
public enum Truth: Int8, Sendable, Hashable, Comparable {
    /// The condition does not hold.
    case `false` = 0
    /// The device does not know what it would take to answer.
    case unknown = 1
    /// The condition holds.
    case `true` = 2

    init(_ value: Bool) { self = value ? .true : .false }

    /// Whether the first answer comes before the second in the order false, unknown, true.
    public static func < (a: Truth, b: Truth) -> Bool { a.rawValue < b.rawValue }

    var opposite: Truth { self == .true ? .false : self == .false ? .true : .unknown }
}
