import MLEngine
import MLOperators

/// Padding, and resizing of pictures.
extension MLTensor {
    /// What `padded(forSizes:mode:)` adds.
    public enum PaddingMode: Hashable, Sendable, CustomStringConvertible {
        /// The elements mirrored at the outermost one, which is not repeated.
        case reflection
        /// The elements mirrored at the edge, so that the outermost one is repeated.
        case symmetric
        /// One value, converted to the tensor's scalar type.
        case constant(Float)

        /// The mode's name, and its value if it has one.
        public var description: String {
            switch self {
            case .reflection: "reflection"
            case .symmetric: "symmetric"
            case .constant(let value): "constant(\(value))"
            }
        }
    }

    /// How `resized(to:method:)` computes elements.
    public enum ResizeMethod: Hashable, Sendable, CustomStringConvertible {
        /// The nearest element.
        case nearestNeighbor
        /// The mixture of the four nearest elements.
        ///
        /// With `alignCorners` the centres of the corner elements stay in the corners; otherwise the outer edges of the
        /// picture stay.
        case bilinear(alignCorners: Bool = false)

        /// The method's name, and its choice if it has one.
        public var description: String {
            switch self {
            case .nearestNeighbor: "nearestNeighbor"
            case .bilinear(let alignCorners): "bilinear(alignCorners: \(alignCorners))"
            }
        }
    }

    /// The tensor with elements of one value added around it.
    ///
    /// - Parameters:
    ///   - sizes: For each axis the numbers of elements to add before and after it.
    ///   - value: Their value, converted to the tensor's scalar type.
    /// - Returns: A larger tensor.
    public func padded(forSizes sizes: [(before: Int, after: Int)], with value: Float) -> MLTensor {
        padded(forSizes: sizes, mode: .constant(value))
    }

    /// The tensor with elements added around it.
    ///
    /// - Parameters:
    ///   - sizes: For each axis the numbers of elements to add before and after it: less than the extent for `.reflection`, at
    ///     most the extent for `.symmetric`.
    ///   - mode: What is added.
    /// - Returns: A larger tensor.
    public func padded(forSizes sizes: [(before: Int, after: Int)], mode: PaddingMode) -> MLTensor {
        let call = TensorCall("padded")
        call.require(
            sizes.count == rank && sizes.allSatisfy { $0.before >= 0 && $0.after >= 0 },
            "sizes \(sizes) do not fit shape \(shape); give two numbers of 0 or more for each axis"
        )
        guard sizes.contains(where: { $0 != (0, 0) }) else { return self }
        let amounts = sizes.flatMap { [$0.before, $0.after] }
        func requireReach(_ reach: (Int) -> Int) {
            for (axis, size) in sizes.enumerated() {
                call.require(
                    Swift.max(size.before, size.after) <= reach(shape[axis]),
                    "axis \(axis) of shape \(shape) has too few elements to mirror \(size); pad in several steps"
                )
            }
        }
        switch mode {
        case .constant(let value):
            if scalarCount == 0 {
                let padded = zip(shape, sizes).map { $0 + $1.before + $1.after }
                return call(Cast(to: lazy.scalarType), MLTensor(repeating: value, shape: padded))
            }
            return call(Pad(mode: .constant, value: Double(value)), self, parameters: amounts)
        case .reflection:
            requireReach { Swift.max($0 - 1, 0) }
            return call(Pad(mode: .reflect), self, parameters: amounts)
        case .symmetric:
            requireReach { $0 }
            var result = self
            for (axis, size) in sizes.enumerated() where size != (0, 0) { result = result.mirrored(axis, size) }
            return result
        }
    }

    /// The tensor with its first and last elements along an axis mirrored at the edge.
    private func mirrored(_ axis: Int, _ size: (before: Int, after: Int)) -> MLTensor {
        let extent = shape[axis]
        let first = split(sizes: [size.before, extent - size.before], alongAxis: axis)[0]
        let last = split(sizes: [extent - size.after, size.after], alongAxis: axis)[1]
        return MLTensor(
            concatenating: [first.reversed(alongAxes: axis), self, last.reversed(alongAxes: axis)]
                .filter { $0.shape[axis] > 0 },
            alongAxis: axis
        )
    }

    /// Pictures in another size.
    ///
    /// - Parameters:
    ///   - size: The new extents of the last two axes, 1 or more.
    ///   - method: How elements are computed.
    /// - Returns: A tensor of the same rank.
    public func resized(
        to size: (newHeight: Int, newWidth: Int),
        method: ResizeMethod = .nearestNeighbor
    ) -> MLTensor {
        let call = TensorCall("resized")
        call.requireFloats(self)
        call.require(
            rank == 3 || rank == 4,
            "a tensor of shape \(shape) holds no images; use [channels, height, width] or [batch, channels, height, width]"
        )
        call.require(
            size.newHeight > 0 && size.newWidth > 0 && shape[rank - 2] > 0 && shape[rank - 1] > 0,
            "images of shape \(shape) cannot become \(size.newHeight) × \(size.newWidth)"
        )
        let extents = ResizeAttributes.Target.extents([size.newHeight, size.newWidth])
        return switch method {
        case .nearestNeighbor: call(ResizeNearestNeighbor(extents, .nearest(.standard)), self)
        case .bilinear(let alignCorners):
            call(ResizeBilinear(extents, .linear(alignCorners ? .strictAlignCorners : .unalignCorners)), self)
        }
    }
}
