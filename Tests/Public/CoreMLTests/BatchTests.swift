import CoreML
import MLSpecification
import Testing

/// Batches of models that take one example.
struct BatchTests {
    /// A row of a table, by an index that may lie outside.
    private static func model() throws -> MLModel {
        try programModel(
            """
            func main<ios17>(tensor<int32, [1]> x) {
                tensor<fp32, [3, 2]> table = const()[val = tensor<fp32, [3, 2]>([[1, 2], [3, 4], [5, 6]])];
                tensor<fp32, [2, 2]> w = const()[val = tensor<fp32, [2, 2]>([[1, 1], [1, -1]])];
                int32 zero = const()[val = int32(0)];
                bool yes = const()[val = bool(true)];
                tensor<fp32, [1, 2]> row = gather(axis = zero, indices = x, validate_indices = yes,
                    x = table);
                tensor<fp32, [1, 2]> y = linear(weight = w, x = row);
            } -> (y);
            """,
            inputs: [("x", .int32, [1])],
            outputs: [("y", .float32, [1, 2])]
        )
    }

    private static func example(_ index: Int) throws -> MLDictionaryFeatureProvider {
        let array = try MLMultiArray(shape: [1], dataType: .int32)
        array[0] = NSNumber(value: index)
        return try MLDictionaryFeatureProvider(dictionary: ["x": array])
    }

    @Test func batchesOfAnySizeAreAnsweredInOrder() throws {
        let model = try Self.model()
        let rows = [[3.0, -1], [7, -1], [11, -1]]
        for count in [0, 1, 2, 3, 33, 300] {
            let batch = MLArrayBatchProvider(array: try (0..<count).map { try Self.example($0 % 3) })
            let outputs = try model.predictions(fromBatch: batch)
            #expect((0..<outputs.count).map { outputs.features(at: $0).array("y") } == (0..<count).map { rows[$0 % 3] })
        }
    }

    @Test(arguments: [5, 200]) func anErrorNamesItsExample(index: Int) throws {
        let model = try Self.model()
        var examples = try (0..<300).map { try Self.example($0 % 3) }
        examples[index] = try Self.example(7)
        let outside = #expect(throws: MLModelError.self) {
            try model.predictions(fromBatch: MLArrayBatchProvider(array: examples))
        }
        #expect(outside?.localizedDescription.hasPrefix("Example \(index) of the batch: ") == true)
        // The first of two errors counts, even if the later one is noticed earlier.
        examples[index + 1] = try MLDictionaryFeatureProvider(dictionary: ["x": "text"])
        let first = #expect(throws: MLModelError.self) {
            try model.predictions(fromBatch: MLArrayBatchProvider(array: examples))
        }
        #expect(first?.localizedDescription == outside?.localizedDescription)
        examples[index] = try Self.example(1)
        let kind = #expect(throws: MLModelError.self) {
            try model.predictions(fromBatch: MLArrayBatchProvider(array: examples))
        }
        #expect(kind?.code == .featureType)
        #expect(kind?.localizedDescription.hasPrefix("Example \(index + 1) of the batch: ") == true)
    }

    /// Pictures, labels and their probabilities.
    @Test(arguments: ModelTests.names) func picturesAndLabels(name: String) throws {
        let model = try ModelTests.model(name)
        let answers = try ModelTests.answers()
        let batch = MLArrayBatchProvider(array: try answers.map { try ModelTests.input($0.picture, model) })
        let outputs = try model.predictions(fromBatch: batch)
        #expect(outputs.count == answers.count)
        for index in 0..<outputs.count {
            let single = try model.prediction(from: batch.features(at: index))
            let output = outputs.features(at: index)
            for feature in single.featureNames {
                let (found, expected) = (output.featureValue(for: feature), single.featureValue(for: feature))
                #expect(found?.type == expected?.type)
                guard expected?.type == .dictionary else {
                    #expect(found == expected)
                    continue
                }
                for (label, probability) in expected?.dictionaryValue ?? [:] {
                    let other = found?.dictionaryValue[label]?.doubleValue ?? -1
                    #expect(abs(other - probability.doubleValue) < 1e-5, "\(label)")
                }
            }
        }
    }
}
