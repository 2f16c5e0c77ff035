import MLNumerics

/// A view of a dense buffer as an array of some shape: element (i…) is at `offset + Σ i·stride`.
///
/// Strides count elements; 0 repeats an axis, a negative one reverses it.
package struct StridedView: Hashable, Sendable, Codable {
    package var shape: [Int]
    package var strides: [Int]
    package var offset: Int

    package init(shape: [Int], strides: [Int], offset: Int = 0) {
        self.shape = shape
        self.strides = strides
        self.offset = offset
    }

    /// The whole buffer.
    package init(dense shape: [Int]) { self.init(shape: shape, strides: shape.rowMajorStrides) }

    /// Axis `i` of the result is axis `permutation[i]` of this view.
    package func transposed(_ permutation: [Int]) -> StridedView {
        StridedView(shape: permutation.map { shape[$0] }, strides: permutation.map { strides[$0] }, offset: offset)
    }

    /// `count` elements along `axis` from `start` on, `step` apart.
    package func sliced(_ axis: Int, from start: Int, by step: Int = 1, count: Int) -> StridedView {
        var result = self
        result.offset += start * strides[axis]
        result.shape[axis] = count
        // The step of a single element does not matter.
        if count > 1 { result.strides[axis] *= step }
        return result
    }

    package func reversed(_ axis: Int) -> StridedView {
        guard shape[axis] > 0 else { return self }
        return sliced(axis, from: shape[axis] - 1, by: -1, count: shape[axis])
    }

    /// `axis` as two axes of `outer` and `inner` elements, outer first.
    package func splitting(_ axis: Int, _ outer: Int, _ inner: Int) -> StridedView {
        var result = self
        result.shape.replaceSubrange(axis...axis, with: [outer, inner])
        result.strides.replaceSubrange(axis...axis, with: [strides[axis] * inner, strides[axis]])
        return result
    }

    /// A new axis in front of `axis` that repeats everything `count` times.
    package func repeating(_ axis: Int, _ count: Int) -> StridedView {
        var result = self
        result.shape.insert(count, at: axis)
        result.strides.insert(0, at: axis)
        return result
    }

    /// The view stretched to `target` by the rules of broadcasting.
    package func broadcast(to target: [Int]) -> StridedView {
        let missing = target.count - shape.count
        var result = StridedView(shape: target, strides: [Int](repeating: 0, count: target.count), offset: offset)
        for axis in shape.indices where shape[axis] != 1 { result.strides[axis + missing] = strides[axis] }
        return result
    }

    package var count: Int { shape.elementCount }

    /// The same elements in the same order with as few axes as possible: axes of extent 1 are removed, and contiguous
    /// neighbours are merged.
    package var coalesced: StridedView {
        var result = StridedView(shape: [], strides: [], offset: offset)
        for (extent, stride) in zip(shape, strides) where extent != 1 {
            if let last = result.strides.last, last == stride * extent {
                result.shape[result.shape.count - 1] *= extent
                result.strides[result.strides.count - 1] = stride
            } else {
                result.shape.append(extent)
                result.strides.append(stride)
            }
        }
        return result
    }

    /// Whether the elements are contiguous, so that the view is part of the buffer from `offset` on.
    package var isContiguous: Bool {
        let simple = coalesced
        return simple.shape.isEmpty || simple.strides == [1] || count == 0
    }

    /// Calls `body` with the offset of every element, in row-major order of the view.
    package func forEachOffset(_ body: (Int) -> Void) {
        guard count > 0 else { return }
        let view = coalesced
        guard let inner = view.shape.last, let step = view.strides.last else {
            body(offset)
            return
        }
        let outer = view.shape.dropLast()
        var index = [Int](repeating: 0, count: outer.count)
        var base = view.offset
        while true {
            var position = base
            for _ in 0..<inner {
                body(position)
                position += step
            }
            var axis = outer.count - 1
            while axis >= 0 {
                index[axis] += 1
                base += view.strides[axis]
                if index[axis] < outer[axis] { break }
                base -= view.strides[axis] * outer[axis]
                index[axis] = 0
                axis -= 1
            }
            if axis < 0 { return }
        }
    }

    /// The elements of the view, in row-major order.
    package func read<Element>(_ values: [Element]) -> [Element] {
        var result: [Element] = []
        result.reserveCapacity(count)
        forEachOffset { result.append(values[$0]) }
        return result
    }

    /// Stores `elements`, in row-major order, at the view's offsets.
    package func write<Element>(_ elements: [Element], into values: inout [Element]) {
        var next = 0
        forEachOffset {
            values[$0] = elements[next]
            next += 1
        }
    }
}
