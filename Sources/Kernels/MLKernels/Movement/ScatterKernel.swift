import CMLKernels

/// Combines updates with an array's elements, one after another, at indices that are only known at run time.
///
/// Indices are treated like those of `ElementGather`. `update` moves elements of 1, 2, 4 or 8 bytes; the other modes
/// take floats or 32-bit integers, whose results saturate.
package struct ScatterKernel: Sendable {
    package enum Mode: Sendable, CaseIterable {
        case update, add, subtract, multiply, divide, maximum, minimum

        var lowered: cml_scatter_mode {
            switch self {
            case .update: CML_SCATTER_UPDATE
            case .add: CML_SCATTER_ADD
            case .subtract: CML_SCATTER_SUBTRACT
            case .multiply: CML_SCATTER_MULTIPLY
            case .divide: CML_SCATTER_DIVIDE
            case .maximum: CML_SCATTER_MAXIMUM
            case .minimum: CML_SCATTER_MINIMUM
            }
        }
    }

    package let mode: Mode
    package let elementByteCount: Int
    package let isInteger: Bool

    package init(_ mode: Mode, elementByteCount: Int, isInteger: Bool = false) {
        self.mode = mode
        self.elementByteCount = elementByteCount
        self.isInteger = isInteger
    }

    /// Combines `target[o][indices[o][c][i]][i]` with `updates[o][c][i]`.
    package func alongAxis(
        _ target: UnsafeMutableRawPointer,
        outer: Int,
        axis: Int,
        inner: Int,
        indices: UnsafePointer<Int32>,
        count: Int,
        updates: UnsafeRawPointer
    ) {
        cml_scatter_elements(
            mode.lowered,
            isInteger ? 1 : 0,
            elementByteCount,
            outer,
            axis,
            inner,
            indices,
            count,
            updates,
            target
        )
    }

    /// Combines `target[o][indices[c]][:]` with `updates[o][c][:]`.
    package func rows(
        _ target: UnsafeMutableRawPointer,
        outer: Int,
        axis: Int,
        inner: Int,
        indices: UnsafePointer<Int32>,
        count: Int,
        updates: UnsafeRawPointer
    ) {
        cml_scatter_slices(
            mode.lowered,
            isInteger ? 1 : 0,
            elementByteCount,
            outer,
            axis,
            inner,
            indices,
            count,
            updates,
            target
        )
    }

    /// The size of the scratch buffer that `replaced` needs for an axis of this extent.
    package static func ownerByteCount(axis: Int) -> Int { axis * MemoryLayout<Int32>.stride }

    /// Writes `source` with `rows` of mode `update` applied to `target`, each element once.
    ///
    /// `source` does not overlap it.
    ///
    /// - Parameters:
    ///   - source: The array to copy, `[outer][axis][inner]`.
    ///   - target: The result, of the same size.
    ///   - outer: The product of the extents before the axis.
    ///   - axis: The extent of the axis.
    ///   - inner: The product of the extents after the axis.
    ///   - indices: The index of each row.
    ///   - count: The number of rows.
    ///   - updates: The rows, `[outer][count][inner]`.
    ///   - leavesOutOutside: Whether a row with an index outside `0..<axis` is skipped; otherwise indices are clamped.
    ///   - owners: A scratch buffer of `ownerByteCount`.
    package func replaced(
        _ source: UnsafeRawPointer,
        into target: UnsafeMutableRawPointer,
        outer: Int,
        axis: Int,
        inner: Int,
        indices: UnsafePointer<Int32>,
        count: Int,
        updates: UnsafeRawPointer,
        leavesOutOutside: Bool,
        owners: UnsafeMutableRawPointer
    ) {
        precondition(mode == .update)
        let owners = owners.bindMemory(to: Int32.self, capacity: axis)
        owners.initialize(repeating: -1, count: axis)
        for position in 0..<count {
            let index = Int(indices[position])
            if leavesOutOutside, !(0..<axis).contains(index) { continue }
            owners[Swift.min(Swift.max(index < 0 ? index + axis : index, 0), axis - 1)] = Int32(position)
        }
        cml_replace_slices(elementByteCount, outer, axis, inner, owners, count, source, updates, target)
    }

    /// Like `rows`, but skips updates with an index outside `0..<axis`.
    package func rowsInRange(
        _ target: UnsafeMutableRawPointer,
        outer: Int,
        axis: Int,
        inner: Int,
        indices: UnsafePointer<Int32>,
        count: Int,
        updates: UnsafeRawPointer
    ) {
        let isInside = { (position: Int) in (0..<axis).contains(Int(indices[position])) }
        guard !(0..<count).allSatisfy(isInside) else {
            return rows(
                target,
                outer: outer,
                axis: axis,
                inner: inner,
                indices: indices,
                count: count,
                updates: updates
            )
        }
        let sliceByteCount = inner * elementByteCount
        for line in 0..<outer {
            for position in 0..<count where isInside(position) {
                rows(
                    target + line * axis * sliceByteCount,
                    outer: 1,
                    axis: axis,
                    inner: inner,
                    indices: indices + position,
                    count: 1,
                    updates: updates + (line * count + position) * sliceByteCount
                )
            }
        }
    }

    /// Combines the slice at the `extents.count` indices of `indices[n]` with `updates[n][:]`.
    ///
    /// At most 8 extents.
    package func slices(
        _ target: UnsafeMutableRawPointer,
        extents: [Int],
        slice: Int,
        indices: UnsafePointer<Int32>,
        count: Int,
        updates: UnsafeRawPointer
    ) {
        cml_scatter_nd(
            mode.lowered,
            isInteger ? 1 : 0,
            elementByteCount,
            extents,
            extents.count,
            slice,
            indices,
            count,
            updates,
            target
        )
    }
}
