import MLGraph
import MLNumerics
import MLOperators
import Testing
import TestSupport

@Suite struct QuantizationTests {
    static func tensor(_ values: [Double], _ type: ScalarType, _ shape: [Int]? = nil) -> Tensor {
        Tensor(values: values, scalarType: type, shape: shape ?? [values.count])
    }

    @Test func affine() throws {
        let result = try OperatorTrial.program(
            ConstexprAffineDequantize.self,
            [
                "quantized_data": Self.tensor([0, 255, 10, 20], .uint8, [2, 2]),
                "zero_point": Self.tensor([0, 10], .uint8), "scale": Self.tensor([0.5, 2], .float16),
                "axis": OperatorTrial.int(0),
            ],
            opset: .iOS16
        )[0]
        #expect(result.scalarType == .float16)
        #expect(result.values == [0, 127.5, 0, 20])
    }

    @Test func packedLookup() throws {
        // Two bits an index, low bits first: 00 11 10 01, then 11.
        let result = try OperatorTrial.program(
            ConstexprPackedLutToDense.self,
            [
                "indices": Self.tensor([0b0110_1100, 0b11], .uint8), "lut": Self.tensor([-1, 0, 1, 2], .float32),
                "shape": Self.tensor([5], .uint32),
            ],
            opset: .iOS16
        )[0]
        #expect(result.values == [-1, 2, 1, 0, 2])
    }

    @Test func sixBitIndicesCrossBytes() throws {
        let indices = [1, 33, 63, 5, 17]
        var bytes = [UInt8](repeating: 0, count: 4)
        for (index, value) in indices.enumerated() {
            for bit in 0..<6 where value >> bit & 1 == 1 {
                let place = index * 6 + bit
                bytes[place / 8] |= 1 << UInt8(place % 8)
            }
        }
        let op = ConstexprPackedLutToDense(shape: [5])
        let lut = Self.tensor((0..<64).map { Double($0) / 2 }, .float32)
        let packed = Tensor(elements: bytes, scalarType: .uint8, shape: [4])
        #expect(try OperatorTrial.reference(op, packed, lut)[0].values == indices.map { Double($0) / 2 })
    }

    @Test func packedSparse() throws {
        let result = try OperatorTrial.program(
            ConstexprPackedSparseToDense.self,
            [
                "nonzero_data": Self.tensor([3, 1], .float32), "mask": Self.tensor([0b0000_1100], .uint8),
                "shape": Self.tensor([5], .uint32),
            ],
            opset: .iOS16
        )[0]
        #expect(result.values == [0, 0, 3, 1, 0])
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(
                ConstexprPackedSparseToDense(shape: [5]),
                Self.tensor([3], .float32),
                Self.tensor([0b1100], .uint8)
            )
        }
    }

    @Test func blockwise() throws {
        let result = try OperatorTrial.program(
            ConstexprBlockwiseShiftScale.self,
            [
                "data": Self.tensor([1, 2, 3, 4, -8, 7, 0, 1], .int4, [2, 4]),
                "scale": Self.tensor([1, 10, 100, 1000], .float16, [2, 2]),
                "offset": Self.tensor([0, 1, 0, 1], .int4, [2, 2]),
            ]
        )[0]
        #expect(result.scalarType == .float16)
        #expect(result.values == [1, 2, 20, 30, -800, 700, -1000, 0])
    }

    /// The vector kernels against the definition, over every integer type and blocks on every axis.
    @Test(arguments: [ScalarType.int4, .uint4, .int8, .uint8], [ScalarType.float32, .float16])
    func blocksOfEveryType(type: ScalarType, result: ScalarType) throws {
        var random = RandomTensors(seed: 21)
        let range = type.integerRange ?? 0...1
        let data = random.tensor([4, 6, 2, 3], type, in: range)
        let scale = random.tensor([2, 3, 1, 3], result, in: 0.5...2)
        let offset = random.tensor([2, 3, 1, 3], type, in: range)
        let found = try OperatorTrial.reference(ConstexprBlockwiseShiftScale(), data, scale, offset)[0]
        var expected: [Double] = []
        for (index, value) in data.values.enumerated() {
            let (a, b, d) = (index / 36, index / 6 % 6, index % 3)
            let block = (a / 2 * 3 + b / 2) * 3 + d
            expected.append(scale.values[block] * (value - offset.values[block]))
        }
        #expect(found.scalarType == result)
        expectClose(found, expected, tolerance: result == .float16 ? 1e-3 : 1e-6)
    }

    @Test func sparseBlockwise() throws {
        let mask = Self.tensor([1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0], .uint1, [4, 4])
        let results = try OperatorTrial.reference(
            ConstexprSparseBlockwiseShiftScale(),
            mask,
            Self.tensor([10, 11, 3, 4, 5, 6, 7, 8, 9], .int8),
            Self.tensor([0.1, 0.2, 0.3, 0.4], .float32, [1, 4]),
            Self.tensor([1, 2, 3, 4], .int8, [1, 4])
        )
        #expect(results[0].values == mask.values)
        expectClose(results[1], [0.9, 1.8, 0.2, 0.4, 0.6, 0.9, 1.2, 0.7, 1.4])
    }

    @Test func groupedLookup() throws {
        let result = try OperatorTrial.program(
            ConstexprLutToDense.self,
            [
                "indices": Self.tensor([2, 3, 3, 0, 1, 0, 3, 0, 2, 1, 0, 3], .uint2, [6, 2]),
                "lut": Self.tensor([1, 5, 9, 13, 2, 10, 18, 26], .float16, [2, 1, 4, 1]),
            ]
        )[0]
        #expect(result.values == [9, 13, 13, 1, 5, 1, 26, 2, 18, 10, 2, 26])
    }

    @Test func lookupOfVectors() throws {
        let indices = Self.tensor([0, 0, 1, 0, 1, 1, 0, 0], .uint1, [2, 2, 2])
        let lut = Self.tensor([1, 2, 3, 4, 5, 6], .int8, [1, 1, 1, 2, 3])
        let middle = try OperatorTrial.reference(ConstexprLutToDense(vectorAxis: 1), indices, lut)[0]
        #expect(middle.shape == [2, 6, 2])
        #expect(
            middle.values == [1, 1, 2, 2, 3, 3, 4, 1, 5, 2, 6, 3, 4, 4, 5, 5, 6, 6, 1, 1, 2, 2, 3, 3]
        )
        let last = try OperatorTrial.reference(ConstexprLutToDense(vectorAxis: -1), indices, lut)[0]
        #expect(last.values == [1, 2, 3, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3, 1, 2, 3])
    }

    @Test func sparseLookup() throws {
        let mask = Self.tensor([1, 1, 0, 0, 0, 1], .uint1, [2, 3])
        let data = Self.tensor([0, 1, 1], .uint1)
        let scalar = try OperatorTrial.reference(
            ConstexprLutToSparse(),
            mask,
            data,
            Self.tensor([2, 3], .float16, [1, 1, 2, 1])
        )
        #expect(scalar[0].values == mask.values && scalar[1].values == [2, 3, 3])
        let vector = try OperatorTrial.reference(
            ConstexprLutToSparse(vectorAxis: 0),
            mask,
            data,
            Self.tensor([2, 4, 3, 5], .float16, [1, 1, 2, 2])
        )
        #expect(vector[0].values == [1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1])
        #expect(vector[1].values == [2, 3, 4, 5, 3, 5])
        let dense = try OperatorTrial.reference(ConstexprSparseToDense(), vector[1], vector[0])[0]
        #expect(dense.values == [2, 3, 0, 4, 5, 0, 0, 0, 3, 0, 0, 5])
    }

    @Test func castKeepsValues() throws {
        let result = try OperatorTrial.program(
            ConstexprCast.self,
            ["source_val": Self.tensor([1.5, -2], .float16), "output_dtype": OperatorTrial.string("fp32")]
        )[0]
        #expect(result.scalarType == .float32 && result.values == [1.5, -2])
    }

    @Test func activations() {
        var random = RandomTensors(seed: 13)
        let x = random.tensor([2, 3, 4], in: -30...30)
        let scalar = OperatorProblem(
            "scalar",
            Quantize(to: .int8),
            [x, OperatorTrial.float(0.25), nil],
            constants: [1],
            expected: [
                Tensor(
                    values: x.values.map { min(max(($0 / 0.25).rounded(.toNearestOrEven), -128), 127) },
                    scalarType: .int8,
                    shape: x.shape
                )
            ]
        )
        #expect(scalar.failures() == [])
        let vector = OperatorProblem(
            "vector",
            Quantize(to: .uint8, axis: 1),
            [x, OperatorTrial.floats([0.5, 1, 2]), Self.tensor([100, 10, 128], .uint8)],
            constants: [1, 2]
        )
        #expect(vector.failures() == [])
        let back = OperatorProblem(
            "back",
            Dequantize(axis: -2),
            [
                Self.tensor((0..<24).map { Double($0 * 10) }, .uint8, [2, 3, 4]),
                OperatorTrial.floats([0.5, 1, 2]), Self.tensor([100, 10, 128], .uint8),
            ],
            constants: [1, 2]
        )
        #expect(back.failures() == [])
    }

    @Test func contradictionsAreErrors() {
        let data = Self.tensor([1, 2, 3, 4], .int8, [2, 2])
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(Dequantize(), data, OperatorTrial.floats([1, 2]))
        }
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(Dequantize(axis: 0), data, OperatorTrial.floats([1, 2, 3]))
        }
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(ConstexprBlockwiseShiftScale(), data, OperatorTrial.floats([1, 2, 3], [1, 3]))
        }
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(
                ConstexprPackedLutToDense(shape: [9]),
                Self.tensor([1], .uint8),
                OperatorTrial.floats([1, 2])
            )
        }
    }
}
