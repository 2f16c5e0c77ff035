import CreateML
import Foundation
import TabularData

// PythonTrainingRunner FILE: trains a boosted tree on a CSV file's columns, to predict `y`, for each line of its input, and
// prints the seconds from the frame to the model and the error on the rows.

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: PythonTrainingRunner FILE\n".utf8))
    exit(64)
}
var options = CSVReadingOptions()
options.floatingPointType = .double
let frame = try DataFrame(contentsOfCSVFile: URL(fileURLWithPath: CommandLine.arguments[1]), options: options)
print("ready \(frame.shape.rows)")
fflush(nil)
while readLine() != nil {
    let start = ContinuousClock.now
    let job = try MLBoostedTreeRegressor.train(
        trainingData: frame,
        targetColumn: "y",
        parameters: MLBoostedTreeRegressor.ModelParameters(validation: .none)
    )
    let model = try await job.value
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    print("\(seconds) \(model.trainingMetrics.rootMeanSquaredError)")
    fflush(nil)
}
