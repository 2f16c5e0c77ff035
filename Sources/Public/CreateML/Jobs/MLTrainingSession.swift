public import Foundation

/// A training that can be interrupted and resumed; its state is in memory and, with a session directory, on disk.
///
/// `@unchecked Sendable`: mutable state is guarded by a lock, and one job at a time uses the run.
public final class MLTrainingSession<Task>: @unchecked Sendable {
    /// The session's directory, intervals and limit of iterations.
    public let parameters: MLTrainingSessionParameters

    private let lock = NSRecursiveLock()
    private let folder: SessionFolder?
    /// The folder of the pictures of a session without a directory.
    private let temporary = SessionFolder(
        url: URL(fileURLWithPath: NSTemporaryDirectory(), isDirectory: true)
            .appendingPathComponent("CreateML-" + UUID().uuidString, isDirectory: true)
    )
    private let taskName: String
    private let fingerprint: UInt64
    private let restored: (SessionFolder, MLCheckpoint?) throws -> any TrainingRun<Task>
    /// The run of a checkpoint with the limits of another run.
    private let adopted: (SessionFolder, MLCheckpoint, any TrainingRun<Task>) throws -> any TrainingRun<Task>
    /// The run; `nil` while a job has it, and when it must be read from the folder first.
    private var run: (any TrainingRun<Task>)?
    private var isTraining = false
    private var state: State

    private struct State {
        var date = Date()
        var phase = MLPhase.initialized
        var iteration = 0
        var checkpoints: [MLCheckpoint] = []
    }

    /// The time at which the session was started.
    public var date: Date { lock.withLock { state.date } }
    /// The phase that was worked on last.
    public var phase: MLPhase { lock.withLock { state.phase } }
    /// The number of iterations of the phase that are done.
    public var iteration: Int { lock.withLock { state.iteration } }
    /// The checkpoints in the order in which they were saved.
    public var checkpoints: [MLCheckpoint] { lock.withLock { state.checkpoints } }

    /// A new session, or the one in the session directory, which must have the same task, data and parameters.
    /// - Throws: `MLCreateError.modifiedTrainingData` or `.incompatibleParameters` for a session of other data or
    ///   parameters, and `.io` for a damaged folder.
    package init<Run: TrainingRun>(_ run: Run, _ parameters: MLTrainingSessionParameters) throws
    where Run.Product == Task {
        try parameters.validate()
        self.parameters = parameters
        taskName = Run.taskName
        fingerprint = run.fingerprint
        restored = { folder, checkpoint in try Self.read(Run.self, folder, checkpoint) }
        adopted = { folder, checkpoint, own in try Self.read(Run.self, folder, checkpoint, limitsOf: own) }
        state = State()
        folder = parameters.sessionDirectory.map(SessionFolder.init)
        guard let folder else {
            self.run = run
            return
        }
        guard folder.exists else {
            let description = SessionFolder.Description(
                task: Run.taskName,
                phase: run.phase,
                date: state.date,
                fingerprint: String(fingerprint, radix: 16),
                parameters: run.parameters.map { [$0.name, $0.value] }
            )
            try folder.begin(description, try run.encodedData())
            self.run = run
            return
        }
        let description = try folder.readDescription()
        try Self.check(description, run, folder)
        try folder.clean()
        state.date = description.date
        state.checkpoints = try folder.checkpoints(of: Run.taskName)
        let last = state.checkpoints.last
        if let last { (state.phase, state.iteration) = (last.phase, last.iteration) }
        // The session keeps the data that it began with, as they may come from a random split.
        var restored = try Self.read(Run.self, folder, last)
        restored.takeLimits(of: run)
        self.run = restored
        try folder.write(try restored.encodedData(), of: restored.phase)
    }

    /// The session in the session directory.
    package init<Run: TrainingRun>(restoring _: Run.Type, _ parameters: MLTrainingSessionParameters) throws
    where Run.Product == Task {
        try parameters.validate()
        guard let directory = parameters.sessionDirectory else {
            throw MLCreateError.generic(reason: "the session parameters name no sessionDirectory to restore from")
        }
        let folder = SessionFolder(url: directory)
        let description = try folder.readDescription()
        guard description.task == Run.taskName else {
            throw Self.otherTask(folder, description, Run.taskName)
        }
        guard let fingerprint = UInt64(description.fingerprint, radix: 16) else {
            throw MLCreateError.io(reason: "the session in \(directory.path) is damaged; use another directory")
        }
        try folder.clean()
        self.parameters = parameters
        self.folder = folder
        self.fingerprint = fingerprint
        taskName = Run.taskName
        restored = { folder, checkpoint in try Self.read(Run.self, folder, checkpoint) }
        adopted = { folder, checkpoint, own in try Self.read(Run.self, folder, checkpoint, limitsOf: own) }
        state = State(date: description.date, checkpoints: try folder.checkpoints(of: Run.taskName))
        if let last = state.checkpoints.last { (state.phase, state.iteration) = (last.phase, last.iteration) }
        let run = try Self.read(Run.self, folder, state.checkpoints.last)
        self.run = run
    }

    /// The product of a checkpoint.
    package static func product<Run: TrainingRun>(of checkpoint: MLCheckpoint, _: Run.Type) throws -> Task
    where Run.Product == Task {
        try MLCreateError.translating {
            let folder = SessionFolder.of(checkpoint)
            let description = try folder.readDescription()
            guard description.task == Run.taskName else { throw otherTask(folder, description, Run.taskName) }
            guard checkpoint.phase == .training else {
                throw MLCreateError.generic(
                    reason: "the checkpoint is of the phase \(checkpoint.phase), in which there is no model yet"
                )
            }
            var run = try read(Run.self, folder, checkpoint)
            return try run.finish()
        }
    }

    private static func otherTask(
        _ folder: SessionFolder,
        _ description: SessionFolder.Description,
        _ task: String
    ) -> MLCreateError {
        .generic(
            reason: "the session in \(folder.url.path) trains \(description.task), not \(task); use another directory"
        )
    }

    private static func check<Run: TrainingRun>(
        _ description: SessionFolder.Description,
        _ run: Run,
        _ folder: SessionFolder
    ) throws {
        guard description.task == Run.taskName else { throw otherTask(folder, description, Run.taskName) }
        for parameter in run.parameters {
            let original = description.parameters.first { $0[0] == parameter.name }?[1]
            guard original != parameter.value else { continue }
            throw MLCreateError.incompatibleParameters(
                parameter: parameter.name,
                originalValue: original ?? "none",
                newValue: parameter.value
            )
        }
        guard description.fingerprint == String(run.fingerprint, radix: 16) else {
            throw MLCreateError.modifiedTrainingData
        }
    }

    private static func state(
        _ checkpoint: MLCheckpoint,
        of folder: SessionFolder,
        _ task: String,
        _ fingerprint: UInt64
    ) throws -> [UInt8] {
        let (state, mark) = try folder.state(of: checkpoint, task: task)
        guard mark == String(fingerprint, radix: 16) else {
            throw MLCreateError.io(
                reason: "the checkpoint \(checkpoint.url.path) belongs to other training data; remove it"
            )
        }
        return state
    }

    private static func read<Run: TrainingRun>(
        _: Run.Type,
        _ folder: SessionFolder,
        _ checkpoint: MLCheckpoint?
    ) throws -> Run where Run.Product == Task {
        try MLCreateError.translating {
            let description = try folder.readDescription()
            guard let checkpoint else { return try Run(data: try folder.readData(of: description.phase)) }
            var run = try Run(data: try folder.readData(of: checkpoint.phase))
            guard let fingerprint = UInt64(description.fingerprint, radix: 16) else {
                throw MLCreateError.io(reason: "the session in \(folder.url.path) is damaged; use another directory")
            }
            try run.restore(state: try state(checkpoint, of: folder, Run.taskName, fingerprint))
            guard run.phase == checkpoint.phase, run.iteration == checkpoint.iteration else {
                throw MLCreateError.io(
                    reason: "the checkpoint \(checkpoint.url.path) is damaged (it holds iteration \(run.iteration)); "
                        + "remove it, and the one before it is used"
                )
            }
            return run
        }
    }

    private static func read<Run: TrainingRun>(
        _: Run.Type,
        _ folder: SessionFolder,
        _ checkpoint: MLCheckpoint,
        limitsOf own: any TrainingRun<Task>
    ) throws -> any TrainingRun<Task> where Run.Product == Task {
        var run = try read(Run.self, folder, checkpoint)
        if let own = own as? Run { run.takeLimits(of: own) }
        return run
    }

    /// Removes the checkpoints for which `predicate` is true; the session then continues from the last one that is
    /// left.
    /// - Parameter predicate: Whether a checkpoint is removed.
    /// - Throws: `MLCreateError.generic` while a job trains the session, and `.io` if a file cannot be removed.
    public func removeCheckpoints(_ predicate: (MLCheckpoint) -> Bool) throws {
        try lock.withLock {
            guard !isTraining else {
                throw MLCreateError.generic(
                    reason: "the session is training; cancel its job before you remove checkpoints"
                )
            }
            guard let folder else { return }
            let last = state.checkpoints.last?.url
            defer {
                if state.checkpoints.last?.url != last {
                    run = nil
                    state.phase = state.checkpoints.last?.phase ?? .initialized
                    state.iteration = state.checkpoints.last?.iteration ?? 0
                }
            }
            for checkpoint in state.checkpoints where predicate(checkpoint) {
                try folder.remove(checkpoint)
                state.checkpoints.removeAll { $0.url == checkpoint.url }
            }
        }
    }

    /// Takes over the features that another session extracted from the same data.
    /// - Parameter session: A session that has started to train and has a directory.
    /// - Throws: `MLCreateError.modifiedTrainingData` if the data differ; `.generic` if a session has no directory, the
    ///   other one has no features yet, or this one is already training.
    public func reuseExtractedFeatures(from session: MLTrainingSession<Task>) throws {
        try lock.withLock {
            guard fingerprint == session.fingerprint else { throw MLCreateError.modifiedTrainingData }
            guard let folder, let source = session.folder else {
                throw MLCreateError.generic(reason: "features are reused between sessions that have directories")
            }
            guard let features = session.checkpoints.last(where: { $0.phase == .training }) else {
                throw MLCreateError.generic(reason: "the other session has not extracted its features yet")
            }
            guard !isTraining, state.checkpoints.allSatisfy({ $0.phase != .training }) else {
                throw MLCreateError.generic(reason: "this session is training already; make a new one")
            }
            let first = session.checkpoints.first { $0.phase == .training && $0.iteration == 0 } ?? features
            guard first.iteration == 0 else {
                throw MLCreateError.generic(
                    reason: "the other session's checkpoint of its features was removed; extract them again"
                )
            }
            try folder.write(try source.readData(of: .training), of: .training)
            let state = try source.state(of: first, task: taskName).state
            self.state.checkpoints.append(
                try folder.save(
                    state,
                    task: taskName,
                    fingerprint: fingerprint,
                    phase: .training,
                    iteration: 0,
                    metrics: [:]
                )
            )
            (self.state.phase, self.state.iteration) = (.training, 0)
            // The features are the other session's, the parameters that may differ this one's.
            guard let own = run, let checkpoint = self.state.checkpoints.last else {
                run = nil
                return
            }
            let taken = try adopted(folder, checkpoint, own)
            try folder.write(try taken.encodedData(), of: taken.phase)
            run = taken
        }
    }

    // MARK: For jobs

    /// Starts or resumes training.
    package func resume() throws -> MLJob<Task> { try MLJob(self) }

    /// The run, which the caller owns until it calls `give`.
    func take() throws -> any TrainingRun<Task> {
        try lock.withLock {
            guard !isTraining else {
                throw MLCreateError.generic(reason: "the session is training already; wait for its job or cancel it")
            }
            let taken: any TrainingRun<Task>
            if let run {
                taken = run
            } else if let folder {
                taken = try restored(folder, state.checkpoints.last)
            } else {
                throw MLCreateError.generic(
                    reason: "training failed, and the session has no directory to continue from; make a new session"
                )
            }
            run = nil
            isTraining = true
            return taken
        }
    }

    /// Takes the run back; `nil` if it failed and must not be used again.
    func give(_ run: (any TrainingRun<Task>)?) {
        lock.withLock {
            self.run = run
            isTraining = false
        }
    }

    func note(_ phase: MLPhase, _ iteration: Int) {
        lock.withLock { (state.phase, state.iteration) = (phase, iteration) }
    }

    /// Writes a picture of the progress: beside the checkpoints, or without a directory in a temporary one.
    func write(_ picture: [UInt8], of phase: MLPhase, iteration: Int) throws -> URL {
        try (folder ?? temporary).write(picture, of: phase, iteration: iteration)
    }

    /// Saves the state of a run if there is a folder and the last checkpoint is of an earlier iteration.
    func save(
        _ run: any TrainingRun<Task>,
        metrics: [MLProgress.Metric: Any],
        hasNewData: Bool = false
    ) throws -> MLCheckpoint? {
        guard let folder else { return nil }
        if let last = checkpoints.last, last.phase == run.phase, last.iteration == run.iteration { return nil }
        if hasNewData { try folder.write(try run.encodedData(), of: run.phase) }
        let checkpoint = try folder.save(
            try run.encodedState(),
            task: taskName,
            fingerprint: fingerprint,
            phase: run.phase,
            iteration: run.iteration,
            metrics: metrics
        )
        lock.withLock { state.checkpoints.append(checkpoint) }
        return checkpoint
    }
}
