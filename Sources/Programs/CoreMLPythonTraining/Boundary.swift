public import CoreMLPython
import CreateML
import Foundation
import TabularData

// The rules of this interface are those of `CoreMLPython`: handles, texts that the caller frees, messages of failure.

/// A table that Python made.
final class Frame {
    let frame: DataFrame

    init(_ frame: DataFrame) { self.frame = frame }
}

/// A trained model that Python holds.
final class Model {
    let model: TrainedModel

    init(_ model: TrainedModel) { self.model = model }
}

private func frame(_ handle: UnsafeMutableRawPointer?) -> DataFrame? {
    handle.map { object($0, as: Frame.self).frame }
}

// MARK: Tables

/// Reads an `ArrowArrayStream`, which is taken over, and returns the table's handle.
@c(coreml_frame_from_stream)
public func frameFromStream(_ stream: UnsafeMutableRawPointer, _ failure: Failure) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(Frame(try DataFrame(arrowStream: stream))) }
}

/// Copies the record batch of an `ArrowSchema` and an `ArrowArray`, which remain the caller's, into a table.
@c(coreml_frame_from_array)
public func frameFromArray(
    _ schema: UnsafeRawPointer,
    _ array: UnsafeRawPointer,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(Frame(try DataFrame(copyingArrowArray: array, schema: schema))) }
}

/// Reads a `.csv`, `.tsv` or `.json` file or the folder of an SFrame into a table.
@c(coreml_frame_from_file)
public func frameFromFile(_ path: UnsafePointer<CChar>, _ failure: Failure) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(Frame(try TableReading.frame(String(cString: path)))) }
}

/// Gives a copy of a table as an `ArrowArrayStream`, which the caller releases, and then frees with `coreml_free`.
@c(coreml_frame_to_stream)
public func frameToStream(_ frame: UnsafeMutableRawPointer, _ failure: Failure) -> UnsafeMutableRawPointer? {
    reporting(failure) { try StreamCapsule.stream(of: object(frame, as: Frame.self).frame) }
}

/// The number of a table's rows.
@c(coreml_frame_rows)
public func frameRows(_ frame: UnsafeMutableRawPointer) -> Int { object(frame, as: Frame.self).frame.shape.rows }

/// A destructor of Python's capsules that hold an `ArrowArrayStream` allocated by `malloc`.
@c(coreml_capsule_destructor)
public func destroyCapsule(_ capsule: UnsafeMutableRawPointer?) { StreamCapsule.destroy(capsule) }

// MARK: Training

/// The parameters of all tasks as JSON.
@c(coreml_training_tasks)
public func trainingTasks(_ failure: Failure) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) { try json(TaskDescription.all) }
}

/// Starts to train a task in the background and returns the handle of its training.
///
/// `options` is a JSON object; `data` and `validation` are tables or nil.
@c(coreml_training_start)
public func startTraining(
    _ task: UnsafePointer<CChar>,
    _ options: UnsafePointer<CChar>,
    _ data: UnsafeMutableRawPointer?,
    _ validation: UnsafeMutableRawPointer?,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        handle(
            try Tasks.training(
                of: String(cString: task),
                String(cString: options),
                data: frame(data),
                validation: frame(validation)
            )
        )
    }
}

/// Waits for the end of a training, at most `seconds`; returns whether it has ended.
@c(coreml_training_wait)
public func waitForTraining(_ training: UnsafeMutableRawPointer, _ seconds: Double) -> Bool {
    object(training, as: Training.self).wait(seconds)
}

/// The reports of a training from a number on, as JSON.
@c(coreml_training_progress)
public func trainingProgress(
    _ training: UnsafeMutableRawPointer,
    _ first: Int,
    _ failure: Failure
) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) { try json(object(training, as: Training.self).progress(from: first)) }
}

/// Ends a training at its next step; with a session's folder it is saved.
@c(coreml_training_cancel)
public func cancelTraining(_ training: UnsafeMutableRawPointer) { object(training, as: Training.self).cancel() }

/// Whether a training that has ended was cancelled.
@c(coreml_training_was_cancelled)
public func trainingWasCancelled(_ training: UnsafeMutableRawPointer) -> Bool {
    object(training, as: Training.self).wasCancelled
}

/// The handle of the model of a training that has ended.
@c(coreml_training_model)
public func trainedModel(_ training: UnsafeMutableRawPointer, _ failure: Failure) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(Model(try object(training, as: Training.self).model())) }
}

// MARK: Models

/// The handle of a model that a task on tables wrote to a file.
@c(coreml_trained_load)
public func loadTrainedModel(_ path: UnsafePointer<CChar>, _ failure: Failure) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(Model(try TabularTasks.loaded(String(cString: path)))) }
}

/// The handle of a model of boosted trees that were grown elsewhere; `trees` is JSON in the form of `GrownTrees`.
@c(coreml_trained_from_trees)
public func trainedModelOfTrees(_ trees: UnsafePointer<CChar>, _ failure: Failure) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(Model(try TabularTasks.grown(String(cString: trees)))) }
}

/// The handle of a linear model that was fitted elsewhere; `weights` is JSON in the form of `FittedWeights`.
@c(coreml_trained_from_weights)
public func trainedModelOfWeights(
    _ weights: UnsafePointer<CChar>,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(Model(try TabularTasks.fitted(String(cString: weights)))) }
}

/// The facts about a model, as JSON.
@c(coreml_trained_facts)
public func modelFacts(_ model: UnsafeMutableRawPointer, _ failure: Failure) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) { try json(object(model, as: Model.self).model.facts) }
}

/// The performance of a model on labelled data, as JSON; `options` is a JSON object, `data` a table or nil.
@c(coreml_trained_evaluate)
public func evaluateModel(
    _ model: UnsafeMutableRawPointer,
    _ options: UnsafePointer<CChar>,
    _ data: UnsafeMutableRawPointer?,
    _ failure: Failure
) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) {
        let options = try Options(json: String(cString: options), of: "evaluate")
        return try json(object(model, as: Model.self).model.evaluate((frame(data), options)))
    }
}

/// The handle of a table of predictions; `options` is a JSON object, `data` a table or nil.
@c(coreml_trained_predict)
public func predictWithModel(
    _ model: UnsafeMutableRawPointer,
    _ options: UnsafePointer<CChar>,
    _ data: UnsafeMutableRawPointer?,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        let options = try Options(json: String(cString: options), of: "predict")
        return handle(Frame(try object(model, as: Model.self).model.predict((frame(data), options))))
    }
}

/// Writes a model to a path that ends in `.mlmodel` or `.mlpackage`; `metadata` is a JSON object of texts.
@c(coreml_trained_write)
public func writeModel(
    _ model: UnsafeMutableRawPointer,
    _ path: UnsafePointer<CChar>,
    _ metadata: UnsafePointer<CChar>,
    _ failure: Failure
) -> Bool {
    reporting(failure) {
        let options = try Options(json: String(cString: metadata), of: "save")
        var metadata = MLModelMetadata()
        if let author = try options.text("author") { metadata.author = author }
        if let description = try options.text("description") { metadata.shortDescription = description }
        if let version = try options.text("version") { metadata.version = version }
        metadata.license = try options.text("license")
        try options.finish()
        try object(model, as: Model.self).model.write(URL(fileURLWithPath: String(cString: path)), metadata)
        return true
    } ?? false
}
