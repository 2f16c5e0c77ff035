import MLKernels

/// One thing to measure: its arithmetic, and the two ways to do it.
struct Case {
    var name: String
    /// Multiplications and additions, counting those with padding.
    var operations: Double
    var own: () -> Void
    /// The same by oneDNN, when it is installed and has it.
    var other: (() -> Void)?

    /// A convolution of `size`² pixels with fused bias and ReLU; padding keeps the size but for the stride.
    static func convolution(
        _ network: String,
        size: Int,
        _ inputs: Int,
        _ outputs: Int,
        kernel: Int,
        stride: Int = 1,
        groups: Int = 1
    ) -> Case {
        let pad = kernel / 2
        let result = (size + 2 * pad - kernel) / stride + 1
        let geometry = ConvolutionGeometry(
            batch: 1,
            inputSize: [size, size],
            outputSize: [result, result],
            strides: [stride, stride],
            dilations: [1, 1],
            paddingBefore: [pad, pad]
        )
        let x = Numbers(size * size * inputs)
        let y = Numbers(result * result * outputs)
        let weights = Numbers(outputs * inputs / groups * kernel * kernel)
        let bias = Numbers(outputs)
        let packed = ConvolutionWeights(
            weights.start,
            inputChannels: inputs,
            outputChannels: outputs,
            kernel: [kernel, kernel],
            groups: groups,
            geometry: geometry
        )
        let operation = OneDNN.Operation.convolution(
            geometry,
            weights: weights.start,
            inputChannels: inputs,
            outputChannels: outputs,
            kernel: [kernel, kernel],
            groups: groups,
            bias: bias.start
        )
        let kind = groups > 1 ? "depthwise" : "conv"
        return Case(
            name: "\(network) \(kind) \(kernel)x\(kernel)/\(stride) \(inputs)->\(outputs) @\(size)",
            operations: 2 * Double(result * result * outputs) * Double(inputs / groups * kernel * kernel),
            own: {
                ConvolutionKernel.convolve(
                    x.start,
                    packed,
                    geometry,
                    into: y.start,
                    epilogue: Epilogue(bias: bias.start, function: .relu)
                )
            },
            other: operation.map { operation in { _ = operation.run(x.start, into: y.start) } }
        )
    }

    /// A product with constant weights and fused bias; oneDNN does it without the function.
    static func product(
        _ network: String,
        _ rows: Int,
        _ terms: Int,
        _ columns: Int,
        function: UnaryFunction = .identity,
        half: Bool = false
    ) -> Case {
        let x = Numbers(rows * terms)
        let y = Numbers(rows * columns)
        let weights = Numbers(terms * columns)
        let bias = Numbers(columns)
        let packed: PackedWeights
        if half {
            let bits = UnsafeMutablePointer<UInt16>.allocate(capacity: terms * columns)
            defer { bits.deallocate() }
            Conversion.run(weights.start, .float32, to: bits, .float16, count: terms * columns)
            packed = PackedWeights(half: bits, terms: terms, columns: columns, layout: .columnsByTerms)
        } else {
            packed = PackedWeights(weights.start, terms: terms, columns: columns, layout: .columnsByTerms)
        }
        let operation = OneDNN.Operation.product(
            rows: rows,
            terms: terms,
            columns: columns,
            xStride: terms,
            yStride: columns,
            weights: weights.start,
            termStride: 1,
            columnStride: terms,
            bias: bias.start
        )
        return Case(
            name:
                "\(network) \(rows)x\(terms)x\(columns)\(function == .identity ? "" : " \(function)")\(half ? " fp16" : "")",
            operations: 2 * Double(rows * columns) * Double(terms),
            own: {
                MatMulKernel.multiply(
                    x.start,
                    rows: rows,
                    by: packed,
                    into: y.start,
                    epilogue: Epilogue(bias: bias.start, function: function)
                )
            },
            other: operation.map { operation in { _ = operation.run(x.start, into: y.start) } }
        )
    }

    /// Self-attention of `heads` heads whose queries, keys and values lie beside one another.
    static func attention(_ network: String, positions: Int, heads: Int, size: Int) -> Case {
        let x = Numbers(positions * 3 * heads * size)
        let y = Numbers(positions * heads * size)
        func operand(_ part: Int) -> AttentionKernel.Operand<Float> {
            AttentionKernel.Operand(
                UnsafePointer(x.start) + part * heads * size,
                strides: (batch: 0, head: size, position: 3 * heads * size)
            )
        }
        return Case(
            name: "\(network) attention \(heads)x\(positions)x\(size)",
            operations: 4 * Double(heads * positions * positions * size),
            own: {
                AttentionKernel.attend(
                    .init(batch: 1, heads: heads, queries: positions, keys: positions, size: size),
                    query: operand(0),
                    key: operand(1),
                    value: operand(2),
                    into: y.start,
                    strides: (0, size, heads * size),
                    scale: 0.125
                )
            }
        )
    }

    /// The layers of the networks that the speed targets name.
    static var all: [() -> Case] {
        [
            { convolution("ResNet-50", size: 224, 3, 64, kernel: 7, stride: 2) },
            { convolution("ResNet-50", size: 56, 64, 64, kernel: 1) },
            { convolution("ResNet-50", size: 56, 64, 64, kernel: 3) },
            { convolution("ResNet-50", size: 56, 64, 256, kernel: 1) },
            { convolution("ResNet-50", size: 56, 256, 64, kernel: 1) },
            { convolution("ResNet-50", size: 56, 128, 128, kernel: 3, stride: 2) },
            { convolution("ResNet-50", size: 28, 128, 128, kernel: 3) },
            { convolution("ResNet-50", size: 56, 256, 512, kernel: 1, stride: 2) },
            { convolution("ResNet-50", size: 14, 256, 256, kernel: 3) },
            { convolution("ResNet-50", size: 14, 1024, 256, kernel: 1) },
            { convolution("ResNet-50", size: 14, 256, 1024, kernel: 1) },
            { convolution("ResNet-50", size: 7, 512, 512, kernel: 3) },
            { convolution("ResNet-50", size: 7, 2048, 512, kernel: 1) },
            { convolution("MobileNetV2", size: 224, 3, 32, kernel: 3, stride: 2) },
            { convolution("MobileNetV2", size: 112, 32, 16, kernel: 1) },
            { convolution("MobileNetV2", size: 112, 16, 96, kernel: 1) },
            { convolution("MobileNetV2", size: 56, 24, 144, kernel: 1) },
            { convolution("MobileNetV2", size: 14, 64, 384, kernel: 1) },
            { convolution("MobileNetV2", size: 7, 960, 160, kernel: 1) },
            { convolution("MobileNetV2", size: 112, 96, 96, kernel: 3, stride: 2, groups: 96) },
            { convolution("MobileNetV2", size: 56, 144, 144, kernel: 3, groups: 144) },
            { convolution("MobileNetV2", size: 14, 384, 384, kernel: 3, groups: 384) },
            { convolution("MobileNetV2", size: 7, 960, 960, kernel: 3, groups: 960) },
            { product("BERT", 128, 768, 768) },
            { product("BERT", 128, 768, 3072, function: .gelu) },
            { product("BERT", 128, 3072, 768) },
            { product("BERT", 16, 768, 3072, function: .gelu) },
            { product("BERT", 16, 3072, 768) },
            { product("ViT", 197, 768, 3072, function: .gelu) },
            { product("GPT-2", 1, 768, 3072) },
            { product("GPT-2", 1, 768, 3072, half: true) },
            { attention("BERT", positions: 128, heads: 12, size: 64) },
            { attention("ViT", positions: 197, heads: 12, size: 64) },
        ]
    }
}

/// Memory full of small numbers, for as long as the process runs.
struct Numbers {
    let start: UnsafeMutablePointer<Float>

    init(_ count: Int) {
        start = AlignedMemory.permanent(byteCount: count * 4).assumingMemoryBound(to: Float.self)
        var state: UInt32 = 1
        for index in 0..<count {
            state = state &* 1_664_525 &+ 1_013_904_223
            start[index] = Float(state >> 8) / 16_777_216 - 0.5
        }
    }
}

extension AlignedMemory {
    /// Memory that is never freed.
    static func permanent(byteCount: Int) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(AlignedMemory(byteCount: byteCount)).takeUnretainedValue().address
    }
}
