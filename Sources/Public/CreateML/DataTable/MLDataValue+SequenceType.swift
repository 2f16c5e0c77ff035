extension MLDataValue {
    /// A list of values, which need not be of one type.
    public struct SequenceType: Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
        /// A value of any type.
        public typealias Element = MLDataValue
        /// The position of an element, from 0.
        public typealias Index = Int

        private var elements: [MLDataValue]

        /// Creates an empty list.
        public init() { elements = [] }

        /// Creates a list of the values of an array literal.
        public init(arrayLiteral: Element...) { elements = arrayLiteral }

        /// Creates a list of the values of a sequence.
        public init<S>(_ elements: S) where S: Sequence, S.Element == MLDataValue { self.elements = Array(elements) }

        /// Creates a list of the elements of a sequence, converted to values.
        public init<S>(_ elements: S) where S: Sequence, S.Element: MLDataValueConvertible {
            self.elements = elements.map(\.dataValue)
        }

        /// The position of the first element, 0.
        public var startIndex: Int { 0 }
        /// The number of elements.
        public var endIndex: Int { elements.count }

        /// The value at a position.
        /// - Precondition: `index` is at least 0 and below `endIndex`.
        public subscript(index: Index) -> Element { elements[index] }
    }
}

extension MLDataValue.SequenceType: MLDataValueConvertible {
    /// Takes the list out of a value; `nil` if the value is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.sequenceValue else { return nil }
        self = value
    }

    /// The type of such values, `.sequence`.
    public static var dataValueType: MLDataValue.ValueType { .sequence }

    /// The list as a value.
    public var dataValue: MLDataValue { .sequence(self) }
}

extension MLDataValue.SequenceType: CustomStringConvertible, CustomDebugStringConvertible {
    /// The list as JSON.
    public var description: String { json }

    /// The same text as `description`.
    public var debugDescription: String { json }

    var json: String { "[" + map(\.json).joined(separator: ", ") + "]" }
}
