import MLGraph
import MLNumerics
import MLOperators
import MLPasses

extension PassText {
    static let cleaning: [PassText] = [
        .of(RemoveIdentities(), "an identity, a cast to the same type", from: "@B1", to: "@A1") { builder in
            let x = builder.floats("x", [2])
            let same = try builder.add(Identity(), x, name: "same")
            let cast = try builder.add(Cast(to: .float32), same, name: "cast")
            return [try builder.add(Unary(Relu()), cast, name: "y")]
        },
        .of(RemoveIdentities(), "a cast to float16 of a cast from it", from: "@B2", to: "@A2") { builder in
            let x = builder.halves("x", [2])
            let wide = try builder.add(Cast(to: .float32), x, name: "wide")
            let narrow = try builder.add(Cast(to: .float16), wide, name: "narrow")
            return [try builder.add(Unary(Relu()), narrow, name: "y")]
        },
        .of(RemoveIdentities(), "a transposition and a reshape that change nothing", from: "@B3", to: "@A3") {
            builder in
            let x = builder.floats("x", [2, 3])
            let turned = try builder.add(Transpose([0, -1]), x, name: "turned")
            let shaped = try builder.add(Reshape(), turned, builder.counts(2, 3), name: "shaped")
            return [try builder.add(Unary(Relu()), shaped, name: "y")]
        },
        .of(RemoveIdentities(), leaves: "casts, transpositions and reshapes that change something", "@B4") { builder in
            let x = builder.floats("x", [2, 3])
            let whole = try builder.add(Cast(to: .int32), x, name: "whole")
            let back = try builder.add(Cast(to: .float32), whole, name: "back")
            let turned = try builder.add(Transpose([1, 0]), back, name: "turned")
            return [try builder.add(Reshape(), turned, builder.counts(2, 3), name: "y")]
        },
        .of(RemoveIdentities(), leaves: "a reshape of what is not known yet", "@B5") { builder in
            let x = builder.floats("x", [.unknown, 3])
            return [try builder.add(Reshape(), x, builder.counts(-1, 3), name: "y")]
        },

        .of(UseWideIndices(), "indices that were narrowed", from: "@B6", to: "@A6") { builder in
            let x = builder.floats("x", [4, 2])
            let indices = builder.input("indices", ValueType(.int32, [3]))
            let narrow = try builder.add(Cast(to: .int16), indices, name: "narrow")
            return [try builder.add(Gather(axis: 0), x, narrow, name: "y")]
        },
        .of(UseWideIndices(), leaves: "indices that were fractions", "@B7") { builder in
            let x = builder.floats("x", [4, 2])
            let indices = try builder.add(Cast(to: .int32), builder.floats("fractions", [3]), name: "indices")
            return [try builder.add(Gather(axis: 0), x, indices, name: "y")]
        },

        .of(UpdateHalfInPlace(), "a state of float16", from: "@B8", to: "@A8") { builder in
            let state = builder.halves("state", [3, 2])
            let new = builder.floats("new", [1, 2])
            let wide = try builder.add(Cast(to: .float32), state, name: "wide")
            let operands = [wide, new, builder.counts(1, 0), builder.counts(2, 2)]
            let updated = try builder.append(SliceUpdate(), operands, names: ["updated"])[0]
            return [try builder.add(Cast(to: .float16), updated, name: "y")]
        },
        .of(UpdateHalfInPlace(), leaves: "what is no input", "@B9") { builder in
            let computed = try builder.add(Unary(Relu()), builder.halves("x", [3, 2]), name: "computed")
            let wide = try builder.add(Cast(to: .float32), computed, name: "wide")
            let operands = [wide, builder.floats("new", [1, 2]), builder.counts(1, 0), builder.counts(2, 2)]
            return try builder.append(SliceUpdate(), operands, names: ["y"])
        },

        .of(NormalizeReshapes(), "what only regroups elements, and a chain of it", from: "@B10", to: "@A10") {
            builder in
            let x = builder.floats("x", [2, 3])
            let wide = try builder.add(ExpandDims(axes: [0]), x, name: "wide")
            return [try builder.add(Squeeze(axes: [0]), wide, name: "y")]
        },
        .of(NormalizeReshapes(), "an extent that follows from the others", from: "@B11", to: "@A11") { builder in
            let x = builder.floats("x", [2, 6])
            let first = try builder.add(Reshape(), x, builder.counts(3, 4), name: "first")
            return [try builder.add(Reshape(), first, builder.counts(-1, 2), name: "y")]
        },
        .of(NormalizeReshapes(), "a transposition that moves axes of one element", from: "@B12", to: "@A12") {
            builder in
            let x = builder.floats("x", [1, 3, 4])
            return [try builder.add(Transpose([1, 0, 2]), x, name: "y")]
        },
        .of(NormalizeReshapes(), leaves: "one reshape to numbers, and a transposition that moves elements", "@B13") {
            builder in
            let x = builder.floats("x", [2, 3])
            let turned = try builder.add(Transpose([1, 0]), x, name: "turned")
            return [try builder.add(Reshape(), turned, builder.counts(1, 3, 2), name: "y")]
        },

        .of(ComposeTransposes(), "two transpositions", from: "@B14", to: "@A14") { builder in
            let x = builder.floats("x", [2, 3, 4])
            let first = try builder.add(Transpose([2, 0, 1]), x, name: "first")
            return [try builder.add(Transpose([0, -1, 1]), first, name: "y")]
        },
        .of(ComposeTransposes(), leaves: "two with an operation between", "@B15") { builder in
            let x = builder.floats("x", [2, 3, 4])
            let first = try builder.add(Transpose([2, 0, 1]), x, name: "first")
            let middle = try builder.add(Unary(Relu()), first, name: "middle")
            return [try builder.add(Transpose([0, 2, 1]), middle, name: "y")]
        },

        .of(NormalizeTransposes(), "an axis of one element that moves with others", from: "@B16", to: "@A16") {
            builder in
            let x = builder.floats("x", [1, 2, 3])
            return [try builder.add(Transpose([2, 0, 1]), x, name: "y")]
        },
        .of(NormalizeTransposes(), "leading ones behind a transposition", from: "@B17", to: "@A17") { builder in
            let x = builder.floats("x", [2, 3])
            let turned = try builder.add(Transpose([1, 0]), x, name: "turned")
            return [try builder.add(Reshape(), turned, builder.counts(1, 1, 3, 2), name: "y")]
        },
        .of(NormalizeTransposes(), leaves: "a trailing one behind a transposition", "@B18") { builder in
            let x = builder.floats("x", [2, 3])
            let turned = try builder.add(Transpose([1, 0]), x, name: "turned")
            return [try builder.add(Reshape(), turned, builder.counts(3, 2, 1), name: "y")]
        },

        .of(RaiseReshapes(), "rows that are regrouped behind a linear", from: "@B19", to: "@A19") { builder in
            let x = builder.floats("x", [4, 2])
            let product = try builder.add(Linear(), x, builder.numbers([1, 2, 3, 4, 5, 6], [3, 2]), name: "product")
            return [try builder.add(Reshape(), product, builder.counts(2, 2, 3), name: "y")]
        },
        .of(RaiseReshapes(), leaves: "columns that are regrouped, and products that others see", "@B20") { builder in
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
