import Foundation
import MLTrainingCore
import TabularData

/// The training of a tabular task.
struct TabularRun<Product: TabularTask>: TrainingRun {
    static var taskName: String { "\(Product.self)" }

    private let table: PreparedTable
    private var settings: LearnerSettings
    private let validation: MLTabularValidation
    private var learner: any TabularLearner

    init(
        _ frame: DataFrame,
        _ target: String,
        _ features: [String]?,
        _ parameters: Product.ModelParameters
    ) throws {
        table = try PreparedTable(
            frame,
            target: target,
            features: features,
            isClassifier: Product.isClassifier,
            allowsMissing: parameters.settings.allowsMissing,
            validation: parameters.validation
        )
        settings = parameters.settings
        validation = parameters.validation
        learner = try Self.learner(table, settings)
    }

    private static func learner(_ table: PreparedTable, _ settings: LearnerSettings) throws -> any TabularLearner {
        let task = try table.learnerTask()
        return try MLCreateError.translating {
            switch settings {
            case .trees(let settings): try TreeLearner(task, settings)
            case .linear(let settings): try LinearLearner(task, settings)
            }
        }
    }

    var parameters: [SessionParameter] {
        settings.compared + [
            SessionParameter("targetColumn", table.target),
            SessionParameter("featureColumns", table.layout.features.map(\.name).joined(separator: ", ")),
            SessionParameter("validation", validation),
        ]
    }

    var fingerprint: UInt64 { table.fingerprint }
    var phase: MLPhase { .training }
    var iteration: Int { learner.iteration }
    var plan: [PlannedPhase] { [PlannedPhase(.training, settings.maxIterations)] }
    var isFinished: Bool { learner.isFinished }

    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double] {
        try learner.iterate()
    }

    mutating func finish() throws -> Product {
        Product(
            try TrainedTable(table, try learner.predictor()),
            Product.ModelParameters(settings, validation)
        )
    }

    mutating func takeLimits(of other: TabularRun) {
        settings = other.settings
        learner.limit(settings.maxIterations)
    }

    // MARK: Archive

    /// The part of the choice of validation rows that is archived; a frame is not, its rows are.
    private enum ValidationChoice: Codable {
        case none
        case automatic
        case fixed(Double, Int?)
        case dataFrame
    }

    func encodedData() throws -> [UInt8] {
        var writer = CheckpointWriter()
        let choice: ValidationChoice =
            switch validation {
            case .none: .none
            case .split(.automatic): .automatic
            case .split(.fixed(let ratio, let seed)): .fixed(ratio, seed)
            case .dataFrame, .table: .dataFrame
            }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        writer.write([UInt8](try encoder.encode(settings)))
        writer.write([UInt8](try encoder.encode(choice)))
        table.encode(to: &writer)
        return writer.bytes
    }

    /// Restores a run; validation rows of a data frame come back as `.dataFrame` of an empty frame.
    init(data: [UInt8]) throws {
        var reader = CheckpointReader(data, "the session's data")
        let settingsText: [UInt8] = try reader.readArray()
        let choiceText: [UInt8] = try reader.readArray()
        let choice: ValidationChoice
        do {
            settings = try JSONDecoder().decode(LearnerSettings.self, from: Data(settingsText))
            choice = try JSONDecoder().decode(ValidationChoice.self, from: Data(choiceText))
        } catch { throw reader.damaged("the parameters: \(error)") }
        guard settings.algorithm == Product.ModelParameters.standard.algorithm else {
            throw reader.damaged("the algorithm")
        }
        table = try PreparedTable(from: &reader)
        try reader.finish()
        guard (table.labels != nil) == Product.isClassifier else { throw reader.damaged("the targets") }
        validation =
            switch choice {
            case .none: .none
            case .automatic: .split(strategy: .automatic)
            case .fixed(let ratio, let seed): .split(strategy: .fixed(ratio: ratio, seed: seed))
            case .dataFrame: .dataFrame(DataFrame())
            }
        learner = try Self.learner(table, settings)
    }

    func encodedState() throws -> [UInt8] { try learner.encodedState() }

    mutating func restore(state: [UInt8]) throws { try learner.restore(state: state) }
}
