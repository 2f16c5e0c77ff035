import MLEngine
import MLOperators

/// Elements at places that other tensors hold, and places of elements.
extension MLTensor {
    // MARK: Sorting

    /// The greatest elements along the last axis, in descending order, and where they are.
    ///
    /// Equal elements keep their order.
    ///
    /// - Parameter k: How many: at most the extent of the last axis.
    /// - Returns: The elements, and their indices along the last axis as `Int32`.
    public func topK(_ k: Int) -> (values: MLTensor, indices: MLTensor) {
        let call = TensorCall("topK")
        call.requireNumbers(self)
        call.require(rank > 0, "a scalar has no axis to choose from")
        call.require(
            k >= 0 && k <= shape[rank - 1],
            "k is \(k), but the last axis has \(shape[rank - 1]) elements; choose a smaller k"
        )
        let results = call.results(TopK(count: k), [self])
        return (results[0], results[1])
    }

    /// The indices of the elements along an axis in sorted order, as `Int32`; equal elements keep their order.
    ///
    /// - Parameters:
    ///   - axis: The axis to sort along.
    ///   - descendingOrder: Whether the greatest element comes first.
    /// - Returns: A tensor of the same shape.
    public func argsort(alongAxis axis: Int = -1, descendingOrder: Bool = false) -> MLTensor {
        let call = TensorCall("argsort")
        call.requireNumbers(self)
        return call(ArgSort(axis: call.axis(axis, rank: rank), isAscending: !descendingOrder), self)
    }

    // MARK: Gathering

    /// The elements or slices whose leading indices are listed in the last axis of `indices`.
    ///
    /// An index that does not exist is replaced by the nearest one; a negative one counts from the end.
    ///
    /// - Parameter indices: Integers; the extent n of their last axis is at most the tensor's rank.
    /// - Returns: A tensor with the shape of `indices` without its last axis, followed by the tensor's axes from n on.
    public func gathering(atIndices indices: MLTensor) -> MLTensor {
        let call = TensorCall("gathering")
        call.requireIndices(indices)
        call.require(
            (indices.shape.last).map { $0 > 0 && $0 <= rank } ?? false,
            "the last axis of indices of shape \(indices.shape) must list 1 to \(rank) indices into shape \(shape)"
        )
        return call(GatherND(), self, indices)
    }

    /// The slices of the tensor along an axis at the given indices.
    ///
    /// An index that does not exist is replaced by the nearest one; a negative one counts from the end.
    ///
    /// - Parameters:
    ///   - indices: Integers, in any shape.
    ///   - axis: The axis that they count along.
    /// - Returns: A tensor whose shape has that of `indices` in place of the axis.
    public func gathering(atIndices indices: MLTensor, alongAxis axis: Int) -> MLTensor {
        let call = TensorCall("gathering")
        call.requireIndices(indices)
        let place = call.axis(axis, rank: rank)
        call.require(
            shape[place] > 0 || indices.scalarCount == 0,
            "axis \(place) of shape \(shape) has no elements to gather"
        )
        return call(Gather(axis: place), self, indices)
    }

    // MARK: Replacing

    /// The tensor with the elements at the given indices along an axis replaced by a value.
    ///
    /// - Parameters:
    ///   - indices: Integers, in a shape that differs from the tensor's at most along `axis`. An index that does not exist is
    ///     replaced by the nearest one; a negative one counts from the end.
    ///   - replacement: The new value, converted to the tensor's scalar type.
    ///   - axis: The axis that the indices count along.
    /// - Returns: A tensor of the same shape.
    public func replacing(
        atIndices indices: MLTensor,
        with replacement: some MLTensorScalar,
        alongAxis axis: Int
    ) -> MLTensor {
        replacing(with: MLTensor(operand: replacement), atIndices: indices, alongAxis: axis)
    }

    /// The tensor with the elements at the given indices along an axis replaced by others.
    ///
    /// - Parameters:
    ///   - replacement: The new elements, in the shape of `indices` or one that broadcasts to it; they are converted to the
    ///     tensor's scalar type.
    ///   - indices: Integers, in a shape that differs from the tensor's at most along `axis`. An index that does not exist is
    ///     replaced by the nearest one; a negative one counts from the end. Of equal indices the last one counts.
    ///   - axis: The axis that the indices count along.
    /// - Returns: A tensor of the same shape.
    public func replacing(with replacement: MLTensor, atIndices indices: MLTensor, alongAxis axis: Int) -> MLTensor {
        let call = TensorCall("replacing")
        call.requireIndices(indices)
        let place = call.axis(axis, rank: rank)
        call.require(
            indices.rank == rank && (0..<rank).allSatisfy { $0 == place || indices.shape[$0] == shape[$0] },
            "indices of shape \(indices.shape) must have the tensor's shape \(shape) except along axis \(place)"
        )
        guard !indices.shape.contains(0), scalarCount > 0 else { return self }
        var updates = call.cast(replacement, to: lazy.scalarType)
        if updates.shape != indices.shape {
            updates = call(BroadcastTo(), updates, parameters: indices.shape)
        }
        return call(ScatterAlongAxis(axis: place, mode: .update), self, indices, updates)
    }

    /// The tensor with the elements where a mask is true replaced by those of another one.
    ///
    /// - Parameters:
    ///   - replacement: The new elements, in the tensor's shape or one that broadcasts to it; they are converted to its scalar
    ///     type.
    ///   - mask: Booleans, in the tensor's shape or one that broadcasts to it.
    /// - Returns: A tensor of the same shape and scalar type.
    public func replacing(with replacement: MLTensor, where mask: MLTensor) -> MLTensor {
        let call = TensorCall("replacing")
        call.requireBooleans(mask)
        let result = call(Select(), mask, call.cast(replacement, to: lazy.scalarType), self)
        call.require(
            result.shape == shape,
            "a mask of shape \(mask.shape) and a replacement of shape \(replacement.shape) do not broadcast to the "
                + "tensor's shape \(shape)"
        )
        return result
    }

    /// The tensor with the elements where a mask is true replaced by a value.
    ///
    /// - Parameters:
    ///   - replacement: The new value, converted to the tensor's scalar type.
    ///   - mask: Booleans, in the tensor's shape or one that broadcasts to it.
    /// - Returns: A tensor of the same shape and scalar type.
    public func replacing(with replacement: some MLTensorScalar, where mask: MLTensor) -> MLTensor {
        replacing(with: MLTensor(operand: replacement), where: mask)
    }
}
