/// What a model is loaded for.
public struct MLOptimizationHints: Equatable, Sendable {
    /// How often input shapes change.
    public enum ReshapeFrequency: Int, Sendable {
        case frequent = 0
        case infrequent = 1
    }

    /// What preparation aims at.
    public enum SpecializationStrategy: Int, Hashable, Sendable {
        case `default` = 0
        case fastPrediction = 1
    }

    public var reshapeFrequency: ReshapeFrequency = .frequent
    public var specializationStrategy: SpecializationStrategy = .default

    public init() {}
}

/// How a model is loaded.
open class MLModelConfiguration: NSObject, NSCopying, NSSecureCoding {
    /// Kept for the caller; all choices run on the processor.
    public var computeUnits: MLComputeUnits = .all
    /// The function of a model with several; `nil` for the default one.
    public var functionName: String?
    /// A name for messages.
    public var modelDisplayName: String?
    /// Kept for the caller: sums are always of 32 bits or more.
    public var allowLowPrecisionAccumulationOnGPU = false
    /// Kept for the caller.
    public var optimizationHints = MLOptimizationHints()
    /// Values for parameters of the model, for updates and linked models.
    public var parameters: [MLParameterKey: Any]?
    /// The name of `parameters` in the talk that introduced updates.
    public var updateParameters: [MLParameterKey: Any]? {
        get { parameters }
        set { parameters = newValue }
    }

    public override init() {}

    /// Every choice; names and parameters when there are some.
    open override var description: String {
        var choices = ["computeUnits: \(computeUnits)"]
        if let functionName { choices.append("functionName: \(functionName)") }
        if let modelDisplayName { choices.append("modelDisplayName: \(modelDisplayName)") }
        choices.append("allowLowPrecisionAccumulationOnGPU: \(allowLowPrecisionAccumulationOnGPU)")
        choices.append("reshapeFrequency: \(optimizationHints.reshapeFrequency)")
        choices.append("specializationStrategy: \(optimizationHints.specializationStrategy)")
        if let parameters { choices.append("parameters: \(keyedText(parameters))") }
        return "MLModelConfiguration (\(choices.joined(separator: ", ")))"
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = MLModelConfiguration()
        copy.computeUnits = computeUnits
        copy.functionName = functionName
        copy.modelDisplayName = modelDisplayName
        copy.allowLowPrecisionAccumulationOnGPU = allowLowPrecisionAccumulationOnGPU
        copy.optimizationHints = optimizationHints
        copy.parameters = parameters
        return copy
    }

    public static var supportsSecureCoding: Bool { true }

    /// Everything but `parameters`.
    public func encode(with coder: NSCoder) {
        coder.encode(NSNumber(value: computeUnits.rawValue), forKey: "computeUnits")
        if let functionName { coder.encode(NSString(string: functionName), forKey: "functionName") }
        if let modelDisplayName { coder.encode(NSString(string: modelDisplayName), forKey: "modelDisplayName") }
        coder.encode(NSNumber(value: allowLowPrecisionAccumulationOnGPU), forKey: "lowPrecision")
    }

    public required init?(coder: NSCoder) {
        let units = coder.decodeObject(of: NSNumber.self, forKey: "computeUnits")
        computeUnits = units.flatMap { MLComputeUnits(rawValue: $0.intValue) } ?? .all
        functionName = coder.decodeObject(of: NSString.self, forKey: "functionName").map { String(describing: $0) }
        modelDisplayName = coder.decodeObject(of: NSString.self, forKey: "modelDisplayName")
            .map { String(describing: $0) }
        allowLowPrecisionAccumulationOnGPU =
            coder.decodeObject(of: NSNumber.self, forKey: "lowPrecision")?.boolValue ?? false
    }
}
