package import MLNumerics

/// Repeatable random tensors: the same seed gives the same elements on every machine.
package struct RandomTensors: Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// A number in `range`, evenly distributed.
    package mutating func number(in range: ClosedRange<Double> = -1...1) -> Double {
        let unit = Double(next() >> 11) / 9_007_199_254_740_992
        return range.lowerBound + unit * (range.upperBound - range.lowerBound)
    }

    /// A tensor of numbers in `range`; integers are truncated toward zero, `bool` is false for even draws.
    package mutating func tensor(
        _ shape: [Int],
        _ scalarType: ScalarType = .float32,
        in range: ClosedRange<Double> = -1...1
    ) -> Tensor {
        var values: [Double] = []
        for _ in 0..<shape.elementCount {
            values.append(scalarType == .bool ? Double(next() & 1) : number(in: range))
        }
        return Tensor(values: values, scalarType: scalarType, shape: shape)
    }
}
