package import MLGraph
import MLKernels
import MLNumerics

/// Kernels that copy elements of 1, 2, 4 or 8 bytes between strided arrays.
package enum CopyKernels {
    /// Kernels that fill the first result, densely and in order, with the elements of `view` in operand 0.
    package static func dense(_ view: StridedView, of operand: KernelRequest.Buffer) -> [Kernel] {
        guard let width = operand.scalarType.copyWidth else { return [] }
        guard view.count > 0 else { return [Kernel("nothing", body: { _ in })] }
        if view.isContiguous { return [Kernel(aliasing: 0, byteOffset: view.offset * width)] }
        let source = view.coalesced
        let target = StridedView(dense: source.shape)
        guard let copy = StridedCopy(source, target, width: width) else { return [] }
        let start = view.offset * width
        return [Kernel("strided copy") { copy.run($0.operand(0) + start, $0.result()) }]
    }
}

extension StridedCopy {
    /// A copy from the elements of one view to those of another of the same shape, with offsets left to the caller;
    /// `nil` when there are more axes than the kernel takes.
    init?(_ source: StridedView, _ target: StridedView, width: Int) {
        guard source.shape.filter({ $0 != 1 }).count <= 8 else { return nil }
        self.init(
            extents: source.shape,
            sourceStrides: source.strides,
            targetStrides: target.strides,
            elementByteCount: width
        )
    }
}

extension ScalarType {
    /// The bytes of one element, when copying kernels can move it.
    var copyWidth: Int? { [8, 16, 32, 64].contains(bitWidth) ? bitWidth / 8 : nil }
}
