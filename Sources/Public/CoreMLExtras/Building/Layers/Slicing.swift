import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// An axis of [… C, H, W].
    public enum ImageAxis: Hashable, Sendable { case channel, height, width }

    /// One axis of a slice: from `begin` to before `end` in steps.  Negative places count from the end of the axis.
    public struct SliceRange: Hashable, Sendable {
        /// `nil` for the first element in the direction of the step.
        public var begin: Int?
        /// `nil` for behind the last element in the direction of the step.
        public var end: Int?
        public var step: Int
        /// Takes the element at `begin` and the axis away.
        public var isSingle: Bool

        public init(_ begin: Int? = nil, _ end: Int? = nil, step: Int = 1) {
            self.begin = begin
            self.end = end
            self.step = step
            isSingle = false
        }

        /// All of the axis.
        public static var all: SliceRange { SliceRange() }

        /// One element; the axis goes.
        public static func element(_ place: Int) -> SliceRange {
            var range = SliceRange(place, place == -1 || place == .max ? nil : place + 1)
            range.isSingle = true
            return range
        }
    }

    /// Cuts one axis of [… C, H, W].
    /// - Parameter end: negative ones count from the end of the axis.
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

    /// Cuts every axis.
    /// - Parameter ranges: one for each axis.
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

    /// Cuts every axis from where another value says.
    /// - Parameters:
    ///   - begin: a value with one place for each axis; the ranges' own `begin` matters only as `nil` or not.
    ///   - end: a value with one place for each axis, instead of the ranges' `end`.
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

    /// Cuts every axis as five values say.
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

    /// Cuts `size` elements of an axis from where another value says.
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
