import CoreML
import Foundation
import MLEngine
import MLNumerics

/// A feature of a model as JSON.
private struct FeatureText: Encodable {
    let name: String
    let type: String
    let isOptional: Bool
    let summary: String
    let text: String
    var shape: [Int]?
    var dataType: Int?
    var shapes: [[Int]]?
    /// The allowed extents of each axis, from and to; no upper bound is `null`.
    var ranges: [[Int?]]?
    var width: Int?
    var height: Int?
    var color: String?
    var sizes: [[Int]]?
    var keys: String?

    init(_ feature: MLFeatureDescription) {
        name = feature.name
        type = "\(feature.type)"
        isOptional = feature.isOptional
        summary = feature.shortDescription
        text = feature.typeText
        if let array = feature.multiArrayConstraint {
            let constraint = array.shapeConstraint
            shape = array.shape.map(\.intValue)
            dataType = array.dataType.rawValue
            if constraint.type == .enumerated { shapes = constraint.enumeratedShapes.map { $0.map(\.intValue) } }
            if constraint.type == .range {
                ranges = constraint.sizeRangeForDimension.map { value in
                    let range = value.rangeValue
                    return [range.location, range.upperBound == Int.max ? nil : range.upperBound - 1]
                }
            }
        }
        if let image = feature.imageConstraint {
            width = image.pixelsWide
            height = image.pixelsHigh
            color = Self.color(of: image.pixelFormatType)
            sizes = image.sizeConstraint.enumeratedImageSizes.map { [$0.pixelsWide, $0.pixelsHigh] }
        }
        keys = feature.dictionaryConstraint.map { "\($0.keyType)" }
        if let sequence = feature.sequenceConstraint { keys = "\(sequence.valueDescription.type)" }
        if let state = feature.stateConstraint {
            shape = state.bufferShape
            dataType = state.dataType.rawValue
        }
    }

    private static func color(of format: OSType) -> String {
        switch format {
        case kCVPixelFormatType_OneComponent8: "L"
        case kCVPixelFormatType_OneComponent16Half: "F"
        default: "RGB"
        }
    }
}

/// A parameter of an update as JSON.
private struct ParameterText: Encodable {
    let name: String
    let value: Double
    let minimum: Double?
    let maximum: Double?
    let choices: [Double]?
}

/// A model's interface as JSON.
private struct InterfaceText: Encodable {
    let inputs: [FeatureText]
    let outputs: [FeatureText]
    let states: [FeatureText]
    let trainingInputs: [FeatureText]
    let metadata: [String: String]
    let userDefined: [String: String]
    let stringLabels: [String]?
    let integerLabels: [Int64]?
    let predictedFeature: String?
    let predictedProbabilities: String?
    let isUpdatable: Bool
    let prefersBatches: Bool
    let parameters: [ParameterText]

    init(_ model: MLModel) {
        let description = model.modelDescription
        inputs = description.inputs.map { FeatureText($0) }
        outputs = description.outputs.map { FeatureText($0) }
        states = description.states.map { FeatureText($0) }
        trainingInputs = description.trainingInputDescriptionsByName.values.sorted { $0.name < $1.name }
            .map { FeatureText($0) }
        let names: [(String, MLModelMetadataKey)] = [
            ("description", .description), ("version", .versionString), ("author", .author), ("license", .license),
        ]
        metadata = Dictionary(uniqueKeysWithValues: names.map { ($0, description.metadata[$1] as? String ?? "") })
        userDefined = description.metadata[.creatorDefinedKey] as? [String: String] ?? [:]
        stringLabels = description.classLabels as? [String]
        integerLabels = description.classLabels as? [Int64]
        predictedFeature = description.predictedFeatureName
        predictedProbabilities = description.predictedProbabilitiesName
        isUpdatable = description.isUpdatable
        prefersBatches = model.engine.prefersBatches
        parameters = description.parameterDescriptionsByKey.values.map { parameter in
            let constraint = parameter.numericConstraint
            return ParameterText(
                name: parameter.key.description,
                value: (parameter.defaultValue as? NSNumber)?.doubleValue ?? 0,
                minimum: constraint?.minNumber.doubleValue,
                maximum: constraint?.maxNumber.doubleValue,
                choices: constraint?.enumeratedNumbers?.map(\.doubleValue).sorted()
            )
        }
        .sorted { $0.name < $1.name }
    }
}

/// Loads a model: `options` is a JSON dictionary with `function` (a string), `parameters` (by name) and `lowPrecision`
/// (true or false).
@c(coreml_model_open)
public func openModel(
    _ path: UnsafePointer<CChar>,
    _ options: UnsafePointer<CChar>,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reportingCode(failure) {
        let options = try Options(String(cString: options))
        return handle(
            try MLModel(
                contentsOf: URL(fileURLWithPath: String(cString: path)),
                configuration: try options.configuration()
            )
        )
    }
}

/// A model's inputs, outputs, states, metadata and parameters as JSON.
@c(coreml_model_interface)
public func interface(_ model: UnsafeMutableRawPointer, _ failure: Failure) -> UnsafeMutablePointer<CChar>? {
    reportingCode(failure) { try json(InterfaceText(object(model, as: MLModel.self))) }
}

/// Saves a model that an update made, in the format that the name says.
@c(coreml_model_save)
public func saveModel(
    _ model: UnsafeMutableRawPointer,
    _ path: UnsafePointer<CChar>,
    _ failure: Failure
) -> Bool {
    reportingCode(failure) {
        guard let model = object(model, as: MLModel.self) as? any MLWritable else { throw BorderError.notWritable }
        try model.write(to: URL(fileURLWithPath: String(cString: path)))
        return true
    } ?? false
}

/// The choices of loading and updating a model, from JSON.
struct Options: Decodable {
    /// A number, a flag or a string.
    enum Value: Decodable {
        case flag(Bool)
        case integer(Int64)
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Bool.self) {
                self = .flag(value)
            } else if let value = try? container.decode(Int64.self) {
                self = .integer(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        var any: Any {
            switch self {
            case .flag(let value): NSNumber(value: value)
            case .integer(let value): NSNumber(value: value)
            case .number(let value): NSNumber(value: value)
            case .text(let value): value
            }
        }
    }

    var function: String?
    var parameters: [String: Value]?
    var lowPrecision: Bool?

    init(_ text: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(text.utf8)) }

    func configuration() throws -> MLModelConfiguration {
        let configuration = MLModelConfiguration()
        configuration.functionName = function
        configuration.parameters = try keyed()
        configuration.allowLowPrecisionAccumulationOnGPU = lowPrecision ?? false
        return configuration
    }

    /// The parameters under Core ML's keys; a name may begin with the part of the model that it is for and a dot.
    func keyed() throws -> [MLParameterKey: Any]? {
        guard let parameters else { return nil }
        let known: [MLParameterKey] = [
            .learningRate, .momentum, .miniBatchSize, .beta1, .beta2, .eps, .epochs, .shuffle, .seed,
            .numberOfNeighbors, .linkedModelFileName, .linkedModelSearchPath,
        ]
        var result: [MLParameterKey: Any] = [:]
        for (name, value) in parameters {
            let dot = name.lastIndex(of: ".")
            let last = String(dot.map { name[name.index(after: $0)...] } ?? name[...])
            guard let key = known.first(where: { $0.name == last }) else { throw BorderError.parameterName(name) }
            result[dot.map { key.scoped(to: String(name[..<$0])) } ?? key] = value.any
        }
        return result
    }
}

/// Copies a state's buffer to the memory that a slot names (a), which has as many bytes (b).
@c(coreml_state_get)
public func stateBuffer(
    _ state: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ target: UnsafeMutableRawPointer,
    _ failure: Failure
) -> Bool {
    reportingCode(failure) {
        let state = object(state, as: MLState.self)
        let name = String(cString: name)
        guard let tensor = state.tensor(name) else { throw BorderError.stateName(name, state.names) }
        let slot = Slot(target)
        guard slot.kind == .array, let memory = slot.address(1), slot[2] == tensor.byteCount else {
            throw BorderError.slot(name, slot.rawKind)
        }
        memory.copyMemory(from: tensor.address, byteCount: tensor.byteCount)
        withExtendedLifetime(tensor) {}
        return true
    } ?? false
}

/// Replaces a state's buffer by the array in a slot.
@c(coreml_state_set)
public func setStateBuffer(
    _ state: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ source: UnsafeMutableRawPointer,
    _ failure: Failure
) -> Bool {
    reportingCode(failure) {
        let name = String(cString: name)
        try object(state, as: MLState.self).set(name, to: try Slot(source).copiedTensor(name))
        return true
    } ?? false
}
