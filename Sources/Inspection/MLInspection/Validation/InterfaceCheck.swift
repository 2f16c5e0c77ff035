import MLFeatureFiles
import MLFiles
import MLNumerics
import MLSpecification

/// Checks a model's inputs, outputs and states.
enum InterfaceCheck {
    static func check(_ model: SpecModel, _ list: inout FindingList) {
        let description = model.description_p
        let hasFunctions = !description.functions.isEmpty
        list.inside("description") { list in
            check(description.input, "input", &list)
            check(description.output, "output", &list)
            check(description.trainingInput, "trainingInput", &list)
            checkStates(description.state, &list)
            if !hasFunctions, description.output.isEmpty { list.error("the model has no output", at: "output") }
            checkPrediction(
                description.predictedFeatureName,
                description.predictedProbabilitiesName,
                description.output,
                isClassifier: model.isClassifier,
                &list
            )
            var names: Set<String> = []
            for (index, function) in description.functions.enumerated() {
                let name = function.name.isEmpty ? "functions[\(index)]" : "function '\(function.name)'"
                list.inside(name) { list in
                    if function.name.isEmpty { list.error("the function has no name") }
                    if !names.insert(function.name).inserted { list.error("two functions have this name") }
                    check(function.input, "input", &list)
                    check(function.output, "output", &list)
                    checkStates(function.state, &list)
                    if function.output.isEmpty { list.error("the function has no output", at: "output") }
                    checkPrediction(
                        function.predictedFeatureName,
                        function.predictedProbabilitiesName,
                        function.output,
                        isClassifier: false,
                        &list
                    )
                }
            }
            let first = description.defaultFunctionName
            if !first.isEmpty, hasFunctions, !names.contains(first) {
                list.error("no function is called '\(first)'", at: "defaultFunctionName")
            }
        }
    }

    private static func check(_ features: [SpecFeatureDescription], _ kind: String, _ list: inout FindingList) {
        var names: Set<String> = []
        for (index, feature) in features.enumerated() {
            list.inside(feature.name.isEmpty ? "\(kind)[\(index)]" : "\(kind) '\(feature.name)'") { list in
                if feature.name.isEmpty { list.error("the feature has no name") }
                if !names.insert(feature.name).inserted { list.error("two features have this name") }
                check(feature.type, isInput: kind != "output", &list)
            }
        }
    }

    private static func checkStates(_ features: [SpecFeatureDescription], _ list: inout FindingList) {
        var names: Set<String> = []
        for (index, feature) in features.enumerated() {
            list.inside(feature.name.isEmpty ? "state[\(index)]" : "state '\(feature.name)'") { list in
                if feature.name.isEmpty { list.error("the state has no name") }
                if !names.insert(feature.name).inserted { list.error("two states have this name") }
                guard case .stateType(let state)? = feature.type.type else {
                    list.error("its type is not that of a state")
                    return
                }
                if state.arrayType.shape.isEmpty { list.error("the state has no shape") }
                check(state.arrayType, &list)
                if state.arrayType.dataType != .float16 {
                    list.warning(
                        "Apple's systems keep states as float16 only; this one is \(state.arrayType.dataTypeText)"
                    )
                }
            }
        }
    }

    private static func checkPrediction(
        _ label: String,
        _ probabilities: String,
        _ outputs: [SpecFeatureDescription],
        isClassifier: Bool,
        _ list: inout FindingList
    ) {
        if isClassifier, label.isEmpty {
            list.error("a classifier names the output of its label", at: "predictedFeatureName")
        }
        for (field, name) in [("predictedFeatureName", label), ("predictedProbabilitiesName", probabilities)]
        where !name.isEmpty && !outputs.contains(where: { $0.name == name }) {
            list.error("no output is called '\(name)'", at: field)
        }
        if isClassifier, let feature = outputs.first(where: { $0.name == label }), !label.isEmpty {
            switch feature.type.type {
            case .stringType?, .int64Type?: break
            default: list.error("the label '\(label)' is \(feature.typeText); labels are strings or integers")
            }
        }
    }

    // MARK: Types

    private static func check(_ type: SpecFeatureType, isInput: Bool, _ list: inout FindingList) {
        switch type.type {
        case nil: list.error("the feature has no type")
        case .multiArrayType(let array)?: check(array, &list)
        case .imageType(let image)?: check(image, &list)
        case .dictionaryType(let dictionary)?:
            if dictionary.keyType == nil { list.error("the dictionary does not state the type of its keys") }
        case .sequenceType(let sequence)?:
            if sequence.type == nil { list.error("the sequence does not state the type of its elements") }
        case .stateType?:
            list.error("a state is listed among the \(isInput ? "inputs" : "outputs"); list it under 'state'")
        case .int64Type?, .doubleType?, .stringType?: break
        }
    }

    private static func check(_ array: SpecArrayFeatureType, _ list: inout FindingList) {
        switch array.dataType {
        case .float16, .float32, .double, .int32, .int8: break
        case .invalidArrayDataType: list.error("the array does not state the type of its elements", at: "dataType")
        case .UNRECOGNIZED(let number): list.error("\(number) is not a type of elements that is known", at: "dataType")
        }
        checkExtents(array.shape, "shape", &list)
        switch array.shapeFlexibility {
        case nil: break
        case .enumeratedShapes(let shapes)?:
            if shapes.shapes.isEmpty { list.error("the list of shapes is empty", at: "enumeratedShapes") }
            for (index, shape) in shapes.shapes.enumerated() {
                checkExtents(shape.shape, "enumeratedShapes[\(index)]", &list)
            }
            if !array.shape.isEmpty, !shapes.shapes.contains(where: { $0.shape == array.shape }), !shapes.shapes.isEmpty
            {
                list.warning("the shape \(array.shape) is not among those that are listed", at: "enumeratedShapes")
            }
        case .shapeRange(let range)?:
            for (index, size) in range.sizeRanges.enumerated() { check(size, "shapeRange[\(index)]", &list) }
            guard !array.shape.isEmpty else { break }
            if array.shape.count != range.sizeRanges.count {
                list.error(
                    "the shape has \(array.shape.count) extents, the range \(range.sizeRanges.count)",
                    at: "shapeRange"
                )
            } else {
                for (index, (extent, size)) in zip(array.shape, range.sizeRanges).enumerated()
                where !size.contains(extent) {
                    list.warning("extent \(extent) of the shape lies outside the range", at: "shapeRange[\(index)]")
                }
            }
        }
    }

    private static func checkExtents(_ extents: [Int64], _ field: String, _ list: inout FindingList) {
        if let bad = extents.first(where: { $0 <= 0 }) {
            list.error("\(extents) is not a shape: extent \(bad) is not positive", at: field)
        } else if (try? extents.map { Int(clamping: $0) }.checkedElementCount()) == nil {
            list.error("\(extents) is larger than any array can be", at: field)
        }
    }

    private static func check(_ image: SpecImageFeatureType, _ list: inout FindingList) {
        if image.width <= 0 || image.height <= 0 {
            list.error("an image of \(image.width) × \(image.height) is not valid")
        }
        switch image.colorSpace {
        case .rgb, .bgr, .grayscale, .grayscaleFloat16: break
        case .invalidColorSpace: list.error("the image does not state its color layout", at: "colorSpace")
        case .UNRECOGNIZED(let number): list.error("\(number) is not a color space that is known", at: "colorSpace")
        }
        switch image.sizeFlexibility {
        case nil: break
        case .enumeratedSizes(let sizes)?:
            if sizes.sizes.isEmpty { list.error("the list of sizes is empty", at: "enumeratedSizes") }
            if !sizes.sizes.isEmpty,
                !sizes.sizes.contains(where: {
                    Int64(clamping: $0.width) == image.width && Int64(clamping: $0.height) == image.height
                })
            {
                list.warning(
                    "\(image.width) × \(image.height) is not among the sizes that are listed",
                    at: "enumeratedSizes"
                )
            }
        case .imageSizeRange(let range)?:
            check(range.widthRange, "widthRange", &list)
            check(range.heightRange, "heightRange", &list)
            if !range.widthRange.contains(image.width) || !range.heightRange.contains(image.height) {
                list.warning("\(image.width) × \(image.height) lies outside the range of sizes", at: "imageSizeRange")
            }
        }
    }

    private static func check(_ range: SpecSizeRange, _ field: String, _ list: inout FindingList) {
        guard range.upperBound >= 0, Int64(clamping: range.lowerBound) > range.upperBound else { return }
        list.error("the range from \(range.lowerBound) to \(range.upperBound) is empty", at: field)
    }
}

extension SpecSizeRange {
    fileprivate func contains(_ extent: Int64) -> Bool {
        Int64(clamping: lowerBound) <= extent && (upperBound < 0 || extent <= upperBound)
    }
}

extension SpecModel {
    /// Whether the model is of a kind that predicts a label.
    var isClassifier: Bool {
        switch type {
        case .neuralNetworkClassifier?, .glmClassifier?, .supportVectorClassifier?, .treeEnsembleClassifier?,
            .pipelineClassifier?, .kNearestNeighborsClassifier?:
            true
        default: false
        }
    }
}
