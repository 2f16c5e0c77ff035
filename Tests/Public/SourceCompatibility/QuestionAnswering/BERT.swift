// Source in the style of an app that finds the answer to a question in a text with BERT.

import CoreML

/// The answer's place in the tokens of the document.
struct Answer: Equatable, Sendable {
    var range: ClosedRange<Int>
    var logit: Double
}

extension Array where Element: Comparable {
    func indicesOfLargest(_ count: Int) -> [Int] {
        indices.sorted { self[$0] > self[$1] }.prefix(count).map { $0 }
    }
}

extension MLMultiArray {
    static func from(_ array: [Int], dims: Int = 1) -> MLMultiArray {
        var shape = Array(repeating: 1, count: dims)
        shape[shape.count - 1] = array.count
        let result = try! MLMultiArray(shape: shape as [NSNumber], dataType: .int32)
        let pointer = UnsafeMutablePointer<Int32>(OpaquePointer(result.dataPointer))
        for (index, value) in array.enumerated() {
            pointer[index] = Int32(value)
        }
        return result
    }

    static func toDoubleArray(_ array: MLMultiArray) -> [Double] {
        var values: [Double] = []
        for index in 0..<array.count {
            values.append(array[index].doubleValue)
        }
        return values
    }

    static func toFloatArray(_ array: MLMultiArray) -> [Float] {
        if let buffer = try? UnsafeBufferPointer<Float>(array) { return Array(buffer) }
        return toDoubleArray(array).map { Float($0) }
    }
}

final class BERT: Sendable {
    private let model: MLModel
    private static let sequenceLength = 384

    init(contentsOf url: URL) async throws {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = .all
        model = try await MLModel.load(contentsOf: url, configuration: configuration)
    }

    func answer(question: [Int], document: [Int]) throws -> Answer? {
        let ids = [101] + question + [102] + document + [102]
        let padding = Array(repeating: 0, count: max(BERT.sequenceLength - ids.count, 0))
        let types =
            Array(repeating: 0, count: question.count + 2) + Array(repeating: 1, count: document.count + 1) + padding
        let input = try MLDictionaryFeatureProvider(dictionary: [
            "wordIDs": MLFeatureValue(multiArray: .from(ids + padding, dims: 2)),
            "wordTypes": MLFeatureValue(multiArray: .from(types, dims: 2)),
        ])
        let options = MLPredictionOptions()
        let output = try model.prediction(from: input, options: options)
        guard let start = output.featureValue(for: "startLogits")?.multiArrayValue,
            let end = output.featureValue(for: "endLogits")?.multiArrayValue
        else { throw MLModelError(.featureType) }
        return best(MLMultiArray.toDoubleArray(start), MLMultiArray.toDoubleArray(end))
    }

    /// The same with shaped arrays.
    func answerInBackground(ids: MLShapedArray<Int32>, types: MLShapedArray<Int32>) async throws -> Answer? {
        var types = types
        types[0..<1, question(of: ids)...].fill(with: 1)
        let input = try MLDictionaryFeatureProvider(dictionary: [
            "wordIDs": MLMultiArray(ids), "wordTypes": MLMultiArray(types),
        ])
        let output = try await model.prediction(from: input)
        guard
            let start = output.featureValue(for: "startLogits")?.shapedArrayValue(of: Float.self),
            let end = output.featureValue(for: "endLogits")?.shapedArrayValue(of: Float.self)
        else { return nil }
        let first = start[0].scalars.map { Double($0) }
        return best(first, end[0..<1, 0..<first.count].scalars.map { Double($0) })
    }

    private func question(of ids: MLShapedArray<Int32>) -> Int { (ids[0].scalars.firstIndex(of: 102) ?? 0) + 1 }

    private func best(_ start: [Double], _ end: [Double]) -> Answer? {
        var result: Answer?
        for first in start.indicesOfLargest(20) {
            for last in end.indicesOfLargest(20) where last >= first && last - first < 30 {
                let logit = start[first] + end[last]
                if logit > result?.logit ?? -.infinity { result = Answer(range: first...last, logit: logit) }
            }
        }
        return result
    }
}

/// Everything that can go wrong, as callers tell it apart.
func explanation(of error: Error) -> String {
    switch error {
    case MLModelError.io: return "The model file cannot be read."
    case MLModelError.featureType: return "The input does not fit the model."
    case let error as MLModelError where error.code == .predictionCancelled: return "Cancelled."
    default:
        let error = error as NSError
        return error.domain == MLModelErrorDomain ? "Core ML error \(error.code)" : error.localizedDescription
    }
}
