/// The value of a feature: a number, a string, an image, an array, a dictionary or a sequence, or no value of a type.
open class MLFeatureValue: NSObject, NSCopying, NSSecureCoding {
    enum Content {
        case undefined(MLFeatureType)
        case int64(Int64)
        case double(Double)
        case string(String)
        case image(CVPixelBuffer)
        case multiArray(MLMultiArray)
        case strings([String: Double])
        case integers([Int64: Double])
        case sequence(MLSequence)
    }

    let content: Content

    init(content: Content) { self.content = content }

    /// Makes an integer value.
    public convenience init(int64 value: Int64) { self.init(content: .int64(value)) }
    /// Makes a double-precision value.
    public convenience init(double value: Double) { self.init(content: .double(value)) }
    /// Makes a string value.
    public convenience init(string value: String) { self.init(content: .string(value)) }
    /// Makes a value that holds the multi-array, without copying it.
    public convenience init(multiArray value: MLMultiArray) { self.init(content: .multiArray(value)) }
    /// Makes an image value that holds the pixel buffer, without copying it.
    public convenience init(pixelBuffer value: CVPixelBuffer) { self.init(content: .image(value)) }
    /// Makes a value that holds a sequence.
    public convenience init(sequence: MLSequence) { self.init(content: .sequence(sequence)) }
    /// Makes a missing value of the given type.
    public convenience init(undefined type: MLFeatureType) { self.init(content: .undefined(type)) }

    /// Makes a dictionary value.
    ///
    /// - Parameter value: Numbers, which become doubles, by keys that are all strings or all integers.
    /// - Throws: `MLModelError.featureType` when keys are of other types or mixed.
    public convenience init(dictionary value: [AnyHashable: NSNumber]) throws {
        var strings: [String: Double] = [:]
        var integers: [Int64: Double] = [:]
        for (key, number) in value {
            if let text = key.base as? String {
                strings[text] = number.doubleValue
            } else if let text = key.base as? NSString {
                strings[String(describing: text)] = number.doubleValue
            } else if let integer = key.base as? NSNumber {
                integers[integer.int64Value] = number.doubleValue
            } else if let integer = key.base as? any BinaryInteger {
                integers[Int64(clamping: integer)] = number.doubleValue
            } else {
                throw MLModelError(
                    .featureType,
                    "A dictionary feature needs keys that are strings or integers; \(key.base) is neither."
                )
            }
        }
        guard strings.isEmpty || integers.isEmpty else {
            throw MLModelError(.featureType, "The keys of a dictionary feature are all strings or all integers.")
        }
        self.init(content: integers.isEmpty ? .strings(strings) : .integers(integers))
    }

    /// Makes a multi-array value from a copy of a shaped array.
    public convenience init<Scalar>(shapedArray: MLShapedArray<Scalar>) where Scalar: MLShapedArrayScalar {
        self.init(multiArray: MLMultiArray(shapedArray))
    }

    /// Makes a value from one that can be sent between tasks.
    public convenience init(_ value: MLSendableFeatureValue) { self.init(content: value.featureContent) }

    /// The type of the value.
    public var type: MLFeatureType {
        switch content {
        case .undefined(let type): type
        case .int64: .int64
        case .double: .double
        case .string: .string
        case .image: .image
        case .multiArray: .multiArray
        case .strings, .integers: .dictionary
        case .sequence: .sequence
        }
    }

    /// Whether the value is missing.
    public var isUndefined: Bool { if case .undefined = content { true } else { false } }
    /// The integer; 0 for values of other types.
    public var int64Value: Int64 { if case .int64(let value) = content { value } else { 0 } }
    /// The double-precision number; 0 for values of other types, integers included.
    public var doubleValue: Double { if case .double(let value) = content { value } else { 0 } }
    /// The string; empty for values of other types.
    public var stringValue: String { if case .string(let value) = content { value } else { "" } }
    /// The image; `nil` for values of other types.
    public var imageBufferValue: CVPixelBuffer? { if case .image(let value) = content { value } else { nil } }
    /// The multi-array, shared and not copied; `nil` for values of other types.
    public var multiArrayValue: MLMultiArray? { if case .multiArray(let value) = content { value } else { nil } }
    /// The sequence; `nil` for values of other types.
    public var sequenceValue: MLSequence? { if case .sequence(let value) = content { value } else { nil } }
    /// The dictionary, whose keys are `String` or `Int64` and whose values are doubles; empty for values of other
    /// types.
    public var dictionaryValue: [AnyHashable: NSNumber] {
        switch content {
        case .strings(let values):
            Dictionary(uniqueKeysWithValues: values.map { (AnyHashable($0.key), NSNumber(value: $0.value)) })
        case .integers(let values):
            Dictionary(uniqueKeysWithValues: values.map { (AnyHashable($0.key), NSNumber(value: $0.value)) })
        default: [:]
        }
    }

    /// A copy of the multi-array as a shaped array.
    ///
    /// - Parameter type: The element type.
    /// - Returns: The array; `nil` for values of other types, and when the multi-array's elements are not `Scalar`.
    public func shapedArrayValue<Scalar>(of type: Scalar.Type) -> MLShapedArray<Scalar>?
    where Scalar: MLShapedArrayScalar {
        guard let array = multiArrayValue, array.dataType == Scalar.multiArrayDataType else { return nil }
        return MLShapedArray(array)
    }

    /// Whether both values have the same type and content.
    public func isEqual(to value: MLFeatureValue) -> Bool { isEqual(value) }

    /// Whether the other object is a value of the same type and content; images are equal when they are the same
    /// buffer.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? MLFeatureValue else { return false }
        return switch (content, other.content) {
        case (.undefined(let a), .undefined(let b)): a == b
        case (.int64(let a), .int64(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a == b
        case (.image(let a), .image(let b)): a == b
        case (.multiArray(let a), .multiArray(let b)): a.isEqual(b)
        case (.strings(let a), .strings(let b)): a == b
        case (.integers(let a), .integers(let b)): a == b
        case (.sequence(let a), .sequence(let b)): a.isEqual(b)
        default: false
        }
    }

    /// A hash of the type.
    open override var hash: Int { type.hashValue }

    /// Type and content: `Double : 0.5`.
    open override var description: String {
        switch content {
        case .undefined(let type): "\(type) : undefined"
        case .int64(let value): "Int64 : \(value)"
        case .double(let value): "Double : \(value)"
        case .string(let value): "String : \(value)"
        case .image(let value): "Image : \(value)"
        case .multiArray(let value): "MultiArray : \((value as NSObject).description)"
        case .strings(let value): "Dictionary : \(value)"
        case .integers(let value): "Dictionary : \(value)"
        case .sequence(let value): "Sequence : \((value as NSObject).description)"
        }
    }

    /// The value itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the class can be decoded securely: always true.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes type and content; an image is not encoded, and is decoded as a missing value of the type `.image`.
    public func encode(with coder: NSCoder) {
        coder.encode(NSNumber(value: type.rawValue), forKey: "type")
        switch content {
        case .undefined, .image: break
        case .int64(let value): coder.encode(NSNumber(value: value), forKey: "value")
        case .double(let value): coder.encode(NSNumber(value: value), forKey: "value")
        case .string(let value): coder.encode(NSString(string: value), forKey: "value")
        case .multiArray(let value): coder.encode(value, forKey: "value")
        case .sequence(let value): coder.encode(value, forKey: "value")
        case .strings(let values):
            let keys = values.keys.sorted()
            coder.encode(keys.map { NSString(string: $0) } as NSArray, forKey: "keys")
            coder.encode(keys.map { NSNumber(value: values[$0] ?? 0) } as NSArray, forKey: "value")
        case .integers(let values):
            let keys = values.keys.sorted()
            coder.encode(keys.map { NSNumber(value: $0) } as NSArray, forKey: "keys")
            coder.encode(keys.map { NSNumber(value: values[$0] ?? 0) } as NSArray, forKey: "value")
        }
    }

    /// Decodes a value that `encode(with:)` wrote; `nil` when the data are damaged.
    public required init?(coder: NSCoder) {
        guard let raw = coder.decodeObject(of: NSNumber.self, forKey: "type"),
            let type = MLFeatureType(rawValue: raw.intValue)
        else { return nil }
        guard coder.containsValue(forKey: "value") else {
            content = .undefined(type)
            return
        }
        switch type {
        case .int64:
            guard let value = coder.decodeObject(of: NSNumber.self, forKey: "value") else { return nil }
            content = .int64(value.int64Value)
        case .double:
            guard let value = coder.decodeObject(of: NSNumber.self, forKey: "value") else { return nil }
            content = .double(value.doubleValue)
        case .string:
            guard let value = coder.decodeObject(of: NSString.self, forKey: "value") else { return nil }
            content = .string(String(describing: value))
        case .multiArray:
            guard let value = coder.decodeObject(of: MLMultiArray.self, forKey: "value") else { return nil }
            content = .multiArray(value)
        case .sequence:
            guard let value = coder.decodeObject(of: MLSequence.self, forKey: "value") else { return nil }
            content = .sequence(value)
        case .dictionary:
            let classes: [AnyClass] = [NSArray.self, NSNumber.self, NSString.self]
            guard let values = coder.decodeObject(of: classes, forKey: "value") as? [NSNumber] else { return nil }
            let keys = coder.decodeObject(of: classes, forKey: "keys")
            if let keys = keys as? [String], keys.count == values.count {
                content = .strings(Dictionary(zip(keys, values.map { $0.doubleValue }), uniquingKeysWith: { $1 }))
            } else if let keys = keys as? [NSNumber], keys.count == values.count {
                content = .integers(
                    Dictionary(zip(keys.map { $0.int64Value }, values.map { $0.doubleValue }), uniquingKeysWith: { $1 })
                )
            } else {
                return nil
            }
        default: return nil
        }
    }
}
