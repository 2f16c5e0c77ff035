/// A list of strings or of 64-bit integers.
open class MLSequence: NSObject, NSSecureCoding {
    /// The type of the elements: `.string` or `.int64`.
    public let type: MLFeatureType
    /// The strings; empty for a sequence of integers.
    public let stringValues: [String]
    /// The integers; empty for a sequence of strings.
    public let int64Values: [NSNumber]

    private init(type: MLFeatureType, strings: [String], integers: [NSNumber]) {
        self.type = type
        stringValues = strings
        int64Values = integers
    }

    /// Makes a sequence of strings.
    public convenience init(strings stringValues: [String]) {
        self.init(type: .string, strings: stringValues, integers: [])
    }

    /// Makes a sequence of integers.
    public convenience init(int64s int64Values: [NSNumber]) {
        self.init(type: .int64, strings: [], integers: int64Values)
    }

    /// Makes a sequence without elements; `type` is `.string` or `.int64`, and others trap.
    public convenience init(empty type: MLFeatureType) {
        precondition(type == .string || type == .int64, "a sequence holds strings or integers, not \(type)")
        self.init(type: type, strings: [], integers: [])
    }

    /// The type and the elements.
    open override var description: String {
        type == .string ? "String sequence \(stringValues)" : "Int64 sequence \(int64Values.map { $0.int64Value })"
    }

    /// Whether the other object is a sequence of the same type and elements.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? MLSequence else { return false }
        return type == other.type && stringValues == other.stringValues
            && int64Values.map { $0.int64Value } == other.int64Values.map { $0.int64Value }
    }

    /// A hash of type and elements.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(stringValues)
        hasher.combine(int64Values.map { $0.int64Value })
        return hasher.finalize()
    }

    /// Whether the class can be decoded securely: always true.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes type and elements.
    public func encode(with coder: NSCoder) {
        coder.encode(NSNumber(value: type.rawValue), forKey: "type")
        coder.encode(stringValues.map { NSString(string: $0) } as NSArray, forKey: "strings")
        coder.encode(int64Values as NSArray, forKey: "integers")
    }

    /// Decodes a sequence that `encode(with:)` wrote; `nil` when the data are damaged.
    public required init?(coder: NSCoder) {
        guard let raw = coder.decodeObject(of: NSNumber.self, forKey: "type"),
            let type = MLFeatureType(rawValue: raw.intValue), type == .string || type == .int64,
            let strings = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "strings") as? [String],
            let integers = coder.decodeObject(of: [NSArray.self, NSNumber.self], forKey: "integers") as? [NSNumber]
        else { return nil }
        self.type = type
        stringValues = strings
        int64Values = integers
    }
}
