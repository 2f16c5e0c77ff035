public import CoreML
public import CoreMedia

/// Classifies a sound, window by window, with a Core ML model.
///
/// The model is a classifier whose only needed input is an array of samples at 16 kHz, one channel, such as those that
/// `MLSoundClassifier` writes (`audioSamples`, 15,600). Sounds of other rates and with several channels are converted.
///
/// Change properties before the request is added to an analyzer: it takes them over then.
open class SNClassifySoundRequest: NSObject, SNRequest {
    /// Samples a second that models take.
    static let rate: Int32 = 16_000

    /// The numbers of samples that a model accepts.
    enum Sizes: Sendable {
        /// These, in ascending order.
        case listed([Int])
        case range(ClosedRange<Int>)

        /// The number that is accepted and closest.
        func closest(_ count: Int) -> Int {
            switch self {
            case .listed(let sizes): sizes.min { abs($0 - count) < abs($1 - count) } ?? count
            case .range(let range): min(max(count, range.lowerBound), range.upperBound)
            }
        }
    }

    let model: MLModel
    let input: String
    private let sizes: Sizes
    /// The shape of the input around the axis of samples, which is `axis`.
    private let shape: [Int]
    private let axis: Int
    private(set) var windowSize: Int
    private var overlap = 0.5

    /// The fraction of a window that the next one overlaps, 0 up to below 1, 0.5 by default.
    ///
    /// Values outside are clamped to that range.
    open var overlapFactor: Double {
        get { overlap }
        set { overlap = newValue.isNaN ? 0.5 : min(max(newValue, 0), 0.999) }
    }

    /// The length of a window; setting brings it to the closest one that `windowDurationConstraint` allows.
    open var windowDuration: CMTime {
        get { CMTime(value: Int64(windowSize), timescale: Self.rate) }
        set {
            guard newValue.isNumeric else { return }
            let count = (newValue.seconds * Double(Self.rate)).rounded()
            windowSize = sizes.closest(Int(exactly: min(max(count, 0), 1e12)) ?? 0)
        }
    }

    /// The lengths that the model accepts.
    open var windowDurationConstraint: SNTimeDurationConstraint {
        func time(_ count: Int) -> CMTime { CMTime(value: Int64(count), timescale: Self.rate) }
        switch sizes {
        case .listed(let sizes): return .enumeratedDurations(sizes.map(time))
        case .range(let range):
            return .durationRange(CMTimeRange(start: time(range.lowerBound), end: time(range.upperBound)))
        }
    }

    /// The classes that the model knows, in its order.
    open var knownClassifications: [String] { (model.modelDescription.classLabels ?? []).map { "\($0)" } }

    /// Creates a request for a model.
    ///
    /// - Parameter mlModel: A classifier of sounds.
    /// - Throws: `SNError.invalidModel` when the model is no classifier, or does not take one array of samples.
    public init(mlModel: MLModel) throws {
        let description = mlModel.modelDescription
        guard description.predictedFeatureName != nil || description.predictedProbabilitiesName != nil else {
            throw SNError(.invalidModel, "The model is not a classifier.")
        }
        let needed = description.inputDescriptionsByName.values.filter { !$0.isOptional }
        guard needed.count == 1, let feature = needed.first, let constraint = feature.multiArrayConstraint else {
            throw SNError(.invalidModel, "The model takes other inputs than one array of samples.")
        }
        let extents = constraint.shape.map(\.intValue)
        let positions = constraint.shapeConstraint
        func isOne(_ shape: [Int]) -> Bool { shape.count { $0 != 1 } <= 1 }
        switch positions.type {
        case .enumerated:
            let shapes = positions.enumeratedShapes.map { $0.map(\.intValue) }
            guard let first = shapes.first, shapes.allSatisfy({ isOne($0) && $0.count == first.count }) else {
                throw SNError(.invalidModel, "The input '\(feature.name)' is not an array of samples of one channel.")
            }
            shape = first.map { _ in 1 }
            axis = shapes.compactMap { $0.firstIndex { $0 != 1 } }.first ?? max(first.count - 1, 0)
            sizes = .listed(Set(shapes.map { $0.reduce(1, *) }).sorted())
        case .range:
            let ranges = positions.sizeRangeForDimension.map(\.rangeValue)
            let free = ranges.indices.filter { !(ranges[$0].location == 1 && ranges[$0].length <= 1) }
            guard free.count == 1, let own = free.first else {
                throw SNError(.invalidModel, "The input '\(feature.name)' is not an array of samples of one channel.")
            }
            shape = ranges.map { _ in 1 }
            axis = own
            let (upper, isTooLarge) = ranges[own].location.addingReportingOverflow(max(ranges[own].length, 1) - 1)
            // A minute is the longest window: an open range has to end somewhere.
            let longest = isTooLarge ? 60 * Int(Self.rate) : min(upper, 60 * Int(Self.rate))
            sizes = .range(max(ranges[own].location, 1)...max(longest, ranges[own].location, 1))
        case .unspecified:
            throw SNError(
                .invalidModel,
                "The input '\(feature.name)' states no shape: how many samples it takes is unknown."
            )
        }
        let count = sizes.closest(isOne(extents) ? extents.reduce(1, *) : 15_600)
        guard count >= 1 else {
            throw SNError(.invalidModel, "The input '\(feature.name)' is not an array of samples.")
        }
        windowSize = count
        (model, input) = (mlModel, feature.name)
    }

    /// Apple's built-in classifiers do not exist here.
    ///
    /// - Throws: Always `SNError.operationFailed`.
    public init(classifierIdentifier: SNClassifierIdentifier) throws {
        throw SNError(
            .operationFailed,
            "The classifier '\(classifierIdentifier.rawValue)' is part of Apple's systems; use a model: init(mlModel:)."
        )
    }

    /// The classes of a window, whose number of samples is the model's.
    func classifications(_ samples: [Float]) throws -> [SNClassification] {
        var shape = shape
        if shape.isEmpty { shape = [1] }
        shape[axis] = samples.count
        let array = MLMultiArray(MLShapedArray<Float>(scalars: samples, shape: shape))
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: [input: array]))
        let description = model.modelDescription
        if let name = description.predictedProbabilitiesName,
            let fractions = output.featureValue(for: name)?.dictionaryValue
        {
            return fractions.map { SNClassification(identifier: "\($0.key.base)", confidence: $0.value.doubleValue) }
                .sorted { ($1.confidence, $0.identifier) < ($0.confidence, $1.identifier) }
        }
        guard let name = description.predictedFeatureName, let value = output.featureValue(for: name) else {
            throw SNError(.invalidModel, "The model outputs no class.")
        }
        let label = value.type == .string ? value.stringValue : "\(value.int64Value)"
        return [SNClassification(identifier: label, confidence: 1)]
    }
}
