import Foundation
import MLDetectionTraining
import MLNumerics
import TabularData

extension MLObjectDetector {
    /// Starts to train in the background, or resumes the session in the session directory.
    /// - Parameters:
    ///   - trainingData: The pictures and their annotations.
    ///   - annotationType: The form of the annotations.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: DataSource,
        annotationType: AnnotationType,
        parameters: ModelParameters = ModelParameters(),
        sessionParameters: MLTrainingSessionParameters = __Defaults.sessionParameters
    ) throws -> MLJob<MLObjectDetector> {
        try resume(
            makeTrainingSession(
                trainingData: trainingData,
                annotationType: annotationType,
                parameters: parameters,
                sessionParameters: sessionParameters
            )
        )
    }

    /// Makes a training session, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The pictures and their annotations.
    ///   - annotationType: The form of the annotations.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other data or parameters, and the errors of training.
    public static func makeTrainingSession(
        trainingData: DataSource,
        annotationType: AnnotationType,
        parameters: ModelParameters = ModelParameters(),
        sessionParameters: MLTrainingSessionParameters = __Defaults.sessionParameters
    ) throws -> MLTrainingSession<MLObjectDetector> {
        try MLTrainingSession(run(trainingData, annotationType, parameters), sessionParameters)
    }

    static func run(
        _ source: DataSource,
        _ annotationType: AnnotationType,
        _ parameters: ModelParameters
    ) throws -> ObjectRun {
        guard parameters.gridSize == CGSize(width: 13, height: 13) else {
            throw MLCreateError.generic(
                reason:
                    "gridSize is \(Int(parameters.gridSize.width)) × \(Int(parameters.gridSize.height)); only the default "
                    + "of 13 × 13 is accepted, as the network here has a grid of its own"
            )
        }
        let form = BoxForm(annotationType)
        var revision: Int?
        if case .transferLearning(.objectPrint(let number)) = parameters.algorithm { revision = number }
        let settings = ObjectSettings(
            batchSize: parameters.batchSize ?? DetectionSettings.defaultBatchSize,
            iterations: parameters.maxIterations,
            revision: revision,
            form: form,
            learned: parameters.featureLearningCause,
            mirrorsImages: parameters.mirrorsImages,
            turnsImages: parameters.turnsImages,
            extractors: parameters.extractors
        )
        try MLCreateError.translating {
            try DetectionSettings(
                iterations: settings.iterations ?? 1,
                batchSize: settings.batchSize,
                labelCount: 1
            ).validate()
        }
        var training = try source.pictures(form)
        guard !training.isEmpty else {
            throw MLCreateError.generic(reason: "there are no images to train on; add some")
        }
        var validation: [AnnotatedPicture] = []
        switch parameters.validation {
        case .none: break
        case .dataFrame(let frame, let image, let annotations):
            validation = try ObjectCells.pictures(frame, image, annotations, form)
        case .table(let table, let image, let annotations):
            validation = try ObjectCells.pictures(table.dataFrame(), image, annotations, form)
        case .dataSource(let other): validation = try other.pictures(form)
        case .split(let strategy):
            let parts = try strategy.split(count: training.count)
            validation = parts.validation.map { training[$0] }
            training = parts.training.map { training[$0] }
        }
        return try ObjectRun(
            settings,
            ObjectPictures(
                training.map { .init(picture: $0, isValidation: false) }
                    + validation.map { .init(picture: $0, isValidation: true) }
            )
        )
    }
}
