/// A batch from an array.
open class MLArrayBatchProvider: NSObject, MLBatchProvider {
    public let array: [any MLFeatureProvider]

    public init(array: [any MLFeatureProvider]) { self.array = array }

    /// Columns of equal length: the values of each feature, one for each example.
    public init(dictionary: [String: [Any]]) throws {
        let count = dictionary.first?.value.count ?? 0
        if let odd = dictionary.first(where: { $0.value.count != count }) {
            throw MLModelError(
                .featureType,
                "Feature \"\(odd.key)\" has \(odd.value.count) values, others have \(count); give as many of each."
            )
        }
        array = try (0..<count).map { index in
            try MLDictionaryFeatureProvider(dictionary: dictionary.mapValues { $0[index] })
        }
    }

    open override var description: String {
        let names = array.first?.featureNames.sorted().joined(separator: ", ") ?? ""
        return "MLArrayBatchProvider (\(count) \(count == 1 ? "example" : "examples")"
            + (names.isEmpty ? ")" : " of \(names))")
    }

    public var count: Int { array.count }
    public func features(at index: Int) -> any MLFeatureProvider { array[index] }
}
