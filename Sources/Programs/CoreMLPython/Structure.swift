import CoreML
import Foundation

/// `MLModelStructure` as JSON: `{"layers": […]}`, `{"functions": {…}}`, `{"models": […]}` or `{}`.
private indirect enum StructureText: Encodable {
    struct Layer: Encodable {
        let name: String
        let type: String
        let inputs: [String]
        let outputs: [String]
    }

    struct Block: Encodable {
        let inputs: [String]
        let operations: [Operation]
        let outputs: [String]
    }

    struct Operation: Encodable {
        let name: String
        /// The names that each argument is bound to, by argument name; `nil` stands for a constant.
        let inputs: [String: [String?]]
        let outputs: [String]
        let blocks: [Block]
        /// The share in the program's work; `nil` without a plan, and for operations that do not run.
        let cost: Double?
    }

    struct Function: Encodable {
        let inputs: [String]
        let block: Block
    }

    struct Part: Encodable {
        let name: String
        let model: StructureText
    }

    case layers([Layer])
    case functions([String: Function])
    case models([Part])
    case other

    private enum Key: CodingKey {
        case layers, functions, models
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .layers(let layers): try container.encode(layers, forKey: .layers)
        case .functions(let functions): try container.encode(functions, forKey: .functions)
        case .models(let models): try container.encode(models, forKey: .models)
        case .other: break
        }
    }

    init(_ structure: MLModelStructure, _ plan: MLComputePlan? = nil) {
        switch structure {
        case .neuralNetwork(let network):
            self = .layers(
                network.layers.map {
                    Layer(name: $0.name, type: $0.type, inputs: $0.inputNames, outputs: $0.outputNames)
                }
            )
        case .program(let program):
            self = .functions(
                program.functions.mapValues { Function(inputs: $0.inputs.map(\.name), block: Block($0.block, plan)) }
            )
        case .pipeline(let pipeline):
            self = .models(
                zip(pipeline.subModelNames, pipeline.subModels).map { Part(name: $0, model: StructureText($1)) }
            )
        case .unsupported:
            self = .other
        }
    }
}

extension StructureText.Block {
    init(_ block: MLModelStructure.Program.Block, _ plan: MLComputePlan?) {
        self.init(
            inputs: block.inputs.map(\.name),
            operations: block.operations.map { operation in
                StructureText.Operation(
                    name: operation.operatorName,
                    inputs: operation.inputs.mapValues { argument in
                        argument.bindings.map { if case .name(let name) = $0 { name } else { nil } }
                    },
                    outputs: operation.outputs.map(\.name),
                    blocks: operation.blocks.map { Self($0, plan) },
                    cost: plan?.estimatedCost(of: operation)?.weight
                )
            },
            outputs: block.outputNames
        )
    }
}

/// The structure of a compiled model as JSON text.
@c(coreml_structure)
public func structure(_ path: UnsafePointer<CChar>, _ failure: Failure) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) {
        let url = URL(fileURLWithPath: String(cString: path))
        return try json(StructureText(awaiting { try await MLModelStructure.load(contentsOf: url) }))
    }
}

/// The structure of a compiled model with the estimated costs of its operations, as JSON text.
@c(coreml_compute_plan)
public func computePlan(
    _ path: UnsafePointer<CChar>,
    _ computeUnits: UnsafePointer<CChar>,
    _ failure: Failure
) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) {
        let url = URL(fileURLWithPath: String(cString: path))
        // This thread waits until the task is done.
        nonisolated(unsafe) let configuration = try configuration(computeUnits, "", "{}")
        let plan = try awaiting { try await MLComputePlan.load(contentsOf: url, configuration: configuration) }
        return try json(StructureText(plan.modelStructure, plan))
    }
}
