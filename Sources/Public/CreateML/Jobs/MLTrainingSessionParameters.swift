public import Foundation

/// Where a training session keeps what it did, how often it reports and saves, and how long it goes on.
public struct MLTrainingSessionParameters: Sendable {
    /// The folder of checkpoints; made when it is missing.  Without one nothing is saved, and a session ends with its
    /// process.
    public let sessionDirectory: URL?
    /// Iterations between two reports.
    public var reportInterval: Int
    /// Iterations between two checkpoints.
    public var checkpointInterval: Int
    /// The most iterations of training; a task whose parameters ask for fewer does those.  A session whose limit is
    /// raised before it is resumed goes on.
    public var iterations: Int

    public init(
        sessionDirectory: URL? = nil,
        reportInterval: Int = 5,
        checkpointInterval: Int = 10,
        iterations: Int = 1000
    ) {
        self.sessionDirectory = sessionDirectory
        self.reportInterval = reportInterval
        self.checkpointInterval = checkpointInterval
        self.iterations = iterations
    }

    func validate() throws {
        for (name, value) in [
            ("reportInterval", reportInterval), ("checkpointInterval", checkpointInterval), ("iterations", iterations),
        ] where value < 1 {
            throw MLCreateError.generic(reason: "the session's \(name) is \(value); it must be at least 1")
        }
    }
}

/// The session parameters of jobs for which none are passed.
public let _defaultSessionParameters = MLTrainingSessionParameters()
