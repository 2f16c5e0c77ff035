import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// Joins values [… C, H, W] along the channels, or along the sequence.
    @discardableResult
    public mutating func concat(
        _ name: String,
        _ inputs: [Value],
        alongSequence: Bool = false,
        output: Value? = nil
    ) -> Value {
        add(name, inputs, output, .concat(.with { $0.sequenceConcat = alongSequence }))
    }

    /// Joins values along an axis.
    /// - Parameter isInterleaved: elements in turn instead of one value after the other.
    @discardableResult
    public mutating func concatND(
        _ name: String,
        _ inputs: [Value],
        axis: Int,
        isInterleaved: Bool = false,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            inputs,
            output,
            .concatNd(
                .with {
                    $0.axis = Int64(axis)
                    $0.interleave = isInterleaved
                }
            )
        )
    }

    /// Joins values of one shape along a new axis.
    @discardableResult
    public mutating func stack(_ name: String, _ inputs: [Value], axis: Int = 0, output: Value? = nil) -> Value {
        add(name, inputs, output, .stack(.with { $0.axis = Int64(axis) }))
    }

    /// Cuts the channels of [… C, H, W] into equal parts.
    @discardableResult
    public mutating func split(_ name: String, _ input: Value, outputs: [Value]) -> [Value] {
        add(name, [input], outputs: outputs, .split(.with { $0.nOutputs = UInt64(outputs.count) }))
    }

    /// Cuts an axis into parts.
    /// - Parameter sizes: their extents; equal ones by default.
    @discardableResult
    public mutating func splitND(
        _ name: String,
        _ input: Value,
        axis: Int,
        sizes: [Int]? = nil,
        outputs: [Value]
    ) -> [Value] {
        var layer = SpecSplitNDLayerParams()
        layer.axis = Int64(axis)
        if let sizes {
            if sizes.count != outputs.count { problem(name, "\(outputs.count) outputs have \(sizes.count) sizes") }
            layer.splitSizes = natural(name, "the size of a part", sizes, atLeast: 1)
        } else {
            layer.numSplits = UInt64(outputs.count)
        }
        return add(name, [input], outputs: outputs, .splitNd(layer))
    }

    /// Repeats the sequence of [Sequence, Batch, C, H, W].
    @discardableResult
    public mutating func sequenceRepeat(_ name: String, _ input: Value, count: Int, output: Value? = nil) -> Value {
        let count = natural(name, "the number of repetitions", count, atLeast: 1)
        return add(name, [input], output, .sequenceRepeat(.with { $0.nRepetitions = count }))
    }

    /// Repeats each axis.
    /// - Parameter counts: one for each axis.
    @discardableResult
    public mutating func tile(_ name: String, _ input: Value, counts: [Int], output: Value? = nil) -> Value {
        let counts = natural(name, "the number of repetitions", counts, atLeast: 1)
        return add(name, [input], output, .tile(.with { $0.reps = counts }))
    }

    /// Repeats each axis as often as another value says.
    @discardableResult
    public mutating func tileDynamic(_ name: String, _ input: Value, counts: Value, output: Value? = nil) -> Value {
        add(name, [input, counts], output, .tile(.init()))
    }

    /// Windows along an axis, which becomes two: windows, elements.
    @discardableResult
    public mutating func slidingWindows(
        _ name: String,
        _ input: Value,
        axis: Int,
        size: Int,
        step: Int,
        output: Value? = nil
    ) -> Value {
        let numbers = natural(name, "the window's size or step", [size, step], atLeast: 1)
        return add(
            name,
            [input],
            output,
            .slidingWindows(
                .with {
                    $0.axis = Int64(axis)
                    $0.windowSize = numbers[0]
                    $0.step = numbers[1]
                }
            )
        )
    }

    /// Surrounds a value of any rank with a number.
    /// - Parameter amounts: before and behind for each axis, one after the other.
    @discardableResult
    public mutating func constantPad(
        _ name: String,
        _ input: Value,
        amounts: [Int],
        value: Float = 0,
        output: Value? = nil
    ) -> Value {
        let amounts = natural(name, "the padding", amounts)
        return add(
            name,
            [input],
            output,
            .constantPad(
                .with {
                    $0.value = value
                    $0.padAmounts = amounts
                }
            )
        )
    }

    /// Surrounds a value with a number until its axes have these extents.
    /// - Parameter sizes: two for each axis: the extent where padding goes before, the extent where it goes behind, 0 for the other.
    @discardableResult
    public mutating func constantPad(
        _ name: String,
        _ input: Value,
        toSizes sizes: [Int],
        value: Float = 0,
        output: Value? = nil
    ) -> Value {
        let sizes = natural(name, "the extent", sizes)
        return add(
            name,
            [input],
            output,
            .constantPad(
                .with {
                    $0.value = value
                    $0.padAmounts = sizes
                    $0.padToGivenOutputSizeMode = true
                }
            )
        )
    }

    /// Surrounds a value as another one says: amounts, or extents with `isSize`, as in the other forms.
    @discardableResult
    public mutating func constantPadDynamic(
        _ name: String,
        _ input: Value,
        amounts: Value,
        isSize: Bool = false,
        value: Float = 0,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input, amounts],
            output,
            .constantPad(
                .with {
                    $0.value = value
                    $0.padToGivenOutputSizeMode = isSize
                }
            )
        )
    }
}
