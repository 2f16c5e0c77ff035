import CoreMLExtras
import Testing

/// A network for every kind of layer; the kinds that have several forms stand here more than once.
enum LayerSamples {
    static let all = windows + pointwise + pairs + reductions + recurrences + shapes + selections + makers + flows

    static let windows: [LayerSample] = [
        LayerSample("convolution", [[1, 2, 5, 5]]) {
            $0.convolution(
                "layer",
                "x0",
                outputChannels: 3,
                kernel: (3, 2),
                stride: (2, 1),
                padding: .same,
                weights: weights(36),
                bias: weights(3),
                output: "y"
            )
        },
        LayerSample("convolution", [[1, 2, 5, 5]]) {
            $0.convolution(
                "layer",
                "x0",
                outputChannels: 4,
                kernelChannels: 1,
                kernel: (3, 3),
                padding: .amounts(top: 1, bottom: 0, left: 2, right: 1),
                dilation: (1, 2),
                groups: 2,
                weights: .quantized(numbers(36), bits: 4, channels: 4),
                output: "y"
            )
        },
        LayerSample("convolution", [[1, 1, 4, 4], [2, 1, 3, 3]]) {
            $0.convolution(
                "layer",
                "x0",
                weights: "x1",
                outputChannels: 2,
                kernelChannels: 1,
                kernel: (3, 3),
                output: "y"
            )
        },
        LayerSample("convolution", [[1, 2, 4, 4]]) {
            $0.deconvolution(
                "layer",
                "x0",
                outputChannels: 3,
                kernel: (2, 2),
                stride: (2, 2),
                size: (8, 8),
                weights: weights(24),
                output: "y"
            )
        },
        LayerSample("convolution3d", [[1, 2, 4, 4, 4]]) {
            $0.convolution3D(
                "layer",
                "x0",
                outputChannels: 2,
                inputChannels: 2,
                kernel: (2, 2, 2),
                weights: weights(32),
                bias: weights(2),
                output: "y"
            )
        },
        LayerSample("convolution3d", [[1, 2, 3, 3, 3]]) {
            $0.deconvolution3D(
                "layer",
                "x0",
                outputChannels: 1,
                inputChannels: 2,
                kernel: (2, 2, 2),
                padding: .amounts(front: 0, back: 0, top: 1, bottom: 0, left: 0, right: 1),
                weights: weights(16),
                output: "y"
            )
        },
        LayerSample("pooling", [[1, 2, 5, 5]]) {
            $0.pooling("layer", .max, "x0", kernel: (2, 2), stride: (2, 2), output: "y")
        },
        LayerSample("pooling", [[1, 2, 5, 5]]) {
            $0.pooling(
                "layer",
                .average,
                "x0",
                kernel: (3, 3),
                stride: (2, 2),
                padding: .includingLastPixel(height: 1, width: 1),
                excludesPadding: true,
                output: "y"
            )
        },
        LayerSample("pooling", [[1, 2, 5, 5]]) { $0.globalPooling("layer", .l2, "x0", output: "y") },
        LayerSample("pooling3d", [[1, 2, 4, 4, 4]]) {
            $0.pooling3D("layer", .average, "x0", kernel: (2, 2, 2), padding: .same, output: "y")
        },
        LayerSample("globalPooling3d", [[1, 2, 4, 4, 4]]) { $0.globalPooling3D("layer", .max, "x0", output: "y") },
        LayerSample("upsample", [[1, 2, 3, 3]]) { $0.upsample("layer", "x0", by: (2, 3), .bilinear, output: "y") },
        LayerSample("upsample", [[1, 2, 4, 4]]) {
            $0.upsample("layer", "x0", byFraction: (1.5, 2.5), .bilinearAlignedCorners, output: "y")
        },
        LayerSample("resizeBilinear", [[1, 2, 4, 4]]) {
            $0.resizeBilinear("layer", "x0", size: (6, 3), .upsample, output: "y")
        },
        LayerSample("cropResize", [[1, 1, 2, 4, 4], [3, 1, 4, 1, 1]], arrays: .rank5) {
            $0.cropResize("layer", "x0", boxes: "x1", size: (2, 2), .roiAlign, isNormalized: true, output: "y")
        },
        LayerSample("crop", [[1, 2, 5, 5]]) {
            $0.crop("layer", "x0", top: 1, bottom: 1, left: 2, right: 0, output: "y")
        },
        LayerSample("crop", [[1, 2, 5, 5], [1, 2, 3, 3]]) {
            $0.crop("layer", "x0", like: "x1", offset: (1, 2), output: "y")
        },
        LayerSample("padding", [[1, 2, 3, 3]]) {
            $0.padding("layer", "x0", top: 1, bottom: 2, left: 0, right: 1, .constant(0.5), output: "y")
        },
        LayerSample("padding", [[1, 2, 3, 3]]) { $0.padding("layer", "x0", top: 1, left: 1, .reflection, output: "y") },
        LayerSample("reorganizeData", [[1, 4, 4, 4]]) {
            $0.reorganize("layer", .spaceToDepth, "x0", blockSize: 2, output: "y")
        },
        LayerSample("batchnorm", [[1, 2, 3, 3]]) {
            $0.batchNorm(
                "layer",
                "x0",
                channels: 2,
                gamma: [1, 2],
                beta: [0, 1],
                mean: [0.5, 0.25],
                variance: [1, 4],
                epsilon: 1e-3,
                output: "y"
            )
        },
        LayerSample("batchnorm", [[1, 2, 3, 3]]) {
            $0.batchNormComputed(
                "layer",
                "x0",
                channels: 2,
                gamma: [1, 2],
                beta: [0, 1],
                perElement: true,
                output: "y"
            )
        },
        LayerSample("mvn", [[1, 2, 3, 3]]) {
            $0.meanVarianceNormalize("layer", "x0", acrossChannels: false, output: "y")
        },
        LayerSample("l2normalize", [[1, 2, 3, 3]]) { $0.l2Normalize("layer", "x0", output: "y") },
        LayerSample("lrn", [[1, 4, 3, 3]]) {
            $0.localResponseNormalize("layer", "x0", alpha: 0.5, beta: 0.75, localSize: 3, output: "y")
        },
        LayerSample("layerNormalization", [[2, 3, 4]]) {
            $0.layerNormalize("layer", "x0", shape: [3, 4], gamma: weights(12), beta: weights(12), output: "y")
        },
    ]

    static let pointwise: [LayerSample] =
        [
            LayerSample("activation", [[1, 2, 3, 3]]) { $0.activation("layer", .relu, "x0", output: "y") },
            LayerSample("activation", [[1, 2, 3, 3]]) {
                $0.activation("layer", .leakyRelu(alpha: 0.25), "x0", output: "y")
            },
            LayerSample("activation", [[1, 2, 3, 3]]) {
                $0.activation("layer", .prelu(alpha: [0.25, 0.5]), "x0", output: "y")
            },
            LayerSample("activation", [[1, 2, 3, 3]]) {
                $0.activation("layer", .parametricSoftplus(alpha: [1, 2], beta: [1, 0.5]), "x0", output: "y")
            },
            LayerSample("activation", [[1, 2, 3, 3]]) {
                $0.activation("layer", .scaledTanh(alpha: 0.5, beta: 2), "x0", output: "y")
            },
            LayerSample("softmax", [[1, 4, 1, 1]]) { $0.softmax("layer", "x0", output: "y") },
            LayerSample("softmaxND", [[2, 4]]) { $0.softmaxND("layer", "x0", axis: -1, output: "y") },
            LayerSample("gelu", [[2, 4]]) { $0.gelu("layer", "x0", .tanhApproximation, output: "y") },
            LayerSample("clampedReLU", [[2, 4]]) { $0.clampedRelu("layer", "x0", alpha: 0.25, beta: 0.5, output: "y") },
            LayerSample("innerProduct", [[2, 4]]) {
                $0.innerProduct("layer", "x0", outputChannels: 3, weights: weights(12), bias: weights(3), output: "y")
            },
            LayerSample("innerProduct", [[2, 4]]) {
                $0.innerProduct(
                    "layer",
                    "x0",
                    outputChannels: 3,
                    weights: .palettized(numbers(12), bits: 3),
                    output: "y"
                )
            },
            LayerSample("innerProduct", [[2, 4]]) {
                $0.innerProduct("layer", "x0", outputChannels: 3, weights: .float16(numbers(12)), output: "y")
            },
            LayerSample("innerProduct", [[2, 4]]) {
                $0.innerProduct(
                    "layer",
                    "x0",
                    outputChannels: 2,
                    weights: .int8([1, -2, 3, -4, 5, -6, 7, -8], scale: 0.25),
                    quantizesInput: true,
                    output: "y"
                )
            },
            LayerSample("embedding", [[1]], arrays: .rank5) {
                $0.embedding(
                    "layer",
                    "x0",
                    inputs: 5,
                    outputChannels: 3,
                    weights: weights(15),
                    bias: weights(3),
                    output: "y"
                )
            },
            LayerSample("embeddingND", [[2, 1]]) {
                $0.embeddingND(
                    "layer",
                    "x0",
                    vocabulary: 5,
                    size: 3,
                    weights: weights(15),
                    bias: weights(3),
                    output: "y"
                )
            },
            LayerSample("batchedMatmul", [[2, 3, 4], [2, 5, 4]]) {
                $0.batchedMatMul("layer", "x0", "x1", transposesSecond: true, output: "y")
            },
            LayerSample("batchedMatmul", [[2, 3, 4]]) {
                $0.batchedMatMul(
                    "layer",
                    "x0",
                    rows: 4,
                    columns: 2,
                    weights: weights(8),
                    bias: weights(2),
                    output: "y"
                )
            },
            LayerSample("dot", [[1, 4, 1, 1], [1, 4, 1, 1]]) {
                $0.dotProduct("layer", "x0", "x1", isCosine: true, output: "y")
            },
            LayerSample("unary", [[2, 3]]) {
                $0.unary("layer", .inverse(epsilon: 0.5), "x0", scale: 2, shift: 1, output: "y")
            },
            LayerSample("unary", [[2, 3]]) { $0.unary("layer", .power(alpha: 2), "x0", output: "y") },
            LayerSample("clip", [[2, 3]]) { $0.clip("layer", "x0", minimum: -0.5, maximum: 0.5, output: "y") },
            LayerSample("copy", [[2, 3]]) { $0.copy("layer", "x0", output: "y") },
            LayerSample("scale", [[1, 2, 3, 3]]) {
                $0.scale("layer", "x0", scale: [1, 2], shape: [2], bias: [0.5], biasShape: [1], output: "y")
            },
            LayerSample("bias", [[1, 2, 3, 3]]) { $0.bias("layer", "x0", bias: [1, 2], shape: [2], output: "y") },
            LayerSample("cumSum", [[2, 3]]) {
                $0.cumulativeSum("layer", "x0", axis: -1, isReversed: true, output: "y")
            },
        ]
        + zip(
            [
                "ceil", "floor", "sign", "round", "exp2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
                "tanh", "asinh", "acosh", "atanh", "erf",
            ],
            NeuralNetworkBuilder.ElementwiseFunction.allCases
        ).map { kind, function in
            LayerSample(kind, [[2, 3]]) { $0.elementwise("layer", function, "x0", output: "y") }
        }

    static let pairs: [LayerSample] =
        [
            LayerSample("add", [[1, 2, 3, 3], [1, 2, 3, 3]]) { $0.add("layer", ["x0", "x1"], output: "y") },
            LayerSample("add", [[1, 2, 3, 3]]) { $0.add("layer", ["x0"], alpha: 1.5, output: "y") },
            LayerSample("multiply", [[1, 2, 3, 3], [1, 2, 3, 3]]) {
                $0.multiply("layer", ["x0", "x1"], output: "y")
            },
            LayerSample("average", [[1, 2, 3, 3], [1, 2, 3, 3]]) { $0.average("layer", ["x0", "x1"], output: "y") },
            LayerSample("max", [[1, 2, 3, 3], [1, 2, 3, 3]]) { $0.maximum("layer", ["x0", "x1"], output: "y") },
            LayerSample("min", [[1, 2, 3, 3], [1, 2, 3, 3]]) { $0.minimum("layer", ["x0", "x1"], output: "y") },
            LayerSample("logicalAnd", [[2, 3], [2, 3]]) { $0.logical("layer", .and, "x0", "x1", output: "y") },
            LayerSample("logicalOr", [[2, 3], [2, 3]]) { $0.logical("layer", .or, "x0", "x1", output: "y") },
            LayerSample("logicalXor", [[2, 3], [2, 3]]) { $0.logical("layer", .xor, "x0", "x1", output: "y") },
            LayerSample("logicalNot", [[2, 3]]) { $0.logicalNot("layer", "x0", output: "y") },
            LayerSample("whereBroadcastable", [[2, 3], [2, 3], [1, 3]]) {
                $0.select("layer", where: "x0", "x1", else: "x2", output: "y")
            },
            LayerSample("broadcastToLike", [[1, 3], [2, 3]]) {
                $0.broadcastToLike("layer", "x0", like: "x1", output: "y")
            },
            LayerSample("broadcastToStatic", [[1, 3]]) { $0.broadcastTo("layer", "x0", shape: [2, 3], output: "y") },
            LayerSample("broadcastToDynamic", [[1, 3], [2]]) {
                $0.broadcastToDynamic("layer", "x0", shape: "x1", output: "y")
            },
        ]
        + zip(
            [
                "addBroadcastable", "subtractBroadcastable", "multiplyBroadcastable", "divideBroadcastable",
                "powBroadcastable", "floorDivBroadcastable", "modBroadcastable", "maxBroadcastable",
                "minBroadcastable",
            ],
            NeuralNetworkBuilder.Arithmetic.allCases
        ).map { kind, function in
            LayerSample(kind, [[2, 3], [1, 3]]) { $0.broadcast("layer", function, "x0", "x1", output: "y") }
        }
        + zip(
            ["equal", "notEqual", "lessThan", "lessEqual", "greaterThan", "greaterEqual"],
            NeuralNetworkBuilder.Comparison.allCases
        ).flatMap { kind, comparison in
            [
                LayerSample(kind, [[2, 3], [2, 3]]) { $0.compare("layer", comparison, "x0", "x1", output: "y") },
                LayerSample(kind, [[2, 3]]) { $0.compare("layer", comparison, "x0", with: 0.25, output: "y") },
            ]
        }

    static let reductions: [LayerSample] =
        [
            LayerSample("reduce", [[1, 2, 3, 3]]) { $0.reduce("layer", .average, "x0", over: .hw, output: "y") },
            LayerSample("argMax", [[2, 3]]) { $0.argMax("layer", "x0", axis: 1, output: "y") },
            LayerSample("argMin", [[2, 3]]) { $0.argMin("layer", "x0", axis: 1, keepsAxis: false, output: "y") },
        ]
        + zip(
            [
                "reduceSum", "reduceMean", "reduceProd", "reduceMax", "reduceMin", "reduceL1", "reduceL2",
                "reduceSumSquare", "reduceLogSum", "reduceLogSumExp",
            ],
            NeuralNetworkBuilder.Reduction.allCases
        ).map { kind, function in
            LayerSample(kind, [[2, 3, 4]]) {
                $0.reduceND("layer", function, "x0", axes: [-1], keepsAxes: false, output: "y")
            }
        }

    static let recurrences: [LayerSample] = [
        LayerSample("simpleRecurrent", [[3]], arrays: .rank5) {
            $0.simpleRecurrent(
                "layer",
                "x0",
                inputs: 3,
                outputs: 2,
                activation: .relu,
                weights: weights(6),
                recursion: weights(4),
                bias: weights(2),
                givesSequence: true,
                output: "y"
            )
        },
        LayerSample("gru", [[3]], arrays: .rank5) {
            let w = NeuralNetworkBuilder.GRUWeights.Gates(update: weights(6), reset: weights(6), output: weights(6))
            let r = NeuralNetworkBuilder.GRUWeights.Gates(update: weights(4), reset: weights(4), output: weights(4))
            let b = NeuralNetworkBuilder.GRUWeights.Gates(update: weights(2), reset: weights(2), output: weights(2))
            $0.gru("layer", "x0", inputs: 3, outputs: 2, weights: .init(input: w, recursion: r, bias: b), output: "y")
        },
        LayerSample("uniDirectionalLSTM", [[3], [2], [2]], arrays: .rank5, outputs: ["y", "h", "c"]) {
            $0.lstm(
                "layer",
                "x0",
                inputs: 3,
                outputs: 2,
                options: .init(givesSequence: true, addsForgetBias: true),
                weights: lstm(peepholes: true),
                states: ["x1", "x2"],
                output: "y",
                stateOutputs: ["h", "c"]
            )
        },
        LayerSample("biDirectionalLSTM", [[3]], arrays: .rank5) {
            $0.bidirectionalLSTM(
                "layer",
                "x0",
                inputs: 3,
                outputs: 2,
                forward: lstm(peepholes: false),
                backward: lstm(peepholes: false),
                output: "y"
            )
        },
    ]

    static func lstm(peepholes: Bool) -> NeuralNetworkBuilder.LSTMWeights {
        func gates(_ count: Int) -> NeuralNetworkBuilder.LSTMWeights.Gates {
            .init(input: weights(count), forget: weights(count), block: weights(count), output: weights(count))
        }
        return .init(
            input: gates(6),
            recursion: gates(4),
            bias: gates(2),
            peepholes: peepholes ? .init(input: weights(2), forget: weights(2), output: weights(2)) : nil
        )
    }
}
