import MLEncryption
import MLFiles

extension DeviceAttributes {
    /// Reads attributes in the form that `coreml deploy explain`, the dashboard's preview and test vectors use.
    ///
    /// The form is an object whose members are the attributes' names, with signals in an object `custom`, and
    /// `installID`.
    ///
    /// - Parameter bytes: JSON in UTF-8, at most ``Limits/documentBytes``.
    /// - Throws: a ``PolicyError`` that names the member, for unknown members and for values of a wrong type or range.
    public init(json bytes: some Collection<UInt8>) throws(PolicyError) {
        self.init()
        let root = try DocumentValue(document: bytes)
        try root.expectMembers(Set(Attribute.standard.map(\.name)).union(["custom", "installID"]))
        for (name, value) in try root.members() where name != "custom" && name != "installID" {
            guard let attribute = Attribute(name: name) else { continue }
            try set(attribute, to: value)
        }
        for (name, value) in try root.optional("custom")?.members() ?? [] {
            guard isName(name, limit: 64) else {
                throw value.error(
                    .badText,
                    "A signal's name has 1 to 64 letters, digits, points, hyphens, underscores."
                )
            }
            custom[name] = try Self.signal(value)
        }
        if let value = try root.optional("installID") {
            let text = try value.text()
            try Check.text(text, limit: Limits.installIDBytes, at: value.path)
            installID = text
        }
    }

    private mutating func set(_ attribute: Attribute, to value: DocumentValue) throws(PolicyError) {
        switch attribute {
        case .languageCode: languageCode = try value.text()
        case .deviceClass: deviceClass = try value.enumeration(DeviceClass.self)
        case .operatingSystem: operatingSystem = try value.text()
        case .osVersion: osVersion = try value.version()
        case .regionCode: regionCode = try value.text()
        case .appVersion: appVersion = try value.version()
        case .appBuild: appBuild = try value.version()
        case .deviceModel: deviceModel = try value.text()
        case .memory: memory = try Self.amount(value)
        case .cores: cores = try Self.amount(value)
        case .accelerator: accelerator = try value.text()
        case .freeDisk: freeDisk = try Self.amount(value)
        case .runtimeVersion: runtimeVersion = try value.version()
        case .channel: channel = try value.text()
        case .custom: break
        }
    }

    private static func amount(_ value: DocumentValue) throws(PolicyError) -> Int {
        let amount = try value.integer()
        try Check.integer(amount, 0...Limits.integer, at: value.path)
        return amount
    }

    private static func signal(_ value: DocumentValue) throws(PolicyError) -> Signal {
        switch value.json {
        case .string(let text): return .text(text)
        case .bool(let flag): return .flag(flag)
        case .integer(let number): return .number(Double(number))
        case .number(let number): return .number(number)
        default: throw value.wrongType("a text, a number or a truth value")
        }
    }

    /// The attributes in the form that ``init(json:)`` reads.
    ///
    /// Numbers keep their fractions, which canonical JSON could not hold: this text is never signed.
    public var jsonText: String {
        var members: [JSONValue.Member] = []
        for attribute in Attribute.standard {
            guard let value = self[attribute] else { continue }
            members.append(.init(attribute.name, value.plainJSON))
        }
        let signals = custom.keys.sorted().compactMap { name in
            self[.custom(name)].map { JSONValue.Member(name, $0.plainJSON) }
        }
        if !signals.isEmpty { members.append(.init("custom", .object(signals))) }
        if let installID { members.append(.init("installID", .string(installID))) }
        return JSONValue.object(members).text
    }
}

extension AttributeValue {
    fileprivate var plainJSON: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .version(let version): .string(version.description)
        case .flag(let flag): .bool(flag)
        case .number(let number): Decimals.integer(number).map { .integer($0) } ?? .number(number)
        }
    }
}
