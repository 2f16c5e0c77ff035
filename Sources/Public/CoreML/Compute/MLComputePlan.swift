import MLFiles
import MLNumerics

/// Where the layers or operations of a model run.
public final class MLComputePlan: @unchecked Sendable {
    /// The share of an operation in the work of its program.
    public struct Cost: Sendable {
        /// 0…1.
        public let weight: Double
    }

    public struct DeviceUsage: Sendable {
        public let preferred: MLComputeDevice
        public let supported: [MLComputeDevice]
    }

    public let modelStructure: MLModelStructure

    private let costs: OperationCosts?

    private init(_ structure: MLModelStructure) {
        modelStructure = structure
        if case .program(let program) = structure { costs = OperationCosts(program) } else { costs = nil }
    }

    public static func load(asset: MLModelAsset, configuration: MLModelConfiguration) async throws -> MLComputePlan {
        try await offPool { MLComputePlan(try asset.file().structure) }
    }

    public static func load(contentsOf url: URL, configuration: MLModelConfiguration) async throws -> MLComputePlan {
        MLComputePlan(try await MLModelStructure.load(contentsOf: url))
    }

    /// The processor, for every layer.
    public func deviceUsage(for layer: MLModelStructure.NeuralNetwork.Layer) -> DeviceUsage? { Self.processor }

    /// The processor; `nil` for constants, which do not run.
    public func deviceUsage(for operation: MLModelStructure.Program.Operation) -> DeviceUsage? {
        operation.operatorName == "const" ? nil : Self.processor
    }

    /// The operation's share, estimated from the sizes that the program states; `nil` for constants, which do not run.
    public func estimatedCost(of operation: MLModelStructure.Program.Operation) -> Cost? {
        costs?.weight(of: operation).map { Cost(weight: $0) }
    }

    private static var processor: DeviceUsage {
        let cpu = MLComputeDevice.cpu(MLCPUComputeDevice())
        return DeviceUsage(preferred: cpu, supported: [cpu])
    }
}
