public import CoreML
import Foundation
import MLNumerics
import TabularData

extension MLDataValue {
    /// An array of floating-point numbers with any number of dimensions.
    public struct MultiArrayType: Hashable {
        private let array: MLMultiArray

        /// Creates an array of shape [0], which has no elements.
        public init() { self.init(shape: [0]) }

        /// Wraps a multi-array without copying it: later writes to it are visible here.
        public init(_ contents: MLMultiArray) { array = contents }

        /// Creates an array of zeros.
        /// - Precondition: No extent is negative.
        public init(shape: [Int]) { self.init(shape: shape, values: nil) }

        /// Creates an array of the given elements.
        /// - Parameters:
        ///   - shape: The extents.
        ///   - values: The elements in row-major order; zeros if `nil`.
        init(shape: [Int], values: [Double]?) {
            guard shape.allSatisfy({ $0 >= 0 }) else { fatalError("the extents \(shape) of an array are 0 or more") }
            let shaped = MLShapedArray<Double>(
                scalars: values ?? [Double](repeating: 0, count: shape.reduce(1, *)),
                shape: shape
            )
            array = MLMultiArray(shaped)
        }

        /// A copy of an array of a data frame; one without elements need not have dimensions there.
        init(_ shaped: ShapedData<Double>) {
            guard !shaped.contents.isEmpty, !shaped.shape.contains(0) else {
                self.init(shape: shaped.shape.isEmpty ? [0] : shaped.shape, values: [])
                return
            }
            var positions = [0]
            for (extent, stride) in zip(shaped.shape, shaped.strides) {
                positions = positions.flatMap { position in (0..<extent).map { position + $0 * stride } }
            }
            self.init(shape: shaped.shape, values: positions.map { shaped.contents[$0] })
        }

        /// The wrapped multi-array; not a copy.
        public var mlMultiArray: MLMultiArray { array }

        /// The element at a position in row-major order.
        public subscript(index: Int) -> Double { array[index].doubleValue }

        /// The element at the given position in each dimension.
        public subscript(index: [Int]) -> Double { array[index.map { NSNumber(value: $0) }].doubleValue }

        var shape: [Int] { array.shape.map(\.intValue) }

        /// The elements in row-major order.
        var values: [Double] {
            array.tensor(as: .float64).withElements(of: Double.self) { Array($0) }
        }

        /// Whether two arrays have the same shape and equal elements.
        public static func == (lhs: MultiArrayType, rhs: MultiArrayType) -> Bool {
            lhs.array === rhs.array || (lhs.shape == rhs.shape && lhs.values == rhs.values)
        }

        /// Hashes the shape and the elements.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(shape)
            hasher.combine(values)
        }
    }
}

extension MLDataValue.MultiArrayType: MLDataValueConvertible {
    /// Takes the multi-array out of a value; `nil` if the value is of another type.
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.multiArrayValue else { return nil }
        self = value
    }

    /// The type of such values, `.multiArray`.
    public static var dataValueType: MLDataValue.ValueType { .multiArray }

    /// The array as a value.
    public var dataValue: MLDataValue { .multiArray(self) }
}

extension MLDataValue.MultiArrayType: CustomStringConvertible, CustomDebugStringConvertible {
    /// The elements as nested lists.
    public var description: String {
        var positions = values[...]
        func text(_ shape: ArraySlice<Int>) -> String {
            guard let extent = shape.first else { return String(positions.popFirst() ?? .nan) }
            return "[" + (0..<extent).map { _ in text(shape.dropFirst()) }.joined(separator: ", ") + "]"
        }
        return text(shape[...])
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
