import MLGraph
import MLNumerics
import MLOperators
import MLPasses

extension PassText {
    /// Attention with grouped queries, and caches of keys and values.
    static let attention: [PassText] = [
        .of(
            FuseAttention(),
            "scores of grouped queries",
            from: """
                func main(tensor<fp32, [1, 2, 6, 4]> q, tensor<fp32, [1, 2, 5, 4]> k, tensor<fp32, [1, 2, 5, \
                4]> v, tensor<fp32, [1, 1, 1, 2, 5]> mask) {
                    tensor<fp32, [1, 2, 6, 5]> scores = matmul(q, k, transposeX = false, transposeY = true)
                    tensor<fp32, [1, 2, 6, 5]> scaled = mul(scores, 0.5)
                    tensor<fp32, [1, 2, 3, 2, 5]> grouped = reshape(scaled, [1, 2, 3, 2, 5])
                    tensor<fp32, [1, 2, 3, 2, 5]> masked = add(grouped, mask)
                    tensor<fp32, [1, 2, 3, 2, 5]> weights = softmax(masked, axis = -1)
                    tensor<fp32, [1, 2, 6, 5]> joined = reshape(weights, [1, 2, 6, 5])
                    tensor<fp32, [1, 2, 6, 4]> y = matmul(joined, v, transposeX = false, transposeY = false)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 2, 6, 4]> q, tensor<fp32, [1, 2, 5, 4]> k, tensor<fp32, [1, 2, 5, \
                4]> v, tensor<fp32, [1, 1, 1, 2, 5]> mask) {
                    tensor<fp32, [1, 6, 2, 4]> %15 = reshape(q, [1, 6, 2, 4])
                    tensor<fp32, [1, 1, 2, 5]> %17 = reshape(mask, [1, 1, 2, 5])
                    tensor<fp32, [1, 6, 2, 4]> %18 = scaled_dot_product_attention(%15, k, v, %17, scale = 0.5, \
                isCausal = false, heads = none, sharesKeys = true, keysAreTokensFirst = false)
                    tensor<fp32, [1, 2, 6, 4]> y = reshape(%18, [1, 2, 6, 4])
                } -> (y: y)
                """
        ) { builder in
            let (q, k) = (builder.floats("q", [1, 2, 6, 4]), builder.floats("k", [1, 2, 5, 4]))
            let (v, mask) = (builder.floats("v", [1, 2, 5, 4]), builder.floats("mask", [1, 1, 1, 2, 5]))
            let scores = try builder.add(MatMul(transposeY: true), q, k, name: "scores")
            let scaled = try builder.add(Binary<Mul>(), scores, builder.numbers([0.5], []), name: "scaled")
            let grouped = try builder.add(Reshape(), scaled, builder.counts(1, 2, 3, 2, 5), name: "grouped")
            let masked = try builder.add(Binary<Add>(), grouped, mask, name: "masked")
            let weights = try builder.add(Softmax(axis: -1), masked, name: "weights")
            let joined = try builder.add(Reshape(), weights, builder.counts(1, 2, 6, 5), name: "joined")
            return [try builder.add(MatMul(), joined, v, name: "y")]
        },
        .of(
            FuseAttention(),
            leaves: "grouped queries whose mask differs within a group",
            """
            func main(tensor<fp32, [1, 2, 6, 4]> q, tensor<fp32, [1, 2, 5, 4]> k, tensor<fp32, [1, 2, 5, 4]> v, \
            tensor<fp32, [1, 1, 3, 2, 5]> mask) {
                tensor<fp32, [1, 2, 6, 5]> scores = matmul(q, k, transposeX = false, transposeY = true)
                tensor<fp32, [1, 2, 3, 2, 5]> grouped = reshape(scores, [1, 2, 3, 2, 5])
                tensor<fp32, [1, 2, 3, 2, 5]> masked = add(grouped, mask)
                tensor<fp32, [1, 2, 3, 2, 5]> weights = softmax(masked, axis = -1)
                tensor<fp32, [1, 2, 6, 5]> joined = reshape(weights, [1, 2, 6, 5])
                tensor<fp32, [1, 2, 6, 4]> y = matmul(joined, v, transposeX = false, transposeY = false)
            } -> (y: y)
            """
        ) { builder in
            let (q, k) = (builder.floats("q", [1, 2, 6, 4]), builder.floats("k", [1, 2, 5, 4]))
            let (v, mask) = (builder.floats("v", [1, 2, 5, 4]), builder.floats("mask", [1, 1, 3, 2, 5]))
            let scores = try builder.add(MatMul(transposeY: true), q, k, name: "scores")
            let grouped = try builder.add(Reshape(), scores, builder.counts(1, 2, 3, 2, 5), name: "grouped")
            let masked = try builder.add(Binary<Add>(), grouped, mask, name: "masked")
            let weights = try builder.add(Softmax(axis: -1), masked, name: "weights")
            let joined = try builder.add(Reshape(), weights, builder.counts(1, 2, 6, 5), name: "joined")
            return [try builder.add(MatMul(), joined, v, name: "y")]
        },
        .of(
            ShareKeys(),
            "tiled heads",
            from: """
                func main(tensor<fp32, [1, 6, 3, 4]> q, tensor<fp32, [1, 2, 1, 5, 4]> k, tensor<fp32, [1, 2, 1, 5, \
                4]> v) {
                    tensor<fp32, [1, 2, 3, 5, 4]> tiled k = tile(k, [1, 1, 3, 1, 1])
                    tensor<fp32, [1, 6, 5, 4]> all k = reshape(tiled k, [1, 6, 5, 4])
                    tensor<fp32, [1, 2, 3, 5, 4]> tiled v = tile(v, [1, 1, 3, 1, 1])
                    tensor<fp32, [1, 6, 5, 4]> all v = reshape(tiled v, [1, 6, 5, 4])
                    tensor<fp32, [1, 6, 3, 4]> y = scaled_dot_product_attention(q, all k, all v, scale = 0.5, \
                isCausal = false, heads = none, sharesKeys = false, keysAreTokensFirst = false)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 6, 3, 4]> q, tensor<fp32, [1, 2, 1, 5, 4]> k, tensor<fp32, [1, 2, 1, 5, \
                4]> v) {
                    tensor<fp32, [1, 2, 5, 4]> %13 = reshape(k, [1, 2, 5, 4])
                    tensor<fp32, [1, 2, 5, 4]> %15 = reshape(v, [1, 2, 5, 4])
                    tensor<fp32, [1, 6, 3, 4]> y = scaled_dot_product_attention(q, %13, %15, scale = 0.5, \
                isCausal = false, heads = none, sharesKeys = true, keysAreTokensFirst = false)
                } -> (y: y)
                """
        ) { builder in
            let q = builder.floats("q", [1, 6, 3, 4])
            var operands = [q]
            for name in ["k", "v"] {
                let heads = builder.floats(name, [1, 2, 1, 5, 4])
                let tiled = try builder.add(Tile(), heads, builder.counts(1, 1, 3, 1, 1), name: "tiled \(name)")
                operands.append(try builder.add(Reshape(), tiled, builder.counts(1, 6, 5, 4), name: "all \(name)"))
            }
            return try builder.append(ScaledDotProductAttention(scale: 0.5), operands, names: ["y"])
        },
        .of(
            ShareKeys(),
            leaves: "heads that are tiled as a whole",
            """
            func main(tensor<fp32, [1, 6, 3, 4]> q, tensor<fp32, [1, 1, 2, 5, 4]> k, tensor<fp32, [1, 1, 2, 5, \
            4]> v) {
                tensor<fp32, [1, 3, 2, 5, 4]> tiled k = tile(k, [1, 3, 1, 1, 1])
                tensor<fp32, [1, 6, 5, 4]> all k = reshape(tiled k, [1, 6, 5, 4])
                tensor<fp32, [1, 3, 2, 5, 4]> tiled v = tile(v, [1, 3, 1, 1, 1])
                tensor<fp32, [1, 6, 5, 4]> all v = reshape(tiled v, [1, 6, 5, 4])
                tensor<fp32, [1, 6, 3, 4]> y = scaled_dot_product_attention(q, all k, all v, scale = 0.5, \
            isCausal = false, heads = none, sharesKeys = false, keysAreTokensFirst = false)
            } -> (y: y)
            """
        ) { builder in
            let q = builder.floats("q", [1, 6, 3, 4])
            var operands = [q]
            for name in ["k", "v"] {
                let heads = builder.floats(name, [1, 1, 2, 5, 4])
                let tiled = try builder.add(Tile(), heads, builder.counts(1, 3, 1, 1, 1), name: "tiled \(name)")
                operands.append(try builder.add(Reshape(), tiled, builder.counts(1, 6, 5, 4), name: "all \(name)"))
            }
            return try builder.append(ScaledDotProductAttention(scale: 0.5), operands, names: ["y"])
        },
        .of(
            FuseHeads(),
            "keys and values alone behind tokens",
            from: """
                func main(tensor<fp32, [1, 4, 3, 2]> q, tensor<fp32, [1, 5, 2, 2]> k, tensor<fp32, [1, 5, 2, \
                2]> v) {
                    tensor<fp32, [1, 2, 5, 2]> heads of k = transpose(k, permutation = [0, 2, 1, 3])
                    tensor<fp32, [1, 2, 5, 2]> heads of v = transpose(v, permutation = [0, 2, 1, 3])
                    tensor<fp32, [1, 4, 3, 2]> y = scaled_dot_product_attention(q, heads of k, heads of v, \
                scale = 0.5, isCausal = false, heads = none, sharesKeys = true, keysAreTokensFirst = false)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 4, 3, 2]> q, tensor<fp32, [1, 5, 2, 2]> k, tensor<fp32, [1, 5, 2, \
                2]> v) {
                    tensor<fp32, [1, 4, 3, 2]> y = scaled_dot_product_attention(q, k, v, none, scale = 0.5, \
                isCausal = false, heads = none, sharesKeys = true, keysAreTokensFirst = true)
                } -> (y: y)
                """
        ) { builder in
            var operands = [builder.floats("q", [1, 4, 3, 2])]
            for name in ["k", "v"] {
                let x = builder.floats(name, [1, 5, 2, 2])
                operands.append(try builder.add(Transpose([0, 2, 1, 3]), x, name: "heads of \(name)"))
            }
            let attention = ScaledDotProductAttention(scale: 0.5, sharesKeys: true)
            return try builder.append(attention, operands, names: ["y"])
        },
        .of(
            ReadHalfKeys(),
            "a cache of float16",
            from: """
                func main(tensor<fp32, [1, 2, 3, 4]> q, tensor<fp16, [2, 5, 4]> k, tensor<fp16, [1, 2, 5, 4]> v) {
                    tensor<fp32, [2, 5, 4]> wide k = cast(k, scalarType = float32)
                    tensor<fp32, [1, 2, 5, 4]> heads of k = reshape(wide k, [1, 2, 5, 4])
                    tensor<fp32, [1, 2, 5, 4]> wide v = cast(v, scalarType = float32)
                    tensor<fp32, [1, 2, 3, 4]> y = scaled_dot_product_attention(q, heads of k, wide v, \
                scale = 0.5, isCausal = false, heads = none, sharesKeys = false, keysAreTokensFirst = false)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 2, 3, 4]> q, tensor<fp16, [2, 5, 4]> k, tensor<fp16, [1, 2, 5, 4]> v) {
                    tensor<fp16, [1, 2, 5, 4]> %9 = reshape(k, [1, 2, 5, 4])
                    tensor<fp32, [1, 2, 3, 4]> y = scaled_dot_product_attention(q, %9, v, scale = 0.5, \
                isCausal = false, heads = none, sharesKeys = false, keysAreTokensFirst = false)
                } -> (y: y)
                """
        ) { builder in
            var operands = [builder.floats("q", [1, 2, 3, 4])]
            let k = try builder.add(Cast(to: .float32), builder.halves("k", [2, 5, 4]), name: "wide k")
            operands.append(try builder.add(Reshape(), k, builder.counts(1, 2, 5, 4), name: "heads of k"))
            operands.append(try builder.add(Cast(to: .float32), builder.halves("v", [1, 2, 5, 4]), name: "wide v"))
            return try builder.append(ScaledDotProductAttention(scale: 0.5), operands, names: ["y"])
        },
        .of(
            ReadHalfKeys(),
            leaves: "values that are computed in single precision",
            """
            func main(tensor<fp32, [1, 2, 3, 4]> q, tensor<fp16, [1, 2, 5, 4]> k, tensor<fp32, [1, 2, 5, 4]> v) {
                tensor<fp32, [1, 2, 5, 4]> wide k = cast(k, scalarType = float32)
                tensor<fp32, [1, 2, 3, 4]> y = scaled_dot_product_attention(q, wide k, v, scale = 0.5, \
            isCausal = false, heads = none, sharesKeys = false, keysAreTokensFirst = false)
            } -> (y: y)
            """
        ) { builder in
            let q = builder.floats("q", [1, 2, 3, 4])
            let k = try builder.add(Cast(to: .float32), builder.halves("k", [1, 2, 5, 4]), name: "wide k")
            let v = builder.floats("v", [1, 2, 5, 4])
            return try builder.append(ScaledDotProductAttention(scale: 0.5), [q, k, v], names: ["y"])
        },
        .of(
            ScatterIntoSlices(),
            "a layer's part of a cache",
            from: """
                func main(tensor<fp16, [2, 4, 3]> cache, tensor<int32, [1, 1]> positions, tensor<fp16, [1, \
                3]> new) {
                    tensor<fp16, [4, 3]> layer = slice_by_index(cache, [1, 0, 0], [2, 0, 0], \
                rule = SliceRule(steps: [], beginMask: [], endMask: [false, true, true], squeezeMask: [true, \
                false, false]))
                    tensor<fp16, [4, 3]> changed = scatter_nd(layer, positions, new, mode = update, \
                indexRule = IndexRule(isValidated: false), leadingIndices = [])
                    tensor<fp16, [2, 4, 3]> stored = slice_update(cache, changed, [1, 0, 0], [2, 0, 0], \
                rule = SliceRule(steps: [], beginMask: [], endMask: [false, true, true], squeezeMask: [true, \
                false, false]))
                    tensor<fp32, [4, 3]> y = cast(changed, scalarType = float32)
                } -> (stored: stored, y: y)
                """,
            to: """
                func main(tensor<fp16, [2, 4, 3]> cache, tensor<int32, [1, 1]> positions, tensor<fp16, [1, \
                3]> new) {
                    tensor<fp16, [2, 4, 3]> stored = scatter_nd(cache, positions, new, mode = update, \
                indexRule = IndexRule(isValidated: false), leadingIndices = [1])
                    tensor<fp16, [4, 3]> changed = slice_by_index(stored, [1, 0, 0], [2, 0, 0], \
                rule = SliceRule(steps: [], beginMask: [], endMask: [false, true, true], squeezeMask: [true, \
                false, false]))
                    tensor<fp32, [4, 3]> y = cast(changed, scalarType = float32)
                } -> (stored: stored, y: y)
                """
        ) { builder in try cacheUpdate(&builder, of: [1, 0, 0], squeezing: [true, false, false]) },
        .of(
            ScatterIntoSlices(),
            leaves: "a slice other than the one that was read",
            """
            func main(tensor<fp16, [2, 4, 3]> cache, tensor<int32, [1, 1]> positions, tensor<fp16, [1, 3]> new) {
                tensor<fp16, [4, 3]> layer = slice_by_index(cache, [1, 0, 0], [2, 0, 0], \
            rule = SliceRule(steps: [], beginMask: [], endMask: [false, true, true], squeezeMask: [true, false, \
            false]))
                tensor<fp16, [4, 3]> changed = scatter_nd(layer, positions, new, mode = update, \
            indexRule = IndexRule(isValidated: false), leadingIndices = [])
                tensor<fp16, [2, 4, 3]> stored = slice_update(cache, changed, [0, 0, 0], [2, 0, 0], \
            rule = SliceRule(steps: [], beginMask: [], endMask: [false, true, true], squeezeMask: [true, false, \
            false]))
                tensor<fp32, [4, 3]> y = cast(changed, scalarType = float32)
            } -> (stored: stored, y: y)
            """
        ) { builder in try cacheUpdate(&builder, of: [0, 0, 0], squeezing: [true, false, false]) },
    ]

    /// Layer 1 of a cache with an element replaced, stored in the slice that begins at `begin`, and that layer read again.
    private static func cacheUpdate(
        _ builder: inout GraphBuilder,
        of begin: [Int],
        squeezing: [Bool]
    ) throws -> [ValueID] {
        let cache = builder.halves("cache", [2, 4, 3])
        let positions = builder.input("positions", ValueType(.int32, [1, 1]))
        let new = builder.halves("new", [1, 3])
        var rule = SliceRule()
        (rule.squeezeMask, rule.endMask) = (squeezing, [false, true, true])
        let ends = builder.counts(2, 0, 0)
        let layer = try builder.append(SliceByIndex(rule), [cache, builder.counts(1, 0, 0), ends], names: ["layer"])[0]
        let changed = try builder.add(ScatterND(mode: .update), layer, positions, new, name: "changed")
        let update = [cache, changed, builder.counts(begin[0], begin[1], begin[2]), ends]
        let stored = try builder.append(SliceUpdate(rule), update, names: ["stored"])[0]
        return [stored, try builder.add(Cast(to: .float32), changed, name: "y")]
    }
}
