extension Policy {
    /// Checks the policy against everything that the format demands.
    ///
    /// Throws a ``PolicyError`` that names the first member in error.
    public func check() throws(PolicyError) {
        try Check.integer(version, 1...Limits.integer, at: "version")
        guard issued < expires else {
            throw PolicyError(.outOfRange, at: "expires", "The policy expires before it is issued, on \(issued).")
        }
        try Check.app(app, at: "app")
        try Check.environment(environment, at: "environment")
        try Check.collection(collection, at: "collection")
        try Check.name(deployment, limit: 128, at: "deployment")
        try Check.integer(evaluator, 1...Limits.integer, at: "evaluator")
        try Check.integer(minimumCounter, 0...Limits.integer, at: "minimumCounter")
        try checkReleases()
        try checkSegments()
        try checkRules()
        try poll.check()
        try reporting?.check()
    }

    private func checkReleases() throws(PolicyError) {
        try Check.count(releases.count, Limits.releases, at: "releases")
        var numbers: Set<Int> = []
        for (index, release) in releases.enumerated() {
            let path = "releases[\(index)]"
            try withErrorPath(path) { () throws(PolicyError) in try release.check(app: app, collection: collection) }
            guard numbers.insert(release.number).inserted else {
                throw PolicyError(.duplicate, at: "\(path).number", "Release \(release.number) is listed twice.")
            }
        }
    }

    private func checkSegments() throws(PolicyError) {
        try Check.count(segments.count, Limits.segments, at: "segments")
        var names: Set<String> = []
        var members = 0
        for (index, segment) in segments.enumerated() {
            let path = "segments[\(index)]"
            try Check.name(segment.name, limit: 64, at: "\(path).name")
            try Check.salt(segment.salt, at: "\(path).salt")
            guard names.insert(segment.name).inserted else {
                throw PolicyError(.duplicate, at: "\(path).name", "Two segments are called \"\(segment.name)\".")
            }
            members += segment.members.count
            try Check.count(members, Limits.segmentMembers, at: "\(path).members")
            guard segment.members.allSatisfy({ $0.count == 16 }) else {
                throw PolicyError(.badHash, at: "\(path).members", "A member has 16 bytes.")
            }
        }
    }

    private func checkRules() throws(PolicyError) {
        try Check.count(rules.count, Limits.rules, at: "rules")
        let releases = Set(releases.map(\.number))
        var checker = ConditionCheck(segments: Set(segments.map(\.name)))
        var ids: Set<String> = []
        for (index, rule) in rules.enumerated() {
            let path = "rules[\(index)]"
            try Check.name(rule.id, limit: 64, at: "\(path).id")
            guard ids.insert(rule.id).inserted else {
                throw PolicyError(.duplicate, at: "\(path).id", "Two rules are called \"\(rule.id)\".")
            }
            if let note = rule.note { try Check.text(note, at: "\(path).note") }
            try checker.check(rule.when, at: "\(path).when", depth: 1)
            try withErrorPath("\(path).serve") { () throws(PolicyError) in try rule.serve.check(releases) }
        }
        try withErrorPath("default") { () throws(PolicyError) in try fallback.check(releases) }
    }
}

/// Checks the conditions of all rules, which share their limits.
private struct ConditionCheck {
    let segments: Set<String>
    var count = 0

    mutating func check(_ condition: Condition, at path: String, depth: Int) throws(PolicyError) {
        guard depth <= Limits.depth else {
            throw PolicyError(.tooDeep, at: path, "Conditions are nested deeper than \(Limits.depth) levels.")
        }
        count += 1
        guard count <= Limits.conditions else {
            throw PolicyError(.tooMany, at: path, "The rules have more than \(Limits.conditions) conditions.")
        }
        switch condition {
        case .all(let parts): try check(parts, at: "\(path).all", depth: depth)
        case .any(let parts): try check(parts, at: "\(path).any", depth: depth)
        case .not(let part): try check(part, at: "\(path).not", depth: depth + 1)
        case .comparison(let comparison): try withErrorPath(path) { () throws(PolicyError) in try comparison.check() }
        case .percentage(let range):
            try withErrorPath("\(path).percentage") { () throws(PolicyError) in try range.check() }
        case .segment(let name):
            guard segments.contains(name) else {
                throw PolicyError(.unknownSegment, at: "\(path).segment", "The policy has no segment \"\(name)\".")
            }
        case .unreadable: break
        }
    }

    private mutating func check(_ parts: [Condition], at path: String, depth: Int) throws(PolicyError) {
        for (index, part) in parts.enumerated() { try check(part, at: "\(path)[\(index)]", depth: depth + 1) }
    }
}

extension Serving {
    func check(_ releases: Set<Int>) throws(PolicyError) {
        try Check.salt(salt, at: "salt")
        try Check.count(splits.count, Limits.splits, at: "splits")
        var from = 0
        for (index, split) in splits.enumerated() {
            let path = "splits[\(index)]"
            guard (from...Bucket.count).contains(split.below) else {
                throw PolicyError(
                    .badSplit,
                    at: "\(path).below",
                    "A bound from \(from) to \(Bucket.count) is needed here."
                )
            }
            from = split.below
            if case .release(let number) = split.outcome, !releases.contains(number) {
                throw PolicyError(.unknownRelease, at: "\(path).serve", "The policy does not list release \(number).")
            }
        }
        guard from == Bucket.count else {
            throw PolicyError(
                .badSplit,
                at: "splits",
                "The last bound must be \(Bucket.count), so that all are served."
            )
        }
    }
}

extension Condition.BucketRange {
    func check() throws(PolicyError) {
        try Check.salt(salt, at: "salt")
        try Check.integer(from, 0...Bucket.count, at: "from")
        try Check.integer(below, from...Bucket.count, at: "below")
    }
}

extension Condition.Comparison {
    func check() throws(PolicyError) {
        guard attribute.isNamed else {
            throw PolicyError(.unknownAttribute, at: "attribute", "\"\(attribute.name)\" is not an attribute's name.")
        }
        try checkFit()
        guard `operator`.valueCount.contains(values.count) else {
            let range = `operator`.valueCount
            let count = range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
            throw PolicyError(
                .badValues,
                at: "values",
                "\(`operator`.rawValue) takes \(count) values, not \(values.count)."
            )
        }
        for (index, value) in values.enumerated() { try check(value, at: "values[\(index)]") }
        try checkOrder()
    }

    /// Throws `unfitOperator` when the operator does not apply to the attribute.
    func checkFit() throws(PolicyError) {
        guard !`operator`.kinds.contains(attribute.kind) else { return }
        let known = attribute.operators.map(\.rawValue).joined(separator: ", ")
        let message = "\(`operator`.rawValue) does not fit \(attribute.name).  These do: \(known)."
        throw PolicyError(.unfitOperator, at: "operator", message)
    }

    private func check(_ value: AttributeValue, at path: String) throws(PolicyError) {
        switch (value, attribute.kind) {
        case (.flag, _) where `operator` == .isPresent: break
        case (_, _) where `operator` == .isPresent: throw typeMismatch("true or false", at: path)
        case (.text(let text), .text), (.text(let text), .word), (.text(let text), .language):
            try Check.text(text, at: path)
            try checkWord(text, at: path)
        case (.version, .version): break
        case (.number(let number), .number): try Check.finite(number, at: path)
        case (_, .signal): try checkSignal(value, at: path)
        case (_, .version): throw typeMismatch("a version", at: path)
        case (_, .number): throw typeMismatch("a number", at: path)
        case (_, .text), (_, .word), (_, .language): throw typeMismatch("a text", at: path)
        }
    }

    private func checkWord(_ text: String, at path: String) throws(PolicyError) {
        let isWhole = [.is, .isNot, .in, .notIn].contains(`operator`)
        if attribute == .deviceClass, isWhole, DeviceClass(rawValue: text) == nil {
            let known = DeviceClass.allCases.map(\.rawValue).joined(separator: ", ")
            throw PolicyError(.outOfRange, at: path, "\"\(text)\" is not one of \(known).")
        }
        if attribute.kind == .language {
            let isTag =
                text.utf8.count <= 64
                && text.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D
                }
            guard isTag || `operator` == .matches && text == "*" else {
                throw PolicyError(.badText, at: path, "\"\(text)\" is not a language such as en or zh-Hant-TW.")
            }
        }
    }

    private func checkSignal(_ value: AttributeValue, at path: String) throws(PolicyError) {
        switch (value, `operator`) {
        case (.number(let number), .is), (.number(let number), .isNot), (.number(let number), .in),
            (.number(let number), .notIn), (.number(let number), .less), (.number(let number), .atMost),
            (.number(let number), .atLeast), (.number(let number), .greater), (.number(let number), .between):
            try Check.finite(number, at: path)
        case (_, .less), (_, .atMost), (_, .atLeast), (_, .greater), (_, .between):
            throw typeMismatch("a number", at: path)
        case (.text(let text), _): try Check.text(text, at: path)
        case (_, .startsWith), (_, .endsWith), (_, .contains): throw typeMismatch("a text", at: path)
        case (.flag, _): break
        default: throw typeMismatch("a text, a number or a truth value", at: path)
        }
    }

    /// Throws `badValues` unless the values are of one type and the bounds of `between` are in order.
    private func checkOrder() throws(PolicyError) {
        func type(_ value: AttributeValue) -> Int {
            switch value {
            case .text: 0
            case .number: 1
            case .flag: 2
            case .version: 3
            }
        }
        guard Set(values.map(type)).count == 1 else {
            throw PolicyError(.badValues, at: "values", "All values must be of one type.")
        }
        guard `operator` == .between else { return }
        let isOrdered =
            switch (values[0], values[1]) {
            case (.version(let a), .version(let b)): a <= b
            case (.number(let a), .number(let b)): a <= b
            default: false
            }
        guard isOrdered else {
            throw PolicyError(.badValues, at: "values", "The first bound must not be above the second.")
        }
    }

    private func typeMismatch(_ expected: String, at path: String) -> PolicyError {
        PolicyError(.wrongType, at: path, "\(`operator`.rawValue) of \(attribute.name) takes \(expected).")
    }
}

extension Attribute {
    /// Whether the attribute has a name that documents can hold.
    var isNamed: Bool {
        if case .custom(let name) = self { return isName(name, limit: 64) }
        return true
    }
}

extension ReleaseReference {
    func check(app: String, collection: String) throws(PolicyError) {
        try Check.integer(number, 1...Limits.integer, at: "number")
        try Check.integer(counter, 1...Limits.integer, at: "counter")
        let expected = Self.target(app: app, collection: collection, number: number)
        guard target.utf8.elementsEqual(expected.utf8) else {
            throw PolicyError(.mismatch, at: "target", "The target of this release is \(expected).")
        }
        try Check.hash(sha256, at: "sha256")
        try Check.integer(length, 1...Limits.documentBytes, at: "length")
    }
}

extension Poll {
    func check() throws(PolicyError) {
        let range = Limits.minimumPollInterval...Limits.maximumPollInterval
        try Check.integer(interval, range, at: "poll.interval")
        if let brownOut { try Check.integer(brownOut.interval, range, at: "poll.brownOut.interval") }
    }
}

extension Reporting {
    func check() throws(PolicyError) {
        try Check.text(path, at: "reporting.path")
        let isPath =
            path.utf8.first == UInt8(ascii: "/") && !path.hasPrefix("//")
            && path.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        guard isPath else {
            throw PolicyError(.badText, at: "reporting.path", "A path such as /v1/reports is needed, without a server.")
        }
        try Check.integer(sampleRate, 0...Bucket.count, at: "reporting.sampleRate")
    }
}

/// Checks of single values.
enum Check {
    static func integer(_ value: Int, _ range: ClosedRange<Int>, at path: String) throws(PolicyError) {
        guard range.contains(value) else {
            let message = "\(value) is not from \(range.lowerBound) to \(range.upperBound)."
            throw PolicyError(.outOfRange, at: path, message)
        }
    }

    static func count(_ count: Int, _ limit: Int, at path: String) throws(PolicyError) {
        guard count <= limit else {
            throw PolicyError(.tooMany, at: path, "There are \(count) elements; there may be \(limit).")
        }
    }

    static func finite(_ value: Double, at path: String) throws(PolicyError) {
        guard value.isFinite else { throw PolicyError(.outOfRange, at: path, "The number is not finite.") }
    }

    /// Checks that a text has 1 to `limit` bytes and no control characters.
    ///
    /// Line feeds and tabs are allowed where `lines` is true.
    static func text(
        _ text: String,
        limit: Int = Limits.textBytes,
        lines: Bool = false,
        at path: String
    ) throws(PolicyError) {
        guard (1...limit).contains(text.utf8.count) else {
            throw PolicyError(.badText, at: path, "A text of 1 to \(limit) bytes is needed, not of \(text.utf8.count).")
        }
        let hasControl = text.utf8.contains { byte in
            byte < 0x20 && !(lines && (byte == 0x0A || byte == 0x09)) || byte == 0x7F
        }
        guard !hasControl else { throw PolicyError(.badText, at: path, "The text contains a control character.") }
    }

    static func salt(_ text: String, at path: String) throws(PolicyError) {
        try Check.text(text, limit: Limits.installIDBytes, at: path)
    }

    static func name(_ text: String, limit: Int, at path: String) throws(PolicyError) {
        guard isName(text, limit: limit) else {
            let message = "1 to \(limit) ASCII letters, digits, points, hyphens and underscores are needed."
            throw PolicyError(.badText, at: path, message)
        }
    }

    /// Checks an app's identifier: `[a-z0-9-]{1,64}`.
    static func app(_ text: String, at path: String) throws(PolicyError) {
        let isValid =
            (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        guard isValid else {
            throw PolicyError(.badText, at: path, "1 to 64 lower-case ASCII letters, digits and hyphens are needed.")
        }
    }

    static func environment(_ text: String, at path: String) throws(PolicyError) { try app(text, at: path) }

    /// Checks a collection's identifier, which becomes part of paths: `[A-Za-z0-9._-]{1,128}`, but not `.` or `..`.
    static func collection(_ text: String, at path: String) throws(PolicyError) {
        try name(text, limit: 128, at: path)
        guard text != ".", text != ".." else { throw PolicyError(.badText, at: path, "\"\(text)\" is not a name.") }
    }

    /// Checks for a SHA-256 in lower-case hexadecimal digits.
    static func hash(_ text: String, at path: String) throws(PolicyError) {
        guard Hash.bytes(text, count: 32) != nil else {
            throw PolicyError(.badHash, at: path, "64 lower-case hexadecimal digits are needed.")
        }
    }
}
