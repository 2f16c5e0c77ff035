import MLSpecification

/// The class labels of a classifier, in the order of its probabilities.
public enum ModelLabels: Hashable, Sendable {
    /// Labels that are strings.
    case strings([String])
    /// Labels that are integers.
    case integers([Int64])

    /// The number of labels.
    public var count: Int {
        switch self {
        case .strings(let labels): labels.count
        case .integers(let labels): labels.count
        }
    }

    var keyType: ModelFeatureType.KeyType {
        switch self {
        case .strings: .string
        case .integers: .int64
        }
    }

    /// The first label that occurs twice.
    var duplicate: String? {
        var seen: Set<String> = []
        let labels: [String] =
            switch self {
            case .strings(let labels): labels
            case .integers(let labels): labels.map { "\($0)" }
            }
        return labels.first { !seen.insert($0).inserted }
    }
}

extension ModelFeatureType.KeyType {
    /// The type of one label.
    var labelType: ModelFeatureType {
        switch self {
        case .int64: .int64
        case .string: .string
        }
    }
}
