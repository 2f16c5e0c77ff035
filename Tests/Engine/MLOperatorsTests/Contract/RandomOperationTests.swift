import Foundation
import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Every operation of the ML program opsets with random arguments, legal and not. What is refused must be refused by an
/// error when it is read or typed; what is accepted must give the same by every kernel and plan as by plain evaluation;
/// nothing may trap or touch memory outside its own.
///
/// `COREML_RANDOM_CASES` sets how many cases each operation gets, `COREML_RANDOM_SEED` where they start,
/// `COREML_RANDOM_OPERATION` the only one to try. A trap ends the process: `COREML_RANDOM_LOG` names a file that then
/// holds the case at fault.
@Suite struct RandomOperationTests {
    static let signatures: [OperationSignature] = {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/OperationSignatures.json")
        guard let data = try? Data(contentsOf: url) else { return [] }
        return (try? JSONDecoder().decode([OperationSignature].self, from: data)) ?? []
    }()

    /// Operations whose results are random, or that need bodies or state: their own tests cover them.
    static let excluded: Set<String> = [
        "cond", "while_loop", "read_state", "coreml_update_state", "random_bernoulli", "random_categorical",
        "random_normal", "random_uniform", "const",
    ]

    private static func setting(_ name: String, default value: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? value
    }

    /// The only operation to try; all when it is `nil`.
    private static let only = ProcessInfo.processInfo.environment["COREML_RANDOM_OPERATION"]

    private static let tried = signatures.filter {
        !excluded.contains($0.operation) && (only == nil || only == $0.operation)
    }

    @Test func signaturesAreThere() { #expect(Self.signatures.count > 150) }

    @Test(arguments: tried)
    func refusesOrAgrees(_ signature: OperationSignature) throws {
        let opset = try #require(signature.version)
        let type = try #require(Catalogue.standard.operatorType(named: signature.operation, opset: opset))
        let log = ProcessInfo.processInfo.environment["COREML_RANDOM_LOG"]
        let first = Self.setting("COREML_RANDOM_SEED", default: 1)
        let cases = Self.setting("COREML_RANDOM_CASES", default: 60)
        var accepted = 0
        for seed in first..<first + cases {
            var generator = RandomArguments(seed: seed &* 1_000_003 &+ signature.hash)
            var builder = GraphBuilder()
            let bindings = generator.bindings(for: signature, in: &builder)
            if let log {
                try "\(signature.operation) \(signature.opset) seed \(seed)\n\(bindings)\n"
                    .write(toFile: log, atomically: false, encoding: .utf8)
            }
            let problem: OperatorProblem?
            do throws(ModelError) {
                problem = try Self.problem(type, signature, opset, bindings, seed)
            } catch {
                #expect(!error.description.isEmpty)
                continue
            }
            guard let problem else { continue }
            accepted += 1
            #expect(problem.disagreements() == [], "\(signature.operation) of \(signature.opset), seed \(seed)")
        }
        if RandomArguments.fitted.contains(signature.operation) {
            #expect(accepted > Int(cases) / 3, "\(signature.operation) of \(signature.opset): too few cases are legal")
        }
        if Self.only != nil { print("\(signature.operation) of \(signature.opset): \(accepted) accepted") }
    }

    /// The operator that reads the arguments, with its operands; `nil` for results that are large or depend on data.
    private static func problem(
        _ type: any Operator.Type,
        _ signature: OperationSignature,
        _ opset: Opset,
        _ bindings: [String: [Arguments.Binding]],
        _ seed: UInt64
    ) throws(ModelError) -> OperatorProblem? {
        var arguments = Arguments(operationName: signature.operation, opset: opset, bindings: bindings)
        let op = try type.init(reading: &arguments)
        try arguments.finish()
        let known = Dictionary(bindings.values.joined().map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let chosen = arguments.operands.map { id in id.flatMap { known[$0] } }
        let tensors = chosen.map { $0?.constant }
        var constants: Set<Int> = []
        for (index, binding) in chosen.enumerated() {
            guard let binding, let name = bindings.first(where: { $0.value.contains { $0.id == binding.id } })?.key
            else { continue }
            if signature.arguments.contains(where: { $0.name == name && $0.constant }) { constants.insert(index) }
        }
        let problem = OperatorProblem(
            signature.operation,
            op,
            tensors,
            constants: constants,
            tolerance: 1e-3,
            seed: seed
        )
        let operands = Operands(
            tensors.enumerated().map { index, tensor in
                tensor.map {
                    Operands.Operand(
                        type: ValueType($0.scalarType, Shape($0.shape)),
                        constant: problem.constants.contains(index) ? $0 : nil
                    )
                }
            }
        )
        let types = try op.resultTypes(of: operands)
        let sizes = types.map { $0.shape.counts?.reduce(1) { $0.multipliedReportingOverflow(by: $1).partialValue } }
        guard sizes.allSatisfy({ $0.map { (0...4096).contains($0) } ?? false }) else { return nil }
        return problem
    }
}

/// The signature of an operation, as recorded by `scripts/generate/operation-signatures`.
struct OperationSignature: Decodable, Sendable, CustomTestStringConvertible {
    struct Argument: Decodable, Sendable {
        var name: String
        var constant: Bool
        var optional: Bool
        /// "tensor", or "tuple" for several.
        var form: String
        var types: [String]
    }

    var operation: String
    var opset: String
    var arguments: [Argument]

    var testDescription: String { "\(operation) \(opset)" }
    /// The same on every machine, unlike `Hashable`'s.
    var hash: UInt64 {
        (operation + opset).utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }

    var version: Opset? {
        ["iOS15": .iOS15, "iOS16": .iOS16, "iOS17": .iOS17, "iOS18": .iOS18, "iOS26": .iOS26][opset]
    }
}
