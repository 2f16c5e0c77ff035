/// The labels of a classifier, in the order of its scores.
package enum LabelList: Sendable, Equatable {
    case strings([String])
    case integers([Int64])

    package var count: Int {
        switch self {
        case .strings(let labels): labels.count
        case .integers(let labels): labels.count
        }
    }

    package func label(at index: Int) -> FeatureData {
        switch self {
        case .strings(let labels): .string(labels[index])
        case .integers(let labels): .int64(labels[index])
        }
    }

    /// The value of each label; the first one of equal labels is used.
    package func dictionary(_ values: some Collection<Double>) -> FeatureDictionary {
        switch self {
        case .strings(let labels):
            .strings([String: Double](zip(labels, values), uniquingKeysWith: { first, _ in first }))
        case .integers(let labels):
            .integers([Int64: Double](zip(labels, values), uniquingKeysWith: { first, _ in first }))
        }
    }
}
