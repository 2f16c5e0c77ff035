import CoreML
import MLKernels
import MLSpecification
import Testing

/// Products of half-precision weights, exact unless a configuration allows low precision.
struct PrecisionTests {
    /// y = W x with the rows 1 and 1 + 2⁻⁸, of which bfloat16 keeps 1; x is 1.
    private func answer(low: Bool, type: String) throws -> [Double] {
        let configuration = MLModelConfiguration()
        configuration.allowLowPrecisionAccumulationOnGPU = low
        let model = try programModel(
            """
            func main<ios17>(tensor<fp32, [1, 1]> x) {
                tensor<\(type), [2, 1]> w = const()[val = tensor<\(type), [2, 1]>([[1], [1.00390625]])];
                string kind = const()[val = string("\(type)")];
                tensor<\(type), [1, 1]> t = cast(x = x, dtype = kind);
                tensor<\(type), [1, 2]> product = linear(x = t, weight = w);
                string single = const()[val = string("fp32")];
                tensor<fp32, [1, 2]> y = cast(x = product, dtype = single);
            } -> (y);
            """,
            inputs: [("x", .float32, [1, 1])],
            outputs: [("y", .float32, [1, 2])],
            configuration: configuration
        )
        return try model.answer(["x": MLMultiArray(MLShapedArray<Float>(scalars: [1], shape: [1, 1]))])
    }

    @Test func exactByDefault() throws {
        #expect(try answer(low: false, type: "fp16") == [1, 1.00390625])
    }

    @Test func lowByChoice() throws {
        let hasTiles = KernelTable.standard.lowPrecision != nil
        #expect(try answer(low: true, type: "fp16") == [1, hasTiles ? 1 : 1.00390625])
    }

    @Test func singlePrecisionStaysExact() throws {
        #expect(try answer(low: true, type: "fp32") == [1, 1.00390625])
    }
}
