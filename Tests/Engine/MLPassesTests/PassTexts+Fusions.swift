import MLGraph
import MLNumerics
import MLOperators
import MLPasses

extension PassText {
    static let fusions: [PassText] = [
        .of(
            ConstantMatMulToLinear(),
            "a product with a constant",
            from: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [2, 2]> y = matmul(x, [1, 2, 3, 4, 5, 6], transposeX = false, transposeY = false)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [2, 2]> y = linear(x, [1, 2, 3, 4, 5, 6], activation = none, transposesWeight = true)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            return [try builder.add(MatMul(), x, builder.numbers([1, 2, 3, 4, 5, 6], [3, 2]), name: "y")]
        },
        .of(
            ConstantMatMulToLinear(),
            "a product with a transposed constant",
            from: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [2, 2]> y = matmul(x, [1, 2, 3, 4, 5, 6], transposeX = false, transposeY = true)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [2, 2]> y = linear(x, [1, 2, 3, 4, 5, 6], activation = none, transposesWeight = false)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let weight = builder.numbers([1, 2, 3, 4, 5, 6], [2, 3])
            return [try builder.add(MatMul(transposeY: true), x, weight, name: "y")]
        },
        .of(
            ConstantMatMulToLinear(),
            leaves: "products of other forms",
            """
            func main(tensor<fp32, [2, 3]> x) {
                tensor<fp32, [3, 2]> turned = matmul(x, [1, 2, 3, 4], transposeX = true, transposeY = false)
                tensor<fp32, [2, 3]> left = matmul([1, 2, 3, 4], x, transposeX = false, transposeY = false)
                tensor<fp32, [2, 2]> computed = matmul(x, x, transposeX = false, transposeY = true)
            } -> (turned: turned, left: left, computed: computed)
            """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            return [
                try builder.add(MatMul(transposeX: true), x, weight, name: "turned"),
                try builder.add(MatMul(), weight, x, name: "left"),
                try builder.add(MatMul(transposeY: true), x, x, name: "computed"),
            ]
        },

        .of(
            FoldBatchNorm(),
            "statistics behind a convolution",
            from: """
                func main(tensor<fp32, [1, 1, 2, 2]> x) {
                    tensor<fp32, [1, 2, 2, 2]> conv = conv(x, [10, 20], [1, 2], strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 1, activation = none)
                    tensor<fp32, [1, 2, 2, 2]> y = batch_norm(conv, [1, 2], [4, 1], [2, 3], [5, 6], epsilon = 0.0)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 1, 2, 2]> x) {
                    tensor<fp32, [1, 2, 2, 2]> y = conv(x, [10, 60], [5, 6], strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 1, activation = none)
                } -> (y: y)
                """
        ) { builder in
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
        .of(
            FoldBatchNorm(),
            leaves: "a convolution that others see, and statistics that are computed",
            """
            func main(tensor<fp32, [1, 1, 2, 2]> x, tensor<fp32, [2]> statistics) {
                tensor<fp32, [1, 2, 2, 2]> seen = conv(x, [10, 20], strides = [1, 1], padding = valid, \
            dilations = [1, 1], groups = 1, activation = none)
                tensor<fp32, [1, 2, 2, 2]> own = conv(x, [10, 20], strides = [1, 1], padding = valid, \
            dilations = [1, 1], groups = 1, activation = none)
                tensor<fp32, [2]> variance = exp(statistics, function = Exp())
                tensor<fp32, [1, 2, 2, 2]> y = batch_norm(seen, [1, 1], [1, 1], epsilon = 0.0)
                tensor<fp32, [1, 2, 2, 2]> z = batch_norm(own, [1, 1], variance, epsilon = 0.0)
            } -> (seen: seen, y: y, z: z)
            """
        ) { builder in
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

        .of(
            FuseBias(),
            "a vector along the channels",
            from: """
                func main(tensor<fp32, [1, 1, 2, 2]> x) {
                    tensor<fp32, [1, 2, 2, 2]> conv = conv(x, [10, 20], strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 1, activation = none)
                    tensor<fp32, [1, 2, 2, 2]> y = add([7, 8], conv)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 1, 2, 2]> x) {
                    tensor<fp32, [1, 2, 2, 2]> y = conv(x, [10, 20], [7, 8], none, strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 1, activation = none)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [1, 1, 2, 2])
            let weight = builder.numbers([10, 20], [2, 1, 1, 1])
            let conv = try builder.add(Convolution(strides: [1, 1]), x, weight, name: "conv")
            return [try builder.add(Binary<Add>(), builder.numbers([7, 8], [1, 2, 1, 1]), conv, name: "y")]
        },
        .of(
            FuseBias(),
            "a bias on a bias",
            from: """
                func main(tensor<fp32, [3, 2]> x) {
                    tensor<fp32, [3, 2]> linear = linear(x, [1, 2, 3, 4], [1, 2], activation = none, \
                transposesWeight = false)
                    tensor<fp32, [3, 2]> y = add(linear, [7, 8])
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [3, 2]> x) {
                    tensor<fp32, [3, 2]> y = linear(x, [1, 2, 3, 4], [8, 10], none, activation = none, \
                transposesWeight = false)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [3, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            let linear = try builder.add(Linear(), x, weight, builder.numbers([1, 2]), name: "linear")
            return [try builder.add(Binary<Add>(), linear, builder.numbers([7, 8]), name: "y")]
        },
        .of(
            FuseBias(),
            leaves: "a constant along the rows, and a sum behind an activation",
            """
            func main(tensor<fp32, [2, 2]> x) {
                tensor<fp32, [2, 2]> linear = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                tensor<fp32, [2, 2]> active = linear(x, [1, 2, 3, 4], activation = relu, transposesWeight = false)
                tensor<fp32, [2, 2]> y = add(linear, [7, 8])
                tensor<fp32, [2, 2]> z = add(active, [7, 8])
            } -> (y: y, z: z)
            """
        ) { builder in
            let x = builder.floats("x", [2, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            let linear = try builder.add(Linear(), x, weight, name: "linear")
            let active = try builder.add(Linear(activation: .relu), x, weight, name: "active")
            return [
                try builder.add(Binary<Add>(), linear, builder.numbers([7, 8], [2, 1]), name: "y"),
                try builder.add(Binary<Add>(), active, builder.numbers([7, 8]), name: "z"),
            ]
        },

        .of(
            FuseResidual(),
            "the later of two products takes the addition",
            from: """
                func main(tensor<fp32, [2, 2]> x) {
                    tensor<fp32, [2, 2]> first = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                    tensor<fp32, [2, 2]> second = linear(x, [5, 6, 7, 8], activation = none, transposesWeight = false)
                    tensor<fp32, [2, 2]> y = add(first, second)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 2]> x) {
                    tensor<fp32, [2, 2]> first = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                    tensor<fp32, [2, 2]> y = linear(x, [5, 6, 7, 8], none, first, activation = none, \
                transposesWeight = false)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 2])
            let first = try builder.add(Linear(), x, builder.numbers([1, 2, 3, 4], [2, 2]), name: "first")
            let second = try builder.add(Linear(), x, builder.numbers([5, 6, 7, 8], [2, 2]), name: "second")
            return [try builder.add(Binary<Add>(), first, second, name: "y")]
        },
        .of(
            FuseResidual(),
            leaves: "what broadcasts, and a second residual",
            """
            func main(tensor<fp32, [2, 2]> x, tensor<fp32, [2]> row) {
                tensor<fp32, [2, 2]> linear = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                tensor<fp32, [2, 2]> full = linear(x, [1, 2, 3, 4], none, x, activation = none, \
            transposesWeight = false)
                tensor<fp32, [2, 2]> y = add(linear, row)
                tensor<fp32, [2, 2]> z = add(full, x)
            } -> (y: y, z: z)
            """
        ) { builder in
            let x = builder.floats("x", [2, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            let linear = try builder.add(Linear(), x, weight, name: "linear")
            let full = try builder.add(Linear(), x, weight, nil, x, name: "full")
            return [
                try builder.add(Binary<Add>(), linear, builder.floats("row", [2]), name: "y"),
                try builder.add(Binary<Add>(), full, x, name: "z"),
            ]
        },

        .of(
            FuseActivation(),
            "an activation behind a convolution",
            from: """
                func main(tensor<fp32, [1, 1, 2, 2]> x) {
                    tensor<fp32, [1, 2, 2, 2]> conv = conv(x, [10, 20], strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 1, activation = none)
                    tensor<fp32, [1, 2, 2, 2]> y = relu6(conv, function = Relu6())
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 1, 2, 2]> x) {
                    tensor<fp32, [1, 2, 2, 2]> y = conv(x, [10, 20], none, none, strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 1, activation = clip(low: 0.0, high: 6.0))
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [1, 1, 2, 2])
            let weight = builder.numbers([10, 20], [2, 1, 1, 1])
            let conv = try builder.add(Convolution(strides: [1, 1]), x, weight, name: "conv")
            return [try builder.add(Unary(Relu6()), conv, name: "y")]
        },
        .of(
            FuseActivation(),
            "an activation behind a linear with bias and residual",
            from: """
                func main(tensor<fp32, [2, 2]> x) {
                    tensor<fp32, [2, 2]> linear = linear(x, [1, 2, 3, 4], [1, 2], x, activation = none, \
                transposesWeight = false)
                    tensor<fp32, [2, 2]> y = gelu(linear, function = Gelu(mode: tanh))
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 2]> x) {
                    tensor<fp32, [2, 2]> y = linear(x, [1, 2, 3, 4], [1, 2], x, activation = geluTanh, \
                transposesWeight = false)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2])
            let linear = try builder.add(Linear(), x, weight, builder.numbers([1, 2]), x, name: "linear")
            return [try builder.add(Unary(Gelu(mode: .tanh)), linear, name: "y")]
        },
        .of(
            FuseActivation(),
            leaves: "a second activation, and what others see",
            """
            func main(tensor<fp32, [2, 2]> x) {
                tensor<fp32, [2, 2]> active = linear(x, [1, 2, 3, 4], activation = tanh, transposesWeight = false)
                tensor<fp32, [2, 2]> seen = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                tensor<fp32, [2, 2]> y = relu(active, function = Relu())
                tensor<fp32, [2, 2]> z = relu(seen, function = Relu())
            } -> (y: y, seen: seen, z: z)
            """
        ) { builder in
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
        .of(
            FuseAttention(),
            "scaled and masked scores",
            from: """
                func main(tensor<fp32, [1, 1, 2, 2]> q, tensor<fp32, [1, 1, 3, 2]> k, tensor<fp32, [1, 1, 3, 2]> v, \
                tensor<fp32, [1, 1, 2, 3]> mask) {
                    tensor<fp32, [1, 1, 2, 3]> scores = matmul(q, k, transposeX = false, transposeY = true)
                    tensor<fp32, [1, 1, 2, 3]> scaled = mul(scores, 0.5)
                    tensor<fp32, [1, 1, 2, 3]> masked = add(scaled, mask)
                    tensor<fp32, [1, 1, 2, 3]> weights = softmax(masked, axis = -1)
                    tensor<fp32, [1, 1, 2, 2]> y = matmul(weights, v, transposeX = false, transposeY = false)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 1, 2, 2]> q, tensor<fp32, [1, 1, 3, 2]> k, tensor<fp32, [1, 1, 3, 2]> v, \
                tensor<fp32, [1, 1, 2, 3]> mask) {
                    tensor<fp32, [1, 1, 2, 2]> y = scaled_dot_product_attention(q, k, v, mask, scale = 0.5, \
                isCausal = false, heads = none, sharesKeys = false, keysAreTokensFirst = false)
                } -> (y: y)
                """
        ) { builder in
            let (q, k) = (builder.floats("q", [1, 1, 2, 2]), builder.floats("k", [1, 1, 3, 2]))
            let (v, mask) = (builder.floats("v", [1, 1, 3, 2]), builder.floats("mask", [1, 1, 2, 3]))
            let scores = try builder.add(MatMul(transposeY: true), q, k, name: "scores")
            let scaled = try builder.add(Binary<Mul>(), scores, builder.numbers([0.5], []), name: "scaled")
            let masked = try builder.add(Binary<Add>(), scaled, mask, name: "masked")
            let weights = try builder.add(Softmax(axis: -1), masked, name: "weights")
            return [try builder.add(MatMul(), weights, v, name: "y")]
        },
        .of(
            FuseAttention(),
            "a key that is turned, and a mask by choice",
            from: """
                func main(tensor<fp32, [1, 1, 2, 2]> q, tensor<fp32, [1, 1, 2, 2]> k, tensor<fp32, [1, 1, 2, 2]> v) {
                    tensor<fp32, [1, 1, 2, 2]> turned = transpose(k, permutation = [0, 1, 3, 2])
                    tensor<fp32, [1, 1, 2, 2]> scores = matmul(q, turned, transposeX = false, transposeY = false)
                    tensor<fp32, [1, 1, 2, 2]> masked = select([1, 0, 1, 1], scores, -10000)
                    tensor<fp32, [1, 1, 2, 2]> weights = softmax(masked, axis = 3)
                    tensor<fp32, [1, 1, 2, 2]> y = matmul(weights, v, transposeX = false, transposeY = false)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 1, 2, 2]> q, tensor<fp32, [1, 1, 2, 2]> k, tensor<fp32, [1, 1, 2, 2]> v) {
                    tensor<fp32, [1, 1, 2, 2]> %10 = transpose(k, permutation = [0, 1, 2, 3])
                    tensor<fp32, [1, 1, 2, 2]> y = scaled_dot_product_attention(q, %10, v, [0, -inf, 0, 0], \
                scale = 1.0, isCausal = false, heads = none, sharesKeys = false, keysAreTokensFirst = false)
                } -> (y: y)
                """
        ) { builder in
            let (q, k) = (builder.floats("q", [1, 1, 2, 2]), builder.floats("k", [1, 1, 2, 2]))
            let v = builder.floats("v", [1, 1, 2, 2])
            let turned = try builder.add(Transpose([0, 1, 3, 2]), k, name: "turned")
            let scores = try builder.add(MatMul(), q, turned, name: "scores")
            let allowed = builder.numbers([1, 0, 1, 1], [2, 2], .bool)
            let masked = try builder.add(Select(), allowed, scores, builder.numbers([-10_000], []), name: "masked")
            let weights = try builder.add(Softmax(axis: 3), masked, name: "weights")
            return [try builder.add(MatMul(), weights, v, name: "y")]
        },
        .of(
            FuseAttention(),
            leaves: "scores that are normalised along another axis",
            """
            func main(tensor<fp32, [1, 1, 2, 2]> q, tensor<fp32, [1, 1, 2, 2]> k, tensor<fp32, [1, 1, 2, 2]> v) {
                tensor<fp32, [1, 1, 2, 2]> scores = matmul(q, k, transposeX = false, transposeY = true)
                tensor<fp32, [1, 1, 2, 2]> weights = softmax(scores, axis = 2)
                tensor<fp32, [1, 1, 2, 2]> y = matmul(weights, v, transposeX = false, transposeY = false)
            } -> (y: y)
            """
        ) { builder in
            let (q, k) = (builder.floats("q", [1, 1, 2, 2]), builder.floats("k", [1, 1, 2, 2]))
            let scores = try builder.add(MatMul(transposeY: true), q, k, name: "scores")
            let weights = try builder.add(Softmax(axis: 2), scores, name: "weights")
            return [try builder.add(MatMul(), weights, builder.floats("v", [1, 1, 2, 2]), name: "y")]
        },

        .of(
            FuseHeads(),
            "heads behind tokens",
            from: """
                func main(tensor<fp32, [1, 3, 2, 2]> q, tensor<fp32, [1, 3, 2, 2]> k, tensor<fp32, [1, 3, 2, 2]> v) {
                    tensor<fp32, [1, 2, 3, 2]> heads of q = transpose(q, permutation = [0, 2, 1, 3])
                    tensor<fp32, [1, 2, 3, 2]> heads of k = transpose(k, permutation = [0, 2, 1, 3])
                    tensor<fp32, [1, 2, 3, 2]> heads of v = transpose(v, permutation = [0, 2, 1, 3])
                    tensor<fp32, [1, 2, 3, 2]> y = scaled_dot_product_attention(heads of q, heads of k, heads of v, \
                scale = 0.5, isCausal = false, heads = none, sharesKeys = false, keysAreTokensFirst = false)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 3, 2, 2]> q, tensor<fp32, [1, 3, 2, 2]> k, tensor<fp32, [1, 3, 2, 2]> v) {
                    tensor<fp32, [1, 3, 2, 2]> %7 = scaled_dot_product_attention(q, k, v, none, scale = 0.5, \
                isCausal = false, heads = 2, sharesKeys = false, keysAreTokensFirst = false)
                    tensor<fp32, [1, 2, 3, 2]> y = transpose(%7, permutation = [0, 2, 1, 3])
                } -> (y: y)
                """
        ) { builder in
            var heads: [ValueID] = []
            for name in ["q", "k", "v"] {
                let x = builder.floats(name, [1, 3, 2, 2])
                heads.append(try builder.add(Transpose([0, 2, 1, 3]), x, name: "heads of \(name)"))
            }
            return try builder.append(ScaledDotProductAttention(scale: 0.5), heads, names: ["y"])
        },
        .of(
            FuseHeads(),
            leaves: "heads of which one comes otherwise",
            """
            func main(tensor<fp32, [1, 2, 3, 2]> v, tensor<fp32, [1, 3, 2, 2]> q, tensor<fp32, [1, 3, 2, 2]> k) {
                tensor<fp32, [1, 2, 3, 2]> heads of q = transpose(q, permutation = [0, 2, 1, 3])
                tensor<fp32, [1, 2, 3, 2]> heads of k = transpose(k, permutation = [0, 2, 1, 3])
                tensor<fp32, [1, 2, 3, 2]> y = scaled_dot_product_attention(heads of q, heads of k, v, scale = 0.5, \
            isCausal = false, heads = none, sharesKeys = false, keysAreTokensFirst = false)
            } -> (y: y)
            """
        ) { builder in
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
        .widening(
            "float16 between inputs and outputs",
            """
            func main(tensor<fp16, [1, 2]> x) {
                tensor<fp16, [1, 2]> product = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                tensor<fp16, [1, 2]> y = add(product, [1, 2])
            } -> (y: y)
            """,
            to: """
                func main(tensor<fp16, [1, 2]> x) {
                    tensor<fp32, [1, 2]> %1 = cast(x, scalarType = float32)
                    tensor<fp32, [1, 2]> product = linear(%1, [1, 2, 3, 4], activation = none, transposesWeight = false)
                    tensor<fp32, [1, 2]> y = add(product, [1, 2])
                    tensor<fp16, [1, 2]> y = cast(y, scalarType = float16)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.halves("x", [1, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2], .float16)
            let product = try builder.add(Linear(), x, weight, name: "product")
            return [try builder.add(Binary<Add>(), product, builder.numbers([1, 2], nil, .float16), name: "y")]
        },
        .widening(
            "leaves float32",
            """
            func main(tensor<fp32, [1, 2]> x) {
                tensor<fp32, [1, 2]> product = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                tensor<fp32, [1, 2]> y = relu(product, function = Relu())
            } -> (y: y)
            """,
            to: """
                func main(tensor<fp32, [1, 2]> x) {
                    tensor<fp32, [1, 2]> product = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                    tensor<fp32, [1, 2]> y = relu(product, function = Relu())
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [1, 2])
            let product = try builder.add(Linear(), x, builder.numbers([1, 2, 3, 4], [2, 2]), name: "product")
            return [try builder.add(Unary(Relu()), product, name: "y")]
        },
        .layouts(
            "channels come last around convolutions",
            """
            func main(tensor<fp32, [1, 2, 2, 2]> x) {
                tensor<fp32, [1, 2, 2, 2]> first = conv(x, [1, 2, 3, 4], strides = [1, 1], padding = valid, \
            dilations = [1, 1], groups = 1, activation = none)
                tensor<fp32, [1, 2, 2, 2]> active = relu(first, function = Relu())
                tensor<fp32, [1, 2, 2, 2]> y = conv(active, [1, 2, 3, 4], strides = [1, 1], padding = valid, \
            dilations = [1, 1], groups = 1, activation = none)
            } -> (y: y)
            """,
            to: """
                func main(tensor<fp32, [1, 2, 2, 2]> x) {
                    tensor<fp32, [1, 2, 2, 2]> %2 = Relayout(x)
                    tensor<fp32, [1, 2, 2, 2]> first = conv(%2, [1, 2, 3, 4], strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 1, activation = none)
                    tensor<fp32, [1, 2, 2, 2]> active = relu(first, function = Relu())
                    tensor<fp32, [1, 2, 2, 2]> y = conv(active, [1, 2, 3, 4], strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 1, activation = none)
                    tensor<fp32, [1, 2, 2, 2]> %6 = Relayout(y)
                } -> (y: %6)
                """
        ) { builder in
            let x = builder.floats("x", [1, 2, 2, 2])
            let weight = builder.numbers([1, 2, 3, 4], [2, 2, 1, 1])
            let first = try builder.add(Convolution(strides: [1, 1]), x, weight, name: "first")
            let active = try builder.add(Unary(Relu()), first, name: "active")
            return [try builder.add(Convolution(strides: [1, 1]), active, weight, name: "y")]
        },
        .layouts(
            "leaves graphs without channels",
            """
            func main(tensor<fp32, [1, 2]> x) {
                tensor<fp32, [1, 2]> product = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                tensor<fp32, [1, 2]> y = relu(product, function = Relu())
            } -> (y: y)
            """,
            to: """
                func main(tensor<fp32, [1, 2]> x) {
                    tensor<fp32, [1, 2]> product = linear(x, [1, 2, 3, 4], activation = none, transposesWeight = false)
                    tensor<fp32, [1, 2]> y = relu(product, function = Relu())
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [1, 2])
            let product = try builder.add(Linear(), x, builder.numbers([1, 2, 3, 4], [2, 2]), name: "product")
            return [try builder.add(Unary(Relu()), product, name: "y")]
        },
    ]
}
