import Foundation
import MLFiles
import MLSpecification

/// Models that the tests of `coreml predict` ask, written to a folder.
enum PredictModels {
    /// An interface feature.
    static func feature(
        _ name: String,
        isOptional: Bool = false,
        _ type: (inout SpecFeatureType) -> Void
    ) -> SpecFeatureDescription {
        var result = SpecFeatureDescription()
        result.name = name
        type(&result.type)
        result.type.isOptional = isOptional
        return result
    }

    static func number(_ name: String) -> SpecFeatureDescription {
        feature(name) { $0.doubleType = SpecDoubleFeatureType() }
    }

    static func integer(_ name: String) -> SpecFeatureDescription {
        feature(name) { $0.int64Type = SpecInt64FeatureType() }
    }

    static func text(_ name: String) -> SpecFeatureDescription {
        feature(name) { $0.stringType = SpecStringFeatureType() }
    }

    static func array(_ name: String, _ shape: [Int64]) -> SpecFeatureDescription {
        feature(name) {
            $0.multiArrayType.shape = shape
            $0.multiArrayType.dataType = .double
        }
    }

    /// Of 4 × 3 pixels.
    static func picture(_ name: String) -> SpecFeatureDescription {
        feature(name) {
            $0.imageType.width = 4
            $0.imageType.height = 3
            $0.imageType.colorSpace = .rgb
        }
    }

    static func shares(_ name: String) -> SpecFeatureDescription {
        feature(name) { $0.dictionaryType.stringKeyType = SpecStringFeatureType() }
    }

    static func words(_ name: String, isOptional: Bool = false) -> SpecFeatureDescription {
        feature(name, isOptional: isOptional) { $0.sequenceType.stringType = SpecStringFeatureType() }
    }

    static func numbers(_ name: String, isOptional: Bool = false) -> SpecFeatureDescription {
        feature(name, isOptional: isOptional) { $0.sequenceType.int64Type = SpecInt64FeatureType() }
    }

    /// Gives its inputs back.
    static func identity(_ features: SpecFeatureDescription...) -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 4
        model.identity = SpecIdentity()
        model.description_p.input = features
        model.description_p.output = features
        return model
    }

    /// y = x₀ + 2 x₁, of an array of two elements.
    static func line() -> SpecModel {
        var weights = SpecGLMRegressor.DoubleArray()
        weights.value = [1, 2]
        var model = SpecModel()
        model.specificationVersion = 1
        model.glmRegressor.weights = [weights]
        model.glmRegressor.offset = [0]
        model.description_p.input = [array("x", [2])]
        model.description_p.output = [number("y")]
        model.description_p.predictedFeatureName = "y"
        return model
    }

    /// Items a, b, c and d, or 10 to 13, which speak for the next ones: 0.5 for the next, 0.25 for the one after it.
    static func recommender(ofNumbers areNumbers: Bool = false) -> SpecModel {
        var parameters = SpecItemSimilarityRecommender()
        for item in 0..<4 {
            var similarities = SpecItemSimilarityRecommender.SimilarItems()
            similarities.itemID = UInt64(item)
            for (step, score) in [(1, 0.5), (2, 0.25)] {
                var other = SpecItemSimilarityRecommender.ConnectedItem()
                other.itemID = UInt64((item + step) % 4)
                other.similarityScore = score
                similarities.similarItemList.append(other)
            }
            parameters.itemItemSimilarities.append(similarities)
        }
        if areNumbers {
            parameters.itemInt64Ids.vector = [10, 11, 12, 13]
        } else {
            parameters.itemStringIds.vector = ["a", "b", "c", "d"]
        }
        parameters.itemInputFeatureName = "interactions"
        parameters.numRecommendationsInputFeatureName = "k"
        parameters.itemExclusionInputFeatureName = "exclude"
        parameters.recommendedItemListOutputFeatureName = "recommendations"
        parameters.recommendedItemScoreOutputFeatureName = "scores"
        var model = SpecModel()
        model.specificationVersion = 3
        model.itemSimilarityRecommender = parameters
        let list = areNumbers ? numbers : words
        let dictionary: (String) -> SpecFeatureDescription = { name in
            areNumbers ? feature(name) { $0.dictionaryType.int64KeyType = SpecInt64FeatureType() } : shares(name)
        }
        model.description_p.input = [dictionary("interactions"), integer("k"), list("exclude", true)]
        model.description_p.output = [list("recommendations", false), dictionary("scores")]
        return model
    }

    /// Tells poses of a hand by where the wrist is: x above or below one half.
    static func handPoses() -> SpecModel {
        var parameters = SpecGLMClassifier()
        var weights = SpecGLMClassifier.DoubleArray()
        weights.value = [8] + [Double](repeating: 0, count: 62)
        parameters.weights = [weights]
        parameters.offset = [-4]
        parameters.postEvaluationTransform = .logit
        parameters.stringClassLabels.vector = ["left", "right"]
        var model = SpecModel()
        model.specificationVersion = 4
        model.glmClassifier = parameters
        model.description_p.input = [array("poses", [1, 3, 21])]
        model.description_p.output = [text("label"), shares("labelProbabilities")]
        model.description_p.predictedFeatureName = "label"
        model.description_p.predictedProbabilitiesName = "labelProbabilities"
        return model
    }
}

extension CommandFolder {
    /// Writes a model and gives its path.
    func write(_ model: SpecModel, _ name: String) throws -> String {
        try write(Data(SpecificationReader.encode(model)), name)
    }

    /// A PNG file of 4 × 3 pixels.
    func writePicture(_ name: String) throws -> String {
        // Red, 8 bits, RGB; made with zlib.
        let base64 =
            "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmRAAAAEElEQVR4nGP4z8AARww4OQD1MQv1NXv7ggAAAABJRU5ErkJggg=="
        guard let data = Data(base64Encoded: base64) else { throw CocoaError(.fileReadCorruptFile) }
        return try write(data, name)
    }
}
