import Glibc
import MLFeatures
import MLModels
import MLNumerics
import MLSpecification
import Testing

struct OtherModelTests {
    static func suppression(perClass: Bool, rows: [Int] = []) -> SpecModel {
        var parameters = SpecNonMaximumSuppression()
        parameters.pickTop.perClass = perClass
        (parameters.iouThreshold, parameters.confidenceThreshold) = (0.5, 0.2)
        parameters.confidenceInputFeatureName = "c"
        parameters.coordinatesInputFeatureName = "b"
        parameters.iouThresholdInputFeatureName = "iou"
        parameters.confidenceThresholdInputFeatureName = "least"
        parameters.confidenceOutputFeatureName = "confidence"
        parameters.coordinatesOutputFeatureName = "coordinates"
        return model(
            [("c", .array([])), ("b", .array([])), ("iou", .number), ("least", .number)],
            [("confidence", .array(rows)), ("coordinates", .array([]))],
            .nonMaximumSuppression(parameters)
        )
    }

    @Test func nonMaximumSuppression() throws {
        // Boxes 0 and 1 overlap by 0.6, of other classes; 2 stands alone; 3 is too faint.
        let boxes = array([5, 5, 10, 10, 7.5, 5, 10, 10, 50, 50, 4, 4, 80, 80, 4, 4], [4, 4])
        let scores = array([0.6, 0.1, 0.2, 0.9, 0.5, 0.3, 0.1, 0.1], [4, 2])
        func kept(_ spec: SpecModel, _ more: [String: FeatureData] = [:]) throws -> [Double] {
            let answer = try engine(spec).prediction(from: ["b": boxes, "c": scores].merging(more) { $1 })
            return stride(from: 0, to: answer["coordinates"]?.numbers.count ?? 0, by: 4).map {
                answer["coordinates"]?.numbers[$0] ?? -1
            }
        }
        #expect(try kept(Self.suppression(perClass: false)) == [7.5, 50])
        #expect(try kept(Self.suppression(perClass: true)) == [7.5, 5, 50])
        #expect(try kept(Self.suppression(perClass: false), ["iou": .double(0.7)]) == [7.5, 5, 50])
        #expect(try kept(Self.suppression(perClass: false), ["least": .double(0.7)]) == [7.5])
        #expect(try kept(Self.suppression(perClass: false, rows: [4, 2])) == [7.5, 50, 0, 0])
        #expect(try kept(Self.suppression(perClass: true, rows: [1, 2])) == [7.5])
        let none = try engine(Self.suppression(perClass: true)).prediction(from: [
            "b": array([], [0, 4]), "c": array([], [0, 2]),
        ])
        if case .tensor(let tensor)? = none["confidence"] { #expect(tensor.shape == [0, 2]) }
        #expect(
            message { () throws(ModelError) in
                try engine(Self.suppression(perClass: true)).prediction(from: [
                    "b": boxes, "c": array([1, 1], [1, 2]),
                ])
            }.contains("rows")
        )
    }

    @Test func classConfidenceThresholding() throws {
        var parameters = SpecClassConfidenceThresholding()
        let spec = model([("x", .array([3]))], [("y", .array([2, 3]))], .classConfidenceThresholding(parameters))
        let answer = try engine(spec).prediction(from: ["x": array([0.2, 0.5, 0.3])])
        #expect(answer["y"]?.numbers == [0.2, 0.5, 0.3, 1, 1, 1])
        parameters.precisionRecallCurves = [SpecPrecisionRecallCurve()]
        let bad = model([("x", .array([3]))], [("y", .array([2, 3]))], .classConfidenceThresholding(parameters))
        #expect(message { () throws(ModelError) in try engine(bad) }.contains("1 precision-recall curves for 3"))
    }

    @Test func bayesianProbit() throws {
        var parameters = SpecBayesianProbitRegressor()
        parameters.numberOfFeatures = 2
        (parameters.bias.mean, parameters.bias.precision) = (0.5, 4)
        parameters.features = (0..<2).map { feature in
            var weights = SpecBayesianProbitRegressor.FeatureWeight()
            weights.featureID = UInt32(feature)
            weights.weights = (0..<3).map { value in
                var weight = SpecBayesianProbitRegressor.FeatureValueWeight()
                weight.featureValue = UInt32(value)
                (weight.featureWeight.mean, weight.featureWeight.precision) = (Double(feature + value), 2)
                return weight
            }
            return weights
        }
        parameters.regressionInputFeatureName = "x"
        parameters.optimismInputFeatureName = "o"
        parameters.samplingScaleInputFeatureName = "s"
        parameters.meanOutputFeatureName = "mean"
        parameters.varianceOutputFeatureName = "variance"
        parameters.pessimisticProbabilityOutputFeatureName = "shifted"
        parameters.sampledProbabilityOutputFeatureName = "sampled"
        var spec = model(
            [("x", .array([], .int32)), ("o", .number), ("s", .number)],
            [("p", .number), ("mean", .number), ("variance", .number), ("shifted", .number), ("sampled", .number)],
            predicts: "p",
            .bayesianProbitRegressor(parameters)
        )
        func phi(_ x: Double) -> Double { 0.5 * (1 + erf(x / 2.0.squareRoot())) }
        let engine = try engine(spec)
        let (mean, variance) = (0.5 + 1 + 3, 0.25 + 0.5 + 0.5)
        for x in [array([1, 2]), array([0, 1, 1, 2], [2, 2])] {
            let answer = try engine.prediction(from: ["x": x, "o": .double(-1), "s": .double(0)])
            #expect(
                isNear(answer["mean"]?.numbers ?? [], [mean]) && isNear(answer["variance"]?.numbers ?? [], [variance])
            )
            #expect(isNear(answer["p"]?.numbers ?? [], [phi(mean / (1 + variance).squareRoot())]))
            #expect(
                isNear(
                    answer["shifted"]?.numbers ?? [],
                    [phi((mean - variance.squareRoot()) / (1 + variance).squareRoot())]
                )
            )
            #expect(isNear(answer["sampled"]?.numbers ?? [], [phi(mean)]))
        }
        // Draws follow the distribution: their mean is the probability with the variance integrated out.
        let draws = try (0..<4000).map { _ in
            try engine.prediction(from: ["x": array([1, 0])])["sampled"]?.numbers[0] ?? -1
        }
        let expected = phi(2.5 / (1 + variance).squareRoot())
        #expect(abs(draws.reduce(0, +) / 4000 - expected) < 0.02 && Set(draws).count > 3900)
        parameters.bias.precision = 0
        spec.bayesianProbitRegressor = parameters
        #expect(message { () throws(ModelError) in try MLModelsTests.engine(spec) }.contains("not a distribution"))
    }

    @Test func itemSimilarity() throws {
        var parameters = SpecItemSimilarityRecommender()
        parameters.itemStringIds.vector = ["tea", "milk", "jam", "salt"]
        func similar(_ item: UInt64, _ others: [(UInt64, Double)], shift: Double = 0)
            -> SpecItemSimilarityRecommender.SimilarItems
        {
            var entry = SpecItemSimilarityRecommender.SimilarItems()
            (entry.itemID, entry.itemScoreAdjustment) = (item, shift)
            entry.similarItemList = others.map {
                var other = SpecItemSimilarityRecommender.ConnectedItem()
                (other.itemID, other.similarityScore) = ($0.0, $0.1)
                return other
            }
            return entry
        }
        parameters.itemItemSimilarities = [
            similar(0, [(1, 0.5), (2, 0.25)]), similar(1, [(0, 0.5), (2, 0.5)]), similar(2, [], shift: 1),
        ]
        parameters.itemInputFeatureName = "items"
        parameters.numRecommendationsInputFeatureName = "count"
        parameters.itemExclusionInputFeatureName = "not"
        parameters.itemRestrictionInputFeatureName = "only"
        parameters.recommendedItemListOutputFeatureName = "list"
        parameters.recommendedItemScoreOutputFeatureName = "scores"
        let spec = model(
            [("items", .dictionary()), ("count", .integer), ("not", .sequence), ("only", .sequence)],
            [("list", .sequence), ("scores", .dictionary())],
            .itemSimilarityRecommender(parameters)
        )
        func answer(_ more: [String: FeatureData] = [:]) throws -> ([String], [String: Double]) {
            let items = FeatureData.dictionary(.strings(["tea": 3, "milk": 2, "unknown": 5]))
            let outputs = try engine(spec).prediction(from: ["items": items].merging(more) { $1 })
            guard case .sequence(.strings(let list))? = outputs["list"] else { return ([], [:]) }
            return (list, outputs["scores"]?.votes ?? [:])
        }
        // jam: 0.25 · (3 − 1) + 0.5 · (2 − 1) = 1.
        #expect(try answer() == (["jam", "salt"], ["jam": 1, "salt": 0]))
        #expect(try answer(["count": .int64(1)]).0 == ["jam"])
        #expect(
            try answer(["not": .sequence(.strings([]))]) == (
                ["milk", "tea", "jam", "salt"], ["milk": 1.5, "tea": 1, "jam": 1, "salt": 0]
            )
        )
        #expect(try answer(["only": .sequence(.strings(["salt", "tea"]))]).0 == ["salt"])
        parameters.itemItemSimilarities.append(similar(9, []))
        let bad = model(
            [("items", .dictionary())],
            [("list", .sequence), ("scores", .dictionary())],
            .itemSimilarityRecommender(parameters)
        )
        #expect(message { () throws(ModelError) in try engine(bad) }.contains("4 item ids"))
    }

    /// Against a plain Fourier transform of every frame.
    @Test func vggish() throws {
        var parameters = SpecSoundAnalysisPreprocessing()
        parameters.vggish = SpecSoundAnalysisPreprocessing.Vggish()
        let spec = model(
            [("x", .array([15600], .float32))],
            [("y", .array([], .float32))],
            .soundAnalysisPreprocessing(parameters)
        )
        let samples = (0..<15600).map { (place: Int) -> Double in
            let tone: Double = sin(Double(place) * 0.37)
            let sweep: Double = sin(Double(place * place) * 1e-5)
            return tone * 0.4 + sweep * 0.3
        }
        guard case .tensor(let answer)? = try engine(spec).prediction(from: ["x": array(samples)])["y"] else {
            Issue.record("no array")
            return
        }
        #expect(answer.shape == [1, 96, 64])
        func mel(_ f: Double) -> Double { 1127 * log(1 + f / 700) }
        for frame in [0, 41, 95] {
            var bands = [Double](repeating: 0, count: 64)
            let step = (mel(7500) - mel(125)) / 65
            for bin in 1...256 {
                var (re, im) = (0.0, 0.0)
                for n in 0..<400 {
                    let turn = 2 * Double.pi
                    let window: Double = 0.5 - 0.5 * cos(turn * Double(n) / 400)
                    let value: Double = samples[frame * 160 + n] * window
                    let angle: Double = turn * Double(bin * n) / 512
                    re += value * cos(angle)
                    im -= value * sin(angle)
                }
                let place = (mel(Double(bin) * 31.25) - mel(125)) / step
                for band in 0..<64 {
                    bands[band] += max(0, 1 - abs(place - Double(band + 1))) * (re * re + im * im).squareRoot()
                }
            }
            let expected = bands.map { log($0 + 0.01) }
            #expect(isNear(Array(answer.values[frame * 64..<(frame + 1) * 64]), expected, 1e-5))
        }
    }

    @Test func pipelinesNest() throws {
        var scaler = SpecScaler()
        scaler.scaleValue = [2]
        let double = model([("x", .number)], [("x", .number)], .scaler(scaler))
        scaler.scaleValue = []
        scaler.shiftValue = [1]
        let next = model([("x", .number)], [("y", .number)], .scaler(scaler))
        let inner = try Pipeline(
            [
                Pipeline.Stage(name: "double", engine: engine(double)),
                Pipeline.Stage(name: "next", engine: engine(next)),
            ],
            model([("x", .number)], [("y", .number), ("x", .number)], .identity(SpecIdentity())).description_p
        )
        let outer = try Pipeline(
            [Pipeline.Stage(name: "again", engine: engine(double)), Pipeline.Stage(name: "inner", engine: inner)],
            model([("x", .number)], [("y", .number)], .identity(SpecIdentity())).description_p
        )
        #expect(try outer.prediction(from: ["x": .double(5)])["y"]?.numbers == [21])
        let batch = FeatureBatch(count: 3, columns: ["x": .doubles([1, 2, 3])])
        let answers = try outer.predictions(from: batch)
        #expect((0..<3).map { answers.features(at: $0)["y"]?.numbers ?? [] } == [[5], [9], [13]])
        let early = try outer.features(from: batch, before: 1)
        #expect(early.features(at: 2)["x"]?.numbers == [6])
        #expect(
            message { () throws(ModelError) in
                try Pipeline(
                    [Pipeline.Stage(name: "s", engine: engine(double))],
                    model([("q", .number)], [], .identity(SpecIdentity())).description_p
                )
            }.contains("'x'")
        )
        #expect(
            message { () throws(ModelError) in
                try Pipeline(
                    [Pipeline.Stage(name: "s", engine: engine(double))],
                    model([("x", .number)], [("z", .number)], .identity(SpecIdentity())).description_p
                )
            }.contains("'z'")
        )
        #expect(message { () throws(ModelError) in try Pipeline([], interfaceOnly) }.contains("no models"))
    }

    /// Adds what it is given to a state and gives the sum.
    private struct Accumulator: ModelEngine {
        var interface = SpecModelDescription()
        let name: String

        init(_ name: String, from input: String, to output: String) {
            self.name = name
            interface = model([(input, .number)], [(output, .number)], .identity(SpecIdentity())).description_p
            var kept = SpecFeatureDescription()
            kept.name = name
            interface.state = [kept]
        }

        func makeState() -> ModelState { ModelState([name: Tensor(values: [0], scalarType: .float32, shape: [1])]) }

        func prediction(
            from inputs: [String: FeatureData],
            backings: [String: FeatureData],
            state: ModelState?
        ) throws(ModelError) -> [String: FeatureData] {
            guard let state, let kept = state[name], let given = inputs[interface.input[0].name]?.numbers.first else {
                throw ModelError(.invalidInput, "no state '\(name)'")
            }
            let sum = kept.values[0] + given
            state[name] = Tensor(values: [sum], scalarType: .float32, shape: [1])
            return [interface.output[0].name: .double(sum)]
        }
    }

    @Test func statesInPipelines() throws {
        let stages = [
            Pipeline.Stage(name: "sum", engine: Accumulator("total", from: "x", to: "y")),
            Pipeline.Stage(name: "sum of sums", engine: Accumulator("grand total", from: "y", to: "z")),
        ]
        let interface = model([("x", .number)], [("z", .number)], .identity(SpecIdentity())).description_p
        let pipeline = try Pipeline(stages, interface)
        let state = pipeline.makeState()
        for (given, expected) in [(1.0, 1.0), (2, 4), (3, 10)] {
            let answer = try pipeline.prediction(from: ["x": .double(given)], backings: [:], state: state)
            #expect(answer["z"]?.numbers == [expected])
        }
        #expect(
            message { () throws(ModelError) in
                try pipeline.prediction(from: ["x": .double(1)])
            }.contains("no state 'total'")
        )
        let twins = [stages[0], Pipeline.Stage(name: "twin", engine: Accumulator("total", from: "y", to: "z"))]
        #expect(message { () throws(ModelError) in try Pipeline(twins, interface) }.contains("different names"))
    }

    private var interfaceOnly: SpecModelDescription {
        model([("x", .number)], [], .identity(SpecIdentity())).description_p
    }
}
