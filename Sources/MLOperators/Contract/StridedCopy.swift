package import MLGraph
import MLNumerics

/// Kernels that copy elements of whole bytes between strided arrays.
package enum StridedCopy {
    /// Kernels that fill the first result, densely and in order, with the elements of `view` in operand 0.
    package static func kernels(_ view: StridedView, of operand: KernelRequest.Buffer) -> [Kernel] {
        let width = operand.scalarType.bitWidth / 8
        guard operand.scalarType.bitWidth % 8 == 0, width > 0, view.count > 0 else { return [] }
        if view.isContiguous { return [Kernel(aliasing: 0, byteOffset: view.offset * width)] }
        return [
            Kernel("strided copy") { context in
                StridedCopy.run(view, from: context.operand(0), to: context.result(), width: width)
            }
        ]
    }

    /// Copies the elements of `view` in `source` to `target`, one behind the other.
    package static func run(
        _ view: StridedView,
        from source: UnsafeRawPointer,
        to target: UnsafeMutableRawPointer,
        width: Int
    ) {
        var target = target
        view.forEachOffset { place in
            target.copyMemory(from: source + place * width, byteCount: width)
            target += width
        }
    }
}
