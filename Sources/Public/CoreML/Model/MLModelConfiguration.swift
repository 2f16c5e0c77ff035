/// Hints about how a model will be used; they have no effect here.
public struct MLOptimizationHints: Equatable, Sendable {
    /// The frequency at which the shapes of the inputs change.
    public enum ReshapeFrequency: Int, Sendable {
        /// From prediction to prediction.
        case frequent = 0
        /// Rarely.
        case infrequent = 1
    }

    /// The goal of preparing a model for a device.
    public enum SpecializationStrategy: Int, Hashable, Sendable {
        /// A balance between loading time and prediction time.
        case `default` = 0
        /// Short predictions, even if loading takes longer.
        case fastPrediction = 1
    }

    /// The frequency at which the shapes of the inputs change; by default `.frequent`.
    public var reshapeFrequency: ReshapeFrequency = .frequent
    /// The goal of preparing the model; by default `.default`.
    public var specializationStrategy: SpecializationStrategy = .default

    /// Makes the default hints.
    public init() {}
}

/// The settings for loading a model.
open class MLModelConfiguration: NSObject, NSCopying, NSSecureCoding {
    /// The devices that the model may use; by default `.all`.
    ///
    /// It has no effect here: models run on the processor.
    public var computeUnits: MLComputeUnits = .all
    /// The name of the function to load from a model with several; `nil`, the default, for the default function.
    public var functionName: String?
    /// A name of the model for messages; by default `nil`.
    public var modelDisplayName: String?
    /// Whether models in half precision may be computed less exactly to be faster; by default false.
    ///
    /// Matrix products and convolutions with half-precision weights then round factors to bfloat16, 8 significant bits, on
    /// processors with matrix tiles (AMX); sums are in single precision or better in any case. It has no effect on other
    /// processors, on weights in single precision, and on compressed ones.
    public var allowLowPrecisionAccumulationOnGPU = false
    /// Hints about the use of the model, which have no effect here.
    public var optimizationHints = MLOptimizationHints()
    /// Values for parameters of the model, such as those of an update or of a linked model; `nil` for the defaults.
    ///
    /// A value of a wrong type, or one that the model does not allow, makes loading throw `MLModelError.parameters`.
    public var parameters: [MLParameterKey: Any]?
    /// Another name of `parameters`.
    public var updateParameters: [MLParameterKey: Any]? {
        get { parameters }
        set { parameters = newValue }
    }

    /// Makes the default configuration.
    public override init() {}

    /// All settings; names and parameters only where they are set.
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

    /// A copy that can be changed independently.
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

    /// Whether the class can be decoded securely: always true.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes everything but `parameters`.
    public func encode(with coder: NSCoder) {
        coder.encode(NSNumber(value: computeUnits.rawValue), forKey: "computeUnits")
        if let functionName { coder.encode(NSString(string: functionName), forKey: "functionName") }
        if let modelDisplayName { coder.encode(NSString(string: modelDisplayName), forKey: "modelDisplayName") }
        coder.encode(NSNumber(value: allowLowPrecisionAccumulationOnGPU), forKey: "lowPrecision")
        coder.encode(NSNumber(value: optimizationHints.reshapeFrequency.rawValue), forKey: "reshapeFrequency")
        coder.encode(
            NSNumber(value: optimizationHints.specializationStrategy.rawValue),
            forKey: "specializationStrategy"
        )
    }

    /// Decodes a configuration that `encode(with:)` wrote; settings that are missing have their defaults.
    public required init?(coder: NSCoder) {
        let units = coder.decodeObject(of: NSNumber.self, forKey: "computeUnits")
        computeUnits = units.flatMap { MLComputeUnits(rawValue: $0.intValue) } ?? .all
        functionName = coder.decodeObject(of: NSString.self, forKey: "functionName").map { String(describing: $0) }
        modelDisplayName = coder.decodeObject(of: NSString.self, forKey: "modelDisplayName")
            .map { String(describing: $0) }
        allowLowPrecisionAccumulationOnGPU =
            coder.decodeObject(of: NSNumber.self, forKey: "lowPrecision")?.boolValue ?? false
        var hints = MLOptimizationHints()
        let frequency = coder.decodeObject(of: NSNumber.self, forKey: "reshapeFrequency")
        if let value = frequency.flatMap({ MLOptimizationHints.ReshapeFrequency(rawValue: $0.intValue) }) {
            hints.reshapeFrequency = value
        }
        let strategy = coder.decodeObject(of: NSNumber.self, forKey: "specializationStrategy")
        if let value = strategy.flatMap({ MLOptimizationHints.SpecializationStrategy(rawValue: $0.intValue) }) {
            hints.specializationStrategy = value
        }
        optimizationHints = hints
    }
}
