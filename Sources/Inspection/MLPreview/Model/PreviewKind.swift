package import MLSpecification

/// The task of a model for which the page has a specific view.
package enum PreviewKind: String, Sendable, CaseIterable {
    case imageClassifier, objectDetector, imageSegmenter, depthEstimator, poseEstimator, pictureMaker
    case pictureFeatures, soundClassifier, textClassifier, wordTagger, questionAnswering, textGenerator
    case activityClassifier, keypointClassifier, recommender, tabularClassifier, tabularRegressor, other

    /// The heading of the view.
    package var title: String {
        switch self {
        case .imageClassifier: "Image classifier"
        case .objectDetector: "Object detector"
        case .imageSegmenter: "Image segmentation"
        case .depthEstimator: "Depth estimation"
        case .poseEstimator: "Pose estimation"
        case .pictureMaker: "Image to image"
        case .pictureFeatures: "Image features"
        case .soundClassifier: "Sound classifier"
        case .textClassifier: "Text classifier"
        case .wordTagger: "Word tagger"
        case .questionAnswering: "Question answering"
        case .textGenerator: "Text generation"
        case .activityClassifier: "Activity classifier"
        case .keypointClassifier: "Pose classifier"
        case .recommender: "Recommender"
        case .tabularClassifier: "Classifier"
        case .tabularRegressor: "Regressor"
        case .other: "Model"
        }
    }

    /// Parses the values of the metadata key `com.apple.coreml.model.preview.type` (coremltools' guide "Xcode Model
    /// Preview Types"), and the kinds' own names.
    init?(stated: String) {
        switch stated {
        case "depthEstimation": self = .depthEstimator
        case "poseEstimation": self = .poseEstimator
        case "bertQA": self = .questionAnswering
        case "styleTransfer": self = .pictureMaker
        default: self.init(rawValue: stated)
        }
    }
}

/// The view for a model, and the roles of its features in it.
package struct PreviewPlan: Sendable, Equatable {
    /// The kinds of time series models, which their features alone do not distinguish.
    package enum Series: Sendable { case sounds, activities, keypoints }

    /// The role of a feature.
    package enum Role: String, Sendable {
        /// Roles of inputs.
        case picture, sound, text, question, context, tokens, tokenKinds, tokenMask, overlap, confidenceThreshold,
            items, count
        /// Roles of outputs.
        case label, probabilities, boxes, confidences, mask, depth, keypoints, offsets, forwardOffsets, backwardOffsets
        case words, tags, places, lengths, startScores, endScores, tokenScores, ranking, scores, number
    }

    package var kind: PreviewKind
    /// Whether the file's metadata states the kind.
    package var isStated = false
    /// The features by role.
    package var roles: [Role: String] = [:]

    package static let typeKey = "com.apple.coreml.model.preview.type"
    package static let parametersKey = "com.apple.coreml.model.preview.parameters"

    package init(_ model: SpecModel, series: Series? = nil) {
        let interface = model.description_p
        let stated = interface.metadata.userDefined[Self.typeKey].flatMap(PreviewKind.init(stated:))
        if let stated, let roles = Self.roles(stated, model) {
            self.init(kind: stated, isStated: true, roles: roles)
            return
        }
        if let series {
            self.init(kind: Self.kind(series), roles: Self.classRoles(interface))
            return
        }
        for kind in Self.order {
            if Self.isLikely(kind, model), let roles = Self.roles(kind, model) {
                self.init(kind: kind, roles: roles)
                return
            }
        }
        self.init(kind: .other, roles: Self.classRoles(interface))
    }

    private init(kind: PreviewKind, isStated: Bool = false, roles: [Role: String]) {
        (self.kind, self.isStated, self.roles) = (kind, isStated, roles)
    }

    private static func kind(_ series: Series) -> PreviewKind {
        switch series {
        case .sounds: .soundClassifier
        case .activities: .activityClassifier
        case .keypoints: .keypointClassifier
        }
    }

    /// The order in which kinds are tried: those that require more features come first.
    private static let order: [PreviewKind] = [
        .recommender, .wordTagger, .textClassifier, .objectDetector, .poseEstimator, .imageSegmenter, .depthEstimator,
        .imageClassifier, .pictureMaker, .pictureFeatures, .questionAnswering, .textGenerator, .tabularClassifier,
        .tabularRegressor,
    ]

    /// Whether a model with a kind's features really is of that kind, where features alone do not decide.
    private static func isLikely(_ kind: PreviewKind, _ model: SpecModel) -> Bool {
        let outputs = model.description_p.output
        func isNamed(_ words: String...) -> Bool {
            outputs.contains { output in words.contains { output.name.lowercased().contains($0) } }
        }
        switch kind {
        case .depthEstimator: return isNamed("depth", "disparity")
        case .imageSegmenter:
            return isNamed("seg", "mask", "semantic", "matte", "alpha")
                || model.description_p.metadata.userDefined[parametersKey]?.contains("\"labels\"") ?? false
                || outputs.contains { $0.isPlane && [.int32, .int8].contains($0.type.multiArrayType.dataType) }
        case .poseEstimator: return isNamed("heatmap", "keypoint")
        case .pictureMaker: return true
        case .textGenerator: return isNamed("logit", "score", "prob", "output")
        default: return true
        }
    }

    /// The features that a kind needs; `nil` when the model lacks some.
    private static func roles(_ kind: PreviewKind, _ model: SpecModel) -> [Role: String]? {
        let interface = model.description_p
        let picture = interface.input.first(where: \.isImage)?.name
        switch kind {
        case .imageClassifier:
            let roles = classRoles(interface)
            guard let picture, roles[.label] != nil || roles[.probabilities] != nil else { return nil }
            return roles.merging([.picture: picture]) { $1 }
        case .objectDetector: return detectorRoles(interface, picture)
        case .imageSegmenter:
            guard let picture,
                let mask = interface.output.first(where: { $0.isMap })
                    ?? interface.output.first(where: { $0.isImage && $0.type.imageType.colorSpace == .grayscale })
            else { return nil }
            return [.picture: picture, .mask: mask.name]
        case .depthEstimator:
            guard let picture, let depth = interface.output.first(where: { $0.isPlane || $0.isGrayImage }) else {
                return nil
            }
            return [.picture: picture, .depth: depth.name]
        case .poseEstimator: return poseRoles(interface, picture)
        case .pictureMaker:
            guard let picture, interface.output.contains(where: \.isImage) else { return nil }
            return [.picture: picture]
        case .pictureFeatures: return picture.map { [.picture: $0] }
        case .soundClassifier, .activityClassifier, .keypointClassifier: return nil
        case .textClassifier:
            guard interface.input.count == 1, interface.input[0].isString, !classRoles(interface).isEmpty else {
                return nil
            }
            return classRoles(interface).merging([.text: interface.input[0].name]) { $1 }
        case .wordTagger:
            guard case .wordTagger(let tagger)? = model.type, let input = interface.input.first else { return nil }
            let all: [Role: String] = [
                .text: input.name, .words: tagger.tokensOutputFeatureName, .tags: tagger.tokenTagsOutputFeatureName,
                .places: tagger.tokenLocationsOutputFeatureName, .lengths: tagger.tokenLengthsOutputFeatureName,
            ]
            return all.filter { role in role.key == .text || interface.output.contains { $0.name == role.value } }
        case .questionAnswering: return questionRoles(interface)
        case .textGenerator: return generatorRoles(interface)
        case .recommender: return recommenderRoles(model)
        case .tabularClassifier:
            let roles = classRoles(interface)
            return roles.isEmpty || !interface.input.allSatisfy(\.isPlain) ? nil : roles
        case .tabularRegressor:
            let name = interface.predictedFeatureName
            guard !name.isEmpty, interface.input.allSatisfy(\.isPlain),
                interface.output.contains(where: { $0.name == name && ($0.isNumber || $0.isArray) })
            else { return nil }
            return [.number: name]
        case .other: return [:]
        }
    }

    private static func classRoles(_ interface: SpecModelDescription) -> [Role: String] {
        var roles: [Role: String] = [:]
        for output in interface.output {
            switch output.type.type {
            case .dictionaryType?
            where roles[.probabilities] == nil || output.name == interface.predictedProbabilitiesName:
                roles[.probabilities] = output.name
            case .stringType?, .int64Type?:
                if output.name == interface.predictedFeatureName { roles[.label] = output.name }
            default: break
            }
        }
        return roles[.label] == nil && interface.predictedProbabilitiesName.isEmpty
            && !interface.input.contains(where: \.isImage)
            ? [:] : roles
    }

    /// Vision's object detectors: `confidence` [boxes, classes] and `coordinates` [boxes, 4].
    private static func detectorRoles(_ interface: SpecModelDescription, _ picture: String?) -> [Role: String]? {
        func output(_ word: String) -> String? {
            interface.output.first { $0.isArray && $0.name.lowercased().contains(word) }?.name
        }
        func threshold(_ word: String) -> String? {
            interface.input.first { ($0.isNumber || $0.isArray) && $0.name.lowercased().contains(word) }?.name
        }
        guard let picture, let boxes = output("coordinates") ?? output("boxes"),
            let confidences = output("confidence") ?? output("scores")
        else { return nil }
        var roles: [Role: String] = [.picture: picture, .boxes: boxes, .confidences: confidences]
        roles[.overlap] = threshold("iou")
        roles[.confidenceThreshold] = threshold("confidence")
        return roles
    }

    /// PoseNet: `heatmap` [joints, rows, columns] and `offsets` [2 · joints, rows, columns]; or a list of points.
    private static func poseRoles(_ interface: SpecModelDescription, _ picture: String?) -> [Role: String]? {
        func output(_ words: String...) -> String? {
            interface.output.first { output in
                output.isArray && words.contains { output.name.lowercased().contains($0) }
            }?.name
        }
        guard let picture, let points = output("heatmap", "keypoint", "landmark", "pose") else { return nil }
        var roles: [Role: String] = [.picture: picture, .keypoints: points]
        roles[.forwardOffsets] = output("forward", "fwd")
        roles[.backwardOffsets] = output("backward", "bwd")
        roles[.offsets] =
            interface.output.first { output in
                output.isArray && output.name.lowercased().contains("offset")
                    && output.name != roles[.forwardOffsets] && output.name != roles[.backwardOffsets]
            }?.name
        return roles
    }

    /// Question answering: tokens of a question and a text in; scores of each token as the answer's first and last out.
    private static func questionRoles(_ interface: SpecModelDescription) -> [Role: String]? {
        func output(_ word: String) -> String? {
            interface.output.first { $0.isArray && $0.name.lowercased().contains(word) }?.name
        }
        func input(_ words: String...) -> String? {
            interface.input.first { input in
                input.isArray && words.contains { input.name.lowercased().contains($0) }
            }?.name
        }
        guard let start = output("start"), let end = output("end"), start != end,
            let tokens = input("wordids", "input_ids", "inputids", "tokens")
        else { return nil }
        var roles: [Role: String] = [.tokens: tokens, .startScores: start, .endScores: end]
        roles[.tokenKinds] = input("wordtypes", "token_type", "segment")
        roles[.tokenMask] = input("mask")
        return roles
    }

    /// Text generation: token ids in; a score of each token of the vocabulary out.
    private static func generatorRoles(_ interface: SpecModelDescription) -> [Role: String]? {
        let isCached = !interface.state.isEmpty
        let tokens = interface.input.filter { input in
            ["input_ids", "inputids", "tokens", "token", "ids"].contains(input.name.lowercased()) && input.isArray
                && input.type.multiArrayType.dataType == .int32
        }
        guard !isCached, interface.input.count == 1, let input = tokens.first,
            let scores = interface.output.first(where: { output in
                output.isArray
                    && ["logit", "score", "prob", "output"].contains { output.name.lowercased().contains($0) }
            })
        else { return nil }
        return [.tokens: input.name, .tokenScores: scores.name]
    }

    private static func recommenderRoles(_ model: SpecModel) -> [Role: String]? {
        guard case .itemSimilarityRecommender(let recommender)? = model.type else { return nil }
        let all: [Role: String] = [
            .items: recommender.itemInputFeatureName, .count: recommender.numRecommendationsInputFeatureName,
            .ranking: recommender.recommendedItemListOutputFeatureName,
            .scores: recommender.recommendedItemScoreOutputFeatureName,
        ]
        return all.filter { !$0.value.isEmpty }
    }
}

extension SpecFeatureDescription {
    var isImage: Bool { if case .imageType? = type.type { true } else { false } }
    var isGrayImage: Bool {
        isImage && [.grayscale, .grayscaleFloat16].contains(type.imageType.colorSpace)
    }
    var isString: Bool { if case .stringType? = type.type { true } else { false } }
    var isArray: Bool { if case .multiArrayType? = type.type { true } else { false } }
    var isNumber: Bool {
        switch type.type {
        case .doubleType?, .int64Type?: true
        default: false
        }
    }

    /// Whether a form can have a field for it: numbers, texts, small arrays, dictionaries.
    var isPlain: Bool {
        switch type.type {
        case .doubleType?, .int64Type?, .stringType?, .dictionaryType?: true
        case .multiArrayType(let array)?:
            array.shape.count <= 1 || array.shape.filter { $0 != 1 }.count <= 1
        default: false
        }
    }

    /// The extents that are not 1.
    private var extents: [Int64] { type.multiArrayType.shape.filter { $0 != 1 } }

    /// Whether it is a two-dimensional array with one number per element.
    var isPlane: Bool { isArray && extents.count == 2 && extents.allSatisfy { $0 >= 8 } }

    /// Whether it is a two-dimensional array, with or without a channel for each class.
    var isMap: Bool {
        guard isArray else { return false }
        if isPlane { return true }
        return extents.count == 3 && extents.filter { $0 >= 8 }.count >= 2
    }
}
