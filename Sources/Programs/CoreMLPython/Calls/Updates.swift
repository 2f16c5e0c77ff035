import CoreML
import Dispatch
import Foundation
import MLEngine
import Synchronization

/// Called for an event of an update with the caller's context, the event's raw value and metrics and parameters as
/// JSON.
///
/// The text is valid during the call.
public typealias UpdateHandler = @convention(c) (UnsafeMutableRawPointer?, Int, UnsafePointer<CChar>) -> Void

/// The examples of an update, over the caller's slots.
private final class SlotExamples: MLBatchProvider {
    let count: Int
    private let names: [String]
    private let values: [[String: MLFeatureValue]]

    init(_ slots: UnsafeMutableRawPointer, _ count: Int, _ features: [MLFeatureDescription]) throws {
        self.count = count
        names = features.map(\.name)
        values = try (0..<count).map { index in
            var values: [String: MLFeatureValue] = [:]
            for (location, feature) in features.enumerated() {
                let slot = Slot(slots, index * features.count + location)
                if let value = try slot.value(for: feature) {
                    values[feature.name] = try MLFeatureValue(engineData: value)
                }
            }
            return values
        }
    }

    func features(at index: Int) -> any MLFeatureProvider { Example(values: values[index]) }

    private final class Example: MLFeatureProvider {
        let values: [String: MLFeatureValue]
        var featureNames: Set<String> { Set(values.keys) }

        init(values: [String: MLFeatureValue]) { self.values = values }

        func featureValue(for featureName: String) -> MLFeatureValue? { values[featureName] }
    }
}

/// Metrics and parameters as JSON.
private struct EventText: Encodable {
    var metrics: [String: Double]
    var parameters: [String: Double]

    init(_ context: MLUpdateContext) {
        metrics = Self.numbers(context.metrics)
        parameters = Self.numbers(context.parameters)
    }

    private static func numbers(_ values: [some MLKey: Any]) -> [String: Double] {
        var result: [String: Double] = [:]
        // JSON has no number for a loss that is not finite.
        for (key, value) in values {
            if let number = (value as? NSNumber)?.doubleValue, number.isFinite { result[key.description] = number }
        }
        return result
    }
}

/// An update that one thread runs while others may cancel it.
///
/// `@unchecked Sendable`: the task locks what it changes; `current` is written and read in handlers, one at a time, and
/// `outcome` before and after the semaphore.
private final class UpdateCall: @unchecked Sendable {
    private(set) var task: MLUpdateTask?
    private(set) var current: MLUpdateContext?
    private var outcome: MLUpdateContext?
    private let done = DispatchSemaphore(value: 0)

    init(
        _ url: URL,
        _ examples: SlotExamples,
        _ configuration: MLModelConfiguration,
        _ events: MLUpdateProgressEvent,
        _ handler: @escaping (MLUpdateContext) throws -> Void
    ) throws {
        let handlers = MLUpdateProgressHandlers(
            forEvents: events,
            progressHandler: { [unowned self] context in
                current = context
                defer { current = nil }
                // A text that cannot be made leaves out the event, not the update.
                try? handler(context)
            },
            completionHandler: { [unowned self] context in
                outcome = context
                done.signal()
            }
        )
        task = try MLUpdateTask(
            forModelAt: url,
            trainingData: examples,
            configuration: configuration,
            progressHandlers: handlers
        )
    }

    /// Runs the update to its end; returns the updated model.
    func run() throws -> any MLModel & MLWritable {
        task?.resume()
        done.wait()
        if let error = task?.error { throw error }
        guard let model = outcome?.model else { throw MLModelError(.update, "The update made no model.") }
        return model
    }
}

/// Prepares the update of a model with `count` examples, and returns its handle.
///
/// `names` is a JSON list of the training inputs in the order of each example's slots, `options` has the parameters,
/// `events` is a raw value of `MLUpdateProgressEvent`. What the slots name must stay until the update has ended.
@c(coreml_update_new)
public func newUpdate(
    _ path: UnsafePointer<CChar>,
    _ names: UnsafePointer<CChar>,
    _ slots: UnsafeMutableRawPointer,
    _ count: Int,
    _ options: UnsafePointer<CChar>,
    _ events: Int,
    _ handler: UpdateHandler?,
    _ context: UnsafeMutableRawPointer?,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reportingCode(failure) {
        let url = URL(fileURLWithPath: String(cString: path))
        let options = try Options(String(cString: options))
        let names = try JSONDecoder().decode([String].self, from: Data(String(cString: names).utf8))
        let configuration = try options.configuration()
        let description = try MLModel(contentsOf: url).modelDescription
        let features = try names.map { name in
            guard let feature = description.trainingInputDescriptionsByName[name] else {
                throw BorderError.trainingInput(name, description.trainingInputDescriptionsByName.keys.sorted())
            }
            return feature
        }
        let call = try UpdateCall(
            url,
            try SlotExamples(slots, count, features),
            configuration,
            MLUpdateProgressEvent(rawValue: events)
        ) { progress in
            let text = String(decoding: try JSONEncoder().encode(EventText(progress)), as: UTF8.self)
            text.withCString { handler?(context, progress.event.rawValue, $0) }
        }
        return handle(call)
    }
}

/// Runs an update to its end and returns the handle of the updated model.
@c(coreml_update_run)
public func runUpdate(_ update: UnsafeMutableRawPointer, _ failure: Failure) -> UnsafeMutableRawPointer? {
    reportingCode(failure) { handle(try object(update, as: UpdateCall.self).run()) }
}

/// Cancels an update, which ends after the current mini-batch.
@c(coreml_update_cancel)
public func cancelUpdate(_ update: UnsafeMutableRawPointer) { object(update, as: UpdateCall.self).task?.cancel() }

/// Changes parameters of a running update: a JSON dictionary with `parameters`.
@c(coreml_update_change)
public func changeUpdate(
    _ update: UnsafeMutableRawPointer,
    _ options: UnsafePointer<CChar>,
    _ failure: Failure
) -> Bool {
    reportingCode(failure) {
        let parameters = try Options(String(cString: options)).keyed() ?? [:]
        object(update, as: UpdateCall.self).task?.resume(withParameters: parameters)
        return true
    } ?? false
}

/// The model at the event that is being handled, as a handle; `nil` outside of a handler.
@c(coreml_update_snapshot)
public func updateSnapshot(_ update: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    object(update, as: UpdateCall.self).current.map { handle($0.model) }
}
