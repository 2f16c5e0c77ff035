public import CoreML
import Foundation
import MLNumerics
import TabularData

extension MLDataValue {
    /// An array of numbers of any number of dimensions.
    public struct MultiArrayType: Hashable {
        private let array: MLMultiArray

        /// An array without elements.
        public init() { self.init(shape: [0]) }

        /// The array itself, not a copy: what is written into it afterwards is seen here.
        public init(_ contents: MLMultiArray) { array = contents }

        /// An array of zeros.
        /// - Precondition: no extent is below 0.
        public init(shape: [Int]) { self.init(shape: shape, values: nil) }

        /// - Parameter values: row by row; zeros when `nil`.
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
            var places = [0]
            for (extent, stride) in zip(shaped.shape, shaped.strides) {
                places = places.flatMap { place in (0..<extent).map { place + $0 * stride } }
            }
            self.init(shape: shaped.shape, values: places.map { shaped.contents[$0] })
        }

        public var mlMultiArray: MLMultiArray { array }

        /// The element at a place, counted row by row.
        public subscript(index: Int) -> Double { array[index].doubleValue }

        /// The element at a place in each dimension.
        public subscript(index: [Int]) -> Double { array[index.map { NSNumber(value: $0) }].doubleValue }

        var shape: [Int] { array.shape.map(\.intValue) }

        /// Row by row.
        var values: [Double] {
            array.tensor(as: .float64).withElements(of: Double.self) { Array($0) }
        }

        /// Whether shapes and elements are equal.
        public static func == (lhs: MultiArrayType, rhs: MultiArrayType) -> Bool {
            lhs.array === rhs.array || (lhs.shape == rhs.shape && lhs.values == rhs.values)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(shape)
            hasher.combine(values)
        }
    }
}

extension MLDataValue.MultiArrayType: MLDataValueConvertible {
    public init?(from dataValue: MLDataValue) {
        guard let value = dataValue.multiArrayValue else { return nil }
        self = value
    }

    public static var dataValueType: MLDataValue.ValueType { .multiArray }

    public var dataValue: MLDataValue { .multiArray(self) }
}

extension MLDataValue.MultiArrayType: CustomStringConvertible, CustomDebugStringConvertible {
    /// Nested lists.
    public var description: String {
        var places = values[...]
        func text(_ shape: ArraySlice<Int>) -> String {
            guard let extent = shape.first else { return String(places.popFirst() ?? .nan) }
            return "[" + (0..<extent).map { _ in text(shape.dropFirst()) }.joined(separator: ", ") + "]"
        }
        return text(shape[...])
    }

    public var debugDescription: String { description }
}
