import MLGraph
import MLNumerics
import MLOperators
import MLPasses

extension PassText {
    static let halves: [PassText] = [
        .of(
            UpdateHalfInPlace(),
            "a state of float16",
            from: """
                func main(tensor<fp16, [3, 2]> state, tensor<fp32, [1, 2]> new) {
                    tensor<fp32, [3, 2]> wide = cast(state, scalarType = float32)
                    tensor<fp32, [3, 2]> updated = slice_update(wide, new, [1, 0], [2, 2], rule = SliceRule(steps: [], \
                beginMask: [], endMask: [], squeezeMask: []))
                    tensor<fp16, [3, 2]> y = cast(updated, scalarType = float16)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp16, [3, 2]> state, tensor<fp32, [1, 2]> new) {
                    tensor<fp16, [1, 2]> %7 = cast(new, scalarType = float16)
                    tensor<fp16, [3, 2]> %8 = slice_update(state, %7, [1, 0], [2, 2], rule = SliceRule(steps: [], \
                beginMask: [], endMask: [], squeezeMask: []))
                    tensor<fp32, [3, 2]> updated = cast(%8, scalarType = float32)
                    tensor<fp16, [3, 2]> y = cast(updated, scalarType = float16)
                } -> (y: y)
                """
        ) { builder in
            let state = builder.halves("state", [3, 2])
            let new = builder.floats("new", [1, 2])
            let wide = try builder.add(Cast(to: .float32), state, name: "wide")
            let operands = [wide, new, builder.counts(1, 0), builder.counts(2, 2)]
            let updated = try builder.append(SliceUpdate(), operands, names: ["updated"])[0]
            return [try builder.add(Cast(to: .float16), updated, name: "y")]
        },
        .of(
            UpdateHalfInPlace(),
            leaves: "what is no input",
            """
            func main(tensor<fp16, [3, 2]> x, tensor<fp32, [1, 2]> new) {
                tensor<fp16, [3, 2]> computed = relu(x, function = Relu())
                tensor<fp32, [3, 2]> wide = cast(computed, scalarType = float32)
                tensor<fp32, [3, 2]> y = slice_update(wide, new, [1, 0], [2, 2], rule = SliceRule(steps: [], \
            beginMask: [], endMask: [], squeezeMask: []))
            } -> (y: y)
            """
        ) { builder in
            let computed = try builder.add(Unary(Relu()), builder.halves("x", [3, 2]), name: "computed")
            let wide = try builder.add(Cast(to: .float32), computed, name: "wide")
            let operands = [wide, builder.floats("new", [1, 2]), builder.counts(1, 0), builder.counts(2, 2)]
            return try builder.append(SliceUpdate(), operands, names: ["y"])
        },
        .of(
            UpdateHalfInPlace(),
            "elements of a part that goes back to a state",
            from: """
                func main(tensor<fp16, [3, 2]> part, tensor<int32, [1, 1]> places, tensor<fp32, [1, 2]> new) {
                    tensor<fp32, [3, 2]> wide = cast(part, scalarType = float32)
                    tensor<fp32, [3, 2]> updated = scatter_nd(wide, places, new, mode = update, \
                indexRule = IndexRule(isValidated: false), leadingIndices = [])
                    tensor<fp16, [3, 2]> y = cast(updated, scalarType = float16)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp16, [3, 2]> part, tensor<int32, [1, 1]> places, tensor<fp32, [1, 2]> new) {
                    tensor<fp16, [1, 2]> %6 = cast(new, scalarType = float16)
                    tensor<fp16, [3, 2]> %7 = scatter_nd(part, places, %6, mode = update, \
                indexRule = IndexRule(isValidated: false), leadingIndices = [])
                    tensor<fp32, [3, 2]> updated = cast(%7, scalarType = float32)
                    tensor<fp16, [3, 2]> y = cast(updated, scalarType = float16)
                } -> (y: y)
                """
        ) { builder in
            let part = builder.halves("part", [3, 2])
            let places = builder.input("places", ValueType(.int32, [1, 1]))
            let new = builder.floats("new", [1, 2])
            let wide = try builder.add(Cast(to: .float32), part, name: "wide")
            let updated = try builder.add(ScatterND(mode: .update), wide, places, new, name: "updated")
            return [try builder.add(Cast(to: .float16), updated, name: "y")]
        },
        .of(
            UpdateHalfInPlace(),
            leaves: "sums, and elements that stay in single precision",
            """
            func main(tensor<fp16, [3, 2]> x, tensor<int32, [1, 1]> places, tensor<fp32, [1, 2]> new) {
                tensor<fp32, [3, 2]> wide = cast(x, scalarType = float32)
                tensor<fp32, [3, 2]> sum = scatter_nd(wide, places, new, mode = add, \
            indexRule = IndexRule(isValidated: false), leadingIndices = [])
                tensor<fp16, [3, 2]> y = cast(sum, scalarType = float16)
                tensor<fp32, [3, 2]> z = scatter_nd(wide, places, new, mode = update, \
            indexRule = IndexRule(isValidated: false), leadingIndices = [])
            } -> (y: y, z: z)
            """
        ) { builder in
            let x = builder.halves("x", [3, 2])
            let places = builder.input("places", ValueType(.int32, [1, 1]))
            let new = builder.floats("new", [1, 2])
            let wide = try builder.add(Cast(to: .float32), x, name: "wide")
            let sum = try builder.add(ScatterND(mode: .add), wide, places, new, name: "sum")
            let y = try builder.add(Cast(to: .float16), sum, name: "y")
            return [y, try builder.add(ScatterND(mode: .update), wide, places, new, name: "z")]
        },

        .of(
            SliceBeforeWidening(),
            "a slice of a state",
            from: """
                func main(tensor<fp16, [3, 2]> state) {
                    tensor<fp32, [3, 2]> wide = cast(state, scalarType = float32)
                    tensor<fp32, [1, 2]> y = slice_by_size(wide, [1, 0], [1, 2])
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp16, [3, 2]> state) {
                    tensor<fp16, [1, 2]> %5 = slice_by_size(state, [1, 0], [1, 2])
                    tensor<fp32, [1, 2]> y = cast(%5, scalarType = float32)
                } -> (y: y)
                """
        ) { builder in
            let wide = try builder.add(Cast(to: .float32), builder.halves("state", [3, 2]), name: "wide")
            return [try builder.add(SliceBySize(), wide, builder.counts(1, 0), builder.counts(1, 2), name: "y")]
        },
        .of(
            SliceBeforeWidening(),
            leaves: "a slice of everything",
            """
            func main(tensor<fp16, [3, 2]> state) {
                tensor<fp32, [3, 2]> wide = cast(state, scalarType = float32)
                tensor<fp32, [3, 2]> y = slice_by_size(wide, [0, 0], [3, 2])
            } -> (y: y)
            """
        ) { builder in
            let wide = try builder.add(Cast(to: .float32), builder.halves("state", [3, 2]), name: "wide")
            return [try builder.add(SliceBySize(), wide, builder.counts(0, 0), builder.counts(3, 2), name: "y")]
        },
    ]
}
