import CMLKernels

/// Choosing between two arrays element by element, with broadcasting: `result = condition ? first : second`.
package struct SelectKernel: Sendable {
    package let resultShape: [Int]
    private var shape: cml_broadcast
    private let elementByteCount: Int

    /// Shapes are aligned at their last axes; operands and result are contiguous, at most 8 axes.
    package init(condition: [Int], _ first: [Int], _ second: [Int]) {
        let sizes = broadcastShape([condition, first, second])
        self.init(
            sizes: sizes,
            condition: broadcastStrides(condition, to: sizes),
            broadcastStrides(first, to: sizes),
            broadcastStrides(second, to: sizes)
        )
    }

    /// The same with explicit strides over the result's `sizes`; a stride of 0 repeats.
    ///
    /// Elements have 1, 2, 4 or 8 bytes.
    package init(sizes: [Int], condition: [Int], _ first: [Int], _ second: [Int], elementByteCount: Int = 4) {
        self.elementByteCount = elementByteCount
        resultShape = sizes
        shape = cml_broadcast()
        shape.rank = Int32(sizes.count)
        shape.extent = tuple8(sizes)
        shape.a = tuple8(first)
        shape.b = tuple8(second)
        shape.mask = tuple8(condition)
    }

    /// Conditions have 1 byte.
    ///
    /// The result may share the memory of an operand of the same shape.
    package func run(
        condition: UnsafePointer<UInt8>,
        _ first: UnsafeRawPointer,
        _ second: UnsafeRawPointer,
        _ result: UnsafeMutableRawPointer
    ) {
        withUnsafePointer(to: shape) {
            cml_select(cml_isa_current(), $0, elementByteCount, condition, first, second, result)
        }
    }
}
