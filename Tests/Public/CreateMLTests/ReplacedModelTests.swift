import CoreML
import CreateML
import Foundation
import TabularData
import Testing

/// The common behaviour of tasks with a model that can be set.
private protocol WritableTask {
    var model: MLModel { get set }
    func write(to fileURL: URL, metadata: MLModelMetadata?) throws
    func write(toFile path: String, metadata: MLModelMetadata?) throws
}

extension MLDecisionTreeRegressor: WritableTask {}
extension MLRecommender: WritableTask {}
extension MLGazetteer: WritableTask {}
extension MLWordEmbedding: WritableTask {}
extension MLHandPoseClassifier: WritableTask {}
extension MLHandActionClassifier: WritableTask {}
extension MLActivityClassifier: WritableTask {}
extension MLSoundClassifier: WritableTask {}

@Suite struct ReplacedModelTests {
    /// A trained task of each kind.
    private static func tasks() throws -> [any WritableTask] {
        let numbers: DataFrame = ["x": (0..<40).map { Double($0) }, "y": (0..<40).map { Double($0 % 7) }]
        let choices: DataFrame = ["user": ["ann", "ann", "ben"], "item": ["jazz", "soul", "jazz"]]
        let sounds = try TemporaryFolder()
        var files: [String: [URL]] = [:]
        for (label, frequency) in [("hum", 220.0), ("whistle", 1900)] {
            let file = sounds.file("\(label).wav")
            try SeriesData.wav(frequency, seconds: 1, seed: 1).write(to: file)
            files[label] = [file]
        }
        return [
            try MLDecisionTreeRegressor(trainingData: numbers, targetColumn: "y"),
            try MLRecommender(trainingData: choices, userColumn: "user", itemColumn: "item"),
            try MLGazetteer(dictionary: ["city": ["Bonn"], "river": ["Rhine"]]),
            try MLWordEmbedding(dictionary: ["cat": [1, 0], "dog": [0, 1]]),
            try MLHandPoseClassifier(
                trainingData: .labeledKeypointsDataFrame(SeriesData.poses(10, joints: 21, frames: 1, seed: 1)),
                parameters: .init(validation: .none, maximumIterations: 1)
            ),
            try MLHandActionClassifier(
                trainingData: .labeledKeypointsDataFrame(SeriesData.poses(4, joints: 21, frames: 20, seed: 3)),
                parameters: .init(validation: .none, maximumIterations: 1, predictionWindowSize: 20)
            ),
            try MLActivityClassifier(
                trainingData: .dataFrame(SeriesData.activities(6, seed: 1)),
                featureColumns: ["x", "y"],
                labelColumn: "activity",
                recordingFileColumn: "file",
                parameters: .init(validation: .none, maximumIterations: 1, predictionWindowSize: 20)
            ),
            try MLSoundClassifier(
                trainingData: files,
                parameters: .init(validation: .none, maxIterations: 1)
            ),
        ]
    }

    @Test func `Only the trained model is written`() throws {
        let folder = try TemporaryFolder()
        let other = try MLGazetteer(dictionary: ["tree": ["oak"]]).model
        for task in try Self.tasks() {
            var task = task
            let name = "\(type(of: task))"
            let file = folder.file(name + ".mlmodel")
            try task.write(to: file, metadata: nil)
            let bytes = try Data(contentsOf: file)
            let trained = task.model
            task.model = other
            #expect(task.model === other, "\(name)")
            for write in [
                { try task.write(to: file, metadata: nil) }, { try task.write(toFile: file.path, metadata: nil) },
            ] {
                let error = #expect(throws: MLCreateError.self, "\(name)") { try write() }
                guard case .generic(let reason)? = error else {
                    Issue.record("\(name): \(String(describing: error))")
                    continue
                }
                #expect(reason.contains("the model was replaced"), "\(name)")
            }
            #expect(try Data(contentsOf: file) == bytes, "\(name)")
            // The trained model is no other one.
            task.model = trained
            try task.write(toFile: file.path, metadata: nil)
            #expect(try Data(contentsOf: file) == bytes, "\(name)")
        }
    }

    @Test func `Leading tildes are the home folder in every path`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            // Foundation takes the home folder from the user's record, unless this names another.
            setenv("CFFIXED_USER_HOME", folder.url.path, 1)
            for task in try ReplacedModelTests.tasks() {
                let name = "\(type(of: task)).mlmodel"
                try task.write(toFile: "~/" + name, metadata: nil)
                guard FileManager.default.fileExists(atPath: folder.file(name).path) else {
                    fatalError("\(name) is not in the home folder")
                }
            }
            let table = try MLDataTable(dictionary: ["x": [1, 2]])
            try table.writeCSV(toFile: "~/table.csv")
            try table.write(toDirectory: "~/table")
            for name in ["table.csv", "table"] where !FileManager.default.fileExists(atPath: folder.file(name).path) {
                fatalError("\(name) is not in the home folder")
            }
        }
    }
}
