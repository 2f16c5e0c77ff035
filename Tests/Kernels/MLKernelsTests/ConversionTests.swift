import MLKernels
import Testing

extension KernelTests {
    @Suite struct ConversionTests {
        @Test func everyHalfFloat() {
            let bits = (0...UInt16.max).map { $0 }
            forEachInstructionSet { set in
                var wide = [Float](repeating: 0, count: bits.count)
                Conversion.run(bits, .float16, to: &wide, .float32, count: bits.count)
                let wrong = bits.indices.filter {
                    let expected = Float(Float16(bitPattern: bits[$0]))
                    return wide[$0].bitPattern != expected.bitPattern && !(wide[$0].isNaN && expected.isNaN)
                }
                #expect(wrong.isEmpty, "\(set) \(wrong.prefix(3))")
                // Every half, the middle between it and the next, and a little to both sides.
                let factors: [Float] = [1, 1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-22, 1 + 0x1p-12]
                var x: [Float] = [65519.99, 65520, 1e-8, 2.98e-8, 2.9802322e-8, 2.99e-8, -1e-7]
                for factor in factors { x += wide.map { $0 * factor } }
                var narrow = [UInt16](repeating: 0, count: x.count)
                Conversion.run(x, .float32, to: &narrow, .float16, count: x.count)
                let differing = x.indices.filter {
                    let (a, e) = (Float16(bitPattern: narrow[$0]), Float16(x[$0]))
                    return a.bitPattern != e.bitPattern && !(a.isNaN && e.isNaN)
                }
                #expect(differing.isEmpty, "\(set) \(differing.prefix(3).map { x[$0] })")
            }
        }
    }
}
