package import MLGraph
package import MLNumerics

/// The begin, end and step of a slice on each axis.
///
/// The rules are those of NumPy.
package struct SliceRule: Hashable, Sendable, Codable {
    /// Steps by axis; empty for 1 everywhere.
    package var steps: [Int] = []
    /// Axes that start at the array's edge, ignoring `begin`; empty for none.
    package var beginMask: [Bool] = []
    package var endMask: [Bool] = []
    /// Axes from which one element is taken and which are then removed; empty for none.
    package var squeezeMask: [Bool] = []

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        steps = try arguments.ints("stride", default: [])
        beginMask = try arguments.bools("begin_mask", default: [])
        endMask = try arguments.bools("end_mask", default: [])
        squeezeMask = try arguments.bools("squeeze_mask", default: [])
    }

    package func step(_ axis: Int) -> Int { axis < steps.count ? steps[axis] : 1 }
    package func ignoresBegin(_ axis: Int) -> Bool { axis < beginMask.count && beginMask[axis] }
    package func ignoresEnd(_ axis: Int) -> Bool { axis < endMask.count && endMask[axis] }
    package func squeezes(_ axis: Int) -> Bool { axis < squeezeMask.count && squeezeMask[axis] }

    /// Whether the extents of the result are known without the contents of `begin` and `end`.
    package func isFixed(rank: Int) -> Bool {
        (0..<rank).allSatisfy { squeezes($0) || (ignoresBegin($0) && ignoresEnd($0)) }
    }

    package func validate(rank: Int, begin: [Int]?, end: [Int]?) throws(ModelError) {
        for list in [steps.count, beginMask.count, endMask.count, squeezeMask.count] where list != 0 && list != rank {
            throw ModelError(.invalidModel, "a slice of rank \(rank) cannot have a stride or mask of \(list) elements")
        }
        for list in [begin, end] {
            if let list, list.count != rank {
                throw ModelError(.invalidModel, "a slice of rank \(rank) cannot have \(list.count) begins or ends")
            }
        }
        guard !steps.contains(0) else { throw ModelError(.invalidModel, "a slice cannot have a stride of 0") }
    }

    /// First element and number of elements on an axis of `extent`.
    package func range(_ axis: Int, extent: Int, begin: Int?, end: Int?) -> (start: Int, count: Int) {
        let step = step(axis)
        func position(_ index: Int) -> Int { index < 0 ? index + extent : index }
        if squeezes(axis) {
            return (min(max(ignoresBegin(axis) ? 0 : position(begin ?? 0), 0), max(extent - 1, 0)), 1)
        }
        let lowest = step > 0 ? 0 : -1
        let highest = step > 0 ? extent : extent - 1
        func clamped(_ index: Int) -> Int { min(max(position(index), lowest), highest) }
        let first = ignoresBegin(axis) ? (step > 0 ? 0 : extent - 1) : clamped(begin ?? 0)
        let limit = ignoresEnd(axis) ? (step > 0 ? extent : -1) : clamped(end ?? 0)
        let distance = step > 0 ? limit - first : first - limit
        let magnitude = Swift.abs(step)
        return (first, distance <= 0 ? 0 : (distance - 1) / magnitude + 1)
    }

    /// The extent of the result on an axis, if it is known.
    package func extent(_ axis: Int, of extent: Dimension, begin: Int?, end: Int?) -> Dimension {
        let isOpen = ignoresBegin(axis) && ignoresEnd(axis)
        if let known = extent.count, isOpen || (begin != nil || ignoresBegin(axis)) && (end != nil || ignoresEnd(axis))
        {
            return Dimension(range(axis, extent: known, begin: begin, end: end).count)
        }
        guard !isOpen else { return Swift.abs(step(axis)) == 1 ? extent : .unknown }
        if let begin, !ignoresBegin(axis), step(axis) > 0 {
            if ignoresEnd(axis) { return begin == -1 ? 1 : .unknown }
            // One element, or none, whatever the extent is.
            if let end, (begin < 0) == (end < 0), end - begin <= step(axis) { return end > begin ? 1 : 0 }
        }
        return .unknown
    }

    /// `x` cut down to the slice, squeezed axes included with extent 1.
    package func slice(_ x: StridedView, begin: [Int]?, end: [Int]?) -> StridedView {
        var view = x
        for axis in x.shape.indices {
            let range = range(axis, extent: x.shape[axis], begin: begin?[axis], end: end?[axis])
            view = view.sliced(axis, from: range.count == 0 ? 0 : range.start, by: step(axis), count: range.count)
        }
        return view
    }

    /// `view` without the squeezed axes.
    package func squeezed(_ view: StridedView) -> StridedView {
        let kept = view.shape.indices.filter { !squeezes($0) }
        return StridedView(
            shape: kept.map { view.shape[$0] },
            strides: kept.map { view.strides[$0] },
            offset: view.offset
        )
    }
}
