import MLFeatures
import MLNumerics
import MLSpecification

extension SpecModelDescription {
    /// The only input.
    func soleInput() throws(ModelError) -> SpecFeatureDescription {
        guard input.count == 1 else {
            throw ModelError(
                .invalidModel,
                "the model has one input by its kind, but its interface lists \(input.count)"
            )
        }
        return input[0]
    }

    /// The only output.
    func soleOutput() throws(ModelError) -> SpecFeatureDescription {
        guard output.count == 1 else {
            throw ModelError(
                .invalidModel,
                "the model has one output by its kind, but its interface lists \(output.count)"
            )
        }
        return output[0]
    }

    func outputFeature(named name: String, for role: String) throws(ModelError) -> SpecFeatureDescription {
        guard let feature = output.first(where: { $0.name == name }) else {
            throw ModelError(.invalidModel, "the \(role) '\(name)' is not an output of the model's interface")
        }
        return feature
    }

    func inputFeature(named name: String, for role: String) throws(ModelError) -> SpecFeatureDescription {
        guard let feature = input.first(where: { $0.name == name }) else {
            throw ModelError(.invalidModel, "the \(role) '\(name)' is not an input of the model's interface")
        }
        return feature
    }
}

extension SpecFeatureDescription {
    /// The kind of the feature, for messages.
    var kind: String {
        switch type.type {
        case .int64Type?: "an integer"
        case .doubleType?: "a number"
        case .stringType?: "a string"
        case .imageType?: "an image"
        case .multiArrayType?: "a multi-array"
        case .dictionaryType?: "a dictionary"
        case .sequenceType?: "a sequence"
        case .stateType?: "a state"
        case nil: "nothing"
        }
    }

    /// The error for a feature whose type its model kind does not support.
    func mismatch(_ wanted: String) -> ModelError {
        ModelError(.invalidModel, "the feature '\(name)' is \(kind), but the kind of the model wants \(wanted)")
    }
}

extension SpecArrayFeatureType {
    /// The type of the elements; double when it is not stated.
    var scalarType: ScalarType {
        switch dataType {
        case .float32: .float32
        case .int32: .int32
        case .float16: .float16
        case .int8: .int8
        default: .float64
        }
    }

    /// The number of elements, when the shape is fixed and stated.
    var fixedCount: Int? {
        guard !shape.isEmpty, shapeFlexibility == nil else { return nil }
        var count = 1
        for extent in shape {
            let (product, overflow) = count.multipliedReportingOverflow(by: Int(clamping: extent))
            guard extent > 0, !overflow else { return nil }
            count = product
        }
        return count
    }
}

extension FeatureBatch {
    /// The values of an input.
    func column(_ name: String) throws(ModelError) -> FeatureColumn {
        guard let column = columns[name] else {
            throw ModelError(.invalidInput, "the input '\(name)' is missing")
        }
        return column
    }
}
