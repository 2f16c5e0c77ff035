import MLKernels
import Testing

/// A matrix of codes [columns][terms] or [terms][columns] as a file has it, and its elements.
struct CodedProblem {
    var values: CodedForm.Values
    var bits: Int
    var isSigned = true
    var hasOffsets = false
    var hasFloatOffsets = false
    var isHalf = true
    var terms: Int
    var columns: Int
    var segments = 1
    var groups = 1
    var layout = PackedWeights.Layout.columnsByTerms

    struct Contents {
        var codes: [UInt8]
        var halves: [Float16]
        var floats: [Float]
        var offsets: [Int8]
        var floatOffsets: [Float]
        /// The elements by term, then by column.
        var elements: [Float]
    }

    var form: CodedForm? {
        CodedForm(
            values,
            bits: bits,
            terms: terms,
            columns: columns,
            segment: terms / segments,
            group: columns / groups
        )
    }

    func contents(seed: UInt64) -> Contents {
        var source = NumberSource(seed: seed)
        let count = terms * columns
        let byteCount = (count * bits + 7) / 8
        let codes = (0..<byteCount).map { _ in UInt8(clamping: Int((source.next() + 1) * 128)) }
        let blocks = segments * groups
        let parameters = source.floats(values == .tables ? blocks << bits : blocks)
        let halves = parameters.map { Float16($0) }
        let floats = isHalf ? halves.map { Float($0) } : parameters
        let half = 1 << (bits - 1)
        let offsets = (0..<blocks).map { _ in Int8(clamping: Int(source.next() * Float(half - 1))) }
        let floatOffsets = offsets.map { Float($0) + 0.3125 }
        var elements: [Float] = []
        for term in 0..<terms {
            for column in 0..<columns {
                let number = layout == .columnsByTerms ? column * terms + term : term * columns + column
                var code = 0
                for bit in 0..<bits {
                    let place = number * bits + bit
                    code |= Int(codes[place / 8] >> UInt8(place % 8) & 1) << bit
                }
                let (segment, group) = (term * segments / terms, column * groups / columns)
                let block = group * segments + segment
                if values == .tables {
                    elements.append(floats[block << bits + code])
                } else {
                    if isSigned, code >= half { code -= 2 * half }
                    // Offsets of unsigned codes are given less half their range.
                    let moved = isSigned ? 0 : half
                    let whole = hasOffsets ? Float(Int(offsets[block]) + moved) : 0
                    let offset = hasFloatOffsets ? floatOffsets[block] + Float(moved) : whole
                    elements.append((Float(code) - offset) * floats[block])
                }
            }
        }
        return Contents(
            codes: codes,
            halves: halves,
            floats: floats,
            offsets: offsets,
            floatOffsets: floatOffsets,
            elements: elements
        )
    }

    /// The codes packed for the current instruction set.
    func packed(_ contents: Contents) -> CodedWeights? {
        guard let form else { return nil }
        return contents.codes.withUnsafeBytes { codes in
            contents.halves.withUnsafeBytes { halves in
                contents.floats.withUnsafeBytes { floats in
                    CodedWeights(
                        form,
                        codes: codes.baseAddress!,
                        layout: layout,
                        parameters: CodedWeights.Parameters(
                            address: isHalf ? halves.baseAddress! : floats.baseAddress!,
                            isHalf: isHalf,
                            offsets: hasOffsets ? contents.offsets : nil,
                            floatOffsets: hasFloatOffsets ? contents.floatOffsets : nil,
                            isSigned: isSigned,
                            segmentStride: 1,
                            groupStride: segments
                        )
                    )
                }
            }
        }
    }
}

extension KernelTests {
    @Suite struct CodedWeightsTests {
        static let problems: [CodedProblem] = {
            var problems: [CodedProblem] = []
            for bits in [1, 2, 3, 4, 6, 8] {
                for layout in [PackedWeights.Layout.columnsByTerms, .termsByColumns] {
                    problems.append(
                        CodedProblem(values: .tables, bits: bits, terms: 96, columns: 70, layout: layout)
                    )
                    problems.append(
                        CodedProblem(values: .tables, bits: bits, isHalf: false, terms: 77, columns: 33, layout: layout)
                    )
                }
                problems.append(
                    CodedProblem(values: .tables, bits: bits, terms: 192, columns: 192, segments: 2, groups: 3)
                )
            }
            for bits in [4, 8] {
                for (isSigned, hasOffsets) in [(true, false), (true, true), (false, false), (false, true)] {
                    for isHalf in [true, false] {
                        problems.append(
                            CodedProblem(
                                values: .lines,
                                bits: bits,
                                isSigned: isSigned,
                                hasOffsets: hasOffsets,
                                isHalf: isHalf,
                                terms: 103,
                                columns: 50,
                                groups: isHalf ? 50 : 1
                            )
                        )
                        problems.append(
                            CodedProblem(
                                values: .lines,
                                bits: bits,
                                isSigned: isSigned,
                                hasOffsets: hasOffsets,
                                isHalf: isHalf,
                                terms: 320,
                                columns: 48,
                                segments: 10,
                                groups: isHalf ? 48 : 12
                            )
                        )
                    }
                }
            }
            for (bits, isSigned) in [(4, false), (8, true), (8, false)] {
                problems.append(
                    CodedProblem(
                        values: .lines,
                        bits: bits,
                        isSigned: isSigned,
                        hasFloatOffsets: true,
                        isHalf: bits == 4,
                        terms: 96,
                        columns: 50,
                        segments: bits == 4 ? 3 : 1,
                        groups: 50
                    )
                )
            }
            return problems
        }()

        /// Products with expanded weights, which the plain product computes: the same sums in the same order where
        /// tables are streamed whole chunks at a time and where blocks are expanded; elsewhere rounded in other places.
        @Test(arguments: CodedWeightsTests.problems.indices)
        func productsMatchExpandedWeights(number: Int) {
            let problem = Self.problems[number]
            let contents = problem.contents(seed: UInt64(number + 1))
            for rows in [1, 2, 3, 4, 5, 17] {
                var source = NumberSource(seed: 5)
                let a = source.floats(rows * problem.terms)
                forEachInstructionSet { set in
                    guard let weights = problem.packed(contents) else {
                        Issue.record("\(set) has no form for \(problem)")
                        return
                    }
                    let plain = PackedWeights(
                        contents.elements,
                        terms: problem.terms,
                        columns: problem.columns,
                        layout: .termsByColumns
                    )
                    var c = [Float](repeating: 99, count: rows * problem.columns)
                    var expected = c
                    MatMulKernel.multiply(a, rows: rows, by: weights, into: &c)
                    MatMulKernel.multiply(a, rows: rows, by: plain, into: &expected)
                    if rows > 4 || problem.values == .tables && problem.terms % 32 == 0 {
                        #expect(c == expected, "\(set) \(rows) \(problem)")
                    }
                    // Relative to the sum of the terms' magnitudes.
                    for index in c.indices {
                        var (sum, magnitude) = (0.0, 1e-30)
                        for term in 0..<problem.terms {
                            let product =
                                Double(a[index / problem.columns * problem.terms + term])
                                * Double(contents.elements[term * problem.columns + index % problem.columns])
                            sum += product
                            magnitude += abs(product)
                        }
                        #expect(abs(Double(c[index]) - sum) <= 2e-6 * magnitude, "\(set) \(rows) \(problem)")
                    }
                }
            }
        }

        /// An infinite activation gives infinite sums, as with expanded weights, and none where the weight is 0.
        @Test func infiniteActivations() {
            for problem in Self.problems
            where problem.values == .lines && !problem.hasOffsets && !problem.hasFloatOffsets && problem.isSigned {
                let contents = problem.contents(seed: 11)
                var source = NumberSource(seed: 12)
                for rows in [1, 3] {
                    var a = source.floats(rows * problem.terms)
                    a[problem.terms / 2] = -.infinity
                    forEachInstructionSet { set in
                        var c = [Float](repeating: 99, count: rows * problem.columns)
                        MatMulKernel.multiply(a, rows: rows, by: problem.packed(contents)!, into: &c)
                        for column in 0..<problem.columns {
                            let element = contents.elements[problem.terms / 2 * problem.columns + column]
                            let expected = -Float.infinity * element
                            #expect(expected.isNaN ? c[column].isNaN : c[column] == expected, "\(set) \(problem)")
                        }
                        let isOtherRowFinite = c[problem.columns...].allSatisfy(\.isFinite)
                        #expect(isOtherRowFinite)
                    }
                }
            }
        }

        @Test func epilogue() {
            let problem = CodedProblem(values: .lines, bits: 8, terms: 64, columns: 45, groups: 45)
            let contents = problem.contents(seed: 9)
            var source = NumberSource(seed: 10)
            for rows in [1, 6] {
                let a = source.floats(rows * problem.terms)
                let bias = source.floats(problem.columns)
                let residual = source.floats(rows * problem.columns)
                forEachInstructionSet { set in
                    let plain = PackedWeights(
                        contents.elements,
                        terms: problem.terms,
                        columns: problem.columns,
                        layout: .termsByColumns
                    )
                    var c = [Float](repeating: 99, count: rows * problem.columns)
                    var expected = c
                    let epilogue = Epilogue(bias: pointer(bias), residual: pointer(residual), function: .relu)
                    MatMulKernel.multiply(a, rows: rows, by: problem.packed(contents)!, into: &c, epilogue: epilogue)
                    MatMulKernel.multiply(a, rows: rows, by: plain, into: &expected, epilogue: epilogue)
                    #expect(worstError(c, expected.map(Double.init)) < 1e-5, "\(set)")
                }
            }
        }

        /// Never larger than the source, but for columns that fill the last panel and offsets of whole bytes.
        @Test func sizes() {
            forEachInstructionSet { set in
                for bits in [1, 2, 3, 4, 6, 8] {
                    let problem = CodedProblem(values: .tables, bits: bits, terms: 256, columns: 256)
                    let weights = problem.packed(problem.contents(seed: 1))
                    let tables = max(16, 1 << bits) * 2
                    #expect(weights?.memory.byteCount == 256 * 256 * bits / 8 + tables, "\(set)")
                }
                let blocks = CodedProblem(values: .lines, bits: 4, terms: 256, columns: 256, segments: 8, groups: 256)
                let weights = blocks.packed(blocks.contents(seed: 2))
                #expect(weights?.memory.byteCount == 256 * 256 / 2 + 256 * 8 * 2, "\(set)")
            }
        }

        @Test func storedWeights() {
            forEachInstructionSet { set in
                for problem in Self.problems {
                    let contents = problem.contents(seed: 3)
                    guard let form = problem.form, let weights = problem.packed(contents) else { continue }
                    let again = CodedWeights(stored: weights.memory, form)
                    var source = NumberSource(seed: 4)
                    let a = source.floats(problem.terms)
                    var c = [Float](repeating: 0, count: problem.columns)
                    var expected = c
                    MatMulKernel.multiply(a, rows: 1, by: weights, into: &expected)
                    if let again { MatMulKernel.multiply(a, rows: 1, by: again, into: &c) }
                    #expect(c == expected, "\(set) \(problem)")
                }
                let form = CodedForm(.lines, bits: 8, terms: 8, columns: 8, segment: 8, group: 1)!
                #expect(CodedWeights(stored: AlignedMemory(byteCount: 7), form) == nil)
            }
        }

        @Test func unreadForms() {
            // Segments that split a chunk, bits without kernel, groups that split a panel.
            #expect(CodedForm(.lines, bits: 4, terms: 60, columns: 8, segment: 12, group: 1) == nil)
            #expect(CodedForm(.lines, bits: 2, terms: 64, columns: 8, segment: 64, group: 1) == nil)
            #expect(CodedForm(.tables, bits: 5, terms: 64, columns: 64, segment: 64, group: 64) == nil)
            #expect(CodedForm(.tables, bits: 4, terms: 64, columns: 66, segment: 64, group: 3) == nil)
            #expect(CodedForm(.tables, bits: 4, terms: 64, columns: 64, segment: 0, group: 64) == nil)
        }

        /// Rows of every form, those of lines rounded to the scale's type.
        @Test(arguments: CodedWeightsTests.problems.indices)
        func rowsAreLookedUp(number: Int) {
            var problem = Self.problems[number]
            problem.layout = .columnsByTerms
            let contents = problem.contents(seed: UInt64(number + 50))
            let (rows, width) = (problem.columns, problem.terms)
            let half = 1 << (problem.bits - 1)
            let matrix = CodedRows(
                problem.values,
                bits: problem.bits,
                isSigned: problem.isSigned,
                isHalf: problem.isHalf,
                rows: rows,
                columns: width,
                rowBlocks: problem.groups,
                columnBlocks: problem.segments,
                offsets: problem.hasOffsets
                    ? contents.offsets.map { Int16($0) + Int16(problem.isSigned ? 0 : half) } : [],
                floatOffsets: problem.hasFloatOffsets
                    ? contents.floatOffsets.map { $0 + Float(problem.isSigned ? 0 : half) } : []
            )
            let indices: [Int32] = [0, Int32(rows - 1), 7, -1, 7, Int32(-rows), 1000, -1000]
            let places = [0, rows - 1, 7, rows - 1, 7, 0, rows - 1, 0]
            let expected = places.flatMap { row in
                (0..<width).map { column -> Float in
                    let element = contents.elements[column * rows + row]
                    return problem.isHalf ? Float(Float16(element)) : element
                }
            }
            forEachInstructionSet { set in
                var y = [Float](repeating: 99, count: expected.count)
                contents.codes.withUnsafeBytes { codes in
                    contents.halves.withUnsafeBytes { halves in
                        contents.floats.withUnsafeBytes { floats in
                            let source = CodedRows.Source(
                                codes: codes.baseAddress!,
                                parameters: problem.isHalf ? halves.baseAddress! : floats.baseAddress!
                            )
                            matrix.gather(source, indices: indices, count: indices.count, into: &y)
                        }
                    }
                }
                #expect(y == expected, "\(set) \(problem)")
            }
        }
    }
}
