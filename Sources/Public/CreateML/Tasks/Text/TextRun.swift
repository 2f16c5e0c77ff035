import Foundation
import MLModels
import MLNumerics
import MLSpecification
import MLTextTraining
import MLTrainingCore
import NaturalLanguage

/// A public type that is trained on texts, pass by pass.
protocol TextTask {
    associatedtype Learner: TextLearner
    associatedtype ModelParameters: TextParameters
    associatedtype Metrics: TextMetrics

    /// The name in session folders.
    static var taskName: String { get }
    /// The plural noun for its examples.
    static var examplesName: String { get }

    /// The performance of a model on examples.
    static func metrics(_ task: TaskModel, _ examples: Learner.Examples) throws -> Metrics

    init(_ task: TaskModel, _ parameters: ModelParameters, training: Metrics, validation: Metrics)
}

extension TextTask {
    /// Holds the model against the examples.
    init(
        _ task: TaskModel,
        _ parameters: ModelParameters,
        training: Learner.Examples,
        validation: Learner.Examples?
    ) throws {
        self.init(
            task,
            parameters,
            training: try Self.metrics(task, training),
            validation: try validation.map { try Self.metrics(task, $0) }
                ?? Metrics(MLCreateError.generic(reason: "no \(Self.examplesName) were set aside for validation"))
        )
    }
}

/// The performance of a text task on examples, or the reason why it is not known.
protocol TextMetrics {
    init(_ error: any Error)
}

extension MLClassifierMetrics: TextMetrics {}
extension MLWordTaggerMetrics: TextMetrics {}

/// The examples of a text task.
protocol TextExamples: Sendable {
    func write(to writer: inout CheckpointWriter)
    /// Reads examples.
    /// - Throws: For bytes that `write(to:)` did not write; never traps.
    init(from reader: inout CheckpointReader) throws
}

/// The parameters of a text task.
package protocol TextParameters {
    /// Makes parameters of their archived form.
    /// - Throws: For an algorithm that the task does not have.
    init(_ options: TextOptions) throws
    var options: TextOptions { get }
}

/// The training of a text task.
protocol TextLearner {
    associatedtype Examples: TextExamples
    associatedtype Parameters: TextParameters

    /// The number of passes if the parameters name none.
    static var defaultPasses: Int { get }
    var passes: Int { get }
    var isFinished: Bool { get }

    /// Prepares training.
    /// - Parameters:
    ///   - training: The training examples.
    ///   - validation: The validation examples, whose labels are learned, too.
    ///   - parameters: The parameters.
    /// - Throws: For examples and parameters that cannot be used.
    init(_ training: Examples, validation: Examples?, _ parameters: Parameters) throws

    /// Changes the number of passes, at least 1.
    func limit(passes: Int)
    /// Does one pass and returns its metrics.
    /// - Parameter measuresValidation: Whether the validation data are evaluated, too.
    /// - Returns: The metrics.
    /// - Throws: The errors of evaluation.
    func step(measuresValidation: Bool) throws -> [MLProgress.Metric: Double]
    func specification() throws -> SpecModel
    /// The state that changes from pass to pass.
    var state: [UInt8] { get }
    /// Restores a state.
    /// - Throws: If the bytes are not a state for these examples; never traps.
    func resume(_ state: [UInt8]) throws
}

/// The parameters of a text task as a session keeps them.
package struct TextOptions: Codable, Hashable, Sendable {
    package enum Algorithm: String, Codable, Sendable {
        case crf, maxEnt, transferLearning
    }

    package var algorithm: Algorithm
    package var revision: Int?
    /// The file of the word embedding for transfer learning.
    package var embedding: String?
    /// A BCP 47 tag.
    package var language: String?
    package var maxIterations: Int?

    package init(algorithm: Algorithm, revision: Int? = nil) {
        self.algorithm = algorithm
        self.revision = revision
    }
}

/// The training of a text task; a step is a pass over the examples.
///
/// The examples are kept with the session; a word embedding for transfer learning is not, so its file must exist when
/// the session is resumed.
struct TextRun<Task: TextTask>: TrainingRun where Task.Learner.Parameters == Task.ModelParameters {
    typealias Examples = Task.Learner.Examples

    static var taskName: String { Task.taskName }

    private let training: Examples
    private let validation: Examples?
    private var modelParameters: Task.ModelParameters
    private let measuresValidation: Bool
    private var learner: Task.Learner?

    /// Prepares training.
    /// - Parameters:
    ///   - training: The training examples.
    ///   - validation: The validation examples.
    ///   - parameters: The parameters.
    ///   - measuresValidation: Whether every pass evaluates the validation data.
    /// - Throws: For examples and parameters that cannot be used.
    init(
        _ training: Examples,
        _ validation: Examples?,
        _ parameters: Task.ModelParameters,
        measuresValidation: Bool
    ) throws {
        self.training = training
        self.validation = validation
        modelParameters = parameters
        self.measuresValidation = measuresValidation
        // Made before a session begins, so that unusable data start none.
        _ = try current()
    }

    /// The learner, made on first use.
    private mutating func current() throws -> Task.Learner {
        if let learner { return learner }
        let created = try MLCreateError.translating {
            try Task.Learner(training, validation: validation, modelParameters)
        }
        learner = created
        return created
    }

    var parameters: [SessionParameter] {
        let options = modelParameters.options
        return [
            SessionParameter("algorithm", options.algorithm.rawValue),
            SessionParameter("embedding", options.embedding ?? "none"),
            SessionParameter("language", options.language ?? "none"),
        ]
    }

    /// The fingerprint of the examples.
    var fingerprint: UInt64 {
        var writer = CheckpointWriter()
        write(&writer)
        return Fingerprint.of(writer.bytes, .wideProduct)
    }

    var phase: MLPhase { .training }
    var iteration: Int { learner?.passes ?? 0 }
    var plan: [PlannedPhase] {
        [PlannedPhase(.training, modelParameters.options.maxIterations ?? Task.Learner.defaultPasses)]
    }
    var isFinished: Bool { learner?.isFinished ?? false }

    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double] {
        let learner = try current()
        try cancellation.check()
        return try MLCreateError.translating { try learner.step(measuresValidation: measuresValidation) }
    }

    mutating func takeLimits(of other: TextRun) {
        modelParameters = other.modelParameters
        learner?.limit(passes: modelParameters.options.maxIterations ?? Task.Learner.defaultPasses)
    }

    mutating func finish() throws -> Task {
        let learner = try current()
        let task = try MLCreateError.translating { try TaskModel(learner.specification().marked) }
        return try Task(task, modelParameters, training: training, validation: validation)
    }

    // MARK: Archive

    private func write(_ writer: inout CheckpointWriter) {
        training.write(to: &writer)
        writer.write(validation) { $1.write(to: &$0) }
    }

    func encodedData() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write([UInt8](try JSONEncoder.sorted.encode(modelParameters.options)))
        write(&writer)
        return writer.bytes
    }

    init(data: [UInt8]) throws {
        var reader = CheckpointReader(data, "the session's training data")
        let text: [UInt8] = try reader.readArray()
        do {
            modelParameters = try Task.ModelParameters(JSONDecoder().decode(TextOptions.self, from: Data(text)))
        } catch { throw reader.damaged("the parameters: \(error)") }
        training = try Examples(from: &reader)
        validation = try reader.readOptional { try Examples(from: &$0) }
        try reader.finish()
        measuresValidation = true
    }

    func encodedState() throws -> [UInt8] { learner?.state ?? [] }

    mutating func restore(state: [UInt8]) throws {
        guard !state.isEmpty else {
            learner = nil
            return
        }
        let learner = try current()
        try MLCreateError.translating { try learner.resume(state) }
    }
}
