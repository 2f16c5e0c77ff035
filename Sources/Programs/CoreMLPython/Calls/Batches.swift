import CoreML
import Foundation
import MLEngine
import MLKernels
import MLNumerics

/// The answers of a batch.
private final class BatchReply {
    enum Content {
        case columns(FeatureBatch)
        case rows([[String: FeatureData]])
    }

    let outputs: [MLFeatureDescription]
    let content: Content
    /// The memory that slots of columns, or of the example read last, point to.
    var memory: [OutputBuffer]
    var columns: [FeatureColumn] = []
    var blocks: [TextBlock] = []
    var kept: [Tensor] = []

    init(_ model: MLModel, _ content: Content) {
        outputs = model.modelDescription.outputs
        self.content = content
        memory = outputs.map { _ in OutputBuffer() }
    }

    func features(at index: Int) -> [String: FeatureData] {
        switch content {
        case .columns(let batch): batch.features(at: index)
        case .rows(let rows): rows[index]
        }
    }
}

extension MLModel {
    /// Predicts checked examples: as columns where the engine computes them so, otherwise each for itself, on all
    /// workers.
    fileprivate func reply(to examples: [[String: FeatureData]], _ cancellation: Cancellation?) throws -> BatchReply {
        if examples.count > 1, engine.prefersBatches, let batch = FeatureBatch(examples) {
            return BatchReply(self, .columns(try predicted(batch)))
        }
        let results = Cancellation.$current.withValue(cancellation) { engine.results(of: examples) }
        let rows = try results.enumerated().map { index, result in
            do throws(ModelError) { return try result.get() } catch {
                let translated = MLModelError(error)
                throw MLModelError(
                    translated.code,
                    "Example \(index) of the batch: \(translated.localizedDescription)"
                )
            }
        }
        return BatchReply(self, .rows(rows))
    }

    fileprivate func predicted(_ batch: FeatureBatch) throws -> FeatureBatch {
        do throws(ModelError) { return try engine.predictions(from: batch) } catch { throw MLModelError(error) }
    }
}

/// Predicts `count` examples with a slot for each input of each; returns the handle of their answers.
@c(coreml_batch_rows)
public func predictRows(
    _ model: UnsafeMutableRawPointer,
    _ inputs: UnsafeMutableRawPointer,
    _ count: Int,
    _ cancellation: UnsafeMutableRawPointer?,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reportingCode(failure) {
        let model = object(model, as: MLModel.self)
        let width = model.modelDescription.inputs.count * Slot.byteCount
        let examples = try (0..<count).map { index in
            do {
                return try model.engineInputs(readFeatures(of: model.modelDescription, from: inputs + index * width))
            } catch let error as MLModelError {
                throw MLModelError(error.code, "Example \(index) of the batch: \(error.localizedDescription)")
            }
        }
        return handle(try model.reply(to: examples, cancellation.map { object($0, as: Cancellation.self) }))
    }
}

/// Predicts `count` examples with a slot of a column for each input; returns the handle of their answers.
@c(coreml_batch_columns)
public func predictColumns(
    _ model: UnsafeMutableRawPointer,
    _ inputs: UnsafeMutableRawPointer,
    _ count: Int,
    _ cancellation: UnsafeMutableRawPointer?,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reportingCode(failure) {
        let model = object(model, as: MLModel.self)
        var columns: [String: FeatureColumn] = [:]
        for (index, input) in model.modelDescription.inputs.enumerated() {
            columns[input.name] = try Slot(inputs, index).column(for: input, count: count)
        }
        let batch = try model.engineInputs(FeatureBatch(count: count, columns: columns))
        if model.engine.prefersBatches, count > 0 {
            return handle(BatchReply(model, .columns(try model.predicted(batch))))
        }
        let reply = try model.reply(
            to: (0..<count).map { batch.features(at: $0) },
            cancellation.map { object($0, as: Cancellation.self) }
        )
        guard case .rows(let rows) = reply.content, count > 0, let joined = FeatureBatch(rows) else {
            return handle(reply)
        }
        return handle(BatchReply(model, .columns(joined)))
    }
}

/// The answers of example `index`, in a slot for each output; valid until the next call with the same answers.
@c(coreml_batch_example)
public func batchExample(
    _ reply: UnsafeMutableRawPointer,
    _ index: Int,
    _ outputs: UnsafeMutableRawPointer,
    _ failure: Failure
) -> Bool {
    reportingCode(failure) {
        let reply = object(reply, as: BatchReply.self)
        let features = reply.features(at: index)
        for (location, output) in reply.outputs.enumerated() {
            try reply.memory[location].write(features[output.name], to: Slot(outputs, location), as: output)
        }
        return true
    } ?? false
}

/// The answers as columns, in a slot for each output; valid as long as the answers.
///
/// A column of other values is of the kind `slotColumn`; `coreml_batch_example` reads them.
@c(coreml_batch_answers)
public func batchColumns(
    _ reply: UnsafeMutableRawPointer,
    _ outputs: UnsafeMutableRawPointer,
    _ failure: Failure
) -> Bool {
    reportingCode(failure) {
        let reply = object(reply, as: BatchReply.self)
        for (location, output) in reply.outputs.enumerated() {
            let slot = Slot(outputs, location)
            guard case .columns(let batch) = reply.content, let column = batch.columns[output.name] else {
                slot.setKind(.slotColumn)
                continue
            }
            try reply.write(column, to: slot, as: output)
        }
        return true
    } ?? false
}

extension BatchReply {
    fileprivate func write(_ column: FeatureColumn, to slot: Slot, as output: MLFeatureDescription) throws {
        switch column {
        case .doubles(let values):
            slot.setKind(.numberColumn)
            slot.setAddress(1, keep(Tensor(elements: values, scalarType: .float64, shape: [values.count])))
        case .integers(let values):
            slot.setKind(.integerColumn)
            slot.setAddress(1, keep(Tensor(elements: values, scalarType: .int64, shape: [values.count])))
        case .strings(let values):
            slot.setKind(.textColumn)
            write(values, to: slot)
        case .arrays(let tensor):
            let type = output.arrayType(of: tensor)
            let shape = tensor.shape
            guard shape.count <= Slot.maximumRank, let extents = slot.address(4)?.assumingMemoryBound(to: Int.self)
            else {
                throw BorderError.rank(output.name, shape.count)
            }
            slot.setKind(.arrayColumn)
            slot.setAddress(1, keep(tensor.converted(to: type.scalarType)))
            slot[2] = shape.count
            slot[3] = type.rawValue
            for (axis, extent) in shape.enumerated() { extents[axis] = extent }
        case .scores(let labels, let values):
            slot.setAddress(1, keep(Tensor(elements: values, scalarType: .float64, shape: [values.count])))
            slot[2] = labels.count
            switch labels {
            case .strings(let labels):
                slot.setKind(.textScoreColumn)
                write(labels, to: slot)
            case .integers(let labels):
                slot.setKind(.integerScoreColumn)
                slot.setAddress(4, keep(Tensor(elements: labels, scalarType: .int64, shape: [labels.count])))
            }
        case .values: slot.setKind(.slotColumn)
        }
    }

    private func keep(_ tensor: Tensor) -> UnsafeMutableRawPointer {
        kept.append(tensor)
        return tensor.address
    }

    private func write(_ texts: [String], to slot: Slot) {
        var block = TextBlock()
        block.fill(texts)
        blocks.append(block)
        slot.setAddress(4, block.ends)
        slot.setAddress(5, block.bytes)
    }
}

/// Limits the worker threads of all models to `count`, or to all processors for 0, and returns their number.
///
/// A negative `count` changes nothing.
@c(coreml_workers)
public func workers(_ count: Int) -> Int {
    if count >= 0 { Workers.limit(to: count) }
    return Workers.count
}
