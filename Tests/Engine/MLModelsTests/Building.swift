import MLFeatures
import MLModels
import MLNumerics
import MLSpecification

/// The type of a feature, for tests that write interfaces down.
enum Kind {
    case number, integer, string, sequence
    case array([Int], SpecArrayFeatureType.ArrayDataType = .double)
    case dictionary(isInteger: Bool = false)
}

func feature(_ name: String, _ kind: Kind, isOptional: Bool = false) -> SpecFeatureDescription {
    var feature = SpecFeatureDescription()
    feature.name = name
    switch kind {
    case .number: feature.type.doubleType = SpecDoubleFeatureType()
    case .integer: feature.type.int64Type = SpecInt64FeatureType()
    case .string: feature.type.stringType = SpecStringFeatureType()
    case .sequence: feature.type.sequenceType.stringType = SpecStringFeatureType()
    case .array(let shape, let type):
        feature.type.multiArrayType.shape = shape.map { Int64($0) }
        feature.type.multiArrayType.dataType = type
    case .dictionary(let isInteger):
        if isInteger {
            feature.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
        } else {
            feature.type.dictionaryType.stringKeyType = SpecStringFeatureType()
        }
    }
    feature.type.isOptional = isOptional
    return feature
}

/// A model with an interface.
func model(
    _ inputs: [(String, Kind)],
    _ outputs: [(String, Kind)],
    predicts: String = "",
    probabilities: String = "",
    _ type: SpecModel.OneOf_Type
) -> SpecModel {
    var model = SpecModel()
    model.specificationVersion = 8
    model.description_p.input = inputs.map { feature($0.0, $0.1) }
    model.description_p.output = outputs.map { feature($0.0, $0.1) }
    model.description_p.predictedFeatureName = predicts
    model.description_p.predictedProbabilitiesName = probabilities
    model.type = type
    return model
}

/// The engine of a model of this module.
func engine(_ model: SpecModel) throws(ModelError) -> any ModelEngine {
    guard let engine = try ClassicModels.engine(for: model) else {
        throw ModelError(.unsupported, "not of this module")
    }
    return engine
}

func array(_ values: [Double], _ shape: [Int]? = nil) -> FeatureData {
    .tensor(Tensor(values: values, scalarType: .float64, shape: shape ?? [values.count]))
}

extension FeatureData {
    var numbers: [Double] {
        switch self {
        case .double(let value): [value]
        case .int64(let value): [Double(value)]
        case .tensor(let tensor): tensor.values
        default: []
        }
    }

    var text: String { if case .string(let text) = self { text } else { "" } }

    var votes: [String: Double] {
        switch self {
        case .dictionary(.strings(let values)): values
        case .dictionary(.integers(let values)):
            Dictionary(uniqueKeysWithValues: values.map { ("\($0.key)", $0.value) })
        default: [:]
        }
    }
}

/// The message of the error that `body` throws; empty when it throws none.
func message<R>(_ body: () throws(ModelError) -> R) -> String {
    do {
        _ = try body()
        return ""
    } catch { return error.description }
}

func isNear(_ a: [Double], _ b: [Double], _ tolerance: Double = 1e-12) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy { ($0 - $1).magnitude <= tolerance * max(1, $1.magnitude) || $0 == $1 }
}

/// Numbers that repeat: SplitMix64.
struct Noise {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From −1 to 1.
    mutating func number() -> Double { Double(next() >> 11) / 0x1p52 - 1 }
    mutating func index(_ count: Int) -> Int { Int(next() % UInt64(count)) }
    mutating func numbers(_ count: Int) -> [Double] { (0..<count).map { _ in number() } }
}
