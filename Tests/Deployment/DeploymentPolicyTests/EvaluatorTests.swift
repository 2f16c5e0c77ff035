import DeploymentPolicy
import Testing

@Suite struct EvaluatorTests {
    @Test func `tablets get the release of their rule, all others the default`() throws {
        let rule = Rule("tablets", when: .compare(.deviceClass, .is, "tablet"), serve: Serving(.release(2)))
        let evaluator = try PolicyEvaluator(Samples.policy([rule], fallback: Serving(.release(1))))
        var device = Samples.tablet
        var decision = evaluator.evaluate(device)
        #expect(decision.outcome == .release(2))
        #expect(decision.source == .rule(index: 0, id: "tablets"))
        #expect(decision.release == Samples.reference(2))
        device.deviceClass = .phone
        decision = evaluator.evaluate(device)
        #expect(decision.outcome == .release(1))
        #expect(decision.source == .fallback)
    }

    @Test func `the first rule that matches serves`() throws {
        let evaluator = try PolicyEvaluator(
            Samples.policy(
                [
                    Rule("new systems", when: .compare(.osVersion, .atLeast, "18"), serve: Serving(.release(1))),
                    Rule("English", when: .compare(.languageCode, .matches, "en"), serve: Serving(.release(2))),
                    Rule("all", when: .always, serve: .bundled),
                ].map { rule in Rule(rule.id.replacing(" ", with: "-"), when: rule.when, serve: rule.serve) }
            )
        )
        #expect(evaluator.evaluate(Samples.tablet).source == .rule(index: 1, id: "English"))
    }

    @Test func `what a device does not know makes no rule match, nor its opposite`() throws {
        let question = Condition.compare(.channel, .is, "beta")
        for when in [question, .not(question), .compare(.channel, .isNot, "beta"), .all([question]), .any([question])] {
            let evaluator = try PolicyEvaluator(Samples.policy([Rule("r", when: when, serve: Serving(.release(1)))]))
            #expect(evaluator.evaluate(Samples.tablet).outcome == .bundled)
        }
        let either = Condition.any([question, .compare(.deviceClass, .is, "tablet")])
        let evaluator = try PolicyEvaluator(Samples.policy([Rule("r", when: either, serve: Serving(.release(1)))]))
        #expect(evaluator.evaluate(Samples.tablet).outcome == .release(1))
    }

    @Test func `releases for later runtimes and below the floor leave the bundled models`() throws {
        var policy = Samples.policy(fallback: Serving(.release(3)))
        var decision = try PolicyEvaluator(policy).evaluate(Samples.tablet)
        #expect(decision.outcome == .bundled && decision.named == .release(3))
        #expect(decision.refusal == .runtime(minimum: VersionNumber("2.0")!, has: VersionNumber("1.0")))
        policy.fallback = Serving(.release(1))
        policy.minimumCounter = 2
        decision = try PolicyEvaluator(policy).evaluate(Samples.tablet)
        #expect(decision.outcome == .bundled && decision.refusal == .floor(counter: 1, minimum: 2))
    }

    @Test func `paused policies change nothing, halted ones stop all`() throws {
        var policy = Samples.policy(fallback: Serving(.release(1)))
        policy.state = .paused
        #expect(try PolicyEvaluator(policy).evaluate(Samples.tablet).outcome == .keep)
        policy.state = .halted
        #expect(try PolicyEvaluator(policy).evaluate(Samples.tablet).outcome == .bundled)
    }

    @Test func `a bucket is the same on every machine`() {
        // printf 'abc' is SHA-256's own example: ba7816bf8f01cfea…
        #expect(Bucket.number(installID: "a", salt: "bc") == Int(0xba78_16bf_8f01_cfea % UInt64(100_000)))
        #expect(Bucket.member(installID: "ab", salt: "c").prefix(3) == [0xba, 0x78, 0x16])
    }

    @Test func `a policy reads back as it was written`() throws {
        var policy = Samples.policy([
            Rule(
                "everything",
                note: "Blätter",
                when: .all([
                    .any([.compare(.memory, .atLeast, 6e9), .not(.segment("testers"))]),
                    .compare(.custom("battery"), .between, 0.25, 1), .compare(.custom("beta"), .is, true),
                    .percentage(.init(salt: "p", from: 5, below: 50_000)),
                ]),
                serve: .rollout(salt: "r2", .release(2), share: 1000, holdout: 500, rest: .release(1))
            )
        ])
        policy.segments = [Segment("testers", salt: "s", installIDs: ["a", "b"])]
        policy.reporting = Reporting(path: "/v1/reports", sampleRate: 10_000)
        policy.poll.brownOut = .init(interval: 86_400, until: PolicyDate("2026-11-24T00:00:00Z")!)
        let bytes = try policy.bytes()
        let copy = try Policy(bytes)
        #expect(copy == policy)
        #expect(try copy.bytes() == bytes)
    }

    @Test func `a release reads back as it was written`() throws {
        let release = Samples.release
        let bytes = try release.bytes()
        let copy = try ReleaseDocument(bytes)
        #expect(copy == release)
        #expect(try copy.bytes() == bytes)
    }
}
