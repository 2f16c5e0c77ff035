import MLGraph
import MLNumerics
import MLOperators
import MLPasses

extension PassText {
    static let fusions: [PassText] = [
        .of(ConstantMatMulToLinear(), "a product with a constant", from: "@B21", to: "@A21") { builder in
            let x = builder.floats("x", [2, 3])
            return [try builder.add(MatMul(), x, builder.numbers([1, 2, 3, 4, 5, 6], [3, 2]), name: "y")]
        },
        .of(ConstantMatMulToLinear(), "a product with a transposed constant", from: "@B22", to: "@A22") { builder in
            let x = builder.floats("x", [2, 3])
            let weight = builder.numbers([1, 2, 3, 4, 5, 6], [2, 3])
            return [try builder.add(MatMul(transposeY: true), x, weight, name: "y")]
        },
        .of(ConstantMatMulToLinear(), leaves: "products of other forms", "@B23") { builder in
            let x = builder.floats("x", [2, 3])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            return [
                try builder.add(MatMul(transposeX: true), x, weight, name: "turned"),
                try builder.add(MatMul(), weight, x, name: "left"),
                try builder.add(MatMul(transposeY: true), x, x, name: "computed"),
            ]
        },

        .of(FoldBatchNorm(), "statistics behind a convolution", from: "@B24", to: "@A24") { builder in
            let x = builder.floats("x", [1, 1, 2, 2])
            let conv = try builder.add(
                Convolution(strides: [1, 1]),
                x,
                builder.numbers([10, 20], [2, 1, 1, 1]),
                builder.numbers([1, 2]),
                name: "conv"
            )
            let (mean, variance) = (builder.numbers([1, 2]), builder.numbers([4, 1]))
            let (gamma, beta) = (builder.numbers([2, 3]), builder.numbers([5, 6]))
            return [try builder.add(BatchNorm(epsilon: 0), conv, mean, variance, gamma, beta, name: "y")]
        },
        .of(FoldBatchNorm(), leaves: "a convolution that others see, and statistics that are computed", "@B25") {
            builder in
            let x = builder.floats("x", [1, 1, 2, 2])
            let weight = builder.numbers([10, 20], [2, 1, 1, 1])
            let seen = try builder.add(Convolution(strides: [1, 1]), x, weight, name: "seen")
            let own = try builder.add(Convolution(strides: [1, 1]), x, weight, name: "own")
            let variance = try builder.add(Unary(Exp()), builder.floats("statistics", [2]), name: "variance")
            let ones = builder.numbers([1, 1])
            return [
                seen, try builder.add(BatchNorm(epsilon: 0), seen, ones, ones, name: "y"),
                try builder.add(BatchNorm(epsilon: 0), own, ones, variance, name: "z"),
            ]
        },

        .of(FuseBias(), "a vector along the channels", from: "@B26", to: "@A26") { builder in
            let x = builder.floats("x", [1, 1, 2, 2])
            let weight = builder.numbers([10, 20], [2, 1, 1, 1])
            let conv = try builder.add(Convolution(strides: [1, 1]), x, weight, name: "conv")
            return [try builder.add(Binary<Add>(), builder.numbers([7, 8], [1, 2, 1, 1]), conv, name: "y")]
        },
        .of(FuseBias(), "a bias on a bias", from: "@B27", to: "@A27") { builder in
            let x = builder.floats("x", [3, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            let linear = try builder.add(Linear(), x, weight, builder.numbers([1, 2]), name: "linear")
            return [try builder.add(Binary<Add>(), linear, builder.numbers([7, 8]), name: "y")]
        },
        .of(FuseBias(), leaves: "a constant along the rows, and a sum behind an activation", "@B28") { builder in
            let x = builder.floats("x", [2, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            let linear = try builder.add(Linear(), x, weight, name: "linear")
            let active = try builder.add(Linear(activation: .relu), x, weight, name: "active")
            return [
                try builder.add(Binary<Add>(), linear, builder.numbers([7, 8], [2, 1]), name: "y"),
                try builder.add(Binary<Add>(), active, builder.numbers([7, 8]), name: "z"),
            ]
        },

        .of(FuseResidual(), "the later of two products takes the addition", from: "@B29", to: "@A29") { builder in
            let x = builder.floats("x", [2, 2])
            let first = try builder.add(Linear(), x, builder.numbers([1, 2, 3, 4], [2, 2]), name: "first")
            let second = try builder.add(Linear(), x, builder.numbers([5, 6, 7, 8], [2, 2]), name: "second")
            return [try builder.add(Binary<Add>(), first, second, name: "y")]
        },
        .of(FuseResidual(), leaves: "what broadcasts, and a second residual", "@B30") { builder in
            let x = builder.floats("x", [2, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            let linear = try builder.add(Linear(), x, weight, name: "linear")
            let full = try builder.add(Linear(), x, weight, nil, x, name: "full")
            return [
                try builder.add(Binary<Add>(), linear, builder.floats("row", [2]), name: "y"),
                try builder.add(Binary<Add>(), full, x, name: "z"),
            ]
        },

        .of(FuseActivation(), "an activation behind a convolution", from: "@B31", to: "@A31") { builder in
            let x = builder.floats("x", [1, 1, 2, 2])
            let weight = builder.numbers([10, 20], [2, 1, 1, 1])
            let conv = try builder.add(Convolution(strides: [1, 1]), x, weight, name: "conv")
            return [try builder.add(Unary(Relu6()), conv, name: "y")]
        },
        .of(FuseActivation(), "an activation behind a linear with bias and residual", from: "@B32", to: "@A32") {
            builder in
            let x = builder.floats("x", [2, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            let linear = try builder.add(Linear(), x, weight, builder.numbers([1, 2]), x, name: "linear")
            return [try builder.add(Unary(Gelu(mode: .tanh)), linear, name: "y")]
        },
        .of(FuseActivation(), leaves: "a second activation, and what others see", "@B33") { builder in
            let x = builder.floats("x", [2, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            let active = try builder.add(Linear(activation: .tanh), x, weight, name: "active")
            let seen = try builder.add(Linear(), x, weight, name: "seen")
            return [
                try builder.add(Unary(Relu()), active, name: "y"), seen,
                try builder.add(Unary(Relu()), seen, name: "z"),
            ]
        },
    ]

    static let wideFusions: [PassText] = [
        .of(FuseAttention(), "scaled and masked scores", from: "@B34", to: "@A34") { builder in
            let (q, k) = (builder.floats("q", [1, 1, 2, 2]), builder.floats("k", [1, 1, 3, 2]))
            let (v, mask) = (builder.floats("v", [1, 1, 3, 2]), builder.floats("mask", [1, 1, 2, 3]))
            let scores = try builder.add(MatMul(transposeY: true), q, k, name: "scores")
            let scaled = try builder.add(Binary<Mul>(), scores, builder.numbers([0.5], []), name: "scaled")
            let masked = try builder.add(Binary<Add>(), scaled, mask, name: "masked")
            let weights = try builder.add(Softmax(axis: -1), masked, name: "weights")
            return [try builder.add(MatMul(), weights, v, name: "y")]
        },
        .of(FuseAttention(), "a key that is turned, and a mask by choice", from: "@B35", to: "@A35") { builder in
            let (q, k) = (builder.floats("q", [1, 1, 2, 2]), builder.floats("k", [1, 1, 2, 2]))
            let v = builder.floats("v", [1, 1, 2, 2])
            let turned = try builder.add(Transpose([0, 1, 3, 2]), k, name: "turned")
            let scores = try builder.add(MatMul(), q, turned, name: "scores")
            let allowed = builder.numbers([1, 0, 1, 1], [2, 2], .bool)
            let masked = try builder.add(Select(), allowed, scores, builder.numbers([-10_000], []), name: "masked")
            let weights = try builder.add(Softmax(axis: 3), masked, name: "weights")
            return [try builder.add(MatMul(), weights, v, name: "y")]
        },
        .of(FuseAttention(), leaves: "scores that are normalised along another axis", "@B36") { builder in
            let (q, k) = (builder.floats("q", [1, 1, 2, 2]), builder.floats("k", [1, 1, 2, 2]))
            let scores = try builder.add(MatMul(transposeY: true), q, k, name: "scores")
            let weights = try builder.add(Softmax(axis: 2), scores, name: "weights")
            return [try builder.add(MatMul(), weights, builder.floats("v", [1, 1, 2, 2]), name: "y")]
        },

        .of(FuseHeads(), "heads behind tokens", from: "@B37", to: "@A37") { builder in
            var heads: [ValueID] = []
            for name in ["q", "k", "v"] {
                let x = builder.floats(name, [1, 3, 2, 2])
                heads.append(try builder.add(Transpose([0, 2, 1, 3]), x, name: "heads of \(name)"))
            }
            return try builder.append(ScaledDotProductAttention(scale: 0.5), heads, names: ["y"])
        },
        .of(FuseHeads(), leaves: "heads of which one comes otherwise", "@B38") { builder in
            let v = builder.floats("v", [1, 2, 3, 2])
            var heads: [ValueID] = []
            for name in ["q", "k"] {
                let x = builder.floats(name, [1, 3, 2, 2])
                heads.append(try builder.add(Transpose([0, 2, 1, 3]), x, name: "heads of \(name)"))
            }
            return try builder.append(ScaledDotProductAttention(scale: 0.5), heads + [v], names: ["y"])
        },
    ]

    static let preparation: [PassText] = [
        .widening("float16 between inputs and outputs", "@B39", to: "@A39") { builder in
            let x = builder.halves("x", [1, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2], .float16)
            let product = try builder.add(Linear(), x, weight, name: "product")
            return [try builder.add(Binary<Add>(), product, builder.numbers([1, 2], nil, .float16), name: "y")]
        },
        .widening("leaves float32", "@B40", to: "@B40") { builder in
            let x = builder.floats("x", [1, 2])
            let product = try builder.add(Linear(), x, builder.numbers([1, 2, 3, 4], [2, 2]), name: "product")
            return [try builder.add(Unary(Relu()), product, name: "y")]
        },
        .layouts("channels come last around convolutions", "@B41", to: "@A41") { builder in
            let x = builder.floats("x", [1, 2, 2, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2, 1, 1])
            let first = try builder.add(Convolution(strides: [1, 1]), x, weight, name: "first")
            let active = try builder.add(Unary(Relu()), first, name: "active")
            return [try builder.add(Convolution(strides: [1, 1]), active, weight, name: "y")]
        },
        .layouts("leaves graphs without channels", "@B42", to: "@B42") { builder in
            let x = builder.floats("x", [1, 2])
            let product = try builder.add(Linear(), x, builder.numbers([1, 2, 3, 4], [2, 2]), name: "product")
            return [try builder.add(Unary(Relu()), product, name: "y")]
        },
    ]
}
