package import MLFeatures
package import MLNumerics
package import MLSpecification

/// The models that are neither graphs nor composed of other models, by their kind in the specification.
package enum ClassicModels {
    /// The engine of a model; `nil` when its kind is not handled by this module.
    package static func engine(for model: SpecModel) throws(ModelError) -> (any ModelEngine)? {
        let interface = model.description_p
        return switch model.type {
        case .glmRegressor(let parameters)?: try GLMRegressor(parameters, interface)
        case .glmClassifier(let parameters)?: try GLMClassifier(parameters, interface)
        case .treeEnsembleRegressor(let parameters)?: try TreeEnsembleRegressor(parameters, interface)
        case .treeEnsembleClassifier(let parameters)?: try TreeEnsembleClassifier(parameters, interface)
        case .supportVectorRegressor(let parameters)?: try SupportVectorRegressor(parameters, interface)
        case .supportVectorClassifier(let parameters)?: try SupportVectorClassifier(parameters, interface)
        case .kNearestNeighborsClassifier(let parameters)?: try NearestNeighborsClassifier(parameters, interface)
        case .oneHotEncoder(let parameters)?: try OneHotEncoder(parameters, interface)
        case .imputer(let parameters)?: try Imputer(parameters, interface)
        case .featureVectorizer(let parameters)?: try FeatureVectorizer(parameters, interface)
        case .dictVectorizer(let parameters)?: try DictVectorizer(parameters, interface)
        case .scaler(let parameters)?: try Scaler(parameters, interface)
        case .categoricalMapping(let parameters)?: try CategoricalMapping(parameters, interface)
        case .normalizer(let parameters)?: try Normalizer(parameters, interface)
        case .arrayFeatureExtractor(let parameters)?: try ArrayFeatureExtractor(parameters, interface)
        case .identity?: try Identity(interface)
        case .bayesianProbitRegressor(let parameters)?: try BayesianProbitRegressor(parameters, interface)
        case .itemSimilarityRecommender(let parameters)?: try ItemSimilarityRecommender(parameters, interface)
        case .nonMaximumSuppression(let parameters)?: try NonMaximumSuppression(parameters, interface)
        case .classConfidenceThresholding(let parameters)?: try ClassConfidenceThresholding(parameters, interface)
        case .gazetteer(let parameters)?: try Gazetteer(parameters, interface)
        case .wordEmbedding(let parameters)?: try WordEmbedding(parameters, interface)
        case .textClassifier(let parameters)?: try TextClassifier(parameters, interface)
        case .wordTagger(let parameters)?: try WordTagger(parameters, interface)
        case .soundAnalysisPreprocessing(let parameters)?: try VGGishPreprocessing(parameters, interface)
        default: nil
        }
    }

    /// The name of a kind: that of the specification's field.
    package static func kind(of type: SpecModel.OneOf_Type) -> String {
        Mirror(reflecting: type).children.first?.label ?? "unknown"
    }
}
