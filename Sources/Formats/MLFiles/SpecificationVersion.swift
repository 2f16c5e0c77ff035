package import MLNumerics
package import MLSpecification

/// The version of the specification: the systems that introduced it, and the one that a model needs.
package enum SpecificationVersion {
    /// The first release of each system that opens a version.
    package struct Systems: Hashable, Sendable {
        package let iOS: String
        package let macOS: String
        package let tvOS: String
        package let watchOS: String
        /// The first release of visionOS; `nil` for older versions, which its first release opens.
        package let visionOS: String?
    }

    /// The first systems that open specification `version`; `nil` for an unknown version.
    package static func systems(_ version: Int32) -> Systems? {
        switch version {
        case 1: Systems(iOS: "11.0", macOS: "10.13", tvOS: "11.0", watchOS: "4.0", visionOS: nil)
        case 2: Systems(iOS: "11.2", macOS: "10.13.2", tvOS: "11.2", watchOS: "4.2", visionOS: nil)
        case 3: Systems(iOS: "12.0", macOS: "10.14", tvOS: "12.0", watchOS: "5.0", visionOS: nil)
        case 4: Systems(iOS: "13.0", macOS: "10.15", tvOS: "13.0", watchOS: "6.0", visionOS: nil)
        case 5: Systems(iOS: "14.0", macOS: "11.0", tvOS: "14.0", watchOS: "7.0", visionOS: nil)
        case 6: Systems(iOS: "15.0", macOS: "12.0", tvOS: "15.0", watchOS: "8.0", visionOS: nil)
        case 7: Systems(iOS: "16.0", macOS: "13.0", tvOS: "16.0", watchOS: "9.0", visionOS: nil)
        case 8: Systems(iOS: "17.0", macOS: "14.0", tvOS: "17.0", watchOS: "10.0", visionOS: "1.0")
        case 9: Systems(iOS: "18.0", macOS: "15.0", tvOS: "18.0", watchOS: "11.0", visionOS: "2.0")
        case 10: Systems(iOS: "26.0", macOS: "26.0", tvOS: "26.0", watchOS: "26.0", visionOS: "26.0")
        default: nil
        }
    }

    /// The lowest version that supports everything the model uses.
    package static func minimum(_ model: SpecModel) -> Int32 {
        var version = interface(model)
        if model.isUpdatable { version = max(version, 4) }
        return max(version, kind(model))
    }

    /// The model with the lowest version that it needs, in itself and in the stages of its pipelines.
    package static func lowered(_ model: SpecModel) -> SpecModel {
        var model = model
        model.specificationVersion = minimum(model)
        switch model.type {
        case .pipeline(var pipeline)?:
            pipeline.models = pipeline.models.map(lowered)
            model.pipeline = pipeline
        case .pipelineClassifier(var classifier)?:
            classifier.pipeline.models = classifier.pipeline.models.map(lowered)
            model.pipelineClassifier = classifier
        case .pipelineRegressor(var regressor)?:
            regressor.pipeline.models = regressor.pipeline.models.map(lowered)
            model.pipelineRegressor = regressor
        default: break
        }
        return model
    }

    /// The encoded model with the lowest version that it needs.
    package static func lowered(_ bytes: [UInt8]) throws(ModelError) -> [UInt8] {
        try SpecificationReader.encode(lowered(SpecificationReader.decode(bytes)))
    }

    private static func interface(_ model: SpecModel) -> Int32 {
        let description = model.description_p
        var version: Int32 = 1
        for (feature, isInput) in description.input.map({ ($0, true) }) + description.output.map({ ($0, false) }) {
            switch feature.type.type {
            case .multiArrayType(let array)?:
                if array.dataType == .float16 { version = max(version, 7) }
                if array.dataType == .int8 { version = max(version, 10) }
                if isInput, array.shapeFlexibility != nil { version = max(version, 3) }
                if isInput, feature.type.isOptional, array.defaultOptionalValue != nil { version = max(version, 5) }
            case .imageType(let image)?:
                if image.colorSpace == .grayscaleFloat16 { version = max(version, 7) }
                if isInput, image.sizeFlexibility != nil { version = max(version, 3) }
            case .sequenceType(let sequence)?:
                if sequence.type != nil { version = max(version, 3) }
            case .stateType?: version = max(version, 9)
            default: break
            }
        }
        if !description.state.isEmpty || !description.functions.isEmpty { version = max(version, 9) }
        return version
    }

    private static func kind(_ model: SpecModel) -> Int32 {
        switch model.type {
        case .pipeline(let pipeline)?: return stages(pipeline)
        case .pipelineClassifier(let classifier)?: return stages(classifier.pipeline)
        case .pipelineRegressor(let regressor)?: return stages(regressor.pipeline)
        case .customModel?, .nonMaximumSuppression?, .bayesianProbitRegressor?:
            guard case .nonMaximumSuppression? = model.type else { return 3 }
            return hasFloat32Array(model) ? 5 : 3
        case .kNearestNeighborsClassifier?, .linkedModel?, .itemSimilarityRecommender?, .soundAnalysisPreprocessing?,
            .gazetteer?, .wordEmbedding?:
            return 4
        case .serializedModel?: return 5
        case .audioFeaturePrint?: return 6
        case .classConfidenceThresholding?: return 8
        case .textClassifier(let classifier)?: return language(classifier.revision, secondRevision: 4)
        case .wordTagger(let tagger)?: return language(tagger.revision, secondRevision: 3)
        case .visionFeaturePrint(let print)?:
            switch print.visionFeaturePrintType {
            case .scene(let scene)?: return scene.version.rawValue >= 2 ? 8 : 3
            case .objects?: return 5
            case nil: return 3
            }
        case .mlProgram(let program)?: return opset(program, model)
        case .neuralNetwork(let network)?:
            return NetworkVersion.minimum(
                network.layers,
                array: network.arrayInputShapeMapping,
                image: network.imageInputShapeMapping
            )
        case .neuralNetworkClassifier(let network)?:
            return NetworkVersion.minimum(
                network.layers,
                array: network.arrayInputShapeMapping,
                image: network.imageInputShapeMapping
            )
        case .neuralNetworkRegressor(let network)?:
            return NetworkVersion.minimum(
                network.layers,
                array: network.arrayInputShapeMapping,
                image: network.imageInputShapeMapping
            )
        default: return 1
        }
    }

    private static func stages(_ pipeline: SpecPipeline) -> Int32 { pipeline.models.map(minimum).max() ?? 1 }

    /// The version that a revision of a natural language model needs.
    ///
    /// Revision 2 was introduced with iOS 13, 3 with iOS 14, 4 with iOS 17, 5 with iOS 18.
    private static func language(_ revision: UInt32, secondRevision: Int32) -> Int32 {
        switch revision {
        case 0, 1: 3
        case 2: secondRevision
        case 3: 5
        case 4: 8
        default: 9
        }
    }

    private static func opset(_ program: MILProgram, _ model: SpecModel) -> Int32 {
        var version: Int32 = 6
        for function in program.functions.values {
            version = max(version, min(MILOpset(function.opset)?.specificationVersion ?? 6, 10))
        }
        if program.functions.count > 1 { version = max(version, 9) }
        if program.functions["main"]?.inputs.isEmpty == true { version = max(version, 9) }
        return version
    }

    private static func hasFloat32Array(_ model: SpecModel) -> Bool {
        (model.description_p.input + model.description_p.output).contains { feature in
            guard case .multiArrayType(let array)? = feature.type.type else { return false }
            return array.dataType == .float32
        }
    }
}
