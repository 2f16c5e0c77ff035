import MLFiles
import MLInspection
import MLSpecification
import SwiftProtobuf
import Testing

/// Floating-point operations, counted by hand.
struct CostTests {
    private typealias M = InspectedModels

    private func cost(
        _ body: String,
        _ inputs: [(name: String, shape: [Int])],
        opset: String = "ios18"
    ) throws -> ComputeCost {
        try ComputeCost(of: M.program(body, inputs: inputs, opset: opset))
    }

    @Test func aConvolutionCountsItsWindowForEachResult() throws {
        let body =
            M.constant("w", [4, 3, 3, 3]) + M.constant("b", [4])
            + "tensor<fp32, [1, 4, 6, 6]> c = conv(x = x, weight = w, bias = b); "
            + "tensor<fp32, [1, 4, 6, 6]> y = relu(x = c);"
        let cost = try cost(body, [("x", [1, 3, 8, 8])])
        #expect(cost.multiplyAdds == 144 * 27)
        // The bias and the ReLU: one each for 144 results.
        #expect(cost.operations == 2 * 144 * 27 + 144 + 144)
        #expect(cost.rows.map(\.kind) == ["conv", "relu"])
        // The input and what the convolution makes of it.
        #expect(cost.activationBytes == (192 + 144) * 4)
        #expect(cost.uncounted == 0 && cost.assumedShapes.isEmpty)
    }

    @Test func groupsAndTransposedConvolutionsCountLess() throws {
        let grouped = try cost(
            M.constant("w", [4, 1, 3, 3]) + "int32 g = const()[val = int32(4)]; "
                + "tensor<fp32, [1, 4, 6, 6]> y = conv(x = x, weight = w, groups = g);",
            [("x", [1, 4, 8, 8])]
        )
        #expect(grouped.multiplyAdds == 144 * 9)
        let transposed = try cost(
            M.constant("w", [3, 2, 2, 2])
                + "tensor<int32, [2]> s = const()[val = tensor<int32, [2]>([2, 2])]; "
                + "tensor<fp32, [1, 2, 8, 8]> y = conv_transpose(x = x, weight = w, strides = s);",
            [("x", [1, 3, 4, 4])]
        )
        // Each of 48 elements is spread over 2 channels of 2 × 2.
        #expect(transposed.multiplyAdds == 48 * 8)
    }

    @Test func productsOfMatricesCountTheirDepth() throws {
        let linear = try cost(
            M.constant("w", [5, 7]) + "tensor<fp32, [3, 5]> y = linear(x = x, weight = w);",
            [("x", [3, 7])]
        )
        #expect(linear.multiplyAdds == 3 * 5 * 7)
        let stack = try cost(
            "bool t = const()[val = bool(true)]; "
                + "tensor<fp32, [2, 3, 4]> y = matmul(x = x, y = z, transpose_x = t);",
            [("x", [2, 6, 3]), ("z", [2, 6, 4])]
        )
        #expect(stack.multiplyAdds == 2 * 3 * 4 * 6)
        let sum = try cost(
            "string e = const()[val = string(\"nchw,nwhu->nchu\")]; "
                + "tensor<fp32, [1, 2, 3, 5]> y = einsum(equation = e, values = (x, z));",
            [("x", [1, 2, 3, 4]), ("z", [1, 4, 3, 5])]
        )
        #expect(sum.multiplyAdds == 2 * 3 * 4 * 5)
    }

    @Test func attentionCountsScoresAndSums() throws {
        let attention = try cost(
            "tensor<fp32, [1, 2, 3, 6]> y = scaled_dot_product_attention(query = q, key = k, value = v);",
            [("q", [1, 2, 3, 4]), ("k", [1, 2, 5, 4]), ("v", [1, 2, 5, 6])]
        )
        #expect(attention.multiplyAdds == 2 * (3 * 5 * 4 + 3 * 5 * 6))
    }

    @Test func recurrentLayersCountEveryStepAndGate() throws {
        let body =
            M.constant("wi", [12, 2]) + M.constant("wh", [12, 3])
            + "tensor<fp32, [1, 1, 3]> y, tensor<fp32, [1, 3]> h1, tensor<fp32, [1, 3]> c1 = "
            + "lstm(x = x, initial_h = h, initial_c = c, weight_ih = wi, weight_hh = wh);"
        let cost = try cost(body, [("x", [5, 1, 2]), ("h", [1, 3]), ("c", [1, 3])])
        #expect(cost.multiplyAdds == 5 * (12 * 2 + 12 * 3))
    }

    @Test func poolsReductionsAndMovesFollowTheConvention() throws {
        let pool = try cost(
            "tensor<int32, [2]> k = const()[val = tensor<int32, [2]>([2, 2])]; "
                + "tensor<int32, [2]> s = const()[val = tensor<int32, [2]>([2, 2])]; "
                + "string p = const()[val = string(\"valid\")]; "
                + "tensor<fp32, [1, 1, 2, 2]> y = max_pool(x = x, kernel_sizes = k, strides = s, pad_type = p);",
            [("x", [1, 1, 4, 4])]
        )
        #expect(pool.multiplyAdds == 0 && pool.operations == 16)
        let sum = try cost(
            "tensor<int32, [1]> a = const()[val = tensor<int32, [1]>([1])]; "
                + "bool k = const()[val = bool(false)]; "
                + "tensor<fp32, [3]> y = reduce_sum(x = x, axes = a, keep_dims = k);",
            [("x", [3, 10])]
        )
        #expect(sum.operations == 30)
        let move = try cost(
            "tensor<int32, [2]> p = const()[val = tensor<int32, [2]>([1, 0])]; "
                + "tensor<fp32, [10, 3]> y = transpose(x = x, perm = p);",
            [("x", [3, 10])]
        )
        #expect(move.operations == 0 && move.rows.isEmpty)
    }

    @Test func flexibleInputsAreCountedForTheShapeThatTheModelStates() throws {
        var model = InspectedModels.network()
        var program = try M.program(
            "tensor<fp32, [?, 3]> y = sin(x = x);",
            inputs: [("x", [2, 3])]
        ).specification
        program.description_p.input[0].type.multiArrayType.shapeRange.sizeRanges = [
            .with {
                $0.lowerBound = 1
                $0.upperBound = -1
            },
            .with {
                $0.lowerBound = 3
                $0.upperBound = 3
            },
        ]
        program.mlProgram.functions["main"]?.inputs[0].type.tensorType.dimensions[0].unknown = .init()
        let cost = try ComputeCost(of: ModelFile(specification: program))
        #expect(cost.assumedShapes == ["x": [2, 3]] && cost.operations == 6)
        // A network of fixed shape assumes nothing.
        model.specificationVersion = 4
        let fixed = try ComputeCost(of: ModelFile(specification: model))
        #expect(fixed.assumedShapes.isEmpty && fixed.multiplyAdds == 4 * 3 + 3 * 2)
    }
}
