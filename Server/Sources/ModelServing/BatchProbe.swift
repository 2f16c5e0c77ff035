import CoreML
import CoreMLExtras

/// Finds out how a model's examples may be predicted together.
enum BatchProbe {
    /// The form for a model, and the most rows of a stack.
    static func form(of model: MLModel, _ options: BatchOptions) -> (form: BatchForm, maximumRowCount: Int) {
        guard options.maximumBatchSize > 1 else { return (.single, .max) }
        if model.prefersBatches { return (.together, .max) }
        guard let rows = leadingExtents(model.modelDescription), rows > 1, isIndependent(model),
            !options.stacksWhenFaster || isFaster(model, rows: min(rows, options.maximumBatchSize))
        else { return (.single, .max) }
        return (.stacked, rows)
    }

    /// The part of the time of single predictions that stacked ones may take.
    private static let worthwhile = 0.9
    private static let rounds = 3

    /// Whether a stack takes less time than its examples one by one: the least of some turns counts, on which other
    /// processes weigh least.
    private static func isFaster(_ model: MLModel, rows: Int) -> Bool {
        let predictor = Predictor(model: model, form: .stacked)
        let count = min(rows, 8)
        guard let examples = try? (0..<count).map({ try sample(model.modelDescription, seed: UInt64($0)) }) else {
            return false
        }
        var (single, stacked) = (Duration.seconds(3600), Duration.seconds(3600))
        let clock = ContinuousClock()
        // The first turn prepares the shapes.
        for round in 0...rounds {
            let alone = clock.measure { for example in examples { _ = try? predictor.single(example) } }
            let together = clock.measure { _ = try? predictor.stacked(examples) }
            if round > 0 { (single, stacked) = (min(single, alone), min(stacked, together)) }
        }
        return stacked < single * worthwhile
    }

    /// The largest extent of the first axis that all inputs allow; `nil` unless inputs and outputs are arrays, and the
    /// first axis of each input may have the extent 1.
    private static func leadingExtents(_ description: MLModelDescription) -> Int? {
        guard description.stateDescriptionsByName.isEmpty,
            description.features(.output).allSatisfy({ $0.type == .multiArray })
        else { return nil }
        var maximum = Int.max
        for input in description.features(.input) {
            guard let constraint = input.multiArrayConstraint?.shapeConstraint, !input.isOptional,
                constraint.type == .range, let range = constraint.sizeRangeForDimension.first?.rangeValue,
                range.contains(1)
            else { return nil }
            maximum = min(maximum, range.upperBound - 1)
        }
        return description.features(.input).isEmpty ? nil : maximum
    }

    /// Whether two examples have the same outputs apart and stacked, up to rounding.
    private static func isIndependent(_ model: MLModel) -> Bool {
        let predictor = Predictor(model: model, form: .stacked)
        guard let examples = try? (0..<2).map({ try sample(model.modelDescription, seed: UInt64($0)) }),
            let apart = try? examples.map({ try predictor.single($0) }),
            let stacked = try? predictor.stacked(examples)
        else { return false }
        return model.modelDescription.features(.output).allSatisfy { output in
            zip(apart, stacked).allSatisfy { isClose($0, $1, output.name) }
        }
    }

    private static func isClose(_ left: Outputs, _ right: Outputs, _ name: String) -> Bool {
        guard let left = left.features.featureValue(for: name)?.multiArrayValue,
            let right = right.features.featureValue(for: name)?.multiArrayValue, left.shape == right.shape
        else { return false }
        let (a, b) = (MLShapedArray<Double>(converting: left).scalars, MLShapedArray<Double>(converting: right).scalars)
        let largest = a.reduce(0) { max($0, $1.isFinite ? abs($1) : 0) }
        return zip(a, b).allSatisfy { $0 == $1 || ($0.isNaN && $1.isNaN) || abs($0 - $1) <= 1e-3 * largest }
    }

    /// An example with random numbers and one row: floating-point ones up to 1, integers 0 and 1, which every
    /// vocabulary and every mask has.
    private static func sample(_ description: MLModelDescription, seed: UInt64) throws -> Example {
        var random = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x5DEE_CE66_D
        func next() -> UInt64 {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return random
        }
        var features: [String: Any] = [:]
        for input in description.features(.input) {
            guard let constraint = input.multiArrayConstraint else { continue }
            let array = try MLMultiArray(shape: [1] + constraint.shape.dropFirst(), dataType: constraint.dataType)
            let isInteger = constraint.dataType == .int32 || constraint.dataType == .int8
            for index in 0..<array.count {
                array[index] =
                    isInteger
                    ? NSNumber(value: next() >> 33 & 1) : NSNumber(value: Double(next() >> 40) / Double(1 << 24))
            }
            features[input.name] = MLFeatureValue(multiArray: array)
        }
        return Example(features: try MLDictionaryFeatureProvider(dictionary: features))
    }
}
