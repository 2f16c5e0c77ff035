extension MLDataValue {
    /// A list of values.
    public struct SequenceType: Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
        public typealias Element = MLDataValue
        public typealias Index = Int

        private var elements: [MLDataValue]

        public init() { elements = [] }

        public init(arrayLiteral: Element...) { elements = arrayLiteral }

        public init<S>(_ elements: S) where S: Sequence, S.Element == MLDataValue { self.elements = Array(elements) }

        public init<S>(_ elements: S) where S: Sequence, S.Element: MLDataValueConvertible {
            self.elements = elements.map(\.dataValue)
        }

        public var startIndex: Int { 0 }
        public var endIndex: Int { elements.count }

        public subscript(index: Index) -> Element { elements[index] }
    }
}

extension MLDataValue.SequenceType: MLDataValueConvertible {
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.sequenceValue else { return nil }
        self = value
    }

    public static var dataValueType: MLDataValue.ValueType { .sequence }

    public var dataValue: MLDataValue { .sequence(self) }
}

extension MLDataValue.SequenceType: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { json }

    public var debugDescription: String { json }

    var json: String { "[" + map(\.json).joined(separator: ", ") + "]" }
}
