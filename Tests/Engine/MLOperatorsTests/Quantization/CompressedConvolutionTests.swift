import MLGraph
import MLKernels
import MLNumerics
import MLOperators
import MLRuntime
import Testing
import TestSupport

/// Convolutions whose weights stay compressed, and those whose weights are expanded once.
struct CompressedConvolutionTests {
    enum Form: CaseIterable {
        case affine, perTensor, blocks, palette4, palettesOfGroups, packedPalette

        /// Weights [96, 64, kernel…] or, transposed, [64, 96, kernel…].
        fileprivate func weight(
            _ builder: inout GraphBuilder,
            _ shape: [Int],
            isTransposed: Bool
        ) throws(ModelError) -> ValueID {
            var random = RandomTensors(seed: 4)
            func tensor(_ type: ScalarType, _ shape: [Int], _ range: ClosedRange<Double>) -> Tensor {
                let values = random.tensor(shape, in: range).values
                return Tensor(
                    values: type.isFloat ? values : values.map { $0.rounded() },
                    scalarType: type,
                    shape: shape
                )
            }
            let axis = isTransposed ? 1 : 0
            var blocks = shape.map { _ in 1 }
            switch self {
            case .affine, .perTensor:
                let channels = self == .affine ? shape[axis] : 1
                return try builder.add(
                    ConstexprAffineDequantize(axis: axis),
                    builder.constant(tensor(.uint8, shape, 0...255)),
                    builder.constant(tensor(.uint8, [channels], 100...150)),
                    builder.constant(tensor(.float16, [channels], 0.01...0.1))
                )
            case .blocks:
                blocks[axis] = shape[axis]
                blocks[1 - axis] = 2
                return try builder.add(
                    ConstexprBlockwiseShiftScale(),
                    builder.constant(tensor(.int4, shape, -8...7)),
                    builder.constant(tensor(.float16, blocks, 0.01...0.1))
                )
            case .palette4, .palettesOfGroups:
                if self == .palettesOfGroups { blocks[axis] = 3 }
                return try builder.add(
                    ConstexprLutToDense(),
                    builder.constant(tensor(.uint4, shape, 0...15)),
                    builder.constant(tensor(.float16, blocks + [16, 1], -1...1))
                )
            case .packedPalette:
                return try builder.add(
                    ConstexprPackedLutToDense(shape: shape),
                    builder.constant(tensor(.uint8, [shape.elementCount / 2], 0...255)),
                    builder.constant(tensor(.float16, [16], -1...1))
                )
            }
        }

        fileprivate var isTable: Bool { ![.affine, .perTensor, .blocks].contains(self) }
    }

    private struct Case {
        var input: [Int]
        var kernel: [Int]
        var stride = 1
        var isTransposed = false
        var groups = 1
    }

    private static let cases = [
        Case(input: [1, 64, 9, 8], kernel: [1, 1], stride: 2),
        Case(input: [2, 64, 7, 7], kernel: [3, 3]),
        Case(input: [1, 64, 5, 6], kernel: [2, 2], isTransposed: true),
    ]

    private func run(_ kernels: KernelTable, _ item: Case, _ form: Form, isExpanded: Bool) throws
        -> (values: [Double], names: [String])
    {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, Shape(item.input)))
        let channels = item.isTransposed ? [64, 96] : [96, 64 / item.groups]
        var weight = try form.weight(&builder, channels + item.kernel, isTransposed: item.isTransposed)
        if isExpanded {
            let tensor = try #require(builder.constant(weight))
            #expect(tensor.deferredResult != nil)
            weight = builder.constant(Tensor(values: tensor.values, scalarType: tensor.scalarType, shape: tensor.shape))
        }
        let ones = item.kernel.map { _ in 1 }
        let y =
            item.isTransposed
            ? try builder.add(
                ConvolutionTransposed(
                    strides: [2, 2],
                    padding: .valid,
                    dilations: ones,
                    groups: 1,
                    outputExtents: nil
                ),
                x,
                weight
            )
            : try builder.add(
                Convolution(strides: [item.stride, item.stride], padding: .same, groups: item.groups),
                x,
                weight
            )
        let graph = builder.finished(outputs: [("y", y)])
        let executable = try GraphExecutable(graph, pipeline: .none, kernels: kernels)
        var random = RandomTensors(seed: 9)
        let input = random.tensor(item.input)
        let names = try executable.program(for: [input]).plan.steps.map(\.kernelName)
        return (try executable.run([input])[0].values, names)
    }

    @Test(arguments: Form.allCases)
    func answersAreThoseOfExpandedWeights(form: Form) throws {
        for item in Self.cases {
            for kernels in KernelTable.available {
                let found = try run(kernels, item, form, isExpanded: false)
                let wanted = try run(kernels, item, form, isExpanded: true)
                let isExpanded = form.isTable && [.sse2, .neon].contains(kernels.instructionSet)
                #expect(wanted.names.allSatisfy { $0.contains("fp16") })
                #expect(
                    found.names.allSatisfy { $0.contains("fp16") } == isExpanded,
                    "\(kernels) \(form) \(found.names)"
                )
                let worst = zip(found.values, wanted.values).map { abs($0 - $1) }.max() ?? 0
                let size = wanted.values.map { abs($0) }.max() ?? 0
                // Expanded lines are rounded to the scale's type.
                #expect(worst <= (form.isTable ? 2e-6 : 1e-3) * size, "\(kernels) \(form): \(worst) of \(size)")
            }
        }
    }

    @Test func groupsAreExpanded() throws {
        let item = Case(input: [1, 64, 8, 8], kernel: [3, 3], groups: 4)
        let found = try run(.current, item, .affine, isExpanded: false)
        let wanted = try run(.current, item, .affine, isExpanded: true)
        #expect(found.names == wanted.names && found.values == wanted.values)
    }

    /// A scale for each output channel becomes part of the weights' scales.
    @Test func rowsAreScaled() throws {
        for form in [Form.affine, .perTensor, .blocks] {
            var builder = GraphBuilder()
            let id = try form.weight(&builder, [96, 64, 3, 3], isTransposed: false)
            let weight = try #require(builder.constant(id))
            let factors = (0..<96).map { 0.5 + Double($0) / 32 }
            let scaled = try #require(scaledRows(weight, by: factors))
            #expect(scaled.deferredResult != nil && scaled.scalarType == .float32 && scaled.shape == weight.shape)
            for (index, pair) in zip(scaled.values, weight.values).enumerated() where index % 37 == 0 {
                let wanted = pair.1 * factors[index / (64 * 9)]
                #expect(abs(pair.0 - wanted) <= 1e-3 * abs(wanted) + 1e-6)
            }
        }
        var builder = GraphBuilder()
        let palette = try Form.palette4.weight(&builder, [96, 64, 1, 1], isTransposed: false)
        #expect(scaledRows(try #require(builder.constant(palette)), by: [Double](repeating: 1, count: 96)) == nil)
    }
}
