import CoreML
import Foundation

/// The inputs of a model that reads tokens: identifiers, and where it has them kinds and a mask.
struct TokenInputs: Sendable {
    /// The shapes that an array input accepts.
    private enum Shapes: Sendable {
        /// Whole shapes, the one with the fewest elements first.
        case listed([[Int]])
        /// An extent for each axis; the tokens are on `axis`.
        case ranges([ClosedRange<Int>], axis: Int)
        /// Any shape: [1, tokens].
        case any
    }

    private let tokens: String
    private let kinds: String?
    private let mask: String?
    private let shapes: Shapes

    /// The greatest number of tokens.
    var limit: Int {
        switch shapes {
        case .listed(let shapes): shapes.last?.product ?? 0
        case .ranges(let ranges, let axis): ranges[axis].upperBound
        case .any: .max
        }
    }

    /// Finds the inputs by their names: those of Apple's BERT-SQuAD (`wordIDs`, `wordTypes`) and of Hugging Face
    /// (`input_ids`, `token_type_ids`, `attention_mask`).
    ///
    /// - Throws: When there is no array of tokens, or another input that is needed.
    init(_ description: MLModelDescription) throws {
        let inputs = description.inputDescriptionsByName
        let arrays = inputs.keys.sorted().filter { inputs[$0]?.type == .multiArray }
        func find(_ words: String...) -> String? {
            arrays.first { name in words.contains { name.lowercased().contains($0) } }
        }
        guard let tokens = find("wordids", "input_ids", "inputids", "tokens") else {
            throw QuestionAnsweringError(
                "The model has no array input for tokens (wordIDs or input_ids); its inputs are "
                    + inputs.keys.sorted().joined(separator: ", ") + "."
            )
        }
        self.tokens = tokens
        kinds = find("wordtypes", "token_type", "segment")
        mask = find("mask")
        let known: Set<String?> = [tokens, kinds, mask]
        if let other = inputs.keys.sorted().first(where: { !known.contains($0) && inputs[$0]?.isOptional == false }) {
            throw QuestionAnsweringError(
                "The model needs the input '\(other)', which is not made here: only tokens, their kinds and a mask are."
            )
        }
        shapes = try Self.shapes(inputs[tokens]?.multiArrayConstraint?.shapeConstraint, tokens)
    }

    private static func shapes(_ constraint: MLMultiArrayShapeConstraint?, _ name: String) throws -> Shapes {
        switch constraint?.type {
        case .enumerated?:
            let shapes = (constraint?.enumeratedShapes ?? []).map { $0.map(\.intValue) }
            // A batch of one: all extents but that of the tokens are 1.
            let usable = shapes.filter { shape in shape.count { $0 > 1 } <= 1 }.sorted { $0.product < $1.product }
            guard let last = usable.last, last.product >= 8 else {
                throw QuestionAnsweringError("The input '\(name)' takes fewer than 8 tokens of one text.")
            }
            return .listed(usable)
        case .range?:
            let ranges = (constraint?.sizeRangeForDimension ?? []).map { value in
                let range = value.rangeValue
                let upper = range.location.addingReportingOverflow(max(range.length, 1) - 1)
                return range.location...(upper.overflow ? Int.max : upper.partialValue)
            }
            let axis = ranges.indices.max { ranges[$0].upperBound < ranges[$1].upperBound }
            guard let axis, ranges[axis].upperBound >= 8,
                ranges.enumerated().allSatisfy({ $0.offset == axis || $0.element.contains(1) })
            else { throw QuestionAnsweringError("The input '\(name)' takes fewer than 8 tokens of one text.") }
            return .ranges(ranges, axis: axis)
        default: return .any
        }
    }

    /// The shape for a number of tokens that is at most `limit`: the smallest that holds them.
    private func shape(_ count: Int) -> [Int] {
        switch shapes {
        case .listed(let shapes): return shapes.first { $0.product >= count } ?? [1, count]
        case .ranges(let ranges, let axis):
            var shape = ranges.map { _ in 1 }
            shape[axis] = max(count, ranges[axis].lowerBound)
            return shape
        case .any: return [1, count]
        }
    }

    /// The features for tokens.
    ///
    /// - Parameters:
    ///   - ids: The identifiers, at most `limit`.
    ///   - second: The index from which tokens belong to the second text, whose kind is 1.
    ///   - padding: The identifier that fills the rest.
    /// - Returns: The inputs.
    /// - Throws: `MLModelError` for values that are not features.
    func features(_ ids: [Int], second: Int, padding: Int) throws -> MLDictionaryFeatureProvider {
        let shape = shape(ids.count)
        let remaining = shape.product - ids.count
        func array(_ values: [Int32], _ filler: Int32) -> MLFeatureValue {
            MLFeatureValue(
                multiArray: MLMultiArray(
                    MLShapedArray<Int32>(scalars: values + [Int32](repeating: filler, count: remaining), shape: shape)
                )
            )
        }
        var features = [tokens: array(ids.map { Int32(clamping: $0) }, Int32(clamping: padding))]
        if let kinds { features[kinds] = array(ids.indices.map { $0 < second ? 0 : 1 }, 0) }
        if let mask { features[mask] = array([Int32](repeating: 1, count: ids.count), 0) }
        return try MLDictionaryFeatureProvider(dictionary: features)
    }
}

extension [Int] {
    fileprivate var product: Int {
        reduce(1) { result, extent in
            let (product, isTooLarge) = result.multipliedReportingOverflow(by: extent)
            return isTooLarge ? Int.max : product
        }
    }
}

extension MLFeatureProvider {
    /// The numbers of an array output, in their order; `nil` if there is none of that name.
    func floats(_ name: String) -> (values: [Float], shape: [Int])? {
        guard let array = featureValue(for: name)?.multiArrayValue else { return nil }
        let shaped = MLShapedArray<Float>(converting: array)
        return (shaped.scalars, shaped.shape)
    }
}
