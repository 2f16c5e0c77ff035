import CMLKernels

/// Linear and nearest-neighbour resizing of two axes.
package enum ResizeKernel {
    /// The sampling of one axis: output `i` is `(1 − weight[i])·x[low[i]] + weight[i]·x[high[i]]`.
    ///
    /// Nearest neighbour has weights of 0.
    package struct Axis: Sendable {
        package var inputSize: Int
        package var low: [Int32]
        package var high: [Int32]
        package var weight: [Float]

        package init(inputSize: Int, low: [Int32], high: [Int32], weight: [Float]) {
            precondition(low.count == high.count && low.count == weight.count)
            self.inputSize = inputSize
            self.low = low
            self.high = high
            self.weight = weight
        }

        /// Linear interpolation at fractional input `positions`, clamped to the ends.
        package init(inputSize: Int, linearAt positions: [Double]) {
            let last = Double(inputSize - 1)
            let clamped = positions.map { min(max($0, 0), last) }
            self.init(
                inputSize: inputSize,
                low: clamped.map { Int32($0.rounded(.down)) },
                high: clamped.map { Int32(min($0.rounded(.down) + 1, last)) },
                weight: clamped.map { Float($0 - $0.rounded(.down)) }
            )
        }

        /// Nearest neighbours at `positions`, clamped to the ends.
        package init(inputSize: Int, nearestAt positions: [Int]) {
            let clamped = positions.map { Int32(min(max($0, 0), inputSize - 1)) }
            self.init(inputSize: inputSize, low: clamped, high: clamped, weight: clamped.map { _ in 0 })
        }
    }

    /// Resizes `x` of `[batch][height][width][inner]`; channels-first tensors have `batch·channels` items and `inner` 1.
    package static func resize(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        batch: Int,
        height: Axis,
        width: Axis,
        inner: Int
    ) {
        withLowered(height) { height in
            withLowered(width) { width in
                var (height, width) = (height, width)
                cml_resize(cml_isa_current(), x, y, batch, inner, &height, &width)
            }
        }
    }

    private static func withLowered(_ axis: Axis, _ body: (cml_resize_axis) -> Void) {
        axis.low.withUnsafeBufferPointer { low in
            axis.high.withUnsafeBufferPointer { high in
                axis.weight.withUnsafeBufferPointer { weight in
                    var lowered = cml_resize_axis()
                    lowered.in = axis.inputSize
                    lowered.out = axis.low.count
                    lowered.low = low.baseAddress
                    lowered.high = high.baseAddress
                    lowered.weight = weight.baseAddress
                    body(lowered)
                }
            }
        }
    }
}
