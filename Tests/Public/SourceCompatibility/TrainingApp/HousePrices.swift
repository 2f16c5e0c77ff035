// How apps train on tables, against Create ML's own declarations: compiles on Apple's platforms, too.
import Combine
import CoreML
import CreateML
import Foundation
import TabularData

func trainHousePrices(csv: URL, to folder: URL) throws -> Double {
    let table = try DataFrame(contentsOfCSVFile: csv)
    let (training, testing) = table.randomSplit(by: 0.8, seed: 5)
    let regressor = try MLLinearRegressor(
        trainingData: DataFrame(training),
        targetColumn: "price",
        featureColumns: ["rooms", "area"],
        parameters: MLLinearRegressor.ModelParameters(
            validation: .split(strategy: .automatic),
            maxIterations: 20,
            l2Penalty: 0.1
        )
    )
    let metrics: MLRegressorMetrics = regressor.evaluation(on: DataFrame(testing))
    if let error = metrics.error { throw error }
    let column: AnyColumn = try regressor.predictions(from: DataFrame(testing))
    print(column.count, regressor.targetColumn, regressor.featureColumns, regressor.modelParameters.stepSize)
    let metadata = MLModelMetadata(author: "Jane", shortDescription: "Prices of houses", version: "1.0")
    try regressor.write(to: folder.appendingPathComponent("Houses.mlmodel"), metadata: metadata)
    return metrics.rootMeanSquaredError
}

func chooseAlgorithms(_ table: DataFrame) throws {
    let classifier = try MLClassifier(trainingData: table, targetColumn: "kind")
    switch classifier {
    case .boostedTree(let model): print(model.modelParameters.maxIterations)
    case .decisionTree(let model): print(model.modelParameters.maxDepth)
    case .logisticRegression(let model): print(model.modelParameters.l1Penalty)
    case .randomForest(let model): print(model.modelParameters.rowSubsample)
    case .supportVector(let model): print(model.modelParameters.penalty)
    }
    let accuracy = 1 - classifier.validationMetrics.classificationError
    print(accuracy, classifier.trainingMetrics.confusionDataFrame, classifier.trainingMetrics.precisionRecallDataFrame)
    let regressor = try MLRegressor(trainingData: table, targetColumn: "price", featureColumns: ["area"])
    try regressor.write(toFile: "/tmp/Prices.mlmodel", metadata: nil)
    let forest = try MLRandomForestClassifier(
        trainingData: table,
        targetColumn: "kind",
        parameters: .init(maxDepth: 8, maxIterations: 50, randomSeed: 7)
    )
    let validated = try MLDecisionTreeRegressor(
        trainingData: table,
        targetColumn: "price",
        parameters: .init(validation: .dataFrame(table), minLossReduction: 0.1)
    )
    print(forest.model.modelDescription, validated)
}

final class TrainingController {
    private var subscriptions = Set<AnyCancellable>()
    private var job: MLJob<MLBoostedTreeClassifier>?

    func start(_ table: DataFrame, directory: URL) throws {
        let sessionParameters = MLTrainingSessionParameters(
            sessionDirectory: directory,
            reportInterval: 10,
            checkpointInterval: 100,
            iterations: 1000
        )
        let job = try MLBoostedTreeClassifier.train(
            trainingData: table,
            targetColumn: "kind",
            parameters: MLBoostedTreeClassifier.ModelParameters(maxIterations: 1000, earlyStoppingRounds: 5),
            sessionParameters: sessionParameters
        )
        job.progress
            .publisher(for: \.fractionCompleted)
            .sink { fraction in
                guard let progress = MLProgress(progress: job.progress) else { return }
                print(fraction, progress.phase, progress.itemCount, progress.totalItemCount ?? 0, progress.elapsedTime)
                if let accuracy = progress.metrics[.accuracy] { print(accuracy) }
                if let loss = job.progress.userInfo[MLProgress.lossKey] as? Double { print(loss) }
            }
            .store(in: &subscriptions)
        job.checkpoints
            .filter { $0.phase == .training }
            .compactMap { try? MLBoostedTreeClassifier(checkpoint: $0) }
            .map(\.trainingMetrics.classificationError)
            .receive(on: DispatchQueue.main)
            .sink { print($0) }
            .store(in: &subscriptions)
        job.phase.removeDuplicates().sink { print($0) }.store(in: &subscriptions)
        job.result
            .receive(on: DispatchQueue.main)
            .sink { completion in
                if case .failure(let error) = completion { print(error.localizedDescription) }
            } receiveValue: { classifier in
                do { try classifier.write(to: directory.appendingPathComponent("Kinds.mlmodel")) } catch {
                    print(error)
                }
            }
            .store(in: &subscriptions)
        self.job = job
    }

    func stop() { job?.cancel() }

    func goOn(in directory: URL) throws {
        let session = try MLBoostedTreeClassifier.restoreTrainingSession(
            sessionParameters: MLTrainingSessionParameters(sessionDirectory: directory)
        )
        try session.removeCheckpoints { $0.iteration < session.iteration }
        print(session.phase, session.date, session.checkpoints.map(\.url))
        job = try MLBoostedTreeClassifier.resume(session)
    }
}

func explain(_ error: MLCreateError) -> String {
    switch error {
    case .cancelled: "cancelled"
    case .generic(let reason), .io(let reason), .type(let reason): reason
    case .incompatibleParameters(let parameter, let originalValue, let newValue):
        "\(parameter): \(originalValue) became \(newValue)"
    case .modifiedTrainingData: "other data"
    @unknown default: error.localizedDescription
    }
}
