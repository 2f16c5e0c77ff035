/// Features from a dictionary.
open class MLDictionaryFeatureProvider: NSObject, MLFeatureProvider, NSSecureCoding, Sequence {
    public let dictionary: [String: MLFeatureValue]

    /// Takes `MLFeatureValue`s, and what one can be made from: numbers, strings, multi-arrays, pixel buffers,
    /// sequences and dictionaries.
    public init(dictionary: [String: Any]) throws {
        var values: [String: MLFeatureValue] = [:]
        for (name, value) in dictionary { values[name] = try Self.featureValue(value, name) }
        self.dictionary = values
    }

    init(values: [String: MLFeatureValue]) { dictionary = values }

    public var featureNames: Set<String> { Set(dictionary.keys) }
    public func featureValue(for featureName: String) -> MLFeatureValue? { dictionary[featureName] }
    public subscript(featureName: String) -> MLFeatureValue? { dictionary[featureName] }

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

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MLDictionaryFeatureProvider).map { $0.dictionary == dictionary } ?? false
    }
    open override var hash: Int { featureNames.hashValue }
    open override var description: String {
        dictionary.sorted { $0.key < $1.key }.map { "\($0.key) : \(($0.value as NSObject).description)" }
            .joined(separator: "\n")
    }

    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) {
        let names = dictionary.keys.sorted()
        coder.encode(names.map { NSString(string: $0) } as NSArray, forKey: "names")
        for (index, name) in names.enumerated() { coder.encode(dictionary[name], forKey: "value\(index)") }
    }

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
