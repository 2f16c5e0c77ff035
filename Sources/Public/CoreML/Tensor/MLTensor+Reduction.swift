import MLOperators

/// One value for each group of elements.
extension MLTensor {
    private func reduced<Function: ReductionFunction>(
        _ name: String,
        _: Function.Type,
        _ axes: [Int]?,
        _ keepRank: Bool,
        needsElements: Bool = false
    ) -> MLTensor {
        let call = TensorCall(name)
        call.requireNumbers(self)
        let places = call.axes(axes ?? Array(0..<rank), rank: rank)
        guard !places.isEmpty else { return self }
        call.require(
            !needsElements || places.allSatisfy { shape[$0] > 0 },
            "a tensor of shape \(shape) has no elements to choose from along axes \(places)"
        )
        return call(Reduction<Function>(axes: places, keepsDimensions: keepRank), self)
    }

    // MARK: Sums and products

    /// The sum of all elements, a scalar.
    ///
    /// - Parameter keepRank: Whether every axis stays, with extent 1.
    /// - Returns: The sum.
    public func sum(keepRank: Bool = false) -> MLTensor { reduced("sum", SumOfElements.self, nil, keepRank) }

    /// The sums of the elements along some axes.
    ///
    /// - Parameters:
    ///   - axes: The axes along which elements are added; without any the tensor stays as it is.
    ///   - keepRank: Whether these axes stay, with extent 1.
    /// - Returns: A tensor without these axes.
    public func sum(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
        reduced("sum", SumOfElements.self, axes, keepRank)
    }

    /// The sums of the elements along some axes; see the form that takes an array.
    public func sum(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
        sum(alongAxes: axes, keepRank: keepRank)
    }

    /// The mean of all elements, a scalar; that of integers is truncated toward zero.
    ///
    /// - Parameter keepRank: Whether every axis stays, with extent 1.
    /// - Returns: The mean.
    public func mean(keepRank: Bool = false) -> MLTensor { reduced("mean", MeanOfElements.self, nil, keepRank) }

    /// The means of the elements along some axes; those of integers are truncated toward zero.
    ///
    /// - Parameters:
    ///   - axes: The axes of each group of elements; without any the tensor stays as it is.
    ///   - keepRank: Whether these axes stay, with extent 1.
    /// - Returns: A tensor without these axes.
    public func mean(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
        reduced("mean", MeanOfElements.self, axes, keepRank)
    }

    /// The means of the elements along some axes; see the form that takes an array.
    public func mean(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
        mean(alongAxes: axes, keepRank: keepRank)
    }

    /// The product of all elements, a scalar.
    ///
    /// - Parameter keepRank: Whether every axis stays, with extent 1.
    /// - Returns: The product.
    public func product(keepRank: Bool = false) -> MLTensor {
        reduced("product", ProductOfElements.self, nil, keepRank)
    }

    /// The products of the elements along some axes.
    ///
    /// - Parameters:
    ///   - axes: The axes of each group of elements; without any the tensor stays as it is.
    ///   - keepRank: Whether these axes stay, with extent 1.
    /// - Returns: A tensor without these axes.
    public func product(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
        reduced("product", ProductOfElements.self, axes, keepRank)
    }

    /// The products of the elements along some axes; see the form that takes an array.
    public func product(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
        product(alongAxes: axes, keepRank: keepRank)
    }

    // MARK: Extremes

    /// The greatest element, a scalar; a tensor without elements traps.
    ///
    /// - Parameter keepRank: Whether every axis stays, with extent 1.
    /// - Returns: The greatest element.
    public func max(keepRank: Bool = false) -> MLTensor {
        reduced("max", LargestElement.self, nil, keepRank, needsElements: true)
    }

    /// The greatest elements along some axes.
    ///
    /// - Parameters:
    ///   - axes: The axes of each group of elements, none of them empty; without any the tensor stays as it is.
    ///   - keepRank: Whether these axes stay, with extent 1.
    /// - Returns: A tensor without these axes.
    public func max(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
        reduced("max", LargestElement.self, axes, keepRank, needsElements: true)
    }

    /// The greatest elements along some axes; see the form that takes an array.
    public func max(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
        max(alongAxes: axes, keepRank: keepRank)
    }

    /// The smallest element, a scalar; a tensor without elements traps.
    ///
    /// - Parameter keepRank: Whether every axis stays, with extent 1.
    /// - Returns: The smallest element.
    public func min(keepRank: Bool = false) -> MLTensor {
        reduced("min", SmallestElement.self, nil, keepRank, needsElements: true)
    }

    /// The smallest elements along some axes.
    ///
    /// - Parameters:
    ///   - axes: The axes of each group of elements, none of them empty; without any the tensor stays as it is.
    ///   - keepRank: Whether these axes stay, with extent 1.
    /// - Returns: A tensor without these axes.
    public func min(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
        reduced("min", SmallestElement.self, axes, keepRank, needsElements: true)
    }

    /// The smallest elements along some axes; see the form that takes an array.
    public func min(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
        min(alongAxes: axes, keepRank: keepRank)
    }

    /// The index of the greatest element in row-major order, an `Int32` scalar; the first among equal ones.
    public func argmax() -> MLTensor { flattened().argmax(alongAxis: 0) }

    /// The indices along an axis of the greatest elements, as `Int32`; the first among equal ones.
    ///
    /// - Parameters:
    ///   - axis: The axis of each group of elements, which must not be empty.
    ///   - keepRank: Whether the axis stays, with extent 1.
    /// - Returns: A tensor without the axis.
    public func argmax(alongAxis axis: Int, keepRank: Bool = false) -> MLTensor {
        let call = TensorCall("argmax")
        return call(ReduceArg<Greatest>(axis: call.choice(self, axis), keepsDimensions: keepRank), self)
    }

    /// The index of the smallest element in row-major order, an `Int32` scalar; the first among equal ones.
    public func argmin() -> MLTensor { flattened().argmin(alongAxis: 0) }

    /// The indices along an axis of the smallest elements, as `Int32`; the first among equal ones.
    ///
    /// - Parameters:
    ///   - axis: The axis of each group of elements, which must not be empty.
    ///   - keepRank: Whether the axis stays, with extent 1.
    /// - Returns: A tensor without the axis.
    public func argmin(alongAxis axis: Int, keepRank: Bool = false) -> MLTensor {
        let call = TensorCall("argmin")
        return call(ReduceArg<Least>(axis: call.choice(self, axis), keepsDimensions: keepRank), self)
    }

    // MARK: Booleans

    /// Whether all elements of a tensor of Booleans are true, a scalar; true when there are none.
    ///
    /// - Parameter keepRank: Whether every axis stays, with extent 1.
    /// - Returns: A Boolean.
    public func all(keepRank: Bool = false) -> MLTensor { all(alongAxes: Array(0..<rank), keepRank: keepRank) }

    /// Whether all elements of a tensor of Booleans along some axes are true.
    ///
    /// - Parameters:
    ///   - axes: The axes of each group of elements; without any the tensor stays as it is.
    ///   - keepRank: Whether these axes stay, with extent 1.
    /// - Returns: A tensor of Booleans without these axes.
    public func all(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
        TensorCall("all").requireBooleans(self)
        return .!(.!self).any(alongAxes: axes, keepRank: keepRank)
    }

    /// Whether all elements of a tensor of Booleans along some axes are true; see the form that takes an array.
    public func all(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
        all(alongAxes: axes, keepRank: keepRank)
    }

    /// Whether any element of a tensor of Booleans is true, a scalar; false when there are none.
    ///
    /// - Parameter keepRank: Whether every axis stays, with extent 1.
    /// - Returns: A Boolean.
    public func any(keepRank: Bool = false) -> MLTensor { any(alongAxes: Array(0..<rank), keepRank: keepRank) }

    /// Whether any element of a tensor of Booleans along some axes is true.
    ///
    /// - Parameters:
    ///   - axes: The axes of each group of elements; without any the tensor stays as it is.
    ///   - keepRank: Whether these axes stay, with extent 1.
    /// - Returns: A tensor of Booleans without these axes.
    public func any(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
        TensorCall("any").requireBooleans(self)
        // A sum, whose value for no elements is 0, rather than the greatest one, which they lack.
        return cast(to: Int32.self).sum(alongAxes: axes, keepRank: keepRank).cast(to: Bool.self)
    }

    /// Whether any element of a tensor of Booleans along some axes is true; see the form that takes an array.
    public func any(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
        any(alongAxes: axes, keepRank: keepRank)
    }

    // MARK: Running sums and products

    /// The sums of the elements up to and including each one along an axis; integers saturate.
    ///
    /// - Parameter axis: The axis along which sums run.
    /// - Returns: A tensor of the same shape.
    public func cumulativeSum(alongAxis axis: Int = 0) -> MLTensor {
        let call = TensorCall("cumulativeSum")
        call.requireNumbers(self)
        return call(CumulativeSum(axis: call.axis(axis, rank: rank)), self)
    }

    /// The products of the elements up to and including each one along an axis; integers saturate.
    ///
    /// - Parameter axis: The axis along which products run.
    /// - Returns: A tensor of the same shape.
    public func cumulativeProduct(alongAxis axis: Int = 0) -> MLTensor {
        let call = TensorCall("cumulativeProduct")
        call.requireNumbers(self)
        let place = call.axis(axis, rank: rank)
        let extent = shape[place]
        var result = self
        var reach = 1
        // After each turn every element is the product of the `reach` elements that end with it.
        while reach < extent {
            let parts = result.split(sizes: [reach, extent - reach], alongAxis: place)
            let earlier = result.split(sizes: [extent - reach, reach], alongAxis: place)[0]
            result = parts[0].concatenated(with: parts[1] * earlier, alongAxis: place)
            reach *= 2
        }
        return result
    }
}

extension TensorCall {
    /// The axis along which a greatest or smallest element is looked for.
    fileprivate func choice(_ tensor: MLTensor, _ axis: Int) -> Int {
        requireNumbers(tensor)
        let place = self.axis(axis, rank: tensor.rank)
        require(
            tensor.shape[place] > 0,
            "a tensor of shape \(tensor.shape) has no elements to choose from along axis \(place)"
        )
        return place
    }
}
