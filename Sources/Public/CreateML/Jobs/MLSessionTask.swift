/// A task that can be trained in the background, in a session that is saved and resumed.
///
/// It is for functions over several tasks. Other types cannot conform to it usefully.
public protocol MLSessionTask {
    /// Makes the model of a checkpoint.
    /// - Parameter checkpoint: A checkpoint of the phase `.training`, in its session directory.
    /// - Throws: `MLCreateError` if the checkpoint is missing, damaged, or of another task or phase.
    init(checkpoint: MLCheckpoint) throws
    /// Restores the session in the session directory with the data that it was started with.
    /// - Parameter sessionParameters: Session parameters with a directory.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError` if there is no directory, if its session is missing, damaged or of another task, and if a
    ///   network that training needs was removed or changed.
    static func restoreTrainingSession(
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<Self>
    /// Starts or resumes the training of a session in the background.
    /// - Parameter session: A session that no job is training.
    /// - Returns: The running job.
    /// - Throws: `MLCreateError` if a job is training the session, or its checkpoint cannot be read.
    static func resume(_ session: MLTrainingSession<Self>) throws -> MLJob<Self>
}

/// A task that is the product of a run.
protocol SessionTask: MLSessionTask {
    associatedtype Run: TrainingRun where Run.Product == Self
}

extension SessionTask {
    /// Makes the model of a checkpoint.
    public init(checkpoint: MLCheckpoint) throws {
        self = try MLTrainingSession<Self>.product(of: checkpoint, Run.self)
    }

    /// Restores the session in the session directory with the data that it was started with.
    public static func restoreTrainingSession(
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<Self> {
        try MLTrainingSession(restoring: Run.self, sessionParameters)
    }

    /// Starts or resumes the training of a session in the background.
    public static func resume(_ session: MLTrainingSession<Self>) throws -> MLJob<Self> { try session.resume() }
}
