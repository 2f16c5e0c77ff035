import MLEncryption
import MLFiles

extension Policy {
    /// The `signed` part in canonical JSON, whose bytes are what is signed; equal policies have equal bytes.
    ///
    /// RFC 8785 and OLPC's canonical JSON agree on it, as texts have no control characters and numbers no fractions.
    /// Throws a ``PolicyError`` where ``check()`` does, `newerEvaluator` for a policy that a later evaluator is needed
    /// for, and `tooLarge` beyond ``Limits/documentBytes``.
    public func bytes() throws(PolicyError) -> [UInt8] {
        try check()
        guard evaluator <= Self.evaluatorVersion, !rules.contains(where: \.when.isUnreadable) else {
            let message = "The policy needs evaluator \(evaluator) and cannot be written.  Use a newer swift-coreml."
            throw PolicyError(.newerEvaluator, at: "evaluator", message)
        }
        let bytes = CanonicalWriter.bytes(json)
        guard bytes.count <= Limits.documentBytes else {
            let message = "The policy would have \(bytes.count) bytes; it may have \(Limits.documentBytes)."
            throw PolicyError(.tooLarge, at: "", message)
        }
        return bytes
    }

    private var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("_type", .string("policy")),
            .init("spec_version", .string("1.0.0")),
            .init("version", .integer(version)),
            .init("issued", .string(issued.description)),
            .init("expires", .string(expires.description)),
            .init("app", .string(app)),
            .init("environment", .string(environment)),
            .init("collection", .string(collection)),
            .init("deployment", .string(deployment)),
            .init("state", .string(state.rawValue)),
            .init("evaluator", .integer(evaluator)),
            .init("minimumCounter", .integer(minimumCounter)),
            .init("rules", .array(rules.map(\.json))),
            .init("default", fallback.json),
            .init("releases", .array(releases.map(\.json))),
            .init("segments", .array(segments.map(\.json))),
            .init("poll", poll.json),
        ]
        if let reporting { members.append(.init("reporting", reporting.json)) }
        return .object(members)
    }
}

extension JSONValue {
    static func integer(_ value: Int) -> JSONValue { .integer(Int64(value)) }

    /// A number: whole, or as text where it has a fraction.
    static func decimal(_ value: Double) -> JSONValue {
        Decimals.integer(value).map { .integer($0) } ?? .string(Decimals.text(value))
    }
}

extension Rule {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", .string(id)), .init("when", when.json), .init("serve", serve.json),
        ]
        if let note { members.append(.init("note", .string(note))) }
        return .object(members)
    }
}

extension Serving {
    fileprivate var json: JSONValue {
        .object([
            .init("salt", .string(salt)),
            .init(
                "splits",
                .array(
                    splits.map { split in
                        .object([.init("below", .integer(split.below)), .init("serve", split.outcome.json)])
                    }
                )
            ),
        ])
    }
}

extension Outcome {
    var json: JSONValue {
        switch self {
        case .release(let number): .integer(number)
        case .bundled: .string("bundled")
        case .holdout: .string("holdout")
        case .keep: .string("keep")
        }
    }
}

extension Condition {
    /// Whether the condition, or one inside it, needs a later evaluator.
    var isUnreadable: Bool {
        switch self {
        case .unreadable: true
        case .all(let parts), .any(let parts): parts.contains(where: \.isUnreadable)
        case .not(let part): part.isUnreadable
        case .comparison, .segment, .percentage: false
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .all(let parts): .object([.init("all", .array(parts.map(\.json)))])
        case .any(let parts): .object([.init("any", .array(parts.map(\.json)))])
        case .not(let part): .object([.init("not", part.json)])
        case .comparison(let comparison): comparison.json
        case .segment(let name): .object([.init("segment", .string(name))])
        case .percentage(let range): .object([.init("percentage", range.json)])
        case .unreadable(let text): .string(text)
        }
    }

    /// The condition in canonical JSON.
    var canonicalText: String {
        if case .unreadable(let text) = self { return text }
        return String(decoding: CanonicalWriter.bytes(json), as: UTF8.self)
    }
}

extension Condition.BucketRange {
    fileprivate var json: JSONValue {
        .object([
            .init("salt", .string(salt)), .init("from", .integer(from)), .init("below", .integer(below)),
        ])
    }
}

extension Condition.Comparison {
    fileprivate var json: JSONValue {
        .object([
            .init("attribute", .string(attribute.name)), .init("operator", .string(`operator`.rawValue)),
            .init("values", .array(values.map(\.json))),
        ])
    }
}

extension AttributeValue {
    fileprivate var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .version(let version): .string(version.description)
        case .flag(let flag): .bool(flag)
        case .number(let number):
            Decimals.integer(number).map { JSONValue.integer($0) }
                ?? .object([.init("decimal", .string(Decimals.text(number)))])
        }
    }
}

extension ReleaseReference {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("number", .integer(number)), .init("counter", .integer(counter)), .init("target", .string(target)),
            .init("sha256", .string(sha256)), .init("length", .integer(length)),
        ]
        if let minimumRuntime { members.append(.init("minimumRuntime", .string(minimumRuntime.description))) }
        return .object(members)
    }
}

extension Segment {
    fileprivate var json: JSONValue {
        .object([
            .init("name", .string(name)), .init("salt", .string(salt)),
            .init("members", .array(members.map(Hash.text).sorted().map(JSONValue.string))),
        ])
    }
}

extension Poll {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [.init("interval", .integer(interval))]
        if let brownOut {
            let value = JSONValue.object([
                .init("interval", .integer(brownOut.interval)), .init("until", .string(brownOut.until.description)),
            ])
            members.append(.init("brownOut", value))
        }
        return .object(members)
    }
}

extension Reporting {
    fileprivate var json: JSONValue {
        .object([.init("path", .string(path)), .init("sampleRate", .integer(sampleRate))])
    }
}
