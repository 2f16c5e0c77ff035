// Names of slides and listings that the shipped frameworks spell otherwise, or that came and went.
import CoreML
import CreateML
import Vision

/// WWDC 2019, session 704: an update whose progress is watched, with parameters of the app's own.
func updateTask(
    for model: URL,
    data: MLBatchProvider,
    done: @escaping (MLUpdateContext) -> Void
) throws -> MLUpdateTask {
    let configuration = MLModelConfiguration()
    configuration.updateParameters = [.epochs: 5, .learningRate: 0.1]
    let handlers = MLUpdateProgressHandlers(
        forEvents: [.trainingBegan, .epochEnd],
        progressHandler: { context in
            if context.event.contains(.trainingBegan) { print("The training began.") }
            context.task.resume(withParameters: context.task.state == .running ? [.learningRate: 0.01] : [:])
        },
        completionHandler: done
    )
    return try MLUpdateTask(
        forModelAt: model,
        trainingData: data,
        configuration: configuration,
        progressHandlers: handlers
    )
}

/// The article of 2018 on text classifiers.
func textClassificationError(of data: MLDataTable) throws -> Double {
    let (trainingData, testingData) = data.randomSplit(by: 0.8, seed: 5)
    let classifier = try MLTextClassifier(trainingData: trainingData, textColumn: "text", labelColumn: "label")
    let evaluationMetrics = classifier.evaluation(on: testingData)
    return evaluationMetrics.classificationError
}

func recommender(_ data: MLDataTable) throws -> MLRecommender {
    var parameters = MLRecommender.ModelParameters()
    parameters.algorithm = .itemSimilarity(.jaccard)
    return try MLRecommender(
        trainingData: data,
        userColumn: "user",
        itemColumn: "item",
        parameters: MLRecommender.ModelParameters(maxCount: 10)
    )
}

/// The classes of a picture that are worth showing.
func likelyClasses(_ observations: [VNObservation]?) -> [String] {
    let classifications = observations as? [VNClassificationObservation] ?? []
    return
        classifications
        .filter { $0.hasPrecisionRecallCurve ? $0.hasMinimumPrecision(0.1, forRecall: 0.8) : $0.confidence > 0.5 }
        .filter { !$0.hasPrecisionRecallCurve || $0.hasMinimumRecall(0.01, forPrecision: 0.9) }
        .map { $0.identifier }
}

func isPlain(_ image: CGImage) -> Bool {
    switch image.pixelFormatInfo {
    case .packed: return true
    case .RGB555, .RGB565, .RGB101010, .RGBCIF10, .mask: return false
    }
}
