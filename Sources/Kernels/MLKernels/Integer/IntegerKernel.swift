import CMLKernels

/// Products of integers with exact 32-bit sums: of 16 bits, or of bytes of 0...127 and signed bytes, as the weights are stored.
///
/// A result is `function(sum · scale[column] + bias[column] + residual)`; see `OutputPipeline`. The sums of products
/// must not leave 32 bits.
package enum IntegerKernel {
    /// The operations that turn sums into results: scale, bias, rounding, residual, function, quantisation.
    ///
    /// Pointers must stay valid during the call.
    package struct OutputPipeline {
        /// One factor for each column.
        package var scale: UnsafePointer<Float>
        /// One number for each column.
        package var bias: UnsafePointer<Float>?
        /// Rounds the sums with their bias, before anything is added.
        package var rounded: LinearQuantizer?
        /// Quantised integers of the result's shape, each standing for that multiple of `residualStep`.
        package var residual: QuantizedIntegers?
        package var residualStep: Float
        /// Numbers of the result's shape; not the result itself.
        package var addend: UnsafePointer<Float>?
        package var function: UnaryFunction
        /// The memory for the quantised results, and their quantisation.
        package var codes: (numbers: MutableQuantizedIntegers, grid: LinearQuantizer)?

        package init(
            scale: UnsafePointer<Float>,
            bias: UnsafePointer<Float>? = nil,
            rounded: LinearQuantizer? = nil,
            residual: QuantizedIntegers? = nil,
            residualStep: Float = 0,
            addend: UnsafePointer<Float>? = nil,
            function: UnaryFunction = .identity,
            codes: (numbers: MutableQuantizedIntegers, grid: LinearQuantizer)? = nil
        ) {
            self.scale = scale
            self.bias = bias
            self.rounded = rounded
            self.residual = residual
            self.residualStep = residualStep
            self.addend = addend
            self.function = function
            self.codes = codes
        }

        /// Calls `body` with the C form, for results of `columns` columns.
        fileprivate func lowered(columns: Int, _ body: (UnsafePointer<cml_epilogue>) -> Void) {
            withUnsafePointer(to: rounded?.lowered ?? cml_quantizer()) { grid in
                var integers = cml_integers()
                integers.scale = scale
                integers.rounded = rounded == nil ? nil : grid
                switch residual {
                case .shorts(let numbers): integers.residual = numbers
                case .bytes(let numbers): integers.residual_bytes = numbers
                case nil: break
                }
                integers.residual_step = residualStep
                switch codes?.numbers {
                case .shorts(let numbers): integers.codes = numbers
                case .bytes(let numbers): integers.bytes = numbers
                case nil: break
                }
                if let codes { integers.grid = codes.grid.lowered }
                withUnsafePointer(to: integers) { integers in
                    var epilogue = Epilogue(bias: bias, residual: addend, function: function)
                        .lowered(rowStride: columns)
                    epilogue.integers = integers
                    withUnsafePointer(to: epilogue, body)
                }
            }
        }
    }

    /// `y[rows, columns] = pipeline(x[rows, terms] · weights)`, all contiguous.
    ///
    /// With `pipeline.codes`, `y` is scratch memory of the result's shape.
    package static func multiply(
        _ x: QuantizedIntegers,
        rows: Int,
        by weights: IntegerWeights,
        into y: UnsafeMutablePointer<Float>,
        pipeline: OutputPipeline
    ) {
        let shape = weights.shape
        let (positions, columns) = (shape.terms / shape.termsInPlace, shape.columns)
        pipeline.lowered(columns: columns) { epilogue in
            var call = cml_gemm_call()
            call.m = rows
            call.n = columns
            call.k = positions
            call.a = x.address.assumingMemoryBound(to: Float.self)
            call.lda = positions
            call.b = UnsafeRawPointer(weights.memory.address)
            call.storage = shape.storage
            call.c = y
            call.ldc = columns
            call.epilogue = epilogue.pointee
            call.batch = 1
            cml_gemm(weights.instructionSet, &call)
        }
    }

    /// `y = pipeline(convolution(x, weights))` for `x` of `[batch, spatial…, terms]` and `y` of `[batch, spatial…,
    /// columns]`, both contiguous.
    ///
    /// With `pipeline.codes`, `y` is scratch memory of the result's shape.
    package static func convolve(
        _ x: QuantizedIntegers,
        _ weights: IntegerWeights,
        kernel: [Int],
        _ geometry: ConvolutionGeometry,
        into y: UnsafeMutablePointer<Float>,
        pipeline: OutputPipeline
    ) {
        var shape = cml_conv_shape()
        shape.setGeometry(geometry)
        shape.kernel = tuple3(kernel, filler: 1)
        shape.method = CML_CONV_DIRECT
        shape.in_channels = weights.shape.terms / weights.shape.termsInPlace
        shape.out_channels = weights.shape.columns
        shape.groups = 1
        pipeline.lowered(columns: weights.shape.columns) { epilogue in
            cml_conv(
                weights.instructionSet,
                &shape,
                x.address.assumingMemoryBound(to: Float.self),
                weights.memory.address,
                weights.shape.storage,
                y,
                epilogue
            )
        }
    }
}
