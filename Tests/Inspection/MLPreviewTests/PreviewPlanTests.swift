import MLPreview
import MLSpecification
import Testing

/// Interfaces of models, written briefly.
enum Sketch {
    static func feature(_ name: String, _ type: (inout SpecFeatureType) -> Void) -> SpecFeatureDescription {
        var result = SpecFeatureDescription()
        result.name = name
        type(&result.type)
        return result
    }

    static func picture(_ name: String, _ size: Int64 = 224, gray: Bool = false) -> SpecFeatureDescription {
        feature(name) {
            $0.imageType.width = size
            $0.imageType.height = size
            $0.imageType.colorSpace = gray ? .grayscale : .rgb
        }
    }

    static func array(
        _ name: String,
        _ shape: [Int64],
        _ type: SpecArrayFeatureType.ArrayDataType = .float32
    ) -> SpecFeatureDescription {
        feature(name) {
            $0.multiArrayType.shape = shape
            $0.multiArrayType.dataType = type
        }
    }

    static func number(_ name: String) -> SpecFeatureDescription {
        feature(name) { $0.doubleType = SpecDoubleFeatureType() }
    }
    static func text(_ name: String) -> SpecFeatureDescription {
        feature(name) { $0.stringType = SpecStringFeatureType() }
    }
    static func shares(_ name: String) -> SpecFeatureDescription {
        feature(name) { $0.dictionaryType.stringKeyType = SpecStringFeatureType() }
    }

    static func model(
        _ inputs: [SpecFeatureDescription],
        _ outputs: [SpecFeatureDescription],
        predicts: String = "",
        _ change: (inout SpecModel) -> Void = { _ in }
    ) -> SpecModel {
        var model = SpecModel()
        model.description_p.input = inputs
        model.description_p.output = outputs
        model.description_p.predictedFeatureName = predicts
        change(&model)
        return model
    }

    /// A model of each kind that is told from its interface.
    static let kinds: [(PreviewKind, SpecModel)] = [
        (.imageClassifier, model([picture("image")], [text("label"), shares("probabilities")], predicts: "label")),
        (.imageClassifier, model([picture("image")], [shares("output")])),
        (
            .objectDetector,
            model([picture("image"), number("iouThreshold")], [array("confidence", []), array("coordinates", [])])
        ),
        (.imageSegmenter, model([picture("image")], [array("semanticPredictions", [513, 513], .int32)])),
        (.imageSegmenter, model([picture("image")], [array("segmentation", [1, 21, 64, 64])])),
        (.imageSegmenter, model([picture("image")], [picture("mask", gray: true)])),
        (.depthEstimator, model([picture("image")], [array("depthmap", [1, 128, 160])])),
        (.depthEstimator, model([picture("image")], [picture("depth", gray: true)])),
        (
            .poseEstimator,
            model([picture("image")], [array("heatmap", [17, 33, 33]), array("offsets", [34, 33, 33])])
        ),
        (.pictureMaker, model([picture("content")], [picture("stylized")])),
        (.pictureFeatures, model([picture("image")], [array("features", [1280])])),
        (.textClassifier, model([text("text")], [text("label")], predicts: "label")),
        (.wordTagger, model([text("text")], []) { $0.wordTagger = SpecWordTagger() }),
        (
            .questionAnswering,
            model(
                [array("wordIDs", [1, 384], .int32), array("wordTypes", [1, 384], .int32)],
                [array("startLogits", [1, 384]), array("endLogits", [1, 384])]
            )
        ),
        (.textGenerator, model([array("input_ids", [1, 64], .int32)], [array("output_logits", [1, 64, 50257])])),
        (.recommender, model([shares("items")], []) { $0.itemSimilarityRecommender = SpecItemSimilarityRecommender() }),
        (
            .tabularClassifier,
            model([number("a"), text("b")], [text("kind"), shares("kindProbability")], predicts: "kind")
        ),
        (.tabularRegressor, model([number("a"), number("b")], [number("price")], predicts: "price")),
        (.other, model([array("x", [1, 3, 64, 64])], [array("y", [10])])),
        (.other, model([number("a")], [number("b")])),
    ]
}

@Suite("What a model is shown as")
struct PreviewPlanTests {
    @Test(arguments: Sketch.kinds.indices)
    func `the interface tells the kind`(_ index: Int) {
        let (kind, model) = Sketch.kinds[index]
        let plan = PreviewPlan(model)
        #expect(plan.kind == kind)
        #expect(!plan.isStated)
        let names = Set((model.description_p.input + model.description_p.output).map(\.name))
        #expect(Set(plan.roles.values).isSubset(of: names))
    }

    @Test func `every kind is told by an interface or by what series it takes`() {
        let told = Set(Sketch.kinds.map(\.0) + [.soundClassifier, .activityClassifier, .keypointClassifier])
        #expect(told == Set(PreviewKind.allCases))
        let model = Sketch.model([Sketch.array("audioSamples", [15_600])], [Sketch.text("label")], predicts: "label")
        #expect(PreviewPlan(model, series: .sounds).kind == .soundClassifier)
        #expect(PreviewPlan(model, series: .sounds).roles[.label] == "label")
        #expect(PreviewPlan(model, series: .activities).kind == .activityClassifier)
        #expect(PreviewPlan(model, series: .keypoints).kind == .keypointClassifier)
    }

    /// The values of coremltools' guide, and what is stated wrongly.
    @Test(
        arguments: [
            ("imageClassifier", 0, PreviewKind.imageClassifier, true), ("imageSegmenter", 4, .imageSegmenter, true),
            ("depthEstimation", 6, .depthEstimator, true), ("poseEstimation", 8, .poseEstimator, true),
            ("bertQA", 13, .questionAnswering, true),
            // A kind that the interface cannot be, and one that nobody knows.
            ("bertQA", 0, .imageClassifier, false), ("hologram", 0, .imageClassifier, false),
        ]
    )
    func `metadata state the kind where the model has its features`(
        _ stated: String,
        _ index: Int,
        _ expected: PreviewKind,
        _ isStated: Bool
    ) {
        var model = Sketch.kinds[index].1
        model.description_p.metadata.userDefined[PreviewPlan.typeKey] = stated
        let plan = PreviewPlan(model)
        #expect(plan.kind == expected)
        #expect(plan.isStated == isStated)
    }

    @Test func `a stated kind goes before what the interface looks like`() {
        var model = Sketch.model([Sketch.picture("image")], [Sketch.array("result", [1, 64, 64])])
        #expect(PreviewPlan(model).kind == .pictureFeatures)
        model.description_p.metadata.userDefined[PreviewPlan.typeKey] = "depthEstimation"
        let plan = PreviewPlan(model)
        #expect(plan.kind == .depthEstimator)
        #expect(plan.roles == [.picture: "image", .depth: "result"])
    }

    @Test func `thresholds of detectors and offsets of poses are found`() {
        let detector = PreviewPlan(
            Sketch.model(
                [Sketch.picture("image"), Sketch.number("iouThreshold"), Sketch.number("confidenceThreshold")],
                [Sketch.array("coordinates", []), Sketch.array("confidence", [])]
            )
        )
        #expect(detector.roles[.overlap] == "iouThreshold")
        #expect(detector.roles[.confidenceThreshold] == "confidenceThreshold")
        #expect(detector.roles[.boxes] == "coordinates" && detector.roles[.confidences] == "confidence")
        let pose = PreviewPlan(
            Sketch.model(
                [Sketch.picture("image")],
                [
                    Sketch.array("displacementFwd", [32, 33, 33]), Sketch.array("offsets", [34, 33, 33]),
                    Sketch.array("heatmap", [17, 33, 33]), Sketch.array("displacementBwd", [32, 33, 33]),
                ]
            )
        )
        #expect(pose.roles[.keypoints] == "heatmap" && pose.roles[.offsets] == "offsets")
    }
}

@Suite("What a file tells about its inputs")
struct InputRangesTests {
    @Test func `thresholds of trees are ranges, also behind a vectorizer, and categories are choices`() {
        func node(_ index: UInt64, _ value: Double) -> SpecTreeEnsembleParameters.TreeNode {
            var node = SpecTreeEnsembleParameters.TreeNode()
            node.nodeBehavior = .branchOnValueLessThanEqual
            node.branchFeatureIndex = index
            node.branchFeatureValue = value
            return node
        }
        var leaf = SpecTreeEnsembleParameters.TreeNode()
        leaf.nodeBehavior = .leafNode
        let encoder = Sketch.model([Sketch.text("place")], [Sketch.array("coded", [2])]) {
            $0.oneHotEncoder.stringCategories.vector = ["here", "there"]
        }
        let vectorizer = Sketch.model([], [Sketch.array("vector", [4])]) { model in
            for (name, count) in [("rooms", 1), ("coded", 2), ("area", 1)] as [(String, UInt64)] {
                var column = SpecFeatureVectorizer.InputColumn()
                column.inputColumn = name
                column.inputDimensions = count
                model.featureVectorizer.inputList.append(column)
            }
        }
        let trees = Sketch.model([Sketch.array("vector", [4])], []) {
            $0.treeEnsembleRegressor.treeEnsemble.nodes = [
                node(0, 2.5), node(3, 80), node(0, 5.5), node(1, 0.5), node(99, 1), node(3, .nan), leaf,
            ]
        }
        let model = Sketch.model([Sketch.number("rooms"), Sketch.number("area"), Sketch.text("place")], []) {
            $0.pipelineRegressor.pipeline.models = [encoder, vectorizer, trees]
        }
        let ranges = InputRanges(model)
        #expect(ranges.numbers == ["rooms": 2.5...5.5, "area": 80...80])
        #expect(ranges.texts == ["place": ["here", "there"]])
    }

    @Test func `sizes that no file has are passed over`() {
        let vectorizer = Sketch.model([Sketch.number("a")], [Sketch.array("v", [1])]) { model in
            var column = SpecFeatureVectorizer.InputColumn()
            column.inputColumn = "a"
            column.inputDimensions = .max
            model.featureVectorizer.inputList = [column, column]
        }
        #expect(InputRanges(vectorizer).numbers.isEmpty)
    }
}
