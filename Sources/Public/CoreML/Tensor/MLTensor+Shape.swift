import MLEngine
import MLNumerics
import MLOperators

/// The same elements in other shapes and orders.
extension MLTensor {
    private func reshaped(_ shape: [Int], _ name: String) -> MLTensor {
        guard shape != self.shape else { return self }
        do { return MLTensor(try lazy.reshaped(shape)) } catch {
            fatalError("MLTensor.\(name) of \(self): \(error.message)")
        }
    }

    // MARK: Shapes

    /// The elements, in row-major order, in another shape.
    ///
    /// - Parameter newShape: A shape with as many elements. One extent may be −1: it follows from the others.
    /// - Returns: A tensor of that shape.
    public func reshaped(to newShape: [Int]) -> MLTensor {
        let call = TensorCall("reshaped")
        let open = newShape.indices.filter { newShape[$0] == -1 }
        call.require(open.count < 2, "\(newShape) leaves more than one extent open; give all but one")
        var shape = newShape
        if let axis = open.first {
            shape[axis] = 1
            let rest = checkedCount(of: shape) ?? 0
            call.require(
                rest > 0 && scalarCount % rest == 0,
                "\(scalarCount) elements of shape \(self.shape) do not divide into \(newShape)"
            )
            shape[axis] = scalarCount / rest
        }
        call.require(
            checkedCount(of: shape) == scalarCount,
            "\(scalarCount) elements of shape \(self.shape) do not fill shape \(newShape)"
        )
        return reshaped(shape, call.name)
    }

    /// The elements, in row-major order, along one axis.
    public func flattened() -> MLTensor { reshaped([scalarCount], "flattened") }

    /// The tensor with new axes of extent 1.
    ///
    /// - Parameter axes: The positions of the new axes in the result.
    /// - Returns: A tensor with the same elements.
    public func expandingShape(at axes: [Int]) -> MLTensor {
        let places = Set(TensorCall("expandingShape").axes(axes, rank: rank + axes.count))
        var rest = shape.makeIterator()
        return reshaped(
            (0..<rank + axes.count).map { places.contains($0) ? 1 : rest.next() ?? 1 },
            "expandingShape"
        )
    }

    /// The tensor with new axes of extent 1; see the form that takes an array.
    public func expandingShape(at axes: Int...) -> MLTensor { expandingShape(at: axes) }

    /// The tensor without its axes of extent 1.
    public func squeezingShape() -> MLTensor { reshaped(shape.filter { $0 != 1 }, "squeezingShape") }

    /// The tensor without some axes of extent 1.
    ///
    /// - Parameter axes: The axes to remove; one with another extent stays.
    /// - Returns: A tensor with the same elements.
    public func squeezingShape(at axes: [Int]) -> MLTensor {
        let places = Set(TensorCall("squeezingShape").axes(axes, rank: rank))
        return reshaped(
            shape.indices.filter { !places.contains($0) || shape[$0] != 1 }.map { shape[$0] },
            "squeezingShape"
        )
    }

    /// The tensor without some axes of extent 1; see the form that takes an array.
    public func squeezingShape(at axes: Int...) -> MLTensor { squeezingShape(at: axes) }

    // MARK: Orders

    /// The tensor with its axes in reverse order.
    public func transposed() -> MLTensor { transposed(permutation: Array((0..<rank).reversed())) }

    /// The tensor with its axes permuted.
    ///
    /// - Parameter permutation: For each axis of the result the axis of this tensor; every axis once.
    /// - Returns: A tensor with the same elements.
    public func transposed(permutation: [Int]) -> MLTensor {
        let call = TensorCall("transposed")
        let order = call.axes(permutation, rank: rank)
        call.require(order.count == rank, "\(permutation) does not name each axis of shape \(shape) once")
        return order == Array(0..<rank) ? self : call(Transpose(order), self)
    }

    /// The tensor with its axes permuted; see the form that takes an array.
    public func transposed(permutation: Int...) -> MLTensor { transposed(permutation: permutation) }

    /// The elements in reverse order along some axes.
    ///
    /// - Parameter axes: The axes to reverse.
    /// - Returns: A tensor of the same shape.
    public func reversed(alongAxes axes: [Int]) -> MLTensor {
        let call = TensorCall("reversed")
        let places = call.axes(axes, rank: rank)
        return places.isEmpty ? self : call(Reverse(axes: places), self)
    }

    /// The elements in reverse order along some axes; see the form that takes an array.
    public func reversed(alongAxes axes: Int...) -> MLTensor { reversed(alongAxes: axes) }

    // MARK: Repetitions and parts

    /// The tensor repeated along its axes.
    ///
    /// - Parameter multiples: For each axis the number of repetitions, 1 for none.
    /// - Returns: A tensor whose extents are those of this one times `multiples`.
    public func tiled(multiples: [Int]) -> MLTensor {
        let call = TensorCall("tiled")
        call.require(
            multiples.count == rank && multiples.allSatisfy { $0 >= 0 },
            "multiples \(multiples) do not fit shape \(shape); give one number of 0 or more for each axis"
        )
        if multiples.allSatisfy({ $0 == 1 }) { return self }
        let result = zip(shape, multiples).map { $0 * $1 }
        guard !result.contains(0) else { return call.empty(result, like: self) }
        return call(Tile(), self, parameters: multiples)
    }

    /// Equal parts of the tensor along an axis.
    ///
    /// - Parameters:
    ///   - count: The number of parts, which divides the axis's extent.
    ///   - axis: The axis to cut.
    /// - Returns: The parts in their order.
    public func split(count: Int, alongAxis axis: Int = 0) -> [MLTensor] {
        let call = TensorCall("split")
        let place = call.axis(axis, rank: rank)
        call.require(
            count > 0 && shape[place] % count == 0,
            "axis \(place) of shape \(shape) does not divide into \(count) equal parts; use split(sizes:alongAxis:)"
        )
        return split(sizes: [Int](repeating: shape[place] / count, count: count), alongAxis: place)
    }

    /// Parts of the tensor along an axis.
    ///
    /// - Parameters:
    ///   - sizes: The extents of the parts, which add up to the axis's extent.
    ///   - axis: The axis to cut.
    /// - Returns: The parts in their order.
    public func split(sizes: [Int], alongAxis axis: Int = 0) -> [MLTensor] {
        let call = TensorCall("split")
        let place = call.axis(axis, rank: rank)
        call.require(
            sizes.allSatisfy { $0 >= 0 } && sizes.reduce(0, +) == shape[place],
            "sizes \(sizes) do not add up to the extent of axis \(place) of shape \(shape)"
        )
        return sizes.count < 2 ? sizes.map { _ in self } : call.results(Split(axis: place, sizes: sizes), [self])
    }

    /// The slices of the tensor along an axis.
    ///
    /// - Parameter axis: The axis to cut; the slices lack it.
    /// - Returns: As many tensors as the axis has elements.
    public func unstacked(alongAxis axis: Int = 0) -> [MLTensor] {
        let place = TensorCall("unstacked").axis(axis, rank: rank)
        return split(sizes: [Int](repeating: 1, count: shape[place]), alongAxis: place)
            .map { $0.squeezingShape(at: place) }
    }

    /// The innermost matrices with everything outside a band around their diagonals set to 0.
    ///
    /// - Parameters:
    ///   - lowerBandCount: The number of diagonals to keep below the main one; all of them when negative.
    ///   - upperBandCount: The number of diagonals to keep above the main one; all of them when negative.
    /// - Returns: A tensor of the same shape.
    public func bandPart(lowerBandCount: Int, upperBandCount: Int) -> MLTensor {
        let call = TensorCall("bandPart")
        call.require(rank >= 2, "a tensor of shape \(shape) holds no matrices; it needs two axes or more")
        return call(
            BandPart(
                lower: lowerBandCount < 0 ? nil : lowerBandCount,
                upper: upperBandCount < 0 ? nil : upperBandCount
            ),
            self
        )
    }
}

extension TensorCall {
    /// A tensor without elements.
    func empty(_ shape: [Int], like tensor: MLTensor) -> MLTensor {
        require(checkedCount(of: shape) == 0, "\(shape) has elements")
        return MLTensor(shape: shape, data: Data(), scalarType: tensor.scalarType)
    }
}
