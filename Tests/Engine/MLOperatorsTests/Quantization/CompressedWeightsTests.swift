import MLGraph
import MLKernels
import MLNumerics
import MLOperators
import MLRuntime
import Testing
import TestSupport

/// Constants that stay compressed: kernels read them as they are, and give what expanded ones give.
struct CompressedWeightsTests {
    /// A constant of each compressed form, [rows, columns].
    enum Form: CaseIterable {
        case affine, affineUnsigned, blocks, blocksUnsigned, palette1, palette2, palette3, palette4, palette6, palette8
        case palettesOfGroups, packedPalette

        func weight(
            _ builder: inout GraphBuilder,
            _ type: ScalarType,
            rows: Int,
            columns: Int,
            isTransposed: Bool = false
        ) throws(ModelError) -> ValueID {
            let channels = isTransposed ? columns : rows
            var random = RandomTensors(seed: 3)
            func tensor(_ type: ScalarType, _ shape: [Int], _ range: ClosedRange<Double>) -> Tensor {
                let values = random.tensor(shape, in: range).values
                return Tensor(
                    values: type.isFloat ? values : values.map { $0.rounded() },
                    scalarType: type,
                    shape: shape
                )
            }
            func scales(_ shape: [Int]) -> Tensor { tensor(type, shape, 0.01...0.1) }
            func palette(_ indexType: ScalarType, groups: Int = 1) throws(ModelError) -> ValueID {
                let entries = 1 << indexType.bitWidth
                let indices = tensor(indexType, [rows, columns], 0...Double(entries - 1))
                let tables = tensor(type, [groups, 1, entries, 1], -1...1)
                return try builder.add(ConstexprLutToDense(), builder.constant(indices), builder.constant(tables))
            }
            switch self {
            case .affine, .affineUnsigned:
                let data: ScalarType = self == .affine ? .int8 : .uint8
                let range = self == .affine ? -127.0...127 : 0...255
                return try builder.add(
                    ConstexprAffineDequantize(axis: isTransposed ? 1 : 0),
                    builder.constant(tensor(data, [rows, columns], range)),
                    builder.constant(tensor(data, [channels], self == .affine ? 0...0 : 100...150)),
                    builder.constant(scales([channels]))
                )
            case .blocks, .blocksUnsigned:
                let data: ScalarType = self == .blocks ? .int4 : .uint4
                let range = self == .blocks ? -8.0...7 : 0...15
                let blocks = isTransposed ? [rows / 32, columns] : [rows, columns / 32]
                return try builder.add(
                    ConstexprBlockwiseShiftScale(),
                    builder.constant(tensor(data, [rows, columns], range)),
                    builder.constant(scales(blocks)),
                    self == .blocks ? nil : builder.constant(tensor(data, blocks, range))
                )
            case .palette1: return try palette(.uint1)
            case .palette2: return try palette(.uint2)
            case .palette3: return try palette(.uint3)
            case .palette4: return try palette(.uint4)
            case .palette6: return try palette(.uint6)
            case .palette8: return try palette(.uint8)
            case .palettesOfGroups: return try palette(.uint4, groups: rows / 32)
            case .packedPalette:
                let bytes = tensor(.uint8, [rows * columns / 2], 0...255)
                return try builder.add(
                    ConstexprPackedLutToDense(shape: [rows, columns]),
                    builder.constant(bytes),
                    builder.constant(tensor(type, [16], -1...1))
                )
            }
        }

        /// Whether products read half floats in less time.
        func isExpanded(_ kernels: KernelTable, _ type: ScalarType, rows: Int) -> Bool {
            let set = kernels.instructionSet
            return switch self {
            case .affine, .affineUnsigned, .blocks, .blocksUnsigned: false
            case .palette6: !(type == .float16 && (set == .avx512 || set == .avx2 && rows <= 2))
            case .palette8: !(type == .float16 && kernels.looksUpBytes)
            default: set == .sse2 || set == .neon
            }
        }

        /// Whether elements are table entries, which the expanded form has exactly.
        var isTable: Bool {
            switch self {
            case .affine, .affineUnsigned, .blocks, .blocksUnsigned: false
            default: true
            }
        }
    }

    private func run(
        _ kernels: KernelTable,
        _ inputs: [Tensor],
        _ build: (inout GraphBuilder) throws(ModelError) -> ValueID
    ) throws -> (values: [Double], kernels: [String]) {
        var builder = GraphBuilder()
        let result = try build(&builder)
        let graph = builder.finished(outputs: [("y", result)])
        let executable = try GraphExecutable(graph, pipeline: .none, kernels: kernels)
        let names = try executable.program(for: inputs).plan.steps.map(\.kernelName)
        return (try executable.run(inputs)[0].values, names)
    }

    /// The same constant in memory.
    private func expanded(_ id: ValueID, _ builder: inout GraphBuilder) throws -> ValueID {
        let tensor = try #require(builder.constant(id))
        #expect(tensor.deferredResult != nil)
        return builder.constant(
            tensor.storage.withTransientBytes(from: 0, count: tensor.byteCount) { bytes in
                let copy = Tensor(uninitialized: tensor.scalarType, shape: tensor.shape)
                copy.address.copyMemory(from: bytes, byteCount: tensor.byteCount)
                return copy
            }
        )
    }

    @Test(arguments: Form.allCases, [ScalarType.float16, .float32])
    func productsMatchExpandedWeights(form: Form, type: ScalarType) throws {
        for transposed in [false, true] where !(transposed && form == .palettesOfGroups) {
            for rows in [1, 4, 30] {
                let terms = transposed ? 96 : 128
                var random = RandomTensors(seed: 8)
                let x = random.tensor([rows, terms])
                for kernels in KernelTable.available {
                    func product(
                        _ builder: inout GraphBuilder,
                        isExpanded: Bool
                    ) throws(ModelError) -> ValueID {
                        let input = builder.input("x", ValueType(.float32, [Dimension(rows), Dimension(terms)]))
                        let weight = try form.weight(
                            &builder,
                            type,
                            rows: 96,
                            columns: 128,
                            isTransposed: transposed
                        )
                        let used = isExpanded ? try? expanded(weight, &builder) : weight
                        return try builder.add(Linear(transposesWeight: transposed), input, used)
                    }
                    let found = try run(kernels, [x]) { (builder) throws(ModelError) in
                        try product(&builder, isExpanded: false)
                    }
                    let wanted = try run(kernels, [x]) { (builder) throws(ModelError) in
                        try product(&builder, isExpanded: true)
                    }
                    let isExpanded = found.kernels[0].hasSuffix("fp16") || found.kernels[0].hasSuffix("fp32")
                    #expect(
                        isExpanded == form.isExpanded(kernels, type, rows: rows),
                        "\(kernels) \(form)"
                    )
                    #expect(wanted.kernels == ["gemm \(type.milName)"])
                    if form.isTable {
                        #expect(found.values == wanted.values, "\(kernels) \(rows)")
                    } else {
                        // Expanded weights are rounded to the scale's type.
                        let bound = type == .float16 ? 1e-3 : 1e-5
                        let worst = zip(found.values, wanted.values).map { abs($0 - $1) }.max() ?? 0
                        let size = wanted.values.map { abs($0) }.max() ?? 0
                        #expect(worst <= bound * size, "\(kernels) \(rows): \(worst) of \(size)")
                    }
                }
            }
        }
    }

    @Test(arguments: Form.allCases, [ScalarType.float16, .float32])
    func rowsMatchExpandedWeights(form: Form, type: ScalarType) throws {
        let indices = Tensor([0, 95, -1, 17] as [Int32], shape: [4])
        for kernels in KernelTable.available {
            func rows(_ builder: inout GraphBuilder, isExpanded: Bool) throws(ModelError) -> ValueID {
                let input = builder.input("x", ValueType(.int32, [4]))
                let weight = try form.weight(&builder, type, rows: 96, columns: 128)
                let used = isExpanded ? try? expanded(weight, &builder) : weight
                var gather = Gather(axis: 0)
                gather.widensHalf = true
                return try builder.add(gather, used, input)
            }
            let found = try run(kernels, [indices]) { (builder) throws(ModelError) in
                try rows(&builder, isExpanded: false)
            }
            let wanted = try run(kernels, [indices]) { (builder) throws(ModelError) in
                try rows(&builder, isExpanded: true)
            }
            #expect(found.values == wanted.values, "\(kernels)")
            #expect(found.kernels != wanted.kernels && found.kernels[0].hasPrefix("gather "))
        }
    }

    /// Tables that products do not look up are decoded for some rows at a time, each with the tables of its group.
    @Test(arguments: [ScalarType.uint8, .uint6])
    func largePalettesAreDecodedInPieces(indexType: ScalarType) throws {
        let (rows, columns, groups) = (4096, 768, 64)
        let entries = 1 << indexType.bitWidth
        let indices = (0..<rows * columns).map { Double(($0 * 7 + $0 / 1000) % entries) }
        let tables = (0..<groups * entries).map { Double($0 % 251) / 128 - 1 }
        var random = RandomTensors(seed: 4)
        let x = random.tensor([1, columns])
        func product(isExpanded: Bool) throws -> (values: [Double], kernels: [String]) {
            try run(.current, [x]) { (builder) throws(ModelError) in
                let input = builder.input("x", ValueType(.float32, [1, Dimension(columns)]))
                let weight = try builder.add(
                    ConstexprLutToDense(),
                    builder.constant(Tensor(values: indices, scalarType: indexType, shape: [rows, columns])),
                    builder.constant(Tensor(values: tables, scalarType: .float16, shape: [groups, 1, entries, 1]))
                )
                return try builder.add(Linear(), input, isExpanded ? try? expanded(weight, &builder) : weight)
            }
        }
        let (found, wanted) = (try product(isExpanded: false), try product(isExpanded: true))
        #expect(found.values == wanted.values)
    }

    @Test func onlyWhatCannotFailIsDeferred() throws {
        var builder = GraphBuilder()
        let indices = Tensor(values: [Double](repeating: 5, count: 4096), scalarType: .uint8, shape: [64, 64])
        let table = Tensor(values: (0..<4).map(Double.init), scalarType: .float16, shape: [1, 1, 4, 1])
        #expect(throws: ModelError.self) {
            try builder.add(ConstexprLutToDense(), builder.constant(indices), builder.constant(table))
        }
        let scale = Tensor(values: [0.5], scalarType: .float16, shape: [])
        let zero = Tensor(values: [0], scalarType: .uint8, shape: [])
        let small = Tensor(values: [1, 2], scalarType: .uint8, shape: [2])
        for (data, isDeferred) in [(indices, true), (small, false)] {
            let id = try builder.add(
                ConstexprAffineDequantize(axis: 0),
                builder.constant(data),
                builder.constant(zero),
                builder.constant(scale)
            )
            #expect((builder.constant(id)?.deferredResult != nil) == isDeferred)
            #expect(builder.constant(id)?.values.first == (isDeferred ? 2.5 : 0.5))
        }
    }

    /// Operators that know nothing of compressed constants get their elements.
    @Test func otherOperatorsSeeElements() throws {
        let x = Tensor([Float](repeating: 1, count: 96 * 128), shape: [96, 128])
        let sums = try run(.current, [x]) { (builder) throws(ModelError) in
            let input = builder.input("x", ValueType(.float32, [96, 128]))
            let weight = try Form.blocks.weight(&builder, .float32, rows: 96, columns: 128)
            return try builder.add(Binary<Add>(), input, weight)
        }
        var builder = GraphBuilder()
        let weight = try Form.blocks.weight(&builder, .float32, rows: 96, columns: 128)
        let values = try #require(builder.constant(weight)?.values)
        #expect(zip(sums.values, values).allSatisfy { abs($0 - 1 - $1) < 1e-6 })
    }
}
