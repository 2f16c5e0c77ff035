import DeploymentPolicy
import Foundation
import MLFiles
import MLNumerics
import Testing

/// Mutated documents: they are read or refused, and nothing traps. `FUZZ_ROUNDS=600` makes twenty times as many, others.
@Suite struct HostileDocumentTests {
    private let rounds = ProcessInfo.processInfo.environment["FUZZ_ROUNDS"].flatMap { Int($0) } ?? 30
    @Test func `mutated policies are read or refused`() throws {
        var seeds = try Vectors.cases("policies").compactMap { $0["text"]?.string }.filter { $0.utf8.count < 6000 }
        seeds += [String(decoding: try Samples.policy().bytes(), as: UTF8.self)]
        var random = SplitMix64(seed: 17 + UInt64(rounds))
        var accepted = 0
        for seed in seeds {
            for _ in 0..<rounds {
                let bytes = mutated(Array(seed.utf8), &random)
                guard let policy = try? Policy(bytes) else { continue }
                accepted += 1
                let evaluator = try PolicyEvaluator(policy)
                expectAgreement(evaluator, Samples.tablet)
                if policy.evaluator == 1 { #expect(try Policy(policy.bytes()) == policy) }
            }
        }
        #expect(accepted > 100)
    }

    /// The rule that the compiled form finds is the first whose condition, asked part by part, is true.
    private func expectAgreement(_ evaluator: PolicyEvaluator, _ device: DeviceAttributes) {
        guard evaluator.policy.state == .active else { return }
        let first = evaluator.explain(device).rules.first { $0.truth == .true && $0.serves != nil }
        let source = first.map { Decision.Source.rule(index: $0.index, id: $0.id) } ?? .fallback
        #expect(evaluator.evaluate(device).source == source)
    }

    @Test func `mutated releases are read or refused`() throws {
        let seeds = try Vectors.cases("releases").compactMap { $0["text"]?.string }.filter { $0.utf8.count < 6000 }
        var random = SplitMix64(seed: 18 + UInt64(rounds))
        var accepted = 0
        for seed in seeds {
            for _ in 0..<2 * rounds {
                guard let release = try? ReleaseDocument(mutated(Array(seed.utf8), &random)) else { continue }
                accepted += 1
                #expect(try ReleaseDocument(release.bytes()) == release)
            }
        }
        #expect(accepted > 100)
    }

    @Test func `mutated attributes are read or refused`() {
        let seed = Array(Samples.tablet.jsonText.utf8)
        var random = SplitMix64(seed: 19)
        for _ in 0..<20_000 { _ = try? DeviceAttributes(json: mutated(seed, &random)) }
    }

    @Test func `any bytes are a version or none, and orders agree`() {
        var random = SplitMix64(seed: 20)
        let alphabet = Array("0123456789..--++abRC".utf8)
        var versions: [VersionNumber] = []
        for _ in 0..<20_000 {
            let text = (0..<Int(random.next() % 12)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            if let version = VersionNumber(String(decoding: text, as: UTF8.self)) { versions.append(version) }
        }
        #expect(versions.count > 1000)
        let sorted = versions.sorted()
        for (a, b) in zip(sorted, sorted.dropFirst()) { #expect(a <= b && !(b < a)) }
        for index in stride(from: 0, to: sorted.count - 40, by: 37) {
            #expect(sorted[index] <= sorted[index + 17] && sorted[index + 17] <= sorted[index + 40])
        }
    }

    /// Many values of one attribute would need large tables; then comparisons are asked one by one, with the same answers.
    @Test func `policies with very many comparisons stay small and right`() throws {
        let numbers = (0..<200).map { AttributeValue.number(Double($0)) }
        let rules = (0..<60).map { index in
            Rule(
                "r\(index)",
                when: .all(
                    (0..<40).map { part in
                        let values = numbers.map { value -> AttributeValue in
                            guard case .number(let number) = value else { return value }
                            return .number(number + Double(200 * (40 * index + part)))
                        }
                        return .not(.comparison(.init(.memory, .in, values)))
                    } + [.compare(.cores, .is, Double(index))]
                ),
                serve: Serving(.release(1))
            )
        }
        let evaluator = try PolicyEvaluator(Samples.policy(rules))
        var device = Samples.tablet
        device.cores = 59
        #expect(evaluator.evaluate(device).source == .rule(index: 59, id: "r59"))
        device.memory = 59 * 40 * 200 + 3
        #expect(evaluator.evaluate(device).source == .fallback)
    }

    /// The largest policies that the format allows are prepared in a moment: nothing grows with the square of them.
    @Test(.timeLimit(.minutes(20))) func `the largest policies are prepared quickly`() throws {
        func seconds(_ when: [Condition]) throws -> Double {
            let policy = Samples.policy(
                when.enumerated().map { Rule("r\($0)", when: $1, serve: Serving(.release(1))) }
            )
            let start = processorSeconds()
            let evaluator = try PolicyEvaluator(policy)
            _ = evaluator.evaluate(Samples.tablet)
            _ = evaluator.explain(Samples.tablet)
            return processorSeconds() - start
        }
        func numbers(_ range: Range<Int>) -> [AttributeValue] { range.map { .number(Double($0)) } }
        let manySignals = (0..<4900).map { Condition.compare(.custom("s\($0)"), .is, true) }
        let manyValues = (0..<60).map { index in
            Condition.comparison(.init(.memory, .in, numbers(index * 200..<index * 200 + 200)))
        }
        let manyTexts = (0..<60).map { index in
            let values = (0..<200).map { AttributeValue.text("model\(index * 200 + $0)") }
            return Condition.comparison(.init(.deviceModel, index < 30 ? .in : .contains, values))
        }
        let manyBounds = (0..<4900).map { Condition.compare(.memory, .less, Double($0)) }
        for parts in [manySignals, manyValues, manyTexts, manyBounds] {
            #expect(try seconds([.all(parts)]) < 5)
            #expect(try seconds([.any(parts)]) < 5)
        }
        let spread = (0..<200).map { rule in
            Condition.all((0..<24).map { .compare(.memory, .atLeast, Double(rule * 24 + $0)) })
        }
        #expect(try seconds(spread) < 5)
    }

    /// The time that this thread has used.
    private func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Changes, removes, doubles and moves some bytes; sometimes digits only, so that much stays JSON.
    private func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        let tokens = [
            "{", "}", "[", "]", ",", ":", "\"", "null", "true", "-1", "9007199254740993", "1e9", "\\u0000", "é", "all",
        ]
        for _ in 0...Int(random.next() % 3) where !bytes.isEmpty {
            let place = Int(random.next() % UInt64(bytes.count))
            switch random.next() % 6 {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: tokens[Int(random.next() % UInt64(tokens.count))].utf8, at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 40)))
            case 4:
                let end = min(bytes.count, place + Int(random.next() % 60))
                bytes.insert(contentsOf: Array(bytes[place..<end]), at: Int(random.next() % UInt64(bytes.count)))
            default:
                let digits = bytes.indices.filter { (0x30...0x39).contains(bytes[$0]) }
                if let digit = digits.isEmpty ? nil : digits[Int(random.next() % UInt64(digits.count))] {
                    bytes[digit] = 0x30 + UInt8(random.next() % 10)
                }
            }
        }
        return bytes
    }
}
