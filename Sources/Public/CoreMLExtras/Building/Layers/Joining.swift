import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// Concatenates values [… C, H, W] along the channels, or along the sequence.
    @discardableResult
    public mutating func concat(
        _ name: String,
        _ inputs: [Value],
        alongSequence: Bool = false,
        output: Value? = nil
    ) -> Value {
        add(name, inputs, output, .concat(.with { $0.sequenceConcat = alongSequence }))
    }

    /// Concatenates values along an axis.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - inputs: The values to process.
    ///   - axis: The axis; a negative one counts from the last.
    ///   - isInterleaved: Whether elements of the values alternate; by default one value follows the other.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
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

    /// Splits the channels of [… C, H, W] into equal parts, one for each output.
    @discardableResult
    public mutating func split(_ name: String, _ input: Value, outputs: [Value]) -> [Value] {
        add(name, [input], outputs: outputs, .split(.with { $0.nOutputs = UInt64(outputs.count) }))
    }

    /// Splits an axis into parts.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - axis: The axis; a negative one counts from the last.
    ///   - sizes: The extent of each part; equal ones by default.
    ///   - outputs: The names of the results.
    /// - Returns: The names of the results.
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

    /// Repeats the sequence of [Sequence, Batch, C, H, W] `count` times.
    @discardableResult
    public mutating func sequenceRepeat(_ name: String, _ input: Value, count: Int, output: Value? = nil) -> Value {
        let count = natural(name, "the number of repetitions", count, atLeast: 1)
        return add(name, [input], output, .sequenceRepeat(.with { $0.nRepetitions = count }))
    }

    /// Repeats a value along each axis.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - counts: The number of repetitions for each axis.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func tile(_ name: String, _ input: Value, counts: [Int], output: Value? = nil) -> Value {
        let counts = natural(name, "the number of repetitions", counts, atLeast: 1)
        return add(name, [input], output, .tile(.with { $0.reps = counts }))
    }

    /// Repeats a value along each axis as often as another value states.
    @discardableResult
    public mutating func tileDynamic(_ name: String, _ input: Value, counts: Value, output: Value? = nil) -> Value {
        add(name, [input, counts], output, .tile(.init()))
    }

    /// Takes windows along an axis, which is replaced by two: windows and elements.
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

    /// Pads a value of any rank with a constant.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - amounts: The amounts before and after each axis, one after the other.
    ///   - value: The constant; 0 by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
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

    /// Pads a value with a constant to given extents.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - sizes: Two numbers for each axis: the extent to reach by padding before it, and by padding after it; one
    ///     of them is 0.
    ///   - value: The constant; 0 by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
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

    /// Pads a value by amounts, or with `isSize` to extents, that another value holds.
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
