/// A property of a device that a rule can ask about.
///
/// Attributes never leave the device: rules come to it, and it evaluates them. The first six are those of Core ML Model
/// Deployment.
public enum Attribute: Sendable, Hashable {
    /// The attributes of Core ML Model Deployment: language, class, operating system, its version, region, app version.
    case languageCode, deviceClass, operatingSystem, osVersion, regionCode, appVersion
    /// Further attributes: app build, model, memory, cores, accelerator, free disk space, runtime version and channel.
    case appBuild, deviceModel, memory, cores, accelerator, freeDisk, runtimeVersion, channel
    /// A signal that the app defines, named `custom.NAME` in documents.
    case custom(String)

    /// The kind of an attribute's values, which decides which operators apply.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Text, compared byte by byte.
        case text
        /// Text, compared without regard to the case of ASCII letters.
        case word
        /// A BCP 47 language tag; `_` counts as `-`, and case is ignored.
        case language
        /// A version number.
        case version
        /// A number.
        case number
        /// Text, a number or a Boolean, as the app decides.
        case signal
    }

    /// All attributes except the app's own signals, in the order of the table in `policy.md`.
    public static let standard: [Attribute] = [
        .languageCode, .deviceClass, .operatingSystem, .osVersion, .regionCode, .appVersion, .appBuild, .deviceModel,
        .memory, .cores, .accelerator, .freeDisk, .runtimeVersion, .channel,
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: standard.map { ($0.name, $0) })

    /// Creates the attribute with a name as documents spell it; `nil` when there is none with that name.
    public init?(name: String) {
        if let attribute = Self.byName[name] {
            self = attribute
        } else if name.hasPrefix("custom."), isName(name.dropFirst(7), limit: 64) {
            self = .custom(String(name.dropFirst(7)))
        } else {
            return nil
        }
    }

    /// The attribute's name in documents, such as `osVersion` or `custom.battery`.
    public var name: String {
        switch self {
        case .languageCode: "languageCode"
        case .deviceClass: "deviceClass"
        case .operatingSystem: "operatingSystem"
        case .osVersion: "osVersion"
        case .regionCode: "regionCode"
        case .appVersion: "appVersion"
        case .appBuild: "appBuild"
        case .deviceModel: "deviceModel"
        case .memory: "memory"
        case .cores: "cores"
        case .accelerator: "accelerator"
        case .freeDisk: "freeDisk"
        case .runtimeVersion: "runtimeVersion"
        case .channel: "channel"
        case .custom(let name): "custom." + name
        }
    }

    /// The attribute's name for people: "device class", "signal battery".
    public var label: String {
        switch self {
        case .languageCode: "language"
        case .deviceClass: "device class"
        case .operatingSystem: "operating system"
        case .osVersion: "OS version"
        case .regionCode: "region"
        case .appVersion: "app version"
        case .appBuild: "app build"
        case .deviceModel: "device model"
        case .memory: "memory (bytes)"
        case .cores: "processor cores"
        case .accelerator: "accelerator"
        case .freeDisk: "free disk (bytes)"
        case .runtimeVersion: "runtime version"
        case .channel: "channel"
        case .custom(let name): "signal \(name)"
        }
    }

    /// The kind of the attribute's values.
    public var kind: Kind {
        switch self {
        case .languageCode: .language
        case .deviceClass, .operatingSystem, .regionCode, .accelerator: .word
        case .deviceModel, .channel: .text
        case .osVersion, .appVersion, .appBuild, .runtimeVersion: .version
        case .memory, .cores, .freeDisk: .number
        case .custom: .signal
        }
    }

    /// The operators that apply to the attribute, in the order in which an editor shows them.
    public var operators: [Operator] { Operator.allCases.filter { $0.kinds.contains(kind) } }
}

/// The class of a device: the values of ``Attribute/deviceClass``.
public enum DeviceClass: String, Sendable, Hashable, CaseIterable {
    /// The seven classes, spelled alike in documents.
    case phone, tablet, desktop, watch, tv, vision, server
}

/// The relation between an attribute and the values of a comparison.
public enum Operator: String, Sendable, Hashable, CaseIterable {
    /// The attribute equals the one value.
    case `is`
    /// The attribute is known and does not equal the one value.
    case isNot
    /// The attribute equals one of the values.
    case `in`
    /// The attribute is known and equals none of the values.
    case notIn
    /// The attribute is less than, at most, at least or greater than the one value.
    case less, atMost, atLeast, greater
    /// The attribute lies between the first and the second of two values, both included.
    case between
    /// The text begins with one of the values.
    case startsWith
    /// The text ends with one of the values.
    case endsWith
    /// The text contains one of the values.
    case contains
    /// The language lies in one of the ranges: `zh-Hant` includes `zh-Hant-TW` but not `zh` (RFC 4647, basic
    /// filtering).
    case matches
    /// The attribute is known (`true`) or not (`false`); the only operator whose answer is never unknown.
    case isPresent

    /// The kinds of attributes to which the operator applies.
    public var kinds: Set<Attribute.Kind> {
        switch self {
        case .is, .isNot, .in, .notIn, .isPresent: Set(Attribute.Kind.allCases)
        case .less, .atMost, .atLeast, .greater, .between: [.version, .number, .signal]
        case .startsWith, .endsWith, .contains: [.text, .word, .signal]
        case .matches: [.language]
        }
    }

    /// The number of values that the operator takes.
    public var valueCount: ClosedRange<Int> {
        switch self {
        case .is, .isNot, .less, .atMost, .atLeast, .greater, .isPresent: 1...1
        case .between: 2...2
        case .in, .notIn, .startsWith, .endsWith, .contains, .matches: 1...Limits.values
        }
    }

    /// The operator as text: "is at least".
    public var label: String {
        switch self {
        case .is: "is"
        case .isNot: "is not"
        case .in: "is one of"
        case .notIn: "is none of"
        case .less: "is less than"
        case .atMost: "is at most"
        case .atLeast: "is at least"
        case .greater: "is greater than"
        case .between: "is between"
        case .startsWith: "starts with"
        case .endsWith: "ends with"
        case .contains: "contains"
        case .matches: "matches"
        case .isPresent: "is known:"
        }
    }
}

/// A value that a comparison compares an attribute with.
public enum AttributeValue: Sendable, CustomStringConvertible {
    /// A text.
    case text(String)
    /// A version number.
    case version(VersionNumber)
    /// A finite number.
    case number(Double)
    /// A Boolean.
    case flag(Bool)

    /// The value as text; numbers in the shortest form that reads back as the same number.
    public var description: String {
        switch self {
        case .text(let text): text
        case .version(let version): version.description
        case .number(let number): Decimals.text(number)
        case .flag(let flag): flag ? "true" : "false"
        }
    }
}

extension AttributeValue: Hashable {
    /// Whether two values are of one type and equal; texts are equal when their bytes are.
    public static func == (a: AttributeValue, b: AttributeValue) -> Bool {
        switch (a, b) {
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.version(let a), .version(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.flag(let a), .flag(let b)): a == b
        default: false
        }
    }

    /// Hashes the value in agreement with `==`: texts byte by byte.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .version(let version): hasher.combine(version)
        case .number(let number): hasher.combine(number)
        case .flag(let flag): hasher.combine(flag)
        }
    }
}

/// Whether a text has 1 to `limit` characters, all ASCII letters, digits, points, hyphens or underscores.
func isName(_ text: some StringProtocol, limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count)
        && text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
}
