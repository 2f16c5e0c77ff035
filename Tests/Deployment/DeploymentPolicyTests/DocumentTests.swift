import DeploymentPolicy
import Testing

@Suite struct DocumentTests {
    @Test func `errors of a policy name the member`() {
        func path(_ change: (inout Policy) -> Void) -> String {
            var policy = Samples.policy([
                Rule("a", when: .always, serve: .bundled), Rule("b", when: .always, serve: .bundled),
            ])
            change(&policy)
            do {
                try policy.check()
                return "sound"
            } catch { return error.path }
        }
        #expect(path { _ in } == "sound")
        #expect(
            path { $0.rules[1].when = .any([.always, .all([.comparison(.init(.deviceModel, .in, []))])]) }
                == "rules[1].when.any[1].all[0].values"
        )
        #expect(path { $0.rules[1].when = .compare(.osVersion, .atLeast, "new") } == "rules[1].when.values[0]")
        #expect(path { $0.rules[0].when = .compare(.memory, .less, .nan) } == "rules[0].when.values[0]")
        #expect(path { $0.rules[0].when = .segment("s") } == "rules[0].when.segment")
        #expect(path { $0.rules[0].when = .compare(.custom("a b"), .is, true) } == "rules[0].when.attribute")
        #expect(path { $0.rules[1].id = "a" } == "rules[1].id")
        #expect(path { $0.rules[1].serve = Serving(.release(9)) } == "rules[1].serve.splits[0].serve")
        #expect(path { $0.fallback.splits[0].below = 5 } == "default.splits")
        #expect(path { $0.releases[2].target = "x" } == "releases[2].target")
        #expect(path { $0.expires = $0.issued } == "expires")
        #expect(path { $0.poll.interval = 60 } == "poll.interval")
    }

    @Test func `nesting and counts have their limits`() throws {
        func nested(_ depth: Int) -> Condition { (1..<depth).reduce(.always) { inner, _ in .not(inner) } }
        try Samples.policy([Rule("r", when: nested(16), serve: .bundled)]).check()
        let deep = Samples.policy([Rule("r", when: nested(17), serve: .bundled)])
        #expect(throws: PolicyError.self) { try deep.check() }
        let many = Condition.all(Array(repeating: .always, count: Limits.conditions))
        let error = #expect(throws: PolicyError.self) {
            try Samples.policy([Rule("r", when: many, serve: .bundled)]).check()
        }
        #expect(error?.code == .tooMany)
        let bytes = [UInt8](repeating: 0x20, count: Limits.documentBytes + 1)
        #expect(throws: PolicyError(.tooLarge, at: "", "The document has 1048577 bytes; it may have 1048576.")) {
            try Policy(bytes)
        }
    }

    @Test func `a policy for a later evaluator is read as far as possible and not written`() throws {
        let text = String(
            decoding: try Samples.policy([Rule("r", when: .always, serve: .bundled)]).bytes(),
            as: UTF8.self
        )
        let newer =
            text
            .replacing("\"evaluator\":1", with: "\"evaluator\":2,\"colour\":\"red\"")
            .replacing("{\"all\":[]}", with: "{\"any\":[{\"phase\":\"moon\"},{\"all\":[]}]}")
        let policy = try Policy(Array(newer.utf8))
        #expect(policy.rules[0].when == .any([.unreadable("{\"phase\":\"moon\"}"), .always]))
        #expect(try PolicyEvaluator(policy).evaluate(Samples.tablet).source == .rule(index: 0, id: "r"))
        let error = #expect(throws: PolicyError.self) { try policy.bytes() }
        #expect(error?.code == .newerEvaluator)
        let error2 = #expect(throws: PolicyError.self) {
            try Policy(Array(newer.replacing("\"evaluator\":2", with: "\"evaluator\":1").utf8))
        }
        #expect(error2?.code == .unknownMember)
    }

    @Test func `a release agrees with the policy's entry or is refused`() throws {
        var release = Samples.release
        let policy = Samples.policy()
        let reference = try #require(policy.release(2))
        try release.check(against: reference, of: policy)
        release.counter = 3
        let error = #expect(throws: PolicyError.self) { try release.check(against: reference, of: policy) }
        #expect(error?.code == .mismatch && error?.path == "counter")
        release = Samples.release
        release.minimumRuntime = VersionNumber("1.0")
        #expect(throws: PolicyError.self) { try release.check(against: reference, of: policy) }
        #expect(release.target == reference.target)
    }

    @Test func `dates are days that exist`() {
        for text in ["1970-01-01T00:00:00Z", "2026-11-23T14:00:00Z", "2000-02-29T23:59:59Z", "0000-03-01T00:00:00Z"] {
            #expect(PolicyDate(text)?.description == text)
        }
        #expect(PolicyDate("1970-01-02T00:00:01Z")?.secondsSince1970 == 86_401)
        #expect(PolicyDate("2026-11-23T14:00:00Z")?.secondsSince1970 == 1_795_442_400)
        for text in ["2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-11-23", "2026-11-23t14:00:00z", ""] {
            #expect(PolicyDate(text) == nil)
        }
        let days = stride(from: -62_167_219_200, through: 253_402_300_799, by: 86_400 * 13 + 7)
        for seconds in days {
            let date = PolicyDate(secondsSince1970: seconds)
            #expect(PolicyDate(date.description) == date)
        }
        #expect(PolicyDate(secondsSince1970: .max).adding(seconds: .max).description == "9999-12-31T23:59:59Z")
        #expect(PolicyDate(secondsSince1970: .min).adding(seconds: .min).description == "0000-01-01T00:00:00Z")
    }

    @Test func `a brown-out lengthens the interval until it ends`() throws {
        let end = try #require(PolicyDate("2026-11-24T00:00:00Z"))
        let poll = Poll(interval: 3600, brownOut: .init(interval: 86_400, until: end))
        #expect(poll.interval(at: end.adding(seconds: -1)) == 86_400)
        #expect(poll.interval(at: end) == 3600)
    }

    @Test func `attributes of a device read back as they were written`() throws {
        var device = Samples.tablet
        device.custom = ["battery": .number(0.5), "beta": .flag(true), "team": .text("röt\n")]
        #expect(try DeviceAttributes(json: Array(device.jsonText.utf8)) == device)
        for wrong in [
            "{\"memory\":1.5}", "{\"colour\":1}", "{\"deviceClass\":\"fridge\"}", "{\"custom\":{\"a b\":1}}", "[]",
        ] {
            #expect(throws: PolicyError.self) { try DeviceAttributes(json: Array(wrong.utf8)) }
        }
    }

    @Test func `every attribute and operator has its name`() {
        for attribute in Attribute.standard {
            #expect(Attribute(name: attribute.name) == attribute)
            #expect(!attribute.operators.isEmpty && !attribute.label.isEmpty)
        }
        #expect(Attribute(name: "custom.level") == .custom("level"))
        #expect(Attribute(name: "custom.") == nil && Attribute(name: "Memory") == nil)
    }

    @Test func `members of a segment are recognised and nobody else`() {
        let segment = Segment("testers", salt: "s", installIDs: ["a", "b"])
        #expect(
            segment.contains(installID: "a") && segment.contains(installID: "b") && !segment.contains(installID: "c")
        )
    }

    @Test func `changes between policies are told in words`() throws {
        var old = Samples.policy(
            [
                Rule("a", when: .always, serve: .rollout(salt: "r", .release(2), share: 1000, rest: .release(1))),
                Rule("b", when: .compare(.deviceClass, .is, "tablet"), serve: .bundled),
                Rule("c", when: .always, serve: .bundled),
            ]
        )
        #expect(old.changes(to: old).isEmpty)
        var new = old
        new.rules[0].serve = .rollout(salt: "r", .release(2), share: 5000, holdout: 500, rest: .release(1))
        new.rules[1].when = .compare(.deviceClass, .in, "tablet", "vision")
        new.rules.swapAt(1, 2)
        new.rules.append(Rule("d", when: .always, serve: Serving(.release(1))))
        new.minimumCounter = 2
        new.releases.removeLast()
        new.segments = [Segment("testers", salt: "s", installIDs: ["a"])]
        old.segments = [Segment("testers", salt: "s", installIDs: ["b", "c"])]
        let changes = old.changes(to: new)
        #expect(
            changes.map(\.description) == [
                "Emergency floor: 0 → 2",
                "Rule \"a\": release 2 from 1 % to 5 %, release 1 from 99 % to 94.5 %, hold-out from 0 % to 0.5 %",
                "Rule \"b\": number 2 → 3",
                "Rule \"b\", condition: device class is tablet → device class is one of tablet, vision",
                "Rule \"d\" added as number 4: when every device, release 1 for 100 %",
                "Release 3 removed",
                "Segment \"testers\": 1 members added, 2 removed",
            ]
        )
        #expect(changes.map(\.path).prefix(2) == ["minimumCounter", "rules[0].serve"])
    }

    @Test func `explanations say what decided each rule`() throws {
        let evaluator = try PolicyEvaluator(
            Samples.policy([
                Rule(
                    "new",
                    when: .all([.compare(.deviceClass, .is, "tablet"), .compare(.osVersion, .atLeast, "18")]),
                    serve: Serving(.release(2))
                ),
                Rule("beta", when: .compare(.channel, .is, "beta"), serve: Serving(.release(2))),
                Rule("rest", when: .always, serve: .rollout(salt: "r", .release(2), share: 0, rest: .release(1))),
                Rule("late", when: .always, serve: .bundled),
            ])
        )
        let explanation = evaluator.explain(Samples.tablet)
        #expect(explanation.rules.map(\.standing) == [.notMatched, .unknown, .served, .notReached])
        #expect(explanation.rules[0].deciding.path == "rules[0].when.all[1]")
        #expect(explanation.rules[0].deciding.value == "17.4.1")
        #expect(explanation.decision == evaluator.evaluate(Samples.tablet))
        let lines = explanation.description.split(separator: "\n")
        #expect(lines[1] == "  1. new: not matched: OS version is at least 18 (has 17.4.1) is false")
        #expect(lines[2] == "  2. beta: unknown: channel is beta (not known) is unknown")
        var nobody = Samples.tablet
        nobody.installID = nil
        let split = try PolicyEvaluator(
            Samples.policy([
                Rule("r", when: .always, serve: .rollout(salt: "r", .release(2), share: 5, rest: .release(1)))
            ])
        )
        #expect(split.explain(nobody).rules[0].standing == .noInstallID)
    }
}
