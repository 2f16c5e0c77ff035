public import Foundation

/// The directory, the reporting and checkpoint intervals, and the limit of iterations of a training session.
public struct MLTrainingSessionParameters: Sendable {
    /// The directory for data and checkpoints, made if it is missing.
    ///
    /// With `nil`, the default, nothing is saved, and the session ends with its process.
    public let sessionDirectory: URL?
    /// The number of iterations between two progress reports, at least 1; 5 by default.
    public var reportInterval: Int
    /// The number of iterations between two checkpoints, at least 1; 10 by default.
    public var checkpointInterval: Int
    /// The maximum number of training iterations, at least 1; 1000 by default.
    ///
    /// A task whose own parameters set fewer does those. A session continues if its limit is raised before it is
    /// resumed.
    public var iterations: Int

    /// Creates session parameters; making a session throws an error if a number is below 1.
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

/// The session parameters of jobs that are given none: the defaults, without a session directory.
public let _defaultSessionParameters = MLTrainingSessionParameters()
