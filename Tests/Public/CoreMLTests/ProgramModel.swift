import CoreML
import MLFiles
import MLSpecification

/// A model of one ML program, written as MIL text.
///
/// The description says of each feature `name: type [shape]`; a question mark is an extent from 1 on.
func programModel(
    _ text: String,
    inputs: [(String, SpecArrayFeatureType.ArrayDataType, [Int])] = [],
    outputs: [(String, SpecArrayFeatureType.ArrayDataType, [Int])] = [],
    states: [(String, SpecArrayFeatureType.ArrayDataType, [Int])] = [],
    configuration: MLModelConfiguration = MLModelConfiguration(),
    edit: (inout SpecModel) -> Void = { _ in }
) throws -> MLModel {
    var specification = SpecModel()
    specification.specificationVersion = 9
    specification.mlProgram = try MILParser.program(Array("program(1.3) { \(text) }".utf8))
    specification.description_p.input = inputs.map { feature($0) }
    specification.description_p.output = outputs.map { feature($0) }
    specification.description_p.state = states.map { state($0) }
    edit(&specification)
    return try MLModel(ModelFile(specification: specification), configuration: configuration)
}

func feature(_ about: (String, SpecArrayFeatureType.ArrayDataType, [Int])) -> SpecFeatureDescription {
    var feature = SpecFeatureDescription()
    feature.name = about.0
    feature.type.multiArrayType.dataType = about.1
    feature.type.multiArrayType.shape = about.2.map { Int64(max($0, 1)) }
    if about.2.contains(-1) {
        feature.type.multiArrayType.shapeRange.sizeRanges = about.2.map { extent in
            var range = SpecSizeRange()
            range.lowerBound = UInt64(max(extent, 0))
            range.upperBound = Int64(extent)
            return range
        }
    }
    return feature
}

private func state(_ about: (String, SpecArrayFeatureType.ArrayDataType, [Int])) -> SpecFeatureDescription {
    var feature = SpecFeatureDescription()
    feature.name = about.0
    feature.type.stateType.arrayType.dataType = about.1
    feature.type.stateType.arrayType.shape = about.2.map { Int64($0) }
    return feature
}

extension MLModel {
    /// The first output for arrays by name.
    func answer(_ inputs: [String: MLMultiArray], using state: MLState? = nil) throws -> [Double] {
        let provider = try MLDictionaryFeatureProvider(dictionary: inputs)
        let output =
            if let state { try prediction(from: provider, using: state) } else { try prediction(from: provider) }
        return output.array(modelDescription.outputs[0].name)
    }
}

extension MLFeatureProvider {
    func array(_ name: String) -> [Double] {
        guard let array = featureValue(for: name)?.multiArrayValue else { return [] }
        return (0..<array.count).map { array[$0].doubleValue }
    }
}
