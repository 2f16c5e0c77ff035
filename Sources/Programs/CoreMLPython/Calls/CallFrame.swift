import CoreML
import Foundation
import MLEngine
import MLNumerics

/// The memory of one prediction at a time, besides the model: the caller's slots, and the memory of its answers.
final class CallFrame {
    let model: MLModel
    private let description: MLModelDescription
    private let inputs: UnsafeMutableRawPointer
    private let outputs: UnsafeMutableRawPointer
    /// Words of the caller: the handles of state and cancellation or 0, and the place for a failure's text.
    private let control: UnsafeMutablePointer<Int>
    private let memory: [OutputBuffer]

    init(
        _ model: MLModel,
        _ inputs: UnsafeMutableRawPointer,
        _ outputs: UnsafeMutableRawPointer,
        _ control: UnsafeMutableRawPointer
    ) {
        self.model = model
        description = model.modelDescription
        self.inputs = inputs
        self.outputs = outputs
        self.control = control.assumingMemoryBound(to: Int.self)
        memory = description.outputs.map { _ in OutputBuffer() }
    }

    func call() -> Bool {
        let failure = UnsafeMutableRawPointer(control + 2)
            .assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self)
        return reportingCode(failure) {
            let state = UnsafeMutableRawPointer(bitPattern: control[0]).map { object($0, as: MLState.self) }
            if let cancellation = UnsafeMutableRawPointer(bitPattern: control[1]) {
                try withCancellation(cancellation) { try predict(state) }
            } else {
                try predict(state)
            }
            return true
        } ?? false
    }

    private func predict(_ state: MLState?) throws {
        let features = try readFeatures(of: description, from: inputs)
        var backings: [String: FeatureData] = [:]
        for (index, output) in description.outputs.enumerated() {
            // The engine fails where a backing has another shape, so that it gets those alone on which the caller
            // insists.
            let slot = Slot(outputs, index)
            guard slot.kind == .array, slot[6] == 2, let tensor = slot.offered() else { continue }
            backings[output.name] = .tensor(tensor)
        }
        let results: [String: FeatureData]
        do {
            results = try model.engineOutputs(from: features, backings: backings, state: state)
        } catch let error as MLModelError where !backings.isEmpty {
            throw MLModelError(
                error.code,
                "\(error.localizedDescription) (arrays were given for \(backings.keys.sorted().joined(separator: ", ")))"
            )
        }
        for (index, output) in description.outputs.enumerated() {
            try memory[index].write(results[output.name], to: Slot(outputs, index), as: output)
        }
    }
}

/// The values in the slots of a model's inputs.
func readFeatures(
    of description: MLModelDescription,
    from slots: UnsafeMutableRawPointer
) throws -> [String: FeatureData] {
    var features = [String: FeatureData](minimumCapacity: description.inputs.count)
    for (index, input) in description.inputs.enumerated() {
        if let value = try Slot(slots, index).value(for: input) { features[input.name] = value }
    }
    return features
}

extension Slot {
    /// The caller's memory for an output, as the engine can write to it.
    fileprivate func offered() -> Tensor? {
        guard kind == .array, let target = address(1), let type = MLMultiArrayDataType(rawValue: self[3]),
            let extents = address(4)?.assumingMemoryBound(to: Int.self)
        else { return nil }
        let shape = Array(UnsafeBufferPointer(start: extents, count: self[2]))
        let bytes = type.scalarType.byteCount(of: shape.reduce(1, *))
        return Tensor(
            scalarType: type.scalarType,
            shape: shape,
            storage: TensorStorage(borrowing: target, byteCount: bytes, release: nil)
        )
    }
}

/// Makes a frame, in which one prediction at a time runs, and returns its handle.
///
/// There is a slot (`Slot`) for each input and each output of the model, in the model's order, and `control` has three
/// words: the handle of a state or 0, the handle of a cancellation or 0, and the place for the text of a failure. All
/// belong to the caller and must stay as long as the frame.
@c(coreml_frame_new)
public func newFrame(
    _ model: UnsafeMutableRawPointer,
    _ inputs: UnsafeMutableRawPointer,
    _ outputs: UnsafeMutableRawPointer,
    _ control: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer {
    handle(CallFrame(object(model, as: MLModel.self), inputs, outputs, control))
}

/// Predicts from the slots of a frame to its slots.
///
/// Memory that the slots of inputs name is read during the call alone; what the slots of outputs name afterwards is
/// valid until the frame's next call.
@c(coreml_frame_call)
public func callFrame(_ frame: UnsafeMutableRawPointer) -> Bool { object(frame, as: CallFrame.self).call() }

/// Makes the means to cancel predictions, and returns its handle.
@c(coreml_cancellation_new)
public func newCancellation() -> UnsafeMutableRawPointer { handle(Cancellation(stopsBetweenSteps: true)) }

/// Cancels the predictions that run with it, between two steps, and those that are yet to begin.
@c(coreml_cancellation_cancel)
public func cancel(_ cancellation: UnsafeMutableRawPointer) { object(cancellation, as: Cancellation.self).cancel() }

/// Runs `body` so that it stops with `predictionCancelled` when the handle is cancelled.
func withCancellation<R>(_ cancellation: UnsafeMutableRawPointer, _ body: () throws -> R) throws -> R {
    let cancellation = object(cancellation, as: Cancellation.self)
    return try Cancellation.$current.withValue(cancellation) {
        do throws(ModelError) { try cancellation.check() } catch { throw MLModelError(error) }
        return try body()
    }
}

/// Runs `body` and returns its result; an error goes to `failure` as its `MLModelError` code, a colon and its message.
func reportingCode<R>(_ failure: Failure, _ body: () throws -> R?) -> R? {
    do {
        return try body()
    } catch {
        let code = (error as? MLModelError)?.code.rawValue ?? (error as? BorderError)?.code ?? 0
        failure.pointee = text("\(code):\(error.localizedDescription)")
        return nil
    }
}
