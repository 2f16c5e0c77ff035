import MLFiles

extension MLDataValue {
    /// Values by keys; the entries have no particular order.
    public struct DictionaryType: Hashable, Collection {
        /// A key, a value of any type.
        public typealias Key = MLDataValue
        /// A value of any type.
        public typealias Value = MLDataValue
        /// A key and its value.
        public typealias Element = (key: Key, value: Value)

        /// The position of an entry.
        public struct Index: Comparable {
            fileprivate let base: Dictionary<MLDataValue, MLDataValue>.Index

            /// Whether the left position comes before the right one.
            public static func < (lhs: Index, rhs: Index) -> Bool { lhs.base < rhs.base }
        }

        private var contents: [MLDataValue: MLDataValue]

        /// Creates an empty dictionary.
        public init() { contents = [:] }

        /// Creates a dictionary of the entries of a Swift dictionary.
        public init(_ contents: [MLDataValue: MLDataValue]) { self.contents = contents }

        /// Creates a dictionary of pairs of keys and values.
        /// - Precondition: No key appears twice.
        public init<S>(uniqueKeysWithValues keysAndValues: S)
        where S: Sequence, S.Element == (MLDataValue, MLDataValue) {
            contents = Dictionary(uniqueKeysWithValues: keysAndValues)
        }

        /// The number of entries.
        public var count: Int { contents.count }
        /// Whether there are no entries.
        public var isEmpty: Bool { contents.isEmpty }
        /// The position of the first entry.
        public var startIndex: Index { Index(base: contents.startIndex) }
        /// The position behind the last entry.
        public var endIndex: Index { Index(base: contents.endIndex) }
        /// The position of the next entry.
        public func index(after i: Index) -> Index { Index(base: contents.index(after: i.base)) }

        /// The entry at a position.
        public subscript(index: Index) -> Element { contents[index.base] }

        /// The value of a key; `nil` if there is no such key.
        public subscript(key: Key) -> Value? { contents[key] }

        /// The entries sorted by their keys' texts.
        var inOrder: [Element] {
            map { (text: $0.key.description, entry: $0) }.sorted { $0.text < $1.text }.map(\.entry)
        }
    }
}

extension MLDataValue.DictionaryType: MLDataValueConvertible {
    /// Takes the dictionary out of a value; `nil` if the value is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.dictionaryValue else { return nil }
        self = value
    }

    /// The type of such values, `.dictionary`.
    public static var dataValueType: MLDataValue.ValueType { .dictionary }

    /// The dictionary as a value.
    public var dataValue: MLDataValue { .dictionary(self) }
}

extension MLDataValue.DictionaryType: CustomStringConvertible, CustomDebugStringConvertible {
    /// The dictionary as a JSON object with sorted keys.
    public var description: String { json }

    /// The same text as `description`.
    public var debugDescription: String { json }

    var json: String {
        "{" + inOrder.map { JSONValue.quoted($0.key.description) + ": " + $0.value.json }.joined(separator: ", ")
            + "}"
    }
}
