import CMLKernels

/// Choosing between two arrays element by element, with broadcasting: `result = condition ? first : second`.
package struct SelectKernel: Sendable {
    package let resultShape: [Int]
    private var shape: cml_broadcast

    /// Shapes are aligned at their last axes; operands and result are contiguous, at most 8 axes.
    package init(condition: [Int], _ first: [Int], _ second: [Int]) {
        resultShape = broadcastShape([condition, first, second])
        shape = cml_broadcast()
        shape.rank = Int32(resultShape.count)
        shape.extent = octet(resultShape)
        shape.a = octet(broadcastStrides(first, to: resultShape))
        shape.b = octet(broadcastStrides(second, to: resultShape))
        shape.mask = octet(broadcastStrides(condition, to: resultShape))
    }

    /// Elements have 4 bytes, conditions 1.  The result may be an operand of the same shape.
    package func run(
        condition: UnsafePointer<UInt8>,
        _ first: UnsafeRawPointer,
        _ second: UnsafeRawPointer,
        _ result: UnsafeMutableRawPointer
    ) {
        withUnsafePointer(to: shape) { cml_select(cml_isa_current(), $0, condition, first, second, result) }
    }
}
