import MLGraph
import MLNumerics
import MLOperators
import MLPasses

extension PassText {
    /// Whole networks are in `UseIntegersTests`.
    static let integers: [PassText] = [
        .of(
            UseIntegers(),
            "a pair of quantize and dequantize",
            from: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<uint8, [2, 3]> q = quantize(x, 0.5, 3, scalarType = uint8, axis = none)
                    tensor<fp32, [2, 3]> y = dequantize(q, 0.5, 3, axis = none)
                } -> (y: y)
                """,
            to: """
                func main(tensor<fp32, [2, 3]> x) {
                    tensor<int16, [2, 3]> %5 = ToGrid(x, grid = QuantizationGrid(scale: 0.5, step: 0.5, low: -3, high: 252))
                    tensor<fp32, [2, 3]> y = FromGrid(%5, step = 0.5)
                } -> (y: y)
                """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let (scale, zero) = (builder.numbers([0.5], []), builder.numbers([3], [], .uint8))
            let q = try builder.add(Quantize(to: .uint8), x, scale, zero, name: "q")
            return [try builder.add(Dequantize(), q, scale, zero, name: "y")]
        },
        .of(
            UseIntegers(),
            leaves: "a pair with a scale for each index, and one that moves the zero point",
            """
            func main(tensor<fp32, [2, 3]> x) {
                tensor<int8, [2, 3]> q = quantize(x, [0.5, 1], scalarType = int8, axis = 0)
                tensor<fp32, [2, 3]> y = dequantize(q, [0.5, 1], axis = 0)
                tensor<int8, [2, 3]> r = quantize(x, 0.5, scalarType = int8, axis = none)
                tensor<fp32, [2, 3]> z = dequantize(r, 0.5, 3, axis = none)
            } -> (y: y, z: z)
            """
        ) { builder in
            let x = builder.floats("x", [2, 3])
            let (scales, scale) = (builder.numbers([0.5, 1]), builder.numbers([0.5], []))
            let q = try builder.add(Quantize(to: .int8, axis: 0), x, scales, name: "q")
            let y = try builder.add(Dequantize(axis: 0), q, scales, name: "y")
            let r = try builder.add(Quantize(to: .int8), x, scale, name: "r")
            return [y, try builder.add(Dequantize(), r, scale, builder.numbers([3], [], .int8), name: "z")]
        },
    ]
}
