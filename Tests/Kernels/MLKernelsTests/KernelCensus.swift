import MLKernels
import Testing

extension KernelTests {
    /// Every kernel that an instruction set has is called by these tests, in each set of this processor.
    ///
    /// They run in a process of their own whose tables count the calls of their kernels: there nobody else calls any.
    @Suite struct KernelCensus {
        fileprivate static func runAll() throws {
            for operation in ReductionKernel.Operation.allCases {
                ReductionKernelTests().reductions(operation: operation)
                if ReductionKernel.integerOperations.contains(operation) {
                    IntegerKernelTests().reductions(operation: operation)
                }
            }
            ReductionKernelTests().positionsOfEveryLength()
            ReductionKernelTests().meanOverManyPixels()
            ReductionKernelTests().softmax()
            ReductionKernelTests().longRowNorms(rows: 1, length: 50_021, repetition: 1)
            ReductionKernelTests().rowNorms(rows: 6, length: 40, repetition: 10)
            ReductionKernelTests().instanceNorm(batch: 2, pixels: 49, channels: 33)
            ScanKernelTests().floats(isExclusive: false, isReversed: false)
            ScanKernelTests().integers(isExclusive: false, isReversed: false)
            IntegerKernelTests().positions(smallest: true)
            IntegerKernelTests().functions()
            DoubleKernelTests().products(rows: 6, columns: 9, terms: 64)
            DoubleKernelTests().exponentials()
            DoubleKernelTests().histograms(columns: 3)
            NormKernelTests().columnNorms(shape: (2, 5, 3), isScaled: true)
            NormKernelTests().neighbourNorms(shape: (2, 9, 5), window: (2, 2, 0.75))
            NormKernelTests().blends(taps: 4, count: 19)
            BinaryKernelTests().broadcasting()
            BinaryKernelTests().integersAndBytes()
            BinaryKernelTests().selection()
            BinaryKernelTests().channels()
            ConversionTests().everyHalfFloat()
            for number in ElementwiseKernelTests.functions.indices { ElementwiseKernelTests().unary(number: number) }
            for half in [false, true] {
                MatMulKernelTests().packed(half: half, layout: .termsByColumns)
                MatMulKernelTests().packed(half: half, layout: .columnsByTerms)
                ConvolutionKernelTests().matchesPlainLoops(half: half)
                ConvolutionKernelTests().planesMatchPlainLoops(half: half)
                RecurrentKernelTests().matchesPlainLoops(cell: .lstm, half: half)
                RecurrentKernelTests().matchesPlainLoops(cell: .gru(resetAfter: true), half: half)
            }
            for number in CodedWeightsTests.problems.indices {
                CodedWeightsTests().productsMatchExpandedWeights(number: number)
            }
            for number in CodedConvolutionTests.problems.indices {
                CodedConvolutionTests().matchesExpandedWeights(number: number)
            }
            for number in IntegerProductTests.problems.indices { IntegerProductTests().sumsAreExact(number: number) }
            IntegerProductTests().grids()
            for problem in ConvolutionKernelTests.filteredProblems {
                ConvolutionKernelTests().minimalFiltering(problem: problem)
            }
            MovementTests().permutation(bytes: 4)
            MovementTests().transposition()
            MovementTests().stridedViews()
            MovementTests().gathering()
            MovementTests().conversions()
            for operation in [PoolingKernel.Operation.maximum, .mean, .meanWithPadding, .l2Norm] {
                for inner in [1, 40] { PoolingKernelTests().windows(operation: operation, inner: inner) }
            }
            PoolingKernelTests().longRows(stride: 1, window: (3, 1))
            PoolingKernelTests().longLines(step: 0.4)
            for inner in [1, 20] { PoolingKernelTests().resizing(inner: inner) }
            for number in AttentionKernelTests.problems.indices {
                AttentionKernelTests().matchesPlainLoops(number: number)
            }
            forEachInstructionSet { set in #expect(InstructionSet.measuredPeak(threads: 1) > 0, "\(set)") }
        }

        @Test func everyKernelIsTriedInEverySet() async {
            await #expect(processExitsWith: .success) {
                InstructionSet.watch()
                try KernelCensus.runAll()
                for set in KernelTable.available.map(\.instructionSet) {
                    let untried = zip(InstructionSet.kernelNames, set.kernelCalls).filter { $0.1 == 0 }.map(\.0)
                    #expect(untried == [], "\(set)")
                }
            }
        }

        @Test func theTableHasItsKernels() {
            let names = InstructionSet.kernelNames
            #expect(names.count > 50 && Set(names).count == names.count)
            #expect(names.contains("scan_columns") && names.contains("tile_wide"))
        }
    }
}
