import CreateML
import Foundation
import MLSpecification
import TabularData
import Testing

@Suite struct SupportTests {
    @Test func `The automatic split follows the number of rows`() {
        func ratio(_ count: Int) -> Double { MLSplitStrategy.automatic.resolve(count: count).ratio }
        #expect(ratio(49) == 0)
        #expect(ratio(50) == 0.1 && ratio(199) == 0.1)
        #expect(ratio(200) == 0.05 && ratio(199_999) == 0.05)
        #expect(ratio(200_000) == 0.05 && ratio(1_000_000) == 0.01)
        #expect(MLSplitStrategy.fixed(ratio: 0.3, seed: 7).resolve(count: 10) == (0.3, 7))
    }

    @Test func `A split chooses as many rows as asked for, each as often, the same for a seed`() throws {
        let (training, validation) = try MLSplitStrategy.fixed(ratio: 0.25, seed: 7).split(count: 1000)
        #expect(validation.count == 250)
        #expect((training + validation).sorted() == Array(0..<1000))
        #expect(try MLSplitStrategy.fixed(ratio: 0.25, seed: 7).split(count: 1000).validation == validation)
        #expect(try MLSplitStrategy.fixed(ratio: 0.25, seed: 8).split(count: 1000).validation != validation)
        var hits = [Int](repeating: 0, count: 20)
        for seed in 0..<4000 {
            for row in try MLSplitStrategy.fixed(ratio: 0.25, seed: seed).split(count: 20).validation { hits[row] += 1 }
        }
        #expect(hits.allSatisfy { abs($0 - 1000) < 150 })
        for ratio in [-0.1, 1, 2, .nan] {
            #expect(throws: MLCreateError.self) { try MLSplitStrategy.fixed(ratio: ratio, seed: 1).split(count: 10) }
        }
    }

    @Test func `Errors say what is wrong in every way Foundation asks`() {
        let error = MLCreateError.type(reason: "the column 'x' holds dates")
        #expect(error.localizedDescription == "the column 'x' holds dates")
        #expect((error as NSError).domain == MLCreateErrorDomain)
        #expect(error.failureReason == error.errorDescription)
        let all: [MLCreateError] = [
            .cancelled, .modifiedTrainingData, .generic(reason: ""), .io(reason: ""), .type(reason: ""),
            .incompatibleParameters(parameter: "", originalValue: "", newValue: ""),
        ]
        #expect(Set(all.map(\.errorCode)).count == all.count)
    }

    @Test func `Metadata go into the description of a model`() {
        var model = SpecModel()
        model.description_p.metadata.userDefined["kept"] = "yes"
        model.apply(MLModelMetadata(author: "A", license: "L", version: "2", additional: ["key": "value"]))
        let metadata = model.description_p.metadata
        #expect(metadata.author == "A" && metadata.license == "L" && metadata.versionString == "2")
        #expect(metadata.shortDescription == "A model trained using CreateML for use with CoreML.")
        #expect(metadata.userDefined == ["kept": "yes", "key": "value"])
    }
}

@Suite struct MetricsTests {
    let counts = ConfusionCounts(
        strings: ["a", "b", "c"],
        truth: [0, 0, 0, 1, 1, 0],
        predictions: [0, 0, 1, 1, 0, 0]
    )

    @Test func `Confusion, precision and recall are counted`() throws {
        let metrics = MLClassifierMetrics(counts)
        #expect(metrics.isValid && metrics.error == nil)
        #expect(abs(metrics.classificationError - 1.0 / 3) < 1e-15)
        let confusion = metrics.confusionDataFrame
        #expect(confusion.columns.map(\.name) == ["True Label", "Predicted", "Count"])
        #expect(confusion["Count", Int.self].map { $0 } == [3, 1, 0, 1, 1, 0, 0, 0, 0])
        #expect(confusion["True Label", String.self][1] == "a" && confusion["Predicted", String.self][1] == "b")
        let shares = metrics.precisionRecallDataFrame
        #expect(shares["Precision", Double.self].map { $0 } == [0.75, 0.5, nil])
        #expect(shares["Recall", Double.self].map { $0 } == [0.75, 0.5, nil])
        #expect(
            metrics.description.contains(
                """
                Number of examples: 6
                Number of classes: 3
                Accuracy: 66.67%
                """
            )
        )
        #expect(metrics.description.contains("b         1 1 0"))
    }

    @Test func `Metrics without examples, or of an error, are not valid`() {
        for metrics in [
            MLClassifierMetrics(ConfusionCounts(integers: [1, 2])),
            MLClassifierMetrics(MLCreateError.generic(reason: "no")),
        ] {
            #expect(!metrics.isValid && metrics.classificationError.isNaN)
            #expect(metrics.confusionDataFrame.isEmpty)
        }
        let none = MLRegressorMetrics(truth: [Double](), predictions: [Double]())
        #expect(!none.isValid && none.error != nil && none.rootMeanSquaredError.isNaN)
    }

    @Test func `Errors of a regressor`() {
        let metrics = MLRegressorMetrics(truth: [1, 2, 3], predictions: [1, 4, 2])
        #expect(metrics.maximumError == 2)
        #expect(abs(metrics.rootMeanSquaredError - (5.0 / 3).squareRoot()) < 1e-15)
        #expect(MLRegressorMetrics(maximumError: 1, rootMeanSquaredError: 2).isValid)
    }
}
