/// Where a model can run.
public protocol MLComputeDeviceProtocol: NSObjectProtocol {}

/// The processor.
open class MLCPUComputeDevice: NSObject, MLComputeDeviceProtocol, @unchecked Sendable {
    open override func isEqual(_ object: Any?) -> Bool { object is MLCPUComputeDevice }
    open override var hash: Int { 1 }
    open override var description: String { "CPU" }
}

/// A graphics processor; there is never one here.
open class MLGPUComputeDevice: NSObject, MLComputeDeviceProtocol, @unchecked Sendable {
    private override init() {}
}

/// Apple's neural engine; there is never one here.
open class MLNeuralEngineComputeDevice: NSObject, MLComputeDeviceProtocol, @unchecked Sendable {
    private override init() {}
    public var totalCoreCount: Int { 0 }
}

/// A device of one of the three kinds.
public enum MLComputeDevice: Hashable, Sendable, CustomStringConvertible {
    case cpu(MLCPUComputeDevice)
    case gpu(MLGPUComputeDevice)
    case neuralEngine(MLNeuralEngineComputeDevice)

    /// The devices of this machine: its processor.
    public static var allComputeDevices: [MLComputeDevice] { [.cpu(MLCPUComputeDevice())] }

    public var description: String {
        switch self {
        case .cpu: "CPU"
        case .gpu: "GPU"
        case .neuralEngine: "Neural Engine"
        }
    }
}

/// Which devices may be used.  All choices mean the processor here.
public enum MLComputeUnits: Int, Sendable {
    case cpuOnly = 0
    case cpuAndGPU = 1
    case all = 2
    case cpuAndNeuralEngine = 3
}
