import MLGraph
import MLNumerics
import MLOperators
import Testing

/// The steps that only passes create. Whole networks: `UseIntegersTests`.
struct IntegerProductTests {
    /// Every step that a rewrite makes is evaluated plainly, too.
    @Test func plainEvaluation() throws {
        let grid = try #require(QuantizationGrid(scale: 0.5, step: 0.25, low: -4, high: 3))
        let x = QuantizationTests.tensor([-9, -0.75, -0.25, 0.25, 0.75, 1.3, 9], .float32)
        let whole = try OperatorTrial.reference(ToGrid(grid), x)[0]
        #expect(whole.values == [-4, -2, 0, 0, 2, 3, 3])
        #expect(try OperatorTrial.reference(FromGrid(step: 0.25), whole)[0].values == whole.values.map { $0 / 4 })
        #expect(try OperatorTrial.reference(OntoGrid(grid), x)[0].values == whole.values.map { $0 / 4 })
        #expect(QuantizationGrid(scale: 0, step: 0, low: -128, high: 127) == nil)
        #expect(QuantizationGrid(scale: 1e-46, step: 1, low: -128, high: 127) == nil)
        #expect(QuantizationGrid(scale: 1, step: 1, low: 0, high: 40_000) == nil)
        let bytes = try #require(grid.nonNegative)
        #expect((bytes.low, bytes.high, bytes.scalarType, grid.scalarType) == (0, 3, .uint8, .int16))
        #expect(try OperatorTrial.reference(ToGrid(bytes), x)[0].values == [0, 0, 0, 0, 2, 3, 3])
        #expect(bytes.nonNegative == nil)
        #expect(IntegerProduct.takesBytes(terms: 64, weights: -128...127))
        #expect(!IntegerProduct.takesBytes(terms: 64, weights: -128...128))
        #expect(!IntegerProduct.takesBytes(terms: 36, weights: -128...127))
        var product = IntegerProduct(.linear(Linear()), reach: 10, residualStep: 0.5, activation: .relu)
        product.rounded = QuantizationGrid(scale: 2, step: 2, low: -10, high: 10)
        let operands: [Tensor?] = [
            QuantizationTests.tensor([1, -2, 3, 4], .int16, [2, 2]),
            QuantizationTests.tensor([5, 6, 7, 8], .uint8, [2, 2]),
            QuantizationTests.tensor([1, 0.5], .float32), QuantizationTests.tensor([4, 8], .int16),
            QuantizationTests.tensor([0.5, 1], .float32), QuantizationTests.tensor([1, 2, 3, -9], .int16, [2, 2]),
        ]
        // Sums -3, -1 and 11, -3; scaled, with their bias, -2.5, 0.5 and 11.5, -0.5; on even numbers -2, 0 and 12, 0.
        #expect(try OperatorTrial.reference(product, operands)[0].values == [0, 1, 13.5, 0])
        #expect(IntegerProduct.isExact(terms: 64, taps: 9, reach: 128, weights: -128...127))
        #expect(!IntegerProduct.isExact(terms: 63, taps: 1, reach: 128, weights: -128...127))
        #expect(!IntegerProduct.isExact(terms: 40_000, taps: 1, reach: 255, weights: 0...255))
    }
}
