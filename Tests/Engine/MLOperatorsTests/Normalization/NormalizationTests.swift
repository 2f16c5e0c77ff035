import MLGraph
import MLNumerics
import MLOperators
import Testing

@Suite struct NormalizationTests {
    static func standard(_ values: [Double], _ epsilon: Double) -> [Double] {
        let mean = values.reduce(0, +) / Double(values.count)
        let variance = values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(values.count)
        return values.map { ($0 - mean) / (variance + epsilon).squareRoot() }
    }

    @Test func batchNorm() throws {
        let result = try OperatorTrial.program(
            BatchNorm.self,
            [
                "x": OperatorTrial.floats([1, 2, 3, 4], [1, 2, 2]), "mean": OperatorTrial.floats([1, 2]),
                "variance": OperatorTrial.floats([3, 0]), "gamma": OperatorTrial.floats([2, 1]),
                "beta": OperatorTrial.floats([0, 5]), "epsilon": OperatorTrial.float(1),
            ]
        )[0]
        expectClose(result, [0, 1, 6, 7])
    }

    @Test func instanceNorm() throws {
        let x = OperatorTrial.noise([2, 2, 3])
        let result = try OperatorTrial.program(
            InstanceNorm.self,
            ["x": x, "gamma": OperatorTrial.floats([1, 2]), "beta": OperatorTrial.floats([0, 1])]
        )[0]
        var expected: [Double] = []
        for slice in 0..<4 {
            let values = Self.standard(Array(x.values[slice * 3..<slice * 3 + 3]), 1e-5)
            expected += values.map { slice % 2 == 0 ? $0 : $0 * 2 + 1 }
        }
        expectClose(result, expected)
    }

    @Test(arguments: [[-1], [1, 2], [0, 2], [1]]) func layerNorm(axes: [Int]) throws {
        let shape = [2, 3, 4]
        let x = OperatorTrial.noise(shape)
        let inside = axes.map { $0 < 0 ? $0 + 3 : $0 }
        let extents = inside.map { shape[$0] }
        let gamma = OperatorTrial.noise(extents, seed: 2)
        let beta = OperatorTrial.noise(extents, seed: 3)
        let result = try OperatorTrial.program(
            LayerNorm.self,
            ["x": x, "axes": OperatorTrial.integers(axes), "gamma": gamma, "beta": beta]
        )[0]
        var groups: [[Int]: [(place: Int, parameter: Int)]] = [:]
        for place in 0..<24 {
            let index = [place / 12, place / 4 % 3, place % 4]
            let key = (0..<3).map { inside.contains($0) ? -1 : index[$0] }
            let parameter = inside.reduce(0) { $0 * shape[$1] + index[$1] }
            groups[key, default: []].append((place, parameter))
        }
        var expected = [Double](repeating: 0, count: 24)
        for group in groups.values {
            for (value, member) in zip(Self.standard(group.map { x.values[$0.place] }, 1e-5), group) {
                expected[member.place] = value * gamma.values[member.parameter] + beta.values[member.parameter]
            }
        }
        expectClose(result, expected)
    }

    @Test func layerNormOverEverything() throws {
        let x = OperatorTrial.noise([2, 3])
        expectClose(try OperatorTrial.program(LayerNorm.self, ["x": x])[0], Self.standard(x.values, 1e-5))
    }

    @Test func l2Norm() throws {
        let x = OperatorTrial.floats([3, 0, 4, 0, 0, 5, 0, 12], [2, 1, 2, 2])
        expectClose(
            try OperatorTrial.program(L2Norm.self, ["x": x])[0],
            [0.6, 0, 0.8, 0, 0, 5.0 / 13, 0, 12.0 / 13]
        )
    }

    @Test func localResponseNorm() throws {
        let x = OperatorTrial.floats([1, 2, 3, 4], [1, 4, 1, 1])
        let result = try OperatorTrial.program(
            LocalResponseNorm.self,
            [
                "x": x, "size": OperatorTrial.int(3), "alpha": OperatorTrial.float(3), "beta": OperatorTrial.float(1),
                "k": OperatorTrial.float(2),
            ]
        )[0]
        expectClose(result, [1.0 / 7, 2.0 / 16, 3.0 / 31, 4.0 / 27])
    }

    /// A tensor of rank 3 is one image: its channels are axis 0.
    @Test func localResponseNormOfAnImage() throws {
        let x = OperatorTrial.floats([1, -7, 5, -6, -3, -5], [1, 3, 2])
        let result = try OperatorTrial.program(LocalResponseNorm.self, ["x": x, "size": OperatorTrial.int(2)])[0]
        expectClose(result, [0.99996257, -6.98716545, 4.99531746, -5.99191284, -2.99898791, -4.99531746])
    }

    @Test func contradictionsAreErrors() {
        let x = OperatorTrial.noise([1, 2, 3])
        let two = OperatorTrial.noise([2])
        let three = OperatorTrial.noise([3])
        #expect(throws: ModelError.self) { try OperatorTrial.reference(BatchNorm(), x, two, three) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(InstanceNorm(), x, three) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(LayerNorm(axes: [3]), x) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(LayerNorm(axes: [2]), x, two) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(L2Norm(), two) }
    }
}
