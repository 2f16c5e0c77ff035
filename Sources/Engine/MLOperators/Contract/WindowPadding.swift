package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// The border padding of a sliding window, for convolutions and pools.
package enum WindowPadding: Hashable, Sendable, Codable {
    /// No padding: the window stays inside.
    case valid
    /// Pads so that the output has ⌈input / stride⌉ elements; an odd element is added at the end.
    case same
    /// Like `same`, but an odd element is added at the start.
    case sameLower
    /// Explicit amounts, one for each spatial axis.
    case custom(before: [Int], after: [Int])

    /// Reads `pad_type` and `pad`; the amounts are only used when the type is `custom`.
    package init(reading arguments: inout Arguments, spatialRank: Int) throws(ModelError) {
        let type = try arguments.string("pad_type", default: "valid").lowercased()
        let amounts = try arguments.ints("pad", default: [Int](repeating: 0, count: 2 * spatialRank))
        switch type {
        case "valid": self = .valid
        case "same": self = .same
        case "same_lower": self = .sameLower
        case "custom":
            guard amounts.count == 2 * spatialRank else {
                throw ModelError(
                    .invalidModel,
                    "'pad' has \(amounts.count) amounts; \(2 * spatialRank) are needed, two for each spatial axis"
                )
            }
            self = .custom(
                before: (0..<spatialRank).map { amounts[2 * $0] },
                after: (0..<spatialRank).map { amounts[2 * $0 + 1] }
            )
        default:
            throw ModelError(.invalidModel, "pad_type must be valid, same, same_lower or custom, not '\(type)'")
        }
    }

    /// The number of elements added at spatial axis `axis` of an input of `extent` elements.
    ///
    /// - Parameters:
    ///   - axis: The spatial axis.
    ///   - extent: The extent of the input.
    ///   - window: The extent of the window, including the gaps of a dilated kernel.
    ///   - stride: The stride of the window.
    /// - Returns: The numbers of elements added before and after the input.
    package func amounts(axis: Int, extent: Int, window: Int, stride: Int) -> (before: Int, after: Int) {
        switch self {
        case .valid: return (0, 0)
        case .custom(let before, let after): return (before[axis], after[axis])
        case .same, .sameLower:
            let total = Swift.max(0, (extent + stride - 1) / stride * stride - extent + window - stride)
            return self == .same ? (total / 2, total - total / 2) : (total - total / 2, total / 2)
        }
    }

    /// Throws unless there is one explicit amount for each of `spatialRank` axes.
    func check(spatialRank: Int) throws(ModelError) {
        guard case .custom(let before, let after) = self else { return }
        guard before.count == spatialRank, after.count == spatialRank else {
            throw ModelError(
                .invalidModel,
                "padding is given for \(before.count) axes, but there are \(spatialRank) spatial axes"
            )
        }
    }
}

/// A sliding window over concrete extents, one entry for each spatial axis.
package struct WindowGeometry: Hashable, Sendable, Codable {
    package var input: [Int]
    package var kernel: [Int]
    package var strides: [Int]
    package var dilations: [Int]
    package var before: [Int]
    package var output: [Int]

    package init(input: [Int], kernel: [Int], strides: [Int], dilations: [Int], before: [Int], output: [Int]) {
        self.input = input
        self.kernel = kernel
        self.strides = strides
        self.dilations = dilations
        self.before = before
        self.output = output
    }

    package init(padding: WindowPadding, input: [Int], kernel: [Int], strides: [Int], dilations: [Int], output: [Int]) {
        let before = input.indices.map { axis in
            padding.amounts(
                axis: axis,
                extent: input[axis],
                window: (kernel[axis] - 1) * dilations[axis] + 1,
                stride: strides[axis]
            ).before
        }
        self.init(
            input: input,
            kernel: kernel,
            strides: strides,
            dilations: dilations,
            before: before,
            output: output
        )
    }

    /// The same window with exactly three spatial axes; the added ones come first and have extent 1.
    package var volumetric: WindowGeometry {
        func filled(_ values: [Int], _ value: Int) -> [Int] {
            [Int](repeating: value, count: 3 - values.count) + values
        }
        return WindowGeometry(
            input: filled(input, 1),
            kernel: filled(kernel, 1),
            strides: filled(strides, 1),
            dilations: filled(dilations, 1),
            before: filled(before, 0),
            output: filled(output, 1)
        )
    }

    /// The form of kernels.
    func kernelGeometry(batch: Int) -> ConvolutionGeometry {
        ConvolutionGeometry(
            batch: batch,
            inputSize: input,
            outputSize: output,
            strides: strides,
            dilations: dilations,
            paddingBefore: before
        )
    }

    /// For output position `position` on `axis`: the taps that are inside the input.
    func taps(axis: Int, at position: Int) -> Range<Int> {
        let start = position * strides[axis] - before[axis]
        let step = dilations[axis]
        let first = start >= 0 ? 0 : (-start + step - 1) / step
        let room = input[axis] - 1 - start
        let last = room < 0 ? 0 : Swift.min(kernel[axis], room / step + 1)
        return first..<Swift.max(first, last)
    }
}

extension WindowPadding {
    init(_ amounts: SpecBorderAmounts) throws(ModelError) {
        let edges = amounts.borderAmounts
        guard !edges.isEmpty else {
            self = .valid
            return
        }
        guard edges.count == 2 else {
            throw ModelError(.invalidModel, "\(edges.count) border amounts; two are needed, for rows and columns")
        }
        let before = edges.map { Int(clamping: $0.startEdgeSize) }
        let after = edges.map { Int(clamping: $0.endEdgeSize) }
        guard (before + after).allSatisfy({ $0 <= Self.limit }) else {
            throw ModelError(.invalidModel, "border amounts \(before) and \(after) are greater than any image")
        }
        self = .custom(before: before, after: after)
    }

    /// The maximum kernel extent, stride, dilation and padding of a window.
    private static let limit = 1 << 24

    /// Throws unless there is one positive number for each spatial axis, none of them above `limit`.
    static func check(_ lists: [Int]..., spatialRank: Int) throws(ModelError) {
        for list in lists {
            guard list.count == spatialRank, list.allSatisfy({ (1...limit).contains($0) }) else {
                throw ModelError(
                    .invalidModel,
                    "a kernel size must consist of \(spatialRank) positive numbers, not \(list)"
                )
            }
        }
    }

    init(_ same: SpecSamePadding) { self = same.asymmetryMode == .topLeftHeavy ? .sameLower : .same }
}
