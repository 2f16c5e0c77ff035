import MLFiles

extension MLDataValue {
    /// Values by keys.
    public struct DictionaryType: Hashable, Collection {
        public typealias Key = MLDataValue
        public typealias Value = MLDataValue
        public typealias Element = (key: Key, value: Value)

        /// A place among the entries.
        public struct Index: Comparable {
            fileprivate let base: Dictionary<MLDataValue, MLDataValue>.Index

            public static func < (lhs: Index, rhs: Index) -> Bool { lhs.base < rhs.base }
        }

        private var contents: [MLDataValue: MLDataValue]

        public init() { contents = [:] }

        public init(_ contents: [MLDataValue: MLDataValue]) { self.contents = contents }

        /// - Precondition: no key appears twice.
        public init<S>(uniqueKeysWithValues keysAndValues: S)
        where S: Sequence, S.Element == (MLDataValue, MLDataValue) {
            contents = Dictionary(uniqueKeysWithValues: keysAndValues)
        }

        public var count: Int { contents.count }
        public var isEmpty: Bool { contents.isEmpty }
        public var startIndex: Index { Index(base: contents.startIndex) }
        public var endIndex: Index { Index(base: contents.endIndex) }
        public func index(after i: Index) -> Index { Index(base: contents.index(after: i.base)) }

        public subscript(index: Index) -> Element { contents[index.base] }

        public subscript(key: Key) -> Value? { contents[key] }

        /// The entries in the order of their keys' texts.
        var inOrder: [Element] {
            map { (text: $0.key.description, entry: $0) }.sorted { $0.text < $1.text }.map(\.entry)
        }
    }
}

extension MLDataValue.DictionaryType: MLDataValueConvertible {
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.dictionaryValue else { return nil }
        self = value
    }

    public static var dataValueType: MLDataValue.ValueType { .dictionary }

    public var dataValue: MLDataValue { .dictionary(self) }
}

extension MLDataValue.DictionaryType: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { json }

    public var debugDescription: String { json }

    var json: String {
        "{" + inOrder.map { JSONValue.quoted($0.key.description) + ": " + $0.value.json }.joined(separator: ", ")
            + "}"
    }
}
