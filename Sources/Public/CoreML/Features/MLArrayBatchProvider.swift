/// A batch of examples in an array.
open class MLArrayBatchProvider: NSObject, MLBatchProvider {
    /// The examples in order.
    public let array: [any MLFeatureProvider]

    /// Makes a batch from its examples.
    public init(array: [any MLFeatureProvider]) { self.array = array }

    /// Makes a batch from columns: the values of each feature, one for each example.
    ///
    /// - Parameter dictionary: Columns of equal length by feature name; see `MLDictionaryFeatureProvider` for the
    ///   values.
    /// - Throws: `MLModelError.featureType` when the lengths differ or a value has no feature type.
    public init(dictionary: [String: [Any]]) throws {
        let count = dictionary.first?.value.count ?? 0
        if let odd = dictionary.first(where: { $0.value.count != count }) {
            throw MLModelError(
                .featureType,
                "Feature \"\(odd.key)\" has \(odd.value.count) values, others have \(count); give the same number of each."
            )
        }
        array = try (0..<count).map { index in
            try MLDictionaryFeatureProvider(dictionary: dictionary.mapValues { $0[index] })
        }
    }

    /// The number of examples and the names of their features.
    open override var description: String {
        let names = array.first?.featureNames.sorted().joined(separator: ", ") ?? ""
        return "MLArrayBatchProvider (\(count) \(count == 1 ? "example" : "examples")"
            + (names.isEmpty ? ")" : " of \(names))")
    }

    /// The number of examples.
    public var count: Int { array.count }
    /// The example at an index from 0 to `count` − 1.
    public func features(at index: Int) -> any MLFeatureProvider { array[index] }
}
