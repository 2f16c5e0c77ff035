import Glibc
import MLFeatures
import MLModels
import MLNumerics
import MLSpecification
import Testing

struct LinearTests {
    static func regressor(
        _ weights: [[Double]],
        _ offsets: [Double],
        _ transform: SpecGLMRegressor.PostEvaluationTransform = .noTransform
    ) -> SpecGLMRegressor {
        var parameters = SpecGLMRegressor()
        parameters.weights = weights.map { row in
            var array = SpecGLMRegressor.DoubleArray()
            array.value = row
            return array
        }
        parameters.offset = offsets
        parameters.postEvaluationTransform = transform
        return parameters
    }

    static func classifier(
        _ weights: [[Double]],
        _ offsets: [Double],
        _ encoding: SpecGLMClassifier.ClassEncoding,
        _ transform: SpecGLMClassifier.PostEvaluationTransform = .logit,
        _ labels: [String]
    ) -> SpecModel {
        var parameters = SpecGLMClassifier()
        parameters.weights = weights.map { row in
            var array = SpecGLMClassifier.DoubleArray()
            array.value = row
            return array
        }
        parameters.offset = offsets
        parameters.classEncoding = encoding
        parameters.postEvaluationTransform = transform
        parameters.stringClassLabels.vector = labels
        return model(
            [("x", .array([weights.first?.count ?? 0]))],
            [("label", .string), ("votes", .dictionary())],
            predicts: "label",
            probabilities: "votes",
            .glmClassifier(parameters)
        )
    }

    static func expected(_ transform: SpecGLMRegressor.PostEvaluationTransform, _ x: Double) -> Double {
        switch transform {
        case .logit: 1 / (1 + exp(-x))
        case .probit: 0.5 * (1 + erf(x / 2.0.squareRoot()))
        default: x
        }
    }

    @Test(arguments: [SpecGLMRegressor.PostEvaluationTransform.noTransform, .logit, .probit])
    func regressorTransforms(transform: SpecGLMRegressor.PostEvaluationTransform) throws {
        var noise = Noise(state: 1)
        let weights = noise.numbers(7)
        let engine = try engine(
            model(
                [("a", .number), ("b", .array([5])), ("c", .integer)],
                [("y", .number)],
                predicts: "y",
                .glmRegressor(Self.regressor([weights], [0.25], transform))
            )
        )
        for _ in 0..<20 {
            let (a, b, c) = (noise.number(), noise.numbers(5), noise.index(5))
            let x: [Double] = [a] + b + [Double(c)]
            let sum = zip(weights, x).reduce(0.25) { $0 + $1.0 * $1.1 }
            let expected = Self.expected(transform, sum)
            let answer = try engine.prediction(from: ["a": .double(a), "b": array(b), "c": .int64(Int64(c))])
            #expect(isNear(answer["y"]?.numbers ?? [], [expected]))
        }
    }

    @Test func severalOutputs() throws {
        let engine = try engine(
            model(
                [("x", .array([2]))],
                [("y", .array([2], .float32))],
                predicts: "y",
                .glmRegressor(Self.regressor([[1, 2], [3, 4]], [0, 1]))
            )
        )
        #expect(try engine.prediction(from: ["x": array([1, 1])])["y"]?.numbers == [3, 8])
    }

    @Test func batchesAnswerAsTheirRows() throws {
        var noise = Noise(state: 3)
        let engine = try engine(
            Self.classifier(
                (0..<3).map { _ in noise.numbers(20) },
                noise.numbers(3),
                .oneVsRest,
                .logit,
                ["a", "b", "c"]
            )
        )
        let rows = (0..<3000).map { _ in noise.numbers(20) }
        let batch = FeatureBatch(
            count: rows.count,
            columns: ["x": .arrays(Tensor(values: rows.flatMap { $0 }, scalarType: .float64, shape: [rows.count, 20]))]
        )
        let answers = try engine.predictions(from: batch)
        for index in stride(from: 0, to: rows.count, by: 97) {
            let single = try engine.prediction(from: ["x": array(rows[index])])
            let answer = answers.features(at: index)
            #expect(answer["label"]?.text == single["label"]?.text)
            #expect(answer["votes"]?.votes == single["votes"]?.votes)
        }
    }

    @Test func classesAgainstFormulas() throws {
        func logistic(_ x: Double) -> Double { 1 / (1 + exp(-x)) }
        let x = [0.5, -1.0]
        let (s, t) = (0.5 * 2 + 1 + 0.1, 0.5 * -1 - 3 - 0.2)
        let rest = try engine(
            Self.classifier([[2, -1], [-1, 3], [0, 0]], [0.1, -0.2, 0], .oneVsRest, .logit, ["a", "b", "c"])
        )
        .prediction(from: ["x": array(x)])
        let sum = logistic(s) + logistic(t) + 0.5
        #expect(rest["label"]?.text == "a")
        #expect(
            isNear(
                ["a", "b", "c"].map { rest["votes"]?.votes[$0] ?? -1 },
                [logistic(s), logistic(t), 0.5].map { $0 / sum }
            )
        )
        let reference = try engine(
            Self.classifier([[2, -1], [-1, 3]], [0.1, -0.2], .referenceClass, .logit, ["a", "b", "c"])
        )
        .prediction(from: ["x": array(x)])
        let total = 1 + exp(s) + exp(t)
        #expect(reference["label"]?.text == "b")
        #expect(
            isNear(
                ["a", "b", "c"].map { reference["votes"]?.votes[$0] ?? -1 },
                [1 / total, exp(s) / total, exp(t) / total]
            )
        )
        for encoding in [SpecGLMClassifier.ClassEncoding.oneVsRest, .referenceClass] {
            let two = try engine(Self.classifier([[2, -1]], [0.1], encoding, .logit, ["no", "yes"]))
                .prediction(from: ["x": array(x)])
            #expect(isNear([two["votes"]?.votes["yes"] ?? -1], [logistic(s)]))
        }
        let probit = try engine(Self.classifier([[2, -1]], [0.1], .referenceClass, .probit, ["no", "yes"]))
            .prediction(from: ["x": array(x)])
        #expect(isNear([probit["votes"]?.votes["yes"] ?? -1], [0.5 * (1 + erf(s / 2.0.squareRoot()))]))
    }

    @Test func damagedModelsAreNamed() {
        let inputs: [(String, Kind)] = [("x", .array([2]))]
        func regression(_ parameters: SpecGLMRegressor, _ output: Kind = .number) -> String {
            message { () throws(ModelError) in
                try engine(model(inputs, [("y", output)], predicts: "y", .glmRegressor(parameters)))
            }
        }
        #expect(regression(Self.regressor([], [])).contains("no weights"))
        #expect(regression(Self.regressor([[1, 2]], [])).contains("0 offsets"))
        #expect(regression(Self.regressor([[1, 2], [1]], [0, 0])).contains("row 1"))
        #expect(regression(Self.regressor([[1, 2, 3]], [0])).contains("2 elements"))
        #expect(regression(Self.regressor([[1, 2], [3, 4]], [0, 0])).contains("one number"))
        #expect(regression(Self.regressor([[1, 2]], [0]), .string).contains("'y'"))
        func classes(_ count: Int, _ rows: Int, _ encoding: SpecGLMClassifier.ClassEncoding) -> String {
            message { () throws(ModelError) in
                try engine(
                    Self.classifier(
                        [[Double]](repeating: [1, 1], count: rows),
                        [Double](repeating: 0, count: rows),
                        encoding,
                        .logit,
                        (0..<count).map { "\($0)" }
                    )
                )
            }
        }
        #expect(classes(3, 1, .referenceClass).contains("need 2 rows"))
        #expect(classes(3, 2, .oneVsRest).contains("need 3 rows"))
        #expect(classes(2, 2, .oneVsRest).contains("need 1 rows"))
    }
}
