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
            from: "",
            to: ""
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
            ""
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
            from: "",
            to: ""
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
            ""
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
            from: "",
            to: ""
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
            from: "",
            to: ""
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
            ""
        ) { builder in
            let q = builder.floats("q", [1, 2, 3, 4])
            let k = try builder.add(Cast(to: .float32), builder.halves("k", [1, 2, 5, 4]), name: "wide k")
            let v = builder.floats("v", [1, 2, 5, 4])
            return try builder.append(ScaledDotProductAttention(scale: 0.5), [q, k, v], names: ["y"])
        },
        .of(
            ScatterIntoSlices(),
            "a layer's part of a cache",
            from: "",
            to: ""
        ) { builder in try cacheUpdate(&builder, of: [1, 0, 0], squeezing: [true, false, false]) },
        .of(
            ScatterIntoSlices(),
            leaves: "a slice other than the one that was read",
            ""
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
