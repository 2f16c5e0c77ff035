import MLSpecification

/// The labels of a classifier, all of one type; their order is that of the probabilities.
public enum ModelLabels: Hashable, Sendable {
    case strings([String])
    case integers([Int64])

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

    /// The first label that stands in the list twice.
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
