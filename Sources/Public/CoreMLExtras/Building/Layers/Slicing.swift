import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// One of the last three axes of [… C, H, W].
    public enum ImageAxis: Hashable, Sendable { case channel, height, width }

    /// The part of one axis in a slice: from `begin` up to `end`, exclusive, in steps.
    ///
    /// Negative positions count from the end of the axis.
    public struct SliceRange: Hashable, Sendable {
        /// The first position; nil for the first element in the direction of the step.
        public var begin: Int?
        /// The position after the last; nil for the end in the direction of the step.
        public var end: Int?
        /// The distance between elements; negative for descending positions.
        public var step: Int
        /// Whether only the element at `begin` is taken and the axis is removed.
        public var isSingle: Bool

        /// Creates a range of positions; all of the axis by default.
        ///
        /// - Parameters:
        ///   - begin: The first position; nil for the first element in the direction of the step.
        ///   - end: The position after the last; nil for the end in the direction of the step.
        ///   - step: The distance between elements; 1 by default.
        public init(_ begin: Int? = nil, _ end: Int? = nil, step: Int = 1) {
            self.begin = begin
            self.end = end
            self.step = step
            isSingle = false
        }

        /// All of the axis.
        public static var all: SliceRange { SliceRange() }

        /// A single element, whose axis is removed.
        public static func element(_ place: Int) -> SliceRange {
            var range = SliceRange(place, place == -1 || place == .max ? nil : place + 1)
            range.isSingle = true
            return range
        }
    }

    /// Slices one axis of [… C, H, W].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - axis: The axis to slice.
    ///   - start: The first position.
    ///   - end: The position after the last; a negative one counts from the end of the axis.
    ///   - stride: The distance between elements; 1 by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func slice(
        _ name: String,
        _ input: Value,
        axis: ImageAxis,
        from start: Int,
        to end: Int,
        stride: Int = 1,
        output: Value? = nil
    ) -> Value {
        var layer = SpecSliceLayerParams()
        layer.startIndex = Int64(start)
        layer.endIndex = Int64(end)
        layer.stride = natural(name, "the stride", stride, atLeast: 1)
        layer.axis =
            switch axis {
            case .channel: .channelAxis
            case .height: .heightAxis
            case .width: .widthAxis
            }
        return add(name, [input], output, .slice(layer))
    }

    /// Slices every axis.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - ranges: A range for each axis.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func slice(_ name: String, _ input: Value, _ ranges: [SliceRange], output: Value? = nil) -> Value {
        add(
            name,
            [input],
            output,
            .sliceStatic(
                .with {
                    $0.beginIds = ranges.map { Int64($0.begin ?? 0) }
                    $0.beginMasks = ranges.map { $0.begin == nil }
                    $0.endIds = ranges.map { Int64($0.end ?? 0) }
                    $0.endMasks = ranges.map { $0.end == nil }
                    $0.strides = ranges.map { Int64($0.step) }
                    if ranges.contains(where: \.isSingle) { $0.squeezeMasks = ranges.map(\.isSingle) }
                }
            )
        )
    }

    /// Slices every axis from positions that another value holds.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - begin: A value with a position for each axis; of the ranges' own `begin` only matters whether it is nil.
    ///   - end: A value with a position for each axis, which replaces the ranges' `end`; nil, the default, uses
    ///     those.
    ///   - ranges: A range for each axis.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func sliceDynamic(
        _ name: String,
        _ input: Value,
        begin: Value,
        end: Value? = nil,
        _ ranges: [SliceRange],
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input, begin] + (end.map { [$0] } ?? []),
            output,
            .sliceDynamic(
                .with {
                    $0.beginMasks = ranges.map { $0.begin == nil }
                    if end == nil { $0.endIds = ranges.map { Int64($0.end ?? 0) } }
                    $0.endMasks = ranges.map { $0.end == nil }
                    $0.strides = ranges.map { Int64($0.step) }
                    if ranges.contains(where: \.isSingle) { $0.squeezeMasks = ranges.map(\.isSingle) }
                }
            )
        )
    }

    /// Slices every axis by positions, steps and masks that other values hold.
    @discardableResult
    public mutating func sliceDynamic(
        _ name: String,
        _ input: Value,
        begin: Value,
        end: Value,
        strides: Value,
        beginMasks: Value,
        endMasks: Value,
        squeezeMasks: Value,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input, begin, end, strides, beginMasks, endMasks, squeezeMasks],
            output,
            .sliceDynamic(.init())
        )
    }

    /// Takes `size` elements of an axis from a position that another value holds.
    @discardableResult
    public mutating func sliceBySize(
        _ name: String,
        _ input: Value,
        begin: Value,
        axis: Int,
        size: Int,
        output: Value? = nil
    ) -> Value {
        if size < 1 { problem(name, "the size is \(size); it must be 1 or more") }
        return add(
            name,
            [input, begin],
            output,
            .sliceBySize(
                .with {
                    $0.axis = Int64(axis)
                    $0.size = Int64(size)
                }
            )
        )
    }
}
