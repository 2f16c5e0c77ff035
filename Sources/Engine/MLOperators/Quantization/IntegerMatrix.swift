import MLKernels
package import MLNumerics

/// Constant weights [rows, columns, kernel…] that are 8-bit integers in the file, with a scale and a zero point for
/// each result.
package struct IntegerMatrix: Sendable {
    /// The integers, int8 or uint8, of the weights' shape.
    package let codes: Tensor
    /// One for each result, or one for all of them.
    package let scales: [Double]
    /// The same; empty where all are 0.
    package let zeros: [Int]

    /// `nil` for constants that are stored in another way.
    ///
    /// - Parameters:
    ///   - constant: The weights.
    ///   - resultAxis: The axis of the weights that numbers the results: 0 or 1.
    package init?(_ constant: Tensor, resultAxis: Int) {
        guard let matrix = CompressedMatrix(constant), matrix.values == .lines, matrix.bits == 8,
            matrix.codes.count == constant.count,
            resultAxis == 0 ? matrix.columnBlocks == 1 : matrix.rowBlocks == 1,
            matrix.blockFloatOffsets.isEmpty
        else { return nil }
        let count = constant.shape[resultAxis]
        let (scales, zeros) = (matrix.parameters.values, matrix.blockOffsets)
        guard [1, count].contains(scales.count), [0, 1, count].contains(zeros.count),
            scales.allSatisfy({ Float($0).isFinite })
        else { return nil }
        codes = matrix.codes.reshaped(constant.shape)
        self.scales = scales
        self.zeros = zeros
    }

    /// The least and the greatest value that an integer less its zero point can have.
    package var range: ClosedRange<Int> { Self.range(of: codes.scalarType, zeros: zeros) }

    /// The same for integers of a type, int8 or uint8, with these zero points.
    static func range(of type: ScalarType, zeros: [Int]) -> ClosedRange<Int> {
        let range = type == .int8 ? (-128, 127) : (0, 255)
        return range.0 - (zeros.max() ?? 0)...range.1 - (zeros.min() ?? 0)
    }
}

/// Packs integer weights, shared between plans; `nil` when their elements are absent and they were not packed before.
func packedIntegers(_ codes: Tensor, zero: [Int16], shape: IntegerWeights.Shape) -> IntegerWeights? {
    let order = "\(shape.terms) \(shape.columns) \(shape.taps) \(shape.isTermsFirst)"
    return PackedConstants.packed(codes, form: "\(shape.form) \(order) \(zero) \(KernelTable.current)") { memory in
        IntegerWeights(stored: memory, shape: shape)
    } make: {
        codes.storage.withTransientBytes(from: codes.byteOffset, count: codes.byteCount) { bytes in
            IntegerWeights(bytes, isSigned: codes.scalarType == .int8, zero: zero, shape: shape)
        }
    }
}
