import CMLKernels

/// A copy with a list of source indices for each axis: padding of every kind, slices with steps, reversal, repetition,
/// rolling, nearest-neighbour enlargement, gathering by constant indices.
package final class IndexedCopy: Sendable {
    // Memory that `init` alone writes.
    nonisolated(unsafe) private let shape: UnsafeMutablePointer<cml_remap_shape>
    nonisolated(unsafe) private let tables: UnsafeMutablePointer<Int>
    nonisolated(unsafe) private let segments: UnsafeMutablePointer<cml_segment>
    private let elementByteCount: Int

    /// `target[i₀, i₁, …] = source[selection[0][i₀], selection[1][i₁], …]`, or the constant where any selected index is
    /// `nil`; both arrays are contiguous, the target's shape is the counts of the selections.
    package init(sourceShape: [Int], selections: [[Int?]], elementByteCount: Int) {
        precondition([1, 2, 4, 8].contains(elementByteCount), "elements of 1, 2, 4 or 8 bytes")
        self.elementByteCount = elementByteCount
        var strides = contiguousStrides(sourceShape)
        var selections = selections
        // Inner axes taken whole are merged with the axis outside them.
        while selections.count > 1, let inner = selections.last, let outer = selections.dropLast().last,
            inner.enumerated().allSatisfy({ $0.offset == $0.element }),
            inner.count == sourceShape[selections.count - 1],
            !inner.isEmpty
        {
            selections.removeLast(2)
            selections.append(
                outer.flatMap { index in inner.indices.map { position in index.map { $0 * inner.count + position } } }
            )
            strides.removeLast()
            strides[strides.count - 1] = 1
        }
        let offsets = zip(selections, strides).map { selection, stride in selection.map { $0.map { $0 * stride } ?? -1 }
        }
        let last = offsets.last ?? [0]
        let outer = Array(offsets.dropLast())
        precondition(outer.count <= Int(CML_MAX_RANK), "at most \(CML_MAX_RANK) axes")
        let runs = Self.runs(last)
        segments = .allocate(capacity: max(1, runs.count))
        segments.initialize(from: runs, count: runs.count)
        let flat = outer.flatMap { $0 }
        let tables = UnsafeMutablePointer<Int>.allocate(capacity: max(1, flat.count))
        tables.initialize(from: flat, count: flat.count)
        self.tables = tables
        var lowered = cml_remap_shape()
        lowered.rank = Int32(outer.count)
        lowered.extent = tuple8(outer.map(\.count))
        var at = 0
        withUnsafeMutableBytes(of: &lowered.offset) { bytes in
            let pointers = bytes.bindMemory(to: UnsafePointer<Int>?.self)
            for (axis, table) in outer.enumerated() {
                pointers[axis] = UnsafePointer(tables + at)
                at += table.count
            }
        }
        lowered.width = last.count
        lowered.segments = UnsafePointer(segments)
        lowered.segment_count = runs.count
        shape = .allocate(capacity: 1)
        shape.initialize(to: lowered)
    }

    deinit {
        shape.deallocate()
        tables.deallocate()
        segments.deallocate()
    }

    /// `constant` points to one element; it may be `nil` when no selection has a `nil`.
    package func run(
        _ source: UnsafeRawPointer,
        _ target: UnsafeMutableRawPointer,
        constant: UnsafeRawPointer? = nil
    ) {
        cml_remap(cml_isa_current(), shape, elementByteCount, source, target, constant)
    }

    /// Maximal runs of equal steps.
    private static func runs(_ offsets: [Int]) -> [cml_segment] {
        var runs: [cml_segment] = []
        for (position, offset) in offsets.enumerated() {
            if var run = runs.last {
                let fits =
                    run.source < 0
                    ? offset < 0
                    : offset >= 0 && (run.count == 1 || offset == run.source + run.count * run.step)
                if fits {
                    if run.count == 1, run.source >= 0 { run.step = offset - run.source }
                    run.count += 1
                    runs[runs.count - 1] = run
                    continue
                }
            }
            runs.append(cml_segment(start: position, count: 1, source: offset, step: 1))
        }
        return runs
    }
}
