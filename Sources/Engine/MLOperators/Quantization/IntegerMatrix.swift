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

    /// The greatest magnitude of an integer less its zero point.
    package var reach: Int {
        let range = codes.scalarType == .int8 ? (-128, 127) : (0, 255)
        let (minimum, maximum) = (zeros.min() ?? 0, zeros.max() ?? 0)
        return Swift.max(Swift.abs(range.0 - maximum), Swift.abs(range.1 - minimum))
    }
}

/// Packs integer weights, shared between plans; `nil` when their elements are absent and they were not packed before.
func packedIntegers(_ codes: Tensor, zero: [Int16], shape: IntegerWeights.Shape) -> IntegerWeights? {
    let order = "\(shape.terms) \(shape.columns) \(shape.taps) \(shape.isTermsFirst)"
    return PackedConstants.packed(codes, form: "pairs \(order) \(zero) \(InstructionSet.current)") { memory in
        IntegerWeights(stored: memory, shape: shape)
    } make: {
        codes.storage.withPassingBytes(from: codes.byteOffset, count: codes.byteCount) { bytes in
            IntegerWeights(bytes, isSigned: codes.scalarType == .int8, zero: zero, shape: shape)
        }
    }
}
