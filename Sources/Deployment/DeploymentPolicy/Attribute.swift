/// What a rule can ask about a device.  The six of Core ML Model Deployment come first.
///
/// Attributes never leave the device: rules come to it, and it evaluates them.
public enum Attribute: Sendable, Hashable {
    case languageCode, deviceClass, operatingSystem, osVersion, regionCode, appVersion
    case appBuild, deviceModel, memory, cores, accelerator, freeDisk, runtimeVersion, channel
    /// A signal of the app's own, `custom.NAME`.
    case custom(String)

    /// The kind of an attribute's values, which decides what operators fit.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Text, compared byte by byte.
        case text
        /// Text, compared without regard to the case of ASCII letters.
        case word
        /// A language as BCP 47 has it; `_` counts as `-`, and case does not count.
        case language
        /// A version.
        case version
        /// A number.
        case number
        /// Text, number or truth value, as the app says.
        case signal
    }

    /// All but the app's own signals, in the order of the table in `policy.md`.
    public static let standard: [Attribute] = [
        .languageCode, .deviceClass, .operatingSystem, .osVersion, .regionCode, .appVersion, .appBuild, .deviceModel,
        .memory, .cores, .accelerator, .freeDisk, .runtimeVersion, .channel,
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: standard.map { ($0.name, $0) })

    /// The attribute of a name in a document; `nil` when there is none.
    public init?(name: String) {
        if let attribute = Self.byName[name] {
            self = attribute
        } else if name.hasPrefix("custom."), isName(name.dropFirst(7), limit: 64) {
            self = .custom(String(name.dropFirst(7)))
        } else {
            return nil
        }
    }

    /// The name in documents.
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

    /// What people read: "device class", "signal battery".
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

    /// The operators that fit, in the order in which an editor shows them.
    public var operators: [Operator] { Operator.allCases.filter { $0.kinds.contains(kind) } }
}

/// The class of a device, the values of ``Attribute/deviceClass``.
public enum DeviceClass: String, Sendable, Hashable, CaseIterable {
    case phone, tablet, desktop, watch, tv, vision, server
}

/// How a comparison relates an attribute to its values.
public enum Operator: String, Sendable, Hashable, CaseIterable {
    /// Equal to the one value.
    case `is`
    /// Known, and not equal to the one value.
    case isNot
    /// Equal to one of the values.
    case `in`
    /// Known, and equal to none of the values.
    case notIn
    case less, atMost, atLeast, greater
    /// From the first of two values to the second, both included.
    case between
    /// Beginning with one of the values.
    case startsWith
    /// Ending with one of the values.
    case endsWith
    /// One of the values stands in it.
    case contains
    /// A language within one of the ranges: `zh-Hant` has `zh-Hant-TW` and not `zh` (RFC 4647, basic filtering).
    case matches
    /// Known (`true`) or not (`false`); the one operator whose answer is never "unknown".
    case isPresent

    /// The kinds of attributes that it fits.
    public var kinds: Set<Attribute.Kind> {
        switch self {
        case .is, .isNot, .in, .notIn, .isPresent: Set(Attribute.Kind.allCases)
        case .less, .atMost, .atLeast, .greater, .between: [.version, .number, .signal]
        case .startsWith, .endsWith, .contains: [.text, .word, .signal]
        case .matches: [.language]
        }
    }

    /// How many values it takes.
    public var valueCount: ClosedRange<Int> {
        switch self {
        case .is, .isNot, .less, .atMost, .atLeast, .greater, .isPresent: 1...1
        case .between: 2...2
        case .in, .notIn, .startsWith, .endsWith, .contains, .matches: 1...Limits.values
        }
    }

    /// What people read: "is at least".
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

/// A value that a comparison compares with.
public enum AttributeValue: Sendable, CustomStringConvertible {
    case text(String)
    case version(VersionNumber)
    /// A finite number.
    case number(Double)
    case flag(Bool)

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
    /// Texts are equal when their bytes are.
    public static func == (a: AttributeValue, b: AttributeValue) -> Bool {
        switch (a, b) {
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.version(let a), .version(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.flag(let a), .flag(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .version(let version): hasher.combine(version)
        case .number(let number): hasher.combine(number)
        case .flag(let flag): hasher.combine(flag)
        }
    }
}

/// Whether a text is 1 to `limit` ASCII letters, digits, points, hyphens and underscores.
func isName(_ text: some StringProtocol, limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count)
        && text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
}
