import MLNumerics

/// For every element of shape `target` in row-major order, the row-major index of the element of `shape` that is
/// broadcast to it.
///
/// `shape` is aligned with the last axes of `target`; its extents are those or 1.
package func broadcastOffsets(of shape: [Int], in target: [Int]) -> [Int] {
    let lead = target.count - shape.count
    let strides = shape.rowMajorStrides
    var offsets = [0]
    for (axis, extent) in target.enumerated() {
        let stride = axis < lead || shape[axis - lead] == 1 ? 0 : strides[axis - lead]
        var next: [Int] = []
        next.reserveCapacity(offsets.count * extent)
        for offset in offsets { for position in 0..<extent { next.append(offset + position * stride) } }
        offsets = next
    }
    return offsets
}
