import MLGraph
import MLKernels
import MLNumerics
import MLOperators
import MLPasses
import MLRuntime
import Testing

/// Networks with quantised weights and activations: quantised integers give the answers of the operations as they are
/// written.
struct UseIntegersTests {
    private static let full = GraphExecutable.Pipeline(
        optimize: { (graph) throws(ModelError) in try PassPipeline.optimize(graph) },
        layOut: { (graph) throws(ModelError) in try graph.withLayouts() }
    )

    /// Numbers in `range` that are the same in every run.
    private struct Numbers {
        private var generator: SplitMix64

        init(seed: UInt64) { generator = SplitMix64(seed: seed) }

        mutating func tensor(_ shape: [Int], in range: ClosedRange<Double>) -> Tensor {
            let values = (0..<shape.elementCount).map { _ in
                range.lowerBound + Double(generator.next() >> 11) / 0x1p53 * (range.upperBound - range.lowerBound)
            }
            return Tensor(values: values, scalarType: .float32, shape: shape)
        }
    }

    /// How weights are stored: with a zero point, or without.
    enum Form: CaseIterable {
        case symmetric, unsigned
    }

    private struct Writer {
        var builder = GraphBuilder()
        var random = Numbers(seed: 11)
        let form: Form

        /// Numbers of `unit`'s multiples.
        mutating func multiples(_ shape: [Int], of unit: Double, upTo bound: Double) -> Tensor {
            let values = random.tensor(shape, in: -bound...bound).values.map { ($0 / unit).rounded() * unit }
            return Tensor(values: values, scalarType: .float32, shape: shape)
        }

        mutating func weight(_ shape: [Int], scale: Double) throws(ModelError) -> ValueID {
            let isSigned = form == .symmetric
            let codes = random.tensor(shape, in: isSigned ? -127...127 : 0...255).values.map { $0.rounded() }
            let zero = (0..<shape[0]).map { isSigned ? 0 : Double(120 + $0 % 9) }
            let type: ScalarType = isSigned ? .int8 : .uint8
            return try builder.add(
                ConstexprAffineDequantize(axis: 0),
                builder.constant(Tensor(values: codes, scalarType: type, shape: shape)),
                builder.constant(Tensor(values: zero, scalarType: type, shape: [shape[0]])),
                builder.constant(
                    Tensor(
                        values: zero.indices.map { $0 % 2 == 0 ? scale : scale / 2 },
                        scalarType: .float32,
                        shape: [shape[0]]
                    )
                )
            )
        }

        mutating func pair(
            _ x: ValueID,
            scale: Double,
            zero: Double? = nil
        ) throws(ModelError) -> ValueID {
            let type: ScalarType = zero == nil ? .int8 : .uint8
            let step = builder.constant(Tensor(values: [scale], scalarType: .float32, shape: []))
            let offset = zero.map { builder.constant(Tensor(values: [$0], scalarType: type, shape: [])) }
            let q = try builder.add(Quantize(to: type), x, step, offset)
            return try builder.add(Dequantize(), q, step, offset)
        }

        /// One quantised value as the reals of several steps.
        mutating func reals(_ x: ValueID, scale: Double, steps: [Double]) throws(ModelError) -> [ValueID] {
            func number(_ value: Double) -> ValueID {
                builder.constant(Tensor(values: [value], scalarType: .float32, shape: []))
            }
            let q = try builder.add(Quantize(to: .int8), x, number(scale))
            var results: [ValueID] = []
            for step in steps { results.append(try builder.add(Dequantize(), q, number(step))) }
            return results
        }

        mutating func convolved(_ x: ValueID, _ shape: [Int], stride: Int = 1) throws(ModelError) -> ValueID {
            let bias = builder.constant(multiples([shape[0]], of: 1.0 / 64, upTo: 1))
            let layer = Convolution(strides: [stride, stride], padding: .same)
            return try builder.add(layer, x, weight(shape, scale: 1.0 / 2048), bias)
        }
    }

    /// A block of a residual network whose values are multiples of powers of two: nothing is rounded but by `quantize`.
    private static func block(_ form: Form) throws -> Graph {
        var writer = Writer(form: form)
        let x = writer.builder.input("x", ValueType(.float32, [2, 64, 9, 8]))
        let first = try writer.pair(x, scale: 1.0 / 32)
        var y = try writer.convolved(first, [64, 64, 3, 3])
        y = try writer.pair(writer.builder.add(Unary<Relu>(), y), scale: 1.0 / 16, zero: form == .symmetric ? nil : 0)
        y = try writer.pair(writer.convolved(y, [96, 64, 1, 1]), scale: 1.0 / 8)
        let beside = try writer.pair(writer.convolved(first, [96, 64, 1, 1]), scale: 1.0 / 16)
        y = try writer.builder.add(Unary<Relu>(), writer.builder.add(Binary<Add>(), y, beside))
        y = try writer.pair(y, scale: 1.0 / 8, zero: 20)
        // Fewer results than a panel has columns.
        y = try writer.convolved(y, [7, 96, 3, 3], stride: 2)
        return writer.builder.finished(outputs: [("y", y)])
    }

    @Test(arguments: Form.allCases) func residualBlocks(form: Form) throws {
        let graph = try Self.block(form)
        var random = Numbers(seed: 5)
        let x = random.tensor([2, 64, 9, 8], in: -5...5)
        let wanted = try GraphExecutable(graph, pipeline: .none).run([x])[0].values
        #expect(wanted.contains { $0 != 0 })
        for kernels in KernelTable.available {
            let executable = try GraphExecutable(graph, pipeline: Self.full, kernels: kernels)
            let plan = try executable.program(for: [x]).plan
            let names = plan.steps.map(\.kernelName)
            #expect(names.filter { $0.contains("integer convolution") }.count == 4, "\(names)")
            #expect(names.filter { $0.contains("of bytes") }.count == (form == .symmetric ? 1 : 0), "\(names)")
            #expect(!names.contains { $0.contains("reference") || $0 == "quantize" || $0 == "dequantize" }, "\(names)")
            let found = try executable.run([x])[0].values
            #expect(zip(found, wanted).allSatisfy { abs($0 - $1) <= 1e-5 }, "\(kernels)")
        }
    }

    /// Numbers that are not negative stay bytes from one layer to the next, through pooling and residuals too.
    @Test func bytesBetweenLayers() throws {
        var writer = Writer(form: .symmetric)
        let x = writer.builder.input("x", ValueType(.float32, [1, 16, 9, 8]))
        var y = try writer.convolved(writer.pair(x, scale: 1.0 / 32), [64, 16, 3, 3])
        y = try writer.pair(writer.builder.add(Unary<Relu>(), y), scale: 1.0 / 16)
        let pool = MaxPool(kernel: [3, 3], strides: [2, 2], padding: .custom(before: [1, 1], after: [1, 1]))
        let first = try writer.reals(writer.builder.add(pool, y), scale: 1.0 / 16, steps: [1.0 / 16, 1.0 / 8])
        y = try writer.builder.add(Unary<Relu>(), writer.convolved(first[0], [64, 64, 3, 3]))
        y = try writer.convolved(writer.pair(y, scale: 1.0 / 8), [64, 64, 1, 1])
        y = try writer.builder.add(Binary<Add>(), writer.reals(y, scale: 1.0 / 8, steps: [1.0 / 4])[0], first[1])
        y = try writer.pair(writer.builder.add(Unary<Relu>(), y), scale: 1.0 / 4)
        y = try writer.convolved(y, [8, 64, 3, 3])
        let graph = writer.builder.finished(outputs: [("y", y)])
        var random = Numbers(seed: 7)
        let x0 = random.tensor([1, 16, 9, 8], in: -5...5)
        let wanted = try GraphExecutable(graph, pipeline: .none).run([x0])[0].values
        #expect(wanted.contains { $0 != 0 })
        for kernels in KernelTable.available {
            let executable = try GraphExecutable(graph, pipeline: Self.full, kernels: kernels)
            let names = try executable.program(for: [x0]).plan.steps.map(\.kernelName)
            #expect(names.filter { $0.contains("integer convolution of bytes") }.count == 3, "\(names)")
            // That of the input, and that of the pool.
            #expect(names.filter { $0.contains("quantize") }.count == 2, "\(names)")
            let found = try executable.run([x0])[0].values
            #expect(zip(found, wanted).allSatisfy { abs($0 - $1) <= 1e-5 }, "\(kernels)")
        }
    }

    @Test(arguments: Form.allCases) func linearLayers(form: Form) throws {
        var writer = Writer(form: form)
        let x = writer.builder.input("x", ValueType(.float32, [3, 5, 96]))
        let first = try writer.pair(x, scale: 1.0 / 32)
        let bias = writer.builder.constant(writer.multiples([128], of: 1.0 / 64, upTo: 1))
        var y = try writer.builder.add(Linear(), first, writer.weight([128, 96], scale: 1.0 / 2048), bias)
        y = try writer.pair(writer.builder.add(Unary(Gelu(mode: .exact)), y), scale: 1.0 / 32)
        y = try writer.pair(
            writer.builder.add(Linear(), y, writer.weight([96, 128], scale: 1.0 / 2048)),
            scale: 1.0 / 16
        )
        y = try writer.builder.add(Binary<Add>(), y, first)
        let graph = writer.builder.finished(outputs: [("y", y)])
        var random = Numbers(seed: 6)
        let x0 = random.tensor([3, 5, 96], in: -4...4)
        let wanted = try GraphExecutable(graph, pipeline: .none).run([x0])[0].values
        for kernels in KernelTable.available {
            let executable = try GraphExecutable(graph, pipeline: Self.full, kernels: kernels)
            let names = try executable.program(for: [x0]).plan.steps.map(\.kernelName)
            #expect(names.filter { $0.contains("integer gemm") }.count == 2, "\(names)")
            let found = try executable.run([x0])[0].values
            // A number beside the middle between two steps goes to either.
            #expect(zip(found, wanted).allSatisfy { abs($0 - $1) <= 1.0 / 16 }, "\(kernels)")
            #expect(zip(found, wanted).filter { $0 != $1 }.count < found.count / 100, "\(kernels)")
        }
    }
}
