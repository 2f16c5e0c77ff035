import CMLKernels

/// A copy between two strided views of the same extents: permutation, slice, repetition, concatenation, split.
///
/// Elements are any type of 1, 2, 4 or 8 bytes; strides count elements.  Axes may come in any order.  Source and
/// target must not overlap.
package struct StridedCopy: Sendable {
    private var shape = cml_copy_shape()
    private let elementByteCount: Int

    /// Source strides may be 0 (repetition) or negative (reversal, from an inner address); target strides are positive
    /// and elements must not overlap.
    ///
    /// At most 8 axes with an extent other than 1.
    package init(extents: [Int], sourceStrides: [Int], targetStrides: [Int], elementByteCount: Int) {
        precondition([1, 2, 4, 8].contains(elementByteCount), "elements of 1, 2, 4 or 8 bytes")
        self.elementByteCount = elementByteCount
        let axes = extents.indices.filter { extents[$0] != 1 }
        precondition(axes.count <= Int(CML_MAX_RANK), "at most \(CML_MAX_RANK) axes")
        shape.rank = Int32(axes.count)
        shape.extent = tuple8(axes.map { extents[$0] })
        shape.source = tuple8(axes.map { sourceStrides[$0] })
        shape.target = tuple8(axes.map { targetStrides[$0] })
    }

    /// Copies contiguous `source` of `shape` to a contiguous target whose axis `i` is the source's axis
    /// `permutation[i]`.
    package init(permuting shape: [Int], by permutation: [Int], elementByteCount: Int) {
        let strides = contiguousStrides(shape)
        let extents = permutation.map { shape[$0] }
        self.init(
            extents: extents,
            sourceStrides: permutation.map { strides[$0] },
            targetStrides: contiguousStrides(extents),
            elementByteCount: elementByteCount
        )
    }

    package func run(_ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer) {
        withUnsafePointer(to: shape) { cml_copy(cml_isa_current(), $0, elementByteCount, source, target) }
    }
}

/// The strides of a contiguous array, in elements.
func contiguousStrides(_ shape: [Int]) -> [Int] {
    var strides = shape
    var step = 1
    for axis in shape.indices.reversed() {
        strides[axis] = step
        step *= shape[axis]
    }
    return strides
}

typealias Tuple8 = (Int, Int, Int, Int, Int, Int, Int, Int)

/// Up to eight values as a C array of eight.
func tuple8(_ values: [Int]) -> Tuple8 {
    precondition(values.count <= 8, "at most 8 axes")
    var result = (1, 1, 1, 1, 1, 1, 1, 1)
    withUnsafeMutableBytes(of: &result) { bytes in
        values.withUnsafeBytes { bytes.copyMemory(from: $0) }
    }
    return result
}
