import MLFiles
import MLNumerics

/// The devices that the layers or operations of a model run on, and the estimated cost of operations.
///
/// Everything runs on the processor here.
public final class MLComputePlan: Sendable {
    /// An operation's share in the work of its program.
    public struct Cost: Sendable {
        /// The share, from 0 to 1; the shares of all operations add up to 1.
        public let weight: Double
    }

    /// The devices that a layer or an operation can run on.
    public struct DeviceUsage: Sendable {
        /// The device that it will run on: the processor.
        public let preferred: MLComputeDevice
        /// All devices that it can run on: the processor.
        public let supported: [MLComputeDevice]
    }

    /// The structure of the model that the plan is for.
    public let modelStructure: MLModelStructure

    private let costs: OperationCosts?

    private init(_ structure: MLModelStructure) {
        modelStructure = structure
        if case .program(let program) = structure { costs = OperationCosts(program) } else { costs = nil }
    }

    /// Makes the plan of an asset.
    ///
    /// - Parameters:
    ///   - asset: The model.
    ///   - configuration: Has no effect here: a plan covers all functions of a model.
    /// - Returns: The plan.
    /// - Throws: `MLModelError` when the model cannot be read or decrypted.
    public static func load(asset: MLModelAsset, configuration: MLModelConfiguration) async throws -> MLComputePlan {
        try await make(MLModelStructure.load(asset: asset))
    }

    /// Makes the plan of a compiled folder, a package or a model file.
    ///
    /// - Parameters:
    ///   - url: The model.
    ///   - configuration: Has no effect here: a plan covers all functions of a model.
    /// - Returns: The plan.
    /// - Throws: `MLModelError` when the model cannot be read or decrypted.
    public static func load(contentsOf url: URL, configuration: MLModelConfiguration) async throws -> MLComputePlan {
        try await make(MLModelStructure.load(contentsOf: url))
    }

    /// Makes a plan on a thread of its own: counting the costs of a large program takes time.
    private static func make(_ structure: MLModelStructure) async throws -> MLComputePlan {
        try await runBlocking { MLComputePlan(structure) }
    }

    /// The devices of a layer of a neural network: the processor, for every layer.
    public func deviceUsage(for layer: MLModelStructure.NeuralNetwork.Layer) -> DeviceUsage? { Self.processor }

    /// The devices of an operation of an ML program: the processor; `nil` for constants, which do not run.
    public func deviceUsage(for operation: MLModelStructure.Program.Operation) -> DeviceUsage? {
        operation.operatorName == "const" ? nil : Self.processor
    }

    /// The estimated share of an operation in its program's work; `nil` for constants, which do not run.
    ///
    /// The estimate counts the elements that an operation reads and writes and, eight to one, its multiplications, from
    /// the shapes that the program declares. Extents that it does not declare count as 1.
    public func estimatedCost(of operation: MLModelStructure.Program.Operation) -> Cost? {
        costs?.weight(of: operation).map { Cost(weight: $0) }
    }

    private static var processor: DeviceUsage {
        let cpu = MLComputeDevice.cpu(MLCPUComputeDevice())
        return DeviceUsage(preferred: cpu, supported: [cpu])
    }
}
