// How apps train on key points, sounds and tables of Create ML, against its own declarations: compiles on Apple's platforms,
// too.
import CoreML
import CreateML
import Foundation
import TabularData

func trainHandActions(_ folder: URL, _ frame: DataFrame) throws -> MLJob<MLHandActionClassifier> {
    let parameters = MLHandActionClassifier.ModelParameters(
        validation: .split(strategy: .automatic),
        batchSize: 8,
        maximumIterations: 3,
        predictionWindowSize: 30,
        augmentationOptions: [.rotate, .horizontallyFlip],
        algorithm: .gcn,
        targetFrameRate: 15
    )
    let algorithm: MLHandActionClassifier.ModelParameters.ModelAlgorithmType = parameters.algorithm
    let source = MLHandActionClassifier.DataSource.labeledKeypointsDataFrame(frame, labelColumn: "gesture")
    if case .dataSource(let other) = parameters.validation { print(try other.labeledMedia(), algorithm) }
    var classifier = try MLHandActionClassifier(trainingData: source, parameters: parameters)
    classifier.trainingMetrics = try classifier.evaluation(on: source)
    let predictions: [[MLHandActionClassifier.Prediction]] = try classifier.predictions(from: [folder])
    print(predictions.first?.first?.frameRange ?? 0..<0, classifier.modelParameters.predictionWindowSize)
    try classifier.write(toFile: "Gestures.mlmodel", metadata: MLModelMetadata(author: "Jane"))
    let session = try MLHandActionClassifier.makeTrainingSession(trainingData: .labeledFiles(at: folder))
    return try MLHandActionClassifier.resume(session)
}

func trainHandPoses(_ folder: URL, _ frame: DataFrame) throws -> [(label: String, confidence: Double)] {
    let parameters = MLHandPoseClassifier.ModelParameters(maximumIterations: 4, augmentationOptions: [.scale])
    let classifier = try MLHandPoseClassifier(trainingData: .labeledImageDataFrame(frame), parameters: parameters)
    try classifier.write(to: folder.appendingPathComponent("Signs.mlmodel"))
    return try classifier.prediction(from: folder)
}

func trainActions(_ folder: URL, _ checkpoint: MLCheckpoint) throws -> MLJob<MLActionClassifier> {
    var parameters = MLActionClassifier.ModelParameters()
    parameters.targetFrameRate = 10
    parameters.augmentationOptions.remove(.horizontalFlip)
    parameters.algorithm = .stgcn
    parameters.validation = .dataSource(.labeledDirectories(at: folder))
    print(try MLActionClassifier(checkpoint: checkpoint).model)
    return try MLActionClassifier.train(
        trainingData: .directoryWithVideosAndAnnotation(
            at: folder,
            annotationFile: folder.appendingPathComponent("labels.csv"),
            videoColumn: "video",
            labelColumn: "action"
        ),
        parameters: parameters
    )
}

func trainSounds(_ files: [String: [URL]], _ folder: URL) throws -> MLJob<MLSoundClassifier> {
    let classifier = try MLSoundClassifier(
        trainingData: .labeledDirectories(at: folder),
        parameters: MLSoundClassifier.ModelParameters(maxIterations: 2)
    )
    print(try MLSoundClassifier(trainingData: files), MLSoundClassifier.ModelParameters(), classifier)
    return try MLSoundClassifier.train(trainingData: .labeledFiles(at: folder))
}

func selectRows(_ table: MLDataTable) -> MLDataTable {
    print(table["area"][2...].prefix(), table[1..<3].suffix(1))
    return table[table["area"] > 3].prefix(5)
}
