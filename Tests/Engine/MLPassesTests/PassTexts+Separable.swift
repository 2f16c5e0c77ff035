import MLGraph
import MLNumerics
import MLOperators
import MLPasses

extension PassText {
    /// High images: the rows that neighbouring threads both compute are few on every machine.
    static let separable: [PassText] = [
        .of(
            FuseSeparable(),
            "a depthwise convolution and the product after it are one step",
            from: """
                func main(tensor<fp32, [1, 2, 4096, 32]> x) {
                    tensor<fp32, [1, 2, 4096, 32]> wide = conv(x, [1, 2], strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 2, activation = relu)
                    tensor<fp32, [1, 1, 4096, 32]> y = conv(wide, [3, 4], strides = [1, 1], padding = valid, \
                dilations = [1, 1], groups = 1, activation = none)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [1, 2, 4096, 32]> x) {
                    tensor<fp32, [1, 1, 4096, 32]> y = ConvolutionSeparable(x, none, none, [1, 2], none, [3, 4], none, none, \
                expansion = none, depthwise = Convolution(strides: [1, 1], padding: valid, dilations: [1, 1], groups: 2, \
                activation: relu), projection = Convolution(strides: [1, 1], padding: valid, dilations: [1, 1], groups: 1, \
                activation: none))
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [1, 2, 4096, 32])
            return [try product(of: try depthwise(x, &builder), &builder)]
        },
        .of(
            FuseSeparable(),
            leaves: "what another operation reads, too",
            """
            func main(tensor<fp32, [1, 2, 4096, 32]> x) {
                tensor<fp32, [1, 2, 4096, 32]> wide = conv(x, [1, 2], strides = [1, 1], padding = valid, \
            dilations = [1, 1], groups = 2, activation = relu)
                tensor<fp32, [1, 1, 4096, 32]> y = conv(wide, [3, 4], strides = [1, 1], padding = valid, \
            dilations = [1, 1], groups = 1, activation = none)
            } -> (wide: wide, y: y)
            """
        ) { builder in
            let x = builder.floats("x", [1, 2, 4096, 32])
            let wide = try depthwise(x, &builder)
            return [wide, try product(of: wide, &builder)]
        },
    ]

    private static func depthwise(_ x: ValueID, _ builder: inout GraphBuilder) throws -> ValueID {
        var convolution = Convolution(strides: [1, 1], groups: 2)
        convolution.activation = .relu
        return try builder.add(convolution, x, builder.numbers([1, 2], [2, 1, 1, 1]), name: "wide")
    }

    private static func product(of x: ValueID, _ builder: inout GraphBuilder) throws -> ValueID {
        try builder.add(Convolution(strides: [1, 1]), x, builder.numbers([3, 4], [1, 2, 1, 1]), name: "y")
    }
}
