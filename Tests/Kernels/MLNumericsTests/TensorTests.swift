import MLNumerics
import Testing

@Suite struct TensorTests {
    @Test(arguments: ScalarType.allCases.filter { $0 != .string })
    func valuesSurviveARoundTrip(type: ScalarType) {
        let values: [Double] = type == .bool || type == .uint1 ? [0, 1, 1, 0, 1, 0] : [0, 1, 3, 2, 1, 3]
        let tensor = Tensor(values: values, scalarType: type, shape: [2, 3])
        #expect(tensor.values == values)
    }

    @Test func narrowingClampsAndTruncates() {
        let tensor = Tensor(values: [300, -300, 1.9, -1.9, .nan], scalarType: .int8, shape: [5])
        #expect(tensor.values == [127, -128, 1, -1, 0])
    }

    @Test func writingCopiesSharedStorage() {
        let original = Tensor([1, 2, 3] as [Float], shape: [3])
        var copy = original
        copy.withMutableElements(of: Float.self) { $0[0] = 9 }
        #expect(original.values == [1, 2, 3])
        #expect(copy.values == [9, 2, 3])
    }

    @Test func unknownDimensionsStayUnknown() {
        let shape: Shape = [2, .unknown, 3]
        #expect(shape.counts == nil)
        #expect(shape.elementCount == .unknown)
        #expect((Dimension.unknown + 1) == .unknown)
        #expect([Dimension](repeating: 0, count: 1).elementCount == 0)
    }
}
