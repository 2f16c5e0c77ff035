import MLGraph
import MLNumerics
import MLOperators
import MLPasses

extension PassText {
    static let cleaning: [PassText] = [
        .of(
            RemoveIdentities(),
            "an identity, a cast to the same type",
            from: """
                func main(tensor<fp32, [2]> x) {
                    tensor<fp32, [2]> same = identity(x)
                    tensor<fp32, [2]> cast = cast(same, scalarType = float32)
                    tensor<fp32, [2]> y = relu(cast, function = Relu())
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2]> x) {
                    tensor<fp32, [2]> y = relu(x, function = Relu())
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2])
            let same = try builder.add(Identity(), x, name: "same")
            let cast = try builder.add(Cast(to: .float32), same, name: "cast")
            return [try builder.add(Unary(Relu()), cast, name: "y")]
        },
        .of(
            RemoveIdentities(),
            "a cast to float16 of a cast from it",
            from: """
                func main(tensor<fp16, [2]> x) {
                    tensor<fp32, [2]> wide = cast(x, scalarType = float32)
                    tensor<fp16, [2]> narrow = cast(wide, scalarType = float16)
                    tensor<fp16, [2]> y = relu(narrow, function = Relu())
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp16, [2]> x) {
                    tensor<fp16, [2]> y = relu(x, function = Relu())
                } -> (y: y)
                """
        ) { builder in
            let x = builder.halves("x", [2])
            let wide = try builder.add(Cast(to: .float32), x, name: "wide")
            let narrow = try builder.add(Cast(to: .float16), wide, name: "narrow")
            return [try builder.add(Unary(Relu()), narrow, name: "y")]
        },
        .of(
            RemoveIdentities(),
            "a transposition and a reshape that change nothing",
            from: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [2, 3]> turned = transpose(x, permutation = [0, -1])
                    tensor<fp32, [2, 3]> shaped = reshape(turned, [2, 3])
                    tensor<fp32, [2, 3]> y = relu(shaped, function = Relu())
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [2, 3]> y = relu(x, function = Relu())
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let turned = try builder.add(Transpose([0, -1]), x, name: "turned")
            let shaped = try builder.add(Reshape(), turned, builder.counts(2, 3), name: "shaped")
            return [try builder.add(Unary(Relu()), shaped, name: "y")]
        },
        .of(
            RemoveIdentities(),
            leaves: "casts, transpositions and reshapes that change something",
            """
            func main(tensor<fp32, [2, 3]> x) {
                tensor<int32, [2, 3]> whole = cast(x, scalarType = int32)
                tensor<fp32, [2, 3]> back = cast(whole, scalarType = float32)
                tensor<fp32, [3, 2]> turned = transpose(back, permutation = [1, 0])
                tensor<fp32, [2, 3]> y = reshape(turned, [2, 3])
            } -> (y: y)
            """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let whole = try builder.add(Cast(to: .int32), x, name: "whole")
            let back = try builder.add(Cast(to: .float32), whole, name: "back")
            let turned = try builder.add(Transpose([1, 0]), back, name: "turned")
            return [try builder.add(Reshape(), turned, builder.counts(2, 3), name: "y")]
        },
        .of(
            RemoveIdentities(),
            leaves: "a reshape of what is not known yet",
            """
            func main(tensor<fp32, [?, 3]> x) {
                tensor<fp32, [?, 3]> y = reshape(x, [-1, 3])
            } -> (y: y)
            """
        ) { builder in
            let x = builder.floats("x", [.unknown, 3])
            return [try builder.add(Reshape(), x, builder.counts(-1, 3), name: "y")]
        },

        .of(
            UseWideIndices(),
            "indices that were narrowed",
            from: """
                func main(tensor<fp32, [4, 2]> x, tensor<int32, [3]> indices) {
                    tensor<int16, [3]> narrow = cast(indices, scalarType = int16)
                    tensor<fp32, [3, 2]> y = gather(x, narrow, axis = 0, batchDimensions = 0, \
                indexRule = IndexRule(isValidated: false), widensHalf = false)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [4, 2]> x, tensor<int32, [3]> indices) {
                    tensor<fp32, [3, 2]> y = gather(x, indices, axis = 0, batchDimensions = 0, \
                indexRule = IndexRule(isValidated: false), widensHalf = false)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [4, 2])
            let indices = builder.input("indices", ValueType(.int32, [3]))
            let narrow = try builder.add(Cast(to: .int16), indices, name: "narrow")
            return [try builder.add(Gather(axis: 0), x, narrow, name: "y")]
        },
        .of(
            UseWideIndices(),
            leaves: "indices that were fractions",
            """
            func main(tensor<fp32, [4, 2]> x, tensor<fp32, [3]> fractions) {
                tensor<int32, [3]> indices = cast(fractions, scalarType = int32)
                tensor<fp32, [3, 2]> y = gather(x, indices, axis = 0, batchDimensions = 0, \
            indexRule = IndexRule(isValidated: false), widensHalf = false)
            } -> (y: y)
            """
        ) { builder in
            let x = builder.floats("x", [4, 2])
            let indices = try builder.add(Cast(to: .int32), builder.floats("fractions", [3]), name: "indices")
            return [try builder.add(Gather(axis: 0), x, indices, name: "y")]
        },

        .of(
            NormalizeReshapes(),
            "what only regroups elements",
            from: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [1, 2, 3]> wide = expand_dims(x, axes = [0])
                    tensor<fp32, [2, 3]> y = squeeze(wide, axes = [0])
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [1, 2, 3]> wide = reshape(x, [1, 2, 3])
                    tensor<fp32, [2, 3]> y = reshape(wide, [2, 3])
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let wide = try builder.add(ExpandDims(axes: [0]), x, name: "wide")
            return [try builder.add(Squeeze(axes: [0]), wide, name: "y")]
        },
        .of(
            NormalizeReshapes(),
            "an extent that follows from the others",
            from: """
                func main(tensor<fp32, [2, 6]> x) {
                    tensor<fp32, [3, 4]> first = reshape(x, [3, 4])
                    tensor<fp32, [6, 2]> y = reshape(first, [-1, 2])
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 6]> x) {
                    tensor<fp32, [6, 2]> y = reshape(x, [6, 2])
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 6])
            let first = try builder.add(Reshape(), x, builder.counts(3, 4), name: "first")
            return [try builder.add(Reshape(), first, builder.counts(-1, 2), name: "y")]
        },
        .of(
            NormalizeReshapes(),
            "a transposition that moves axes of one element",
            from: """
                func main(tensor<fp32, [1, 3, 4]> x) {
                    tensor<fp32, [3, 1, 4]> y = transpose(x, permutation = [1, 0, 2])
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 3, 4]> x) {
                    tensor<fp32, [3, 1, 4]> y = reshape(x, [3, 1, 4])
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [1, 3, 4])
            return [try builder.add(Transpose([1, 0, 2]), x, name: "y")]
        },
        .of(
            NormalizeReshapes(),
            leaves: "one reshape to numbers, and a transposition that moves elements",
            """
            func main(tensor<fp32, [2, 3]> x) {
                tensor<fp32, [3, 2]> turned = transpose(x, permutation = [1, 0])
                tensor<fp32, [1, 3, 2]> y = reshape(turned, [1, 3, 2])
            } -> (y: y)
            """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let turned = try builder.add(Transpose([1, 0]), x, name: "turned")
            return [try builder.add(Reshape(), turned, builder.counts(1, 3, 2), name: "y")]
        },

        .of(
            ComposeTransposes(),
            "two transpositions",
            from: """
                func main(tensor<fp32, [2, 3, 4]> x) {
                    tensor<fp32, [4, 2, 3]> first = transpose(x, permutation = [2, 0, 1])
                    tensor<fp32, [4, 3, 2]> y = transpose(first, permutation = [0, -1, 1])
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 3, 4]> x) {
                    tensor<fp32, [4, 3, 2]> y = transpose(x, permutation = [2, 1, 0])
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 3, 4])
            let first = try builder.add(Transpose([2, 0, 1]), x, name: "first")
            return [try builder.add(Transpose([0, -1, 1]), first, name: "y")]
        },
        .of(
            ComposeTransposes(),
            leaves: "two with an operation between",
            """
            func main(tensor<fp32, [2, 3, 4]> x) {
                tensor<fp32, [4, 2, 3]> first = transpose(x, permutation = [2, 0, 1])
                tensor<fp32, [4, 2, 3]> middle = relu(first, function = Relu())
                tensor<fp32, [4, 3, 2]> y = transpose(middle, permutation = [0, 2, 1])
            } -> (y: y)
            """
        ) { builder in
            let x = builder.floats("x", [2, 3, 4])
            let first = try builder.add(Transpose([2, 0, 1]), x, name: "first")
            let middle = try builder.add(Unary(Relu()), first, name: "middle")
            return [try builder.add(Transpose([0, 2, 1]), middle, name: "y")]
        },

        .of(
            NormalizeTransposes(),
            "an axis of one element that moves with others",
            from: """
                func main(tensor<fp32, [1, 2, 3]> x) {
                    tensor<fp32, [3, 1, 2]> y = transpose(x, permutation = [2, 0, 1])
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 2, 3]> x) {
                    tensor<fp32, [1, 3, 2]> %2 = transpose(x, permutation = [0, 2, 1])
                    tensor<fp32, [3, 1, 2]> y = reshape(%2, [3, 1, 2])
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [1, 2, 3])
            return [try builder.add(Transpose([2, 0, 1]), x, name: "y")]
        },
        .of(
            NormalizeTransposes(),
            "leading ones behind a transposition",
            from: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [3, 2]> turned = transpose(x, permutation = [1, 0])
                    tensor<fp32, [1, 1, 3, 2]> y = reshape(turned, [1, 1, 3, 2])
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [1, 1, 2, 3]> %5 = reshape(x, [1, 1, 2, 3])
                    tensor<fp32, [1, 1, 3, 2]> y = transpose(%5, permutation = [0, 1, 3, 2])
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let turned = try builder.add(Transpose([1, 0]), x, name: "turned")
            return [try builder.add(Reshape(), turned, builder.counts(1, 1, 3, 2), name: "y")]
        },
        .of(
            NormalizeTransposes(),
            leaves: "a trailing one behind a transposition",
            """
            func main(tensor<fp32, [2, 3]> x) {
                tensor<fp32, [3, 2]> turned = transpose(x, permutation = [1, 0])
                tensor<fp32, [3, 2, 1]> y = reshape(turned, [3, 2, 1])
            } -> (y: y)
            """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let turned = try builder.add(Transpose([1, 0]), x, name: "turned")
            return [try builder.add(Reshape(), turned, builder.counts(3, 2, 1), name: "y")]
        },

        .of(
            HoistReshapes(),
            "rows that are regrouped behind a linear",
            from: """
                func main(tensor<fp32, [4, 2]> x) {
                    tensor<fp32, [4, 3]> product = linear(x, [1, 2, 3, 4, 5, 6], activation = none, \
                transposesWeight = false)
                    tensor<fp32, [2, 2, 3]> y = reshape(product, [2, 2, 3])
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [4, 2]> x) {
                    tensor<fp32, [2, 2, 2]> %6 = reshape(x, [2, 2, 2])
                    tensor<fp32, [2, 2, 3]> y = linear(%6, [1, 2, 3, 4, 5, 6], activation = none, \
                transposesWeight = false)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [4, 2])
            let product = try builder.add(Linear(), x, builder.numbers([1, 2, 3, 4, 5, 6], [3, 2]), name: "product")
            return [try builder.add(Reshape(), product, builder.counts(2, 2, 3), name: "y")]
        },
        .of(
            HoistReshapes(),
            leaves: "columns that are regrouped, and products that others see",
            """
            func main(tensor<fp32, [4, 2]> x) {
                tensor<fp32, [4, 3]> product = linear(x, [1, 2, 3, 4, 5, 6], activation = none, \
            transposesWeight = false)
                tensor<fp32, [4, 3]> seen = linear(x, [1, 2, 3, 4, 5, 6], activation = none, transposesWeight = false)
                tensor<fp32, [3, 4]> y = reshape(product, [3, 4])
                tensor<fp32, [2, 2, 3]> z = reshape(seen, [2, 2, 3])
            } -> (y: y, seen: seen, z: z)
            """
        ) { builder in
            let x = builder.floats("x", [4, 2])
            let weight = builder.numbers([1, 2, 3, 4, 5, 6], [3, 2])
            let product = try builder.add(Linear(), x, weight, name: "product")
            let seen = try builder.add(Linear(), x, weight, name: "seen")
            return [
                try builder.add(Reshape(), product, builder.counts(3, 4), name: "y"), seen,
                try builder.add(Reshape(), seen, builder.counts(2, 2, 3), name: "z"),
            ]
        },
    ]
}
