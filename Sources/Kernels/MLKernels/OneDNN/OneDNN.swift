import COneDNN
import Synchronization

/// Debian's oneDNN, when it is installed: a reference for tests and measurements, and an implementation of products and
/// convolutions with the environment `COREML_BACKEND=onednn`.
package enum OneDNN {
    /// The major version of the library, 0 when it is not installed.
    ///
    /// The first use loads it.
    package static var version: Int { Int(codnn_version()) }

    /// Its threads execute one call at a time; several calling threads would each create their own team.
    static let lock = Mutex(())

    /// A product or convolution with constant weights, prepared for one shape.
    ///
    /// `@unchecked Sendable`: every use of the handle holds `OneDNN.lock`.
    package final class Operation: @unchecked Sendable {
        private let handle: OpaquePointer

        private init?(_ handle: OpaquePointer?) {
            guard let handle else { return nil }
            self.handle = handle
        }

        /// Channels-last convolution with single-precision weights `[output, input/groups, kernel…]`; `nil` when the
        /// library is not installed or does not support it.
        package static func convolution(
            _ geometry: ConvolutionGeometry,
            weights: UnsafePointer<Float>,
            inputChannels: Int,
            outputChannels: Int,
            kernel: [Int],
            groups: Int,
            bias: UnsafePointer<Float>?
        ) -> Operation? {
            guard version > 0 else { return nil }
            let paddingAfter = kernel.indices.map { axis -> Int in
                let reach = geometry.dilations[axis] * (kernel[axis] - 1) + 1
                let last = (geometry.outputSize[axis] - 1) * geometry.strides[axis] + reach
                return last - geometry.inputSize[axis] - geometry.paddingBefore[axis]
            }
            let axes = kernel.count
            let sizes =
                geometry.inputSize + geometry.outputSize + kernel + geometry.strides + geometry.dilations
                + geometry.paddingBefore + paddingAfter
            return sizes.withUnsafeBufferPointer { sizes in
                func field(_ index: Int) -> UnsafePointer<Int>? { sizes.baseAddress.map { $0 + index * axes } }
                var arguments = codnn_convolution_arguments(
                    axes: Int32(axes),
                    batch: geometry.batch,
                    in_channels: inputChannels,
                    out_channels: outputChannels,
                    groups: groups,
                    in_size: field(0),
                    out_size: field(1),
                    kernel: field(2),
                    stride: field(3),
                    dilation: field(4),
                    padding_before: field(5),
                    padding_after: field(6),
                    weights: weights,
                    bias: bias
                )
                return OneDNN.lock.withLock { _ in Operation(codnn_convolution(&arguments)) }
            }
        }

        /// `y[rows, columns] = x[rows, terms]·weights + bias`; the strides of `x` and `y` go from row to row, those of
        /// the weights from term to term and from column to column.
        package static func product(
            rows: Int,
            terms: Int,
            columns: Int,
            xStride: Int,
            yStride: Int,
            weights: UnsafePointer<Float>,
            termStride: Int,
            columnStride: Int,
            bias: UnsafePointer<Float>?
        ) -> Operation? {
            guard version > 0 else { return nil }
            var arguments = codnn_matmul_arguments(
                m: rows,
                n: columns,
                k: terms,
                src_stride: xStride,
                dst_stride: yStride,
                weights: weights,
                k_stride: termStride,
                n_stride: columnStride,
                bias: bias
            )
            return OneDNN.lock.withLock { _ in Operation(codnn_matmul(&arguments)) }
        }

        deinit { OneDNN.lock.withLock { _ in codnn_destroy(handle) } }

        /// Whether the library reported success.
        package func run(_ x: UnsafePointer<Float>, into y: UnsafeMutablePointer<Float>) -> Bool {
            OneDNN.lock.withLock { _ in codnn_run(handle, x, y) }
        }
    }
}
