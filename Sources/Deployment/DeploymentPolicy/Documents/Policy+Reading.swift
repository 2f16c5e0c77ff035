import MLFiles

extension Policy {
    /// Reads the `signed` part of a policy, which may come from anyone, and checks all of it.
    ///
    /// Unknown members are errors, except where the policy needs a later evaluator: then a condition that this
    /// evaluator cannot read is unknown, a rule that it cannot read never matches, and other unknown members are
    /// ignored.
    ///
    /// - Parameter bytes: JSON in UTF-8, at most ``Limits/documentBytes``.
    /// - Throws: a ``PolicyError`` that names the member.
    public init(_ bytes: some Collection<UInt8>) throws(PolicyError) {
        let root = try DocumentValue(document: bytes)
        guard try root.member("_type").text() == "policy" else {
            throw PolicyError(
                .unsupported,
                at: "_type",
                "The document is not a policy.  Give one whose _type is \"policy\"."
            )
        }
        let specification = try root.member("spec_version")
        guard let number = VersionNumber(try specification.text()), number.mark == nil, number.numbers.first == 1 else {
            throw specification.error(
                .unsupported,
                "Only policies of version 1 can be read.  Use a newer swift-coreml."
            )
        }
        let evaluator = try root.optional("evaluator")?.integer() ?? 1
        let reader = PolicyReader(isNewer: evaluator > Policy.evaluatorVersion)
        try reader.expect(root, Self.members)
        self = try reader.policy(root)
        self.evaluator = evaluator
        try check()
    }

    static let members: Set<String> = [
        "_type", "spec_version", "version", "issued", "expires", "app", "environment", "collection", "deployment",
        "state",
        "evaluator", "rules", "default", "releases", "segments", "minimumCounter", "poll", "reporting",
    ]
}

extension Condition {
    /// Reads a condition in the form that it has in policies of this evaluator.
    ///
    /// - Parameter bytes: JSON in UTF-8.
    /// - Throws: a ``PolicyError`` that names the member. Segments are not looked up, and the limits of whole policies
    ///   do not apply.
    public init(json bytes: some Collection<UInt8>) throws(PolicyError) {
        self = try PolicyReader(isNewer: false).condition(try DocumentValue(document: bytes), depth: 1)
    }
}

/// Reads the structure of a policy; ``Policy/check()`` judges the values.
struct PolicyReader {
    /// Whether the policy needs a later evaluator than this one.
    let isNewer: Bool

    func expect(_ value: DocumentValue, _ names: Set<String>) throws(PolicyError) {
        if !isNewer { try value.expectMembers(names) }
    }

    func policy(_ root: DocumentValue) throws(PolicyError) -> Policy {
        var policy = Policy(
            version: try root.member("version").integer(),
            issued: try root.member("issued").date(),
            expires: try root.member("expires").date(),
            app: try root.member("app").text(),
            environment: try root.member("environment").text(),
            collection: try root.member("collection").text(),
            deployment: try root.member("deployment").text(),
            fallback: try serving(try root.member("default"), isStrict: false)
        )
        policy.state = try root.member("state").enumeration(Policy.State.self)
        policy.minimumCounter = try root.optional("minimumCounter")?.integer() ?? 0
        for value in try root.optional("rules")?.list(atMost: Limits.rules) ?? [] {
            policy.rules.append(try rule(value))
        }
        for value in try root.optional("releases")?.list(atMost: Limits.releases) ?? [] {
            policy.releases.append(try release(value))
        }
        for value in try root.optional("segments")?.list(atMost: Limits.segments) ?? [] {
            policy.segments.append(try segment(value))
        }
        if let value = try root.optional("poll") { policy.poll = try poll(value) }
        if let value = try root.optional("reporting") { policy.reporting = try reporting(value) }
        return policy
    }

    // MARK: Rules

    private func rule(_ value: DocumentValue) throws(PolicyError) -> Rule {
        let id = try value.member("id").text()
        do {
            try value.expectMembers(["id", "note", "when", "serve"])
            return Rule(
                id,
                note: try value.optional("note")?.text(),
                when: try condition(try value.member("when"), depth: 1),
                serve: try serving(try value.member("serve"), isStrict: true)
            )
        } catch {
            guard isNewer, error.code != .tooDeep else { throw error }
            return Rule(id, when: .unreadable(value.canonicalText), serve: .bundled)
        }
    }

    /// Reads a serving.
    ///
    /// If `isStrict` is true, unknown members are errors even if the policy needs a later evaluator.
    private func serving(_ value: DocumentValue, isStrict: Bool) throws(PolicyError) -> Serving {
        let reader = PolicyReader(isNewer: isNewer && !isStrict)
        try reader.expect(value, ["salt", "splits"])
        let list = try value.member("splits")
        var splits: [Serving.Split] = []
        for split in try list.list(atMost: Limits.splits) {
            try reader.expect(split, ["below", "serve"])
            splits.append(
                Serving.Split(below: try split.member("below").integer(), try Outcome(try split.member("serve")))
            )
        }
        return Serving(salt: try value.member("salt").text(), splits)
    }

    // MARK: Conditions

    fileprivate func condition(_ value: DocumentValue, depth: Int) throws(PolicyError) -> Condition {
        guard depth <= Limits.depth else {
            throw value.error(.tooDeep, "Conditions are nested deeper than \(Limits.depth) levels.")
        }
        do {
            return try readableCondition(value, depth: depth)
        } catch {
            guard isNewer, error.code != .tooDeep else { throw error }
            return .unreadable(value.canonicalText)
        }
    }

    private func readableCondition(_ value: DocumentValue, depth: Int) throws(PolicyError) -> Condition {
        let members = try value.members()
        if members.contains(where: { $0.name == "attribute" }) {
            return .comparison(try comparison(value))
        }
        guard let member = members.first, members.count == 1 else {
            throw value.error(
                members.isEmpty ? .missingMember : .unknownMember,
                "A condition has one of the members all, any, not, segment and percentage, or is a comparison."
            )
        }
        switch member.name {
        case "all": return .all(try conditions(member.value, depth: depth))
        case "any": return .any(try conditions(member.value, depth: depth))
        case "not": return .not(try condition(member.value, depth: depth + 1))
        case "segment": return .segment(try member.value.text())
        case "percentage": return .percentage(try bucketRange(member.value))
        default:
            throw member.value.error(.unknownMember, "No condition of this name is known; use a newer swift-coreml.")
        }
    }

    private func conditions(_ value: DocumentValue, depth: Int) throws(PolicyError) -> [Condition] {
        var result: [Condition] = []
        for element in try value.list(atMost: .max) {
            result.append(try condition(element, depth: depth + 1))
        }
        return result
    }

    private func bucketRange(_ value: DocumentValue) throws(PolicyError) -> Condition.BucketRange {
        try value.expectMembers(["salt", "from", "below"])
        let range = Condition.BucketRange(
            salt: try value.member("salt").text(),
            from: try value.optional("from")?.integer() ?? 0,
            below: try value.member("below").integer()
        )
        try withErrorPath(value.path) { () throws(PolicyError) in try range.check() }
        return range
    }

    private func comparison(_ value: DocumentValue) throws(PolicyError) -> Condition.Comparison {
        try value.expectMembers(["attribute", "operator", "values"])
        let name = try value.member("attribute")
        guard let attribute = Attribute(name: try name.text()) else {
            throw name.error(.unknownAttribute, "No attribute has this name.  Its names are in policy.md.")
        }
        let word = try value.member("operator")
        guard let `operator` = Operator(rawValue: try word.text()) else {
            let known = attribute.operators.map(\.rawValue).joined(separator: ", ")
            throw word.error(.unknownOperator, "No operator has this name.  Those that fit are \(known).")
        }
        var comparison = Condition.Comparison(attribute, `operator`, [])
        try withErrorPath(value.path) { () throws(PolicyError) in try comparison.checkFit() }
        for element in try value.member("values").list(atMost: Limits.values) {
            comparison.values.append(try comparedValue(element, of: attribute, `operator`))
        }
        try withErrorPath(value.path) { () throws(PolicyError) in try comparison.check() }
        return comparison
    }

    private func comparedValue(
        _ value: DocumentValue,
        of attribute: Attribute,
        _ operator: Operator
    ) throws(PolicyError) -> AttributeValue {
        if `operator` == .isPresent { return .flag(try value.bool()) }
        switch attribute.kind {
        case .text, .word, .language: return .text(try value.text())
        case .version: return .version(try value.version())
        case .number: return .number(try number(value))
        case .signal:
            switch value.json {
            case .string(let text): return .text(text)
            case .bool(let flag): return .flag(flag)
            default: return .number(try number(value))
            }
        }
    }

    /// Reads a whole number, or `{"decimal": "0.25"}`.
    private func number(_ value: DocumentValue) throws(PolicyError) -> Double {
        switch value.json {
        case .integer: return try value.decimal()
        case .object:
            try value.expectMembers(["decimal"])
            let text = try value.member("decimal")
            _ = try text.text()
            return try text.decimal()
        default: throw value.wrongType("a whole number, or {\"decimal\": \"0.25\"},")
        }
    }

    // MARK: The rest

    private func release(_ value: DocumentValue) throws(PolicyError) -> ReleaseReference {
        try expect(value, ["number", "counter", "target", "sha256", "length", "minimumRuntime"])
        return ReleaseReference(
            number: try value.member("number").integer(),
            counter: try value.member("counter").integer(),
            target: try value.member("target").text(),
            sha256: try value.member("sha256").text(),
            length: try value.member("length").integer(),
            minimumRuntime: try value.optional("minimumRuntime")?.version()
        )
    }

    private func segment(_ value: DocumentValue) throws(PolicyError) -> Segment {
        try expect(value, ["name", "salt", "members"])
        let list = try value.member("members")
        var members: Set<[UInt8]> = []
        for element in try list.list(atMost: Limits.segmentMembers) {
            guard let bytes = Hash.bytes(try element.text(), count: 16) else {
                throw element.error(.badHash, "A member has 32 lower-case hexadecimal digits.")
            }
            guard members.insert(bytes).inserted else {
                throw element.error(.duplicate, "The member occurs twice; remove one.")
            }
        }
        return Segment(
            try value.member("name").text(),
            salt: try value.member("salt").text(),
            members: members
        )
    }

    private func poll(_ value: DocumentValue) throws(PolicyError) -> Poll {
        try expect(value, ["interval", "brownOut"])
        var poll = Poll(interval: try value.member("interval").integer())
        if let brownOut = try value.optional("brownOut") {
            try expect(brownOut, ["interval", "until"])
            poll.brownOut = Poll.BrownOut(
                interval: try brownOut.member("interval").integer(),
                until: try brownOut.member("until").date()
            )
        }
        return poll
    }

    private func reporting(_ value: DocumentValue) throws(PolicyError) -> Reporting {
        try expect(value, ["path", "sampleRate"])
        return Reporting(
            path: try value.member("path").text(),
            sampleRate: try value.member("sampleRate").integer()
        )
    }
}

extension Outcome {
    init(_ value: DocumentValue) throws(PolicyError) {
        switch value.json {
        case .integer(let number): self = .release(Int(number))
        case .string("bundled"): self = .bundled
        case .string("holdout"): self = .holdout
        case .string("keep"): self = .keep
        case .string(let word):
            throw value.error(.outOfRange, "\"\(word)\" is neither bundled, holdout, keep nor the number of a release.")
        default: throw value.wrongType("the number of a release, or a word")
        }
    }
}
