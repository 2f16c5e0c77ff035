/// The features of one example, in a dictionary.
///
/// As a sequence it lists the names of the features, in no particular order.
open class MLDictionaryFeatureProvider: NSObject, MLFeatureProvider, NSSecureCoding, Sequence {
    /// The values by feature name.
    public let dictionary: [String: MLFeatureValue]

    /// Makes the features of an example from values.
    ///
    /// - Parameter dictionary: By feature name an `MLFeatureValue`, or a number, a string, an `MLMultiArray`, a
    ///   `CVPixelBuffer`, an `MLSequence` or a dictionary of numbers. Numbers with a fraction type become doubles, all
    ///   others integers.
    /// - Throws: `MLModelError.featureType` when a value is of another type.
    public init(dictionary: [String: Any]) throws {
        var values: [String: MLFeatureValue] = [:]
        for (name, value) in dictionary { values[name] = try Self.featureValue(value, name) }
        self.dictionary = values
    }

    init(values: [String: MLFeatureValue]) { dictionary = values }

    /// The names of the features.
    public var featureNames: Set<String> { Set(dictionary.keys) }
    /// The value of a feature; `nil` when there is no feature of that name.
    public func featureValue(for featureName: String) -> MLFeatureValue? { dictionary[featureName] }
    /// The value of a feature; `nil` when there is no feature of that name.
    public subscript(featureName: String) -> MLFeatureValue? { dictionary[featureName] }

    /// An iterator over the names of the features.
    public func makeIterator() -> Dictionary<String, MLFeatureValue>.Keys.Iterator { dictionary.keys.makeIterator() }

    private static func featureValue(_ value: Any, _ name: String) throws -> MLFeatureValue {
        switch value {
        case let value as MLFeatureValue: return value
        case let value as MLMultiArray: return MLFeatureValue(multiArray: value)
        case let value as CVPixelBuffer: return MLFeatureValue(pixelBuffer: value)
        case let value as MLSequence: return MLFeatureValue(sequence: value)
        case let value as MLSendableFeatureValue: return MLFeatureValue(value)
        case let value as String: return MLFeatureValue(string: value)
        case let value as NSString: return MLFeatureValue(string: String(describing: value))
        case let value as Float16: return MLFeatureValue(double: Double(value))
        case let value as NSNumber:
            // Swift's numbers arrive here, too: casting boxes them.
            let code = value.objCType.pointee
            let isFloat = code == CChar(UInt8(ascii: "d")) || code == CChar(UInt8(ascii: "f"))
            return isFloat ? MLFeatureValue(double: value.doubleValue) : MLFeatureValue(int64: value.int64Value)
        case let value as [AnyHashable: NSNumber]: return try MLFeatureValue(dictionary: value)
        case let value as [AnyHashable: Any]:
            var numbers: [AnyHashable: NSNumber] = [:]
            for (key, entry) in value {
                guard let number = entry as? NSNumber else { throw unusable(value, name) }
                numbers[key] = number
            }
            return try MLFeatureValue(dictionary: numbers)
        default: throw unusable(value, name)
        }
    }

    private static func unusable(_ value: Any, _ name: String) -> MLModelError {
        MLModelError(
            .featureType,
            "The value of feature \"\(name)\" is a \(Swift.type(of: value)); give a number, a string, an MLMultiArray, "
                + "a CVPixelBuffer, an MLSequence, a dictionary of numbers, or an MLFeatureValue."
        )
    }

    /// Whether the other object is a provider with equal values.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MLDictionaryFeatureProvider).map { $0.dictionary == dictionary } ?? false
    }
    /// A hash of the names.
    open override var hash: Int { featureNames.hashValue }
    /// Names and values, one to a line, by name.
    open override var description: String {
        dictionary.sorted { $0.key < $1.key }.map { "\($0.key) : \(($0.value as NSObject).description)" }
            .joined(separator: "\n")
    }

    /// Whether the class can be decoded securely: always true.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes all values; images are lost, as `MLFeatureValue` does not encode them.
    public func encode(with coder: NSCoder) {
        let names = dictionary.keys.sorted()
        coder.encode(names.map { NSString(string: $0) } as NSArray, forKey: "names")
        for (index, name) in names.enumerated() { coder.encode(dictionary[name], forKey: "value\(index)") }
    }

    /// Decodes features that `encode(with:)` wrote; `nil` when the data are damaged.
    public required init?(coder: NSCoder) {
        guard let names = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "names") as? [String] else {
            return nil
        }
        var values: [String: MLFeatureValue] = [:]
        for (index, name) in names.enumerated() {
            values[name] = coder.decodeObject(of: MLFeatureValue.self, forKey: "value\(index)")
        }
        dictionary = values
    }
}
