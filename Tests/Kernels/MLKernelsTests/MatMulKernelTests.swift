import MLKernels
import Testing

extension KernelTests {
    @Suite struct MatMulKernelTests {
        static let sizes = [
            (1, 1, 1), (1, 7, 33), (2, 64, 32), (3, 1, 65), (4, 130, 31), (5, 17, 16), (6, 400, 8), (13, 9, 48),
            (14, 32, 32), (15, 33, 1), (29, 385, 70), (64, 64, 100), (3, 0, 5), (0, 3, 5), (100, 800, 40),
        ]

        @Test(arguments: [false, true], [PackedWeights.Layout.termsByColumns, .columnsByTerms])
        func packed(half: Bool, layout: PackedWeights.Layout) {
            for (rows, terms, columns) in Self.sizes {
                var source = NumberSource(seed: UInt64(rows * 31 + terms * 7 + columns))
                let a = source.floats(rows * (terms + 3) + 1)
                let b = source.floats(terms * columns + 1)
                let bHalf = b.map { Float16($0) }
                let bias = source.floats(columns)
                let residual = source.floats(rows * columns)
                let slope = source.floats(columns)
                for function in [UnaryFunction.identity, .relu, .clip(low: -0.5, high: 0.25), .prelu, .gelu] {
                    let expected = (0..<rows * columns).map { index -> Double in
                        let (i, j) = (index / columns, index % columns)
                        var sum = Double(bias[j]) + Double(residual[index])
                        for k in 0..<terms {
                            let at = layout == .termsByColumns ? k * columns + j : j * terms + k
                            sum += Double(a[i * (terms + 3) + k]) * (half ? Double(bHalf[at]) : Double(b[at]))
                        }
                        return function == .prelu ? (sum < 0 ? sum * Double(slope[j]) : sum) : reference(function, sum)
                    }
                    forEachInstructionSet { set in
                        let weights =
                            half
                            ? bHalf.withUnsafeBytes { bytes in
                                PackedWeights(
                                    half: bytes.baseAddress!.assumingMemoryBound(to: UInt16.self),
                                    terms: terms,
                                    columns: columns,
                                    layout: layout
                                )
                            } : PackedWeights(b, terms: terms, columns: columns, layout: layout)
                        var c = [Float](repeating: 99, count: rows * (columns + 5) + 1)
                        MatMulKernel.multiply(
                            a,
                            rows: rows,
                            by: weights,
                            into: &c,
                            aStride: terms + 3,
                            cStride: columns + 5,
                            epilogue: Epilogue(
                                bias: pointer(bias),
                                residual: pointer(residual),
                                residualStride: columns,
                                function: function,
                                slope: pointer(slope)
                            )
                        )
                        var result: [Float] = []
                        var border: [Float] = []
                        for (index, value) in c.enumerated() {
                            if index % (columns + 5) < columns && index < rows * (columns + 5) {
                                result.append(value)
                            } else {
                                border.append(value)
                            }
                        }
                        let error = worstError(result, expected)
                        #expect(error < 3e-5, "\(set) \(rows)×\(terms)×\(columns) \(function)")
                        #expect(border.allSatisfy { $0 == 99 }, "\(set) wrote beyond a row")
                    }
                }
            }
        }

        @Test func residualInPlace() {
            for (rows, terms, columns) in [(3, 20, 40), (40, 700, 70)] {
                var source = NumberSource(seed: 21)
                let (a, b) = (source.floats(rows * terms), source.floats(terms * columns))
                let residual = source.floats(rows * columns)
                let expected = residual.indices.map { index in
                    (0..<terms).reduce(Double(residual[index])) {
                        $0 + Double(a[index / columns * terms + $1]) * Double(b[$1 * columns + index % columns])
                    }
                }
                forEachInstructionSet { set in
                    let weights = PackedWeights(b, terms: terms, columns: columns, layout: .termsByColumns)
                    var c = residual
                    c.withUnsafeMutableBufferPointer { c in
                        MatMulKernel.multiply(
                            a,
                            rows: rows,
                            by: weights,
                            into: c.baseAddress!,
                            epilogue: Epilogue(residual: UnsafePointer(c.baseAddress!))
                        )
                    }
                    #expect(worstError(c, expected) < 3e-5, "\(set)")
                }
            }
        }

        @Test(arguments: [false, true])
        func runtimeOperands(transposed: Bool) {
            for (rows, terms, columns) in Self.sizes {
                var source = NumberSource(seed: UInt64(rows + terms * 3 + columns * 5))
                let batch = 3
                let a = source.floats(batch * rows * terms + 1)
                let b = source.floats(2 * terms * columns + 1)
                let bOffsets = [0, 0, terms * columns]
                let expected = (0..<batch * rows * columns).map { index -> Double in
                    let (item, i, j) = (index / (rows * columns), index / columns % rows, index % columns)
                    return (0..<terms).reduce(0) { sum, k in
                        let at = bOffsets[item] + (transposed ? j * terms + k : k * columns + j)
                        return sum + Double(a[(item * rows + i) * terms + k]) * Double(b[at])
                    }
                }
                forEachInstructionSet { set in
                    var c = [Float](repeating: 99, count: batch * rows * columns + 1)
                    MatMulKernel.multiply(
                        a,
                        MatMulKernel.RightHandSide(
                            address: pointer(b),
                            termStride: transposed ? 1 : columns,
                            columnStride: transposed ? terms : 1
                        ),
                        into: &c,
                        rows: rows,
                        terms: terms,
                        columns: columns,
                        aOffsets: (0..<batch).map { $0 * rows * terms },
                        bOffsets: bOffsets,
                        cOffsets: (0..<batch).map { $0 * rows * columns }
                    )
                    #expect(worstError(c, expected) < 3e-5, "\(set) \(rows)×\(terms)×\(columns)")
                    #expect(c.last == 99)
                }
            }
        }

        /// The order of sums does not follow from how rows are shared out.
        @Test func anyNumberOfWorkersGivesTheSame() {
            defer { Workers.limit(to: 0) }
            for (rows, terms, columns) in [(5, 300, 40), (18, 64, 10), (29, 300, 3), (36, 1500, 40), (100, 700, 130)] {
                var source = NumberSource(seed: UInt64(rows))
                let a = source.floats(rows * terms)
                let b = source.floats(terms * columns)
                let bias = source.floats(columns)
                var results: [[Float]] = []
                for workers in [1, 2, 3, 5, 8, 16] {
                    Workers.limit(to: workers)
                    var c = [Float](repeating: 0, count: rows * columns)
                    MatMulKernel.multiply(
                        a,
                        MatMulKernel.RightHandSide(address: pointer(b), termStride: columns, columnStride: 1),
                        into: &c,
                        rows: rows,
                        terms: terms,
                        columns: columns,
                        epilogue: Epilogue(bias: pointer(bias))
                    )
                    results.append(c)
                }
                #expect(results.allSatisfy { $0 == results[0] }, "\(rows)×\(terms)×\(columns)")
            }
        }
    }
}
