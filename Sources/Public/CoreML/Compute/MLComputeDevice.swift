/// A device that models can run on.
public protocol MLComputeDeviceProtocol: NSObjectProtocol {}

/// The processor (CPU).
///
/// `@unchecked Sendable`: it holds nothing.
open class MLCPUComputeDevice: NSObject, MLComputeDeviceProtocol, @unchecked Sendable {
    /// Whether the other object is the processor too; all instances are equal.
    open override func isEqual(_ object: Any?) -> Bool { object is MLCPUComputeDevice }
    /// The same for all instances.
    open override var hash: Int { 1 }
    /// The text "CPU".
    open override var description: String { "CPU" }
}

/// A graphics processor; this package never makes one.
///
/// `@unchecked Sendable`: it holds nothing.
open class MLGPUComputeDevice: NSObject, MLComputeDeviceProtocol, @unchecked Sendable {
    private override init() {}
}

/// Apple's Neural Engine; this package never makes one.
///
/// `@unchecked Sendable`: it holds nothing.
open class MLNeuralEngineComputeDevice: NSObject, MLComputeDeviceProtocol, @unchecked Sendable {
    private override init() {}
    /// The number of the engine's cores: 0 here.
    public var totalCoreCount: Int { 0 }
}

/// A compute device of one of the three kinds; only the processor exists here.
public enum MLComputeDevice: Hashable, Sendable, CustomStringConvertible {
    /// The processor.
    case cpu(MLCPUComputeDevice)
    /// A graphics processor.
    case gpu(MLGPUComputeDevice)
    /// Apple's Neural Engine.
    case neuralEngine(MLNeuralEngineComputeDevice)

    /// The devices of this machine: its processor alone.
    public static var allComputeDevices: [MLComputeDevice] { [.cpu(MLCPUComputeDevice())] }

    /// The name of the device's kind.
    public var description: String {
        switch self {
        case .cpu: "CPU"
        case .gpu: "GPU"
        case .neuralEngine: "Neural Engine"
        }
    }
}

/// The compute devices that a model may use.
///
/// Every choice means the processor here.
public enum MLComputeUnits: Int, Sendable {
    /// The processor alone.
    case cpuOnly = 0
    /// The processor and, on Apple's platforms, the GPU.
    case cpuAndGPU = 1
    /// All devices.
    case all = 2
    /// The processor and, on Apple's platforms, the Neural Engine.
    case cpuAndNeuralEngine = 3
}
