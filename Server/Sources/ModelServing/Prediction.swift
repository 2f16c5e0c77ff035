import CoreML
import NIOCore

/// The method that predicts a model's waiting examples.
package enum BatchForm: Sendable, Equatable {
    /// One by one, on all workers.
    case single
    /// By `predictions(fromBatch:)`, which this model computes together.
    case together
    /// As one example: all arrays have a leading axis of any extent, along which the model computes independently.
    case stacked
}

/// A loaded model with the forms of its predictions.
package struct Predictor: Sendable {
    let model: MLModel
    package let form: BatchForm

    /// Predicts examples; each has its own outputs or error.
    func predict(_ examples: [Example]) -> [Result<Outputs, any Error>] {
        if examples.count > 1 {
            let outputs = form == .stacked ? try? stacked(examples) : try? predictBatch(examples)
            if let outputs { return outputs.map { .success($0) } }
            // One of them does not fit: the others have their answers nevertheless.
        }
        return examples.map { example in Result { try single(example) } }
    }

    func single(_ example: Example) throws -> Outputs {
        do { return Outputs(features: try model.prediction(from: example.features)) } catch {
            throw Self.translated(error)
        }
    }

    private func predictBatch(_ examples: [Example]) throws -> [Outputs] {
        let batch = try model.predictions(fromBatch: MLArrayBatchProvider(array: examples.map(\.features)))
        return (0..<batch.count).map { Outputs(features: batch.features(at: $0)) }
    }

    /// Predicts examples as one; `nil` when they or their outputs do not fit together.
    func stacked(_ examples: [Example]) throws -> [Outputs]? {
        var features: [String: Any] = [:]
        var rows: [Int] = []
        for input in model.modelDescription.features(.input) {
            let arrays = examples.compactMap { $0.features.featureValue(for: input.name)?.multiArrayValue }
            guard arrays.count == examples.count, let joined = try MLMultiArray(stacking: arrays) else { return nil }
            features[input.name] = MLFeatureValue(multiArray: joined)
            let extents = arrays.map { $0.shape[0].intValue }
            guard rows.isEmpty || rows == extents else { return nil }
            rows = extents
        }
        let outputs = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: features))
        var parts = [[String: Any]](repeating: [:], count: examples.count)
        for output in model.modelDescription.features(.output) {
            guard let array = outputs.featureValue(for: output.name)?.multiArrayValue,
                let pieces = try array.unstacked(rows)
            else { return nil }
            for (index, piece) in pieces.enumerated() {
                parts[index][output.name] = MLFeatureValue(multiArray: piece)
            }
        }
        return try parts.map { Outputs(features: try MLDictionaryFeatureProvider(dictionary: $0)) }
    }

    /// An error of the model as clients are told it: what does not fit is theirs.
    static func translated(_ error: any Error) -> any Error {
        guard let error = error as? MLModelError else { return error }
        return ServingError(error.code == .featureType ? 400 : 500, error.localizedDescription)
    }
}

extension MLMultiArray {
    /// Whether the elements lie row-major without gaps.
    var isRowMajor: Bool {
        var stride = 1
        for (extent, step) in zip(shape, strides).reversed() {
            if extent.intValue > 1, step.intValue != stride { return false }
            stride *= extent.intValue
        }
        return true
    }

    /// This array, or a copy of it whose elements lie row-major.
    func rowMajor() throws -> MLMultiArray {
        if isRowMajor { return self }
        let copy = try MLMultiArray(shape: shape, dataType: dataType)
        transfer(to: copy)
        return copy
    }

    /// The arrays one after the other along their first axis; `nil` when the other axes or types differ.
    fileprivate convenience init?(stacking arrays: [MLMultiArray]) throws {
        guard let first = arrays.first, !first.shape.isEmpty else { return nil }
        let (remaining, type) = (first.shape.dropFirst(), first.dataType)
        var bytes = ByteBuffer()
        let size = TensorType(type).byteCount ?? 1
        for array in arrays {
            guard array.dataType == type, array.shape.dropFirst() == remaining else { return nil }
            let array = try array.rowMajor()
            bytes.writeBytes(UnsafeRawBufferPointer(start: array.dataPointer, count: array.count * size))
        }
        let rows = arrays.reduce(0) { $0 + $1.shape[0].intValue }
        try self.init(bytes, shape: [rows] + remaining.map { $0.intValue }, dataType: type)
    }

    /// The parts along the first axis with the given extents; `nil` when they are not this array.
    fileprivate func unstacked(_ rows: [Int]) throws -> [MLMultiArray]? {
        let array = try rowMajor()
        guard let total = shape.first?.intValue, total == rows.reduce(0, +), total > 0 else { return nil }
        let size = array.count / total * (TensorType(dataType).byteCount ?? 1)
        var start = 0
        return try rows.map { count in
            let bytes = UnsafeRawBufferPointer(start: array.dataPointer + start * size, count: count * size)
            start += count
            let shape = [count] + self.shape.dropFirst().map { $0.intValue }
            return try MLMultiArray(ByteBuffer(bytes: bytes), shape: shape, dataType: dataType)
        }
    }
}
