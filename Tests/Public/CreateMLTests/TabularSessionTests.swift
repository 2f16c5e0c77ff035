import CreateML
import Foundation
import TabularData
import Testing

@Suite struct TabularSessionTests {
    func frame(_ rows: Int = 300) -> DataFrame {
        var maker = TableMaker(seed: 3)
        return maker.frame(rows: rows, holes: 0.05)
    }

    func bytes<T: MLTabularTask>(_ task: T, _ folder: TemporaryFolder) throws -> Data {
        let file = folder.file("\(UUID().uuidString).mlmodel")
        try task.write(to: file)
        return try Data(contentsOf: file)
    }

    /// Trains whole, and in parts of one, three and the remaining iterations, each of a session that is restored anew.
    func interrupted<T: MLTabularJobTask>(_: T.Type, _ target: String, _ parameters: T.ModelParameters) async throws {
        let (folder, frame, features) = (try TemporaryFolder(), frame(), TableMaker.features)
        let whole = try T(
            trainingData: frame,
            targetColumn: target,
            featureColumns: features,
            parameters: parameters
        )
        func session(_ iterations: Int) -> MLTrainingSessionParameters {
            MLTrainingSessionParameters(
                sessionDirectory: folder.file("session"),
                reportInterval: 1,
                checkpointInterval: 2,
                iterations: iterations
            )
        }
        let first = try await T.train(
            trainingData: frame,
            targetColumn: target,
            featureColumns: features,
            parameters: parameters,
            sessionParameters: session(1)
        ).value
        #expect(try bytes(first, folder) != bytes(whole, folder))
        let second = try T.restoreTrainingSession(sessionParameters: session(4))
        #expect(second.iteration == 1)
        _ = try await T.resume(second).value
        #expect(second.checkpoints.map(\.iteration) == [1, 2, 4])
        let third = try T.makeTrainingSession(
            trainingData: frame,
            targetColumn: target,
            featureColumns: features,
            parameters: parameters,
            sessionParameters: session(1000)
        )
        let last = try await T.resume(third).value
        #expect(try bytes(last, folder) == bytes(whole, folder))
        #expect(last.modelParameters.description == whole.modelParameters.description)
        let checkpoint = try #require(third.checkpoints.first { $0.iteration == 1 })
        #expect(try bytes(T(checkpoint: checkpoint), folder) == bytes(first, folder))
    }

    @Test func `Boosted trees go on to the same model`() async throws {
        try await interrupted(
            MLBoostedTreeClassifier.self,
            "kind",
            .init(maxIterations: 9, rowSubsample: 0.7, columnSubsample: 0.6)
        )
    }

    @Test func `Boosted trees that stop early go on to the same model`() async throws {
        try await interrupted(
            MLBoostedTreeRegressor.self,
            "price",
            .init(
                validation: .split(strategy: .fixed(ratio: 0.3, seed: 5)),
                maxDepth: 3,
                maxIterations: 60,
                earlyStoppingRounds: 2
            )
        )
    }

    @Test func `A decision tree goes on with another seed, which it does not use`() async throws {
        let (folder, frame) = (try TemporaryFolder(), frame())
        func train(_ seed: Int, depth: Int = 6) async throws -> MLDecisionTreeRegressor {
            try await MLDecisionTreeRegressor.train(
                trainingData: frame,
                targetColumn: "price",
                featureColumns: TableMaker.features,
                parameters: .init(validation: .none, maxDepth: depth, randomSeed: seed),
                sessionParameters: MLTrainingSessionParameters(sessionDirectory: folder.file("s"))
            ).value
        }
        let (one, two) = (try await train(1), try await train(2))
        #expect(try bytes(one, folder) == bytes(two, folder))
        #expect(two.modelParameters.randomSeed == 2)
        await #expect(throws: MLCreateError.self) { try await train(1, depth: 5) }
        // So it is without a session.
        let seeds = try [1, 2].map { seed in
            try bytes(
                MLDecisionTreeRegressor(
                    trainingData: frame,
                    targetColumn: "price",
                    featureColumns: TableMaker.features,
                    parameters: .init(validation: .none, randomSeed: seed)
                ),
                folder
            )
        }
        #expect(seeds[0] == seeds[1])
    }

    @Test func `A forest goes on to the same model`() async throws {
        try await interrupted(MLRandomForestRegressor.self, "price", .init(validation: .none, maxIterations: 7))
        try await interrupted(MLRandomForestClassifier.self, "code", .init(maxIterations: 6))
    }

    @Test func `A linear model goes on to the same model`() async throws {
        var maker = TableMaker(seed: 3)
        let frame = maker.frame(rows: 300)
        let folder = try TemporaryFolder()
        let parameters = MLLogisticRegressionClassifier.ModelParameters(maxIterations: 8, convergenceThreshold: 0)
        let whole = try MLLogisticRegressionClassifier(
            trainingData: frame,
            targetColumn: "kind",
            featureColumns: TableMaker.features,
            parameters: parameters
        )
        func session(_ iterations: Int) -> MLTrainingSessionParameters {
            MLTrainingSessionParameters(sessionDirectory: folder.file("s"), iterations: iterations)
        }
        _ = try await MLLogisticRegressionClassifier.train(
            trainingData: frame,
            targetColumn: "kind",
            featureColumns: TableMaker.features,
            parameters: parameters,
            sessionParameters: session(3)
        ).value
        let rest = try MLLogisticRegressionClassifier.restoreTrainingSession(sessionParameters: session(1000))
        #expect(rest.iteration == 3)
        #expect(try await bytes(MLLogisticRegressionClassifier.resume(rest).value, folder) == bytes(whole, folder))
    }

    @Test func `More rounds than before may be asked for, other parameters and data may not`() async throws {
        let (folder, frame) = (try TemporaryFolder(), frame())
        let session = MLTrainingSessionParameters(sessionDirectory: folder.file("s"))
        func train(_ frame: DataFrame, _ parameters: MLBoostedTreeRegressor.ModelParameters) throws
            -> MLJob<MLBoostedTreeRegressor>
        {
            try MLBoostedTreeRegressor.train(
                trainingData: frame,
                targetColumn: "price",
                featureColumns: TableMaker.features,
                parameters: parameters,
                sessionParameters: session
            )
        }
        _ = try await train(frame, .init(validation: .none, maxIterations: 3)).value
        let more = try await train(frame, .init(validation: .none, maxIterations: 8)).value
        let whole = try MLBoostedTreeRegressor(
            trainingData: frame,
            targetColumn: "price",
            featureColumns: TableMaker.features,
            parameters: .init(validation: .none, maxIterations: 8)
        )
        #expect(try bytes(more, folder) == bytes(whole, folder))
        #expect(more.modelParameters.maxIterations == 8)
        #expect {
            try train(frame, .init(validation: .none, maxDepth: 3, maxIterations: 8))
        } throws: {
            guard case MLCreateError.incompatibleParameters("maxDepth", "6", "3") = $0 else { return false }
            return true
        }
        #expect {
            try train(self.frame(301), .init(validation: .none, maxIterations: 8))
        } throws: {
            if case MLCreateError.modifiedTrainingData = $0 { true } else { false }
        }
        #expect(throws: MLCreateError.self) {
            try MLDecisionTreeRegressor.restoreTrainingSession(sessionParameters: session)
        }
    }

    @Test func `Progress of boosting lessens the loss`() async throws {
        let job = try MLBoostedTreeClassifier.train(
            trainingData: frame(),
            targetColumn: "kind",
            featureColumns: TableMaker.features,
            parameters: .init(maxIterations: 12),
            sessionParameters: MLTrainingSessionParameters(reportInterval: 1)
        )
        let task = try await job.value
        let progress = try #require(MLProgress(progress: job.progress))
        let accuracy = try #require(progress.metrics[.accuracy] as? Double)
        #expect(abs(accuracy - (1 - task.trainingMetrics.classificationError)) < 1e-9)
        let validated = try #require(progress.metrics[.validationAccuracy] as? Double)
        #expect(abs(validated - (1 - task.validationMetrics.classificationError)) < 1e-9)
    }

    /// Every file of a session cut short or changed: an error or a session that is whole, never a trap.
    @Test func `Damaged sessions are refused`() async throws {
        let (folder, frame) = (try TemporaryFolder(), frame(40))
        let parameters = MLTrainingSessionParameters(sessionDirectory: folder.file("s"), checkpointInterval: 2)
        _ = try await MLBoostedTreeClassifier.train(
            trainingData: frame,
            targetColumn: "kind",
            featureColumns: TableMaker.features,
            parameters: .init(validation: .none, maxDepth: 2, maxIterations: 2),
            sessionParameters: parameters
        ).value
        var maker = TableMaker(seed: 11)
        var refused = 0
        for name in ["session.json", "training.data", "checkpoints/training-00000002.checkpoint"] {
            let file = folder.file("s/" + name)
            let bytes = try Data(contentsOf: file)
            for trial in 0..<300 {
                var changed = bytes
                if trial % 3 == 0 {
                    changed = bytes.prefix(maker.integer(bytes.count))
                } else {
                    for _ in 0...trial % 4 { changed[maker.integer(bytes.count)] = UInt8(maker.integer(256)) }
                }
                try changed.write(to: file)
                do {
                    let session = try MLBoostedTreeClassifier.restoreTrainingSession(sessionParameters: parameters)
                    if let checkpoint = session.checkpoints.last {
                        _ = try MLBoostedTreeClassifier(checkpoint: checkpoint)
                    }
                } catch is MLCreateError {
                    refused += 1
                }
            }
            try bytes.write(to: file)
        }
        #expect(refused > 450)
    }
}
