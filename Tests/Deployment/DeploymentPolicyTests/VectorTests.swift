import DeploymentPolicy
import Foundation
import MLEncryption
import MLFiles
import Testing

/// Runs `Tests/vectors`, whose answers come from another evaluator (`scripts/generate/policy_vectors.py`).
@Suite struct VectorTests {
    @Test func `versions are parsed and ordered as the vectors say`() throws {
        let cases = try Vectors.cases("versions")
        for entry in cases {
            let a = VersionNumber(entry["a"]?.string ?? "")
            guard let b = entry["b"]?.string else {
                #expect(a == nil, "\(entry)")
                continue
            }
            let (left, right) = (try #require(a, "\(entry)"), try #require(VersionNumber(b), "\(entry)"))
            let order = left < right ? -1 : right < left ? 1 : 0
            #expect(entry["order"] == .integer(Int64(order)), "\(entry)")
            #expect((left == right) == (order == 0), "\(entry)")
            if left == right { #expect(left.hashValue == right.hashValue, "\(entry)") }
        }
        #expect(cases.count > 250)
    }

    @Test func `buckets and members are those of the vectors`() throws {
        let cases = try Vectors.cases("buckets")
        for entry in cases {
            let (id, salt) = (entry["installID"]?.string ?? "", entry["salt"]?.string ?? "")
            #expect(entry["bucket"] == .integer(Int64(Bucket.number(installID: id, salt: salt))), "\(entry)")
            let member = Hexadecimal.text(Bucket.member(installID: id, salt: salt))
            #expect(entry["member"] == .string(member), "\(entry)")
        }
        #expect(cases.count > 100)
    }

    /// Each condition is in a policy as it is and negated; compiled and plain evaluation must agree with the vector.
    @Test func `conditions have the answers of the vectors`() throws {
        let file = try Vectors.file("conditions")
        let cases = try Vectors.cases("conditions")
        for entry in cases {
            let condition = try #require(entry["condition"])
            let policy = try Policy(
                Vectors.policy(segments: file["segments"], rules: [condition, .object([.init("not", condition)])])
            )
            let device = try DeviceAttributes(json: Vectors.bytes(try #require(entry["device"])))
            let evaluator = try PolicyEvaluator(policy)
            let truth = try #require(entry["truth"]?.string)
            let explanation = evaluator.explain(device)
            #expect("\(explanation.rules[0].truth)" == truth, "\(entry)")
            #expect(explanation.rules[0].deciding.truth == explanation.rules[0].truth || Self.isNegation(condition))
            let expected: Outcome = truth == "true" ? .release(1) : truth == "false" ? .release(2) : .keep
            #expect(evaluator.evaluate(device).outcome == expected, "\(entry)")
        }
        #expect(cases.count > 1000)
    }

    private static func isNegation(_ condition: JSONValue) -> Bool { condition.text.contains("\"not\"") }

    @Test func `policies give devices what the vectors say`() throws {
        let file = try Vectors.file("evaluation")
        guard case .array(let documents)? = file["policies"] else { throw Vectors.Missing() }
        let evaluators = try documents.map { try PolicyEvaluator(try Policy(Vectors.bytes($0))) }
        let cases = try Vectors.cases("evaluation")
        for entry in cases {
            guard case .integer(let index)? = entry["policy"], let expected = entry["expected"] else {
                throw Vectors.Missing()
            }
            let device = try DeviceAttributes(json: Vectors.bytes(try #require(entry["device"])))
            let evaluator = evaluators[Int(index)]
            let decision = evaluator.evaluate(device)
            #expect(expected["outcome"] == Vectors.json(decision.outcome), "\(entry)")
            #expect(expected["named"] == Vectors.json(decision.named), "\(entry)")
            #expect(expected["bucket"] == (decision.bucket.map { .integer(Int64($0)) } ?? .null), "\(entry)")
            #expect(expected["refusal"] == (decision.refusal.map { .string($0.code) } ?? .null), "\(entry)")
            let (source, rule): (String, JSONValue) =
                switch decision.source {
                case .rule(_, let id): ("rule", .string(id))
                case .fallback: ("default", .null)
                case .state(let state): (state.rawValue, .null)
                }
            #expect(expected["source"] == .string(source) && expected["rule"] == rule, "\(entry)")
            let truths = evaluator.explain(device).rules.map { JSONValue.string("\($0.truth)") }
            #expect(expected["truths"] == .array(truths), "\(entry)")
        }
        #expect(cases.count > 500)
    }

    @Test func `policies are read or refused as the vectors say`() throws {
        try documents("policies") { bytes in try Policy(bytes).bytes() }
    }

    @Test func `releases are read or refused as the vectors say`() throws {
        try documents("releases") { bytes in try ReleaseDocument(bytes).bytes() }
    }

    private func documents(_ name: String, _ rewritten: ([UInt8]) throws -> [UInt8]) throws {
        let cases = try Vectors.cases(name)
        for entry in cases {
            let label = "\(entry["name"]?.string ?? "")"
            let bytes =
                try entry["text"]?.string.map { Array($0.utf8) }
                ?? #require(entry["base64"]?.string.flatMap { Base64.bytes($0.utf8) }, "\(label)")
            do {
                let copy = try rewritten(bytes)
                #expect(entry["accepted"] == .bool(true), "\(label)")
                #expect(entry["canonical"] != .bool(true) || copy == bytes, "\(label)")
            } catch let error as PolicyError where error.code == .newerEvaluator {
                #expect(entry["accepted"] == .bool(true), "\(label)")
            } catch let error as PolicyError {
                #expect(entry["code"] == .string(error.code.rawValue), "\(label): \(error)")
                #expect(entry["path"] == .string(error.path), "\(label): \(error)")
            }
        }
        #expect(cases.count > 200)
    }
}

/// The files of `Tests/vectors`.
enum Vectors {
    struct Missing: Error {}

    static func file(_ name: String, _ source: StaticString = #filePath) throws -> JSONValue {
        let tests = URL(filePath: source.description).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try JSONReader.read(Array(try Data(contentsOf: tests.appending(path: "vectors/\(name).json"))))
    }

    static func cases(_ name: String) throws -> [JSONValue] {
        guard case .array(let cases)? = try file(name)["cases"] else { throw Missing() }
        return cases
    }

    static func bytes(_ value: JSONValue) -> [UInt8] { Array(value.text.utf8) }

    static func json(_ outcome: Outcome) -> JSONValue {
        switch outcome {
        case .release(let number): .integer(Int64(number))
        case .bundled: .string("bundled")
        case .holdout: .string("holdout")
        case .keep: .string("keep")
        }
    }

    /// A policy whose rules serve release 1, release 2 and so on, and whose default is "keep".
    static func policy(segments: JSONValue?, rules: [JSONValue]) throws -> [UInt8] {
        func serve(_ outcome: JSONValue) -> JSONValue {
            let split = JSONValue.object([.init("below", .integer(100_000)), .init("serve", outcome)])
            return .object([.init("salt", .string("all")), .init("splits", .array([split]))])
        }
        let empty = try Samples.policy().bytes()
        guard case .object(var members) = try JSONReader.read(empty) else { throw Missing() }
        members.removeAll { ["rules", "segments", "default"].contains($0.name) }
        let entries = rules.enumerated().map { index, when in
            JSONValue.object([
                .init("id", .string("r\(index)")), .init("when", when),
                .init("serve", serve(.integer(Int64(index + 1)))),
            ])
        }
        members.append(.init("rules", .array(entries)))
        members.append(.init("segments", segments ?? .array([])))
        members.append(.init("default", serve(.string("keep"))))
        return bytes(.object(members))
    }
}
