package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// One-hot encoding: a new axis of `size` elements that are `on` at the index and `off` elsewhere; an index out of
/// range gives `off` throughout.
///
/// Operands: indices, size (one integer). [d0…dn] → [d0…, size, …dn]
package struct OneHot: Operator {
    package static let names: [MILName] = ["one_hot"]
    /// The index of the new axis in the result.
    package var axis: Int
    package var on: Double
    package var off: Double
    package var scalarType: ScalarType

    package init(axis: Int, on: Double = 1, off: Double = 0, scalarType: ScalarType) {
        self.axis = axis
        self.on = on
        self.off = off
        self.scalarType = scalarType
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("indices")
        try arguments.operand("one_hot_vector_size")
        axis = try arguments.int("axis", default: -1)
        scalarType = (arguments.type("on_value") ?? arguments.type("off_value"))?.scalarType ?? .int32
        on = try arguments.float("on_value", default: 1)
        off = try arguments.float("off_value", default: 0)
    }

    package var widened: any Operator {
        guard scalarType == .float16 else { return self }
        var copy = self
        copy.scalarType = .float32
        return copy
    }

    package var shapeOperands: [Int] { [1] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        var shape = try operands.numericType(0).shape
        let axisIndex = try normalizedAxis(axis, rank: shape.count + 1)
        let size = operands.integers(1)?.first
        guard (0...Int(Int32.max)).contains(size ?? 0) else {
            throw ModelError(.invalidModel, "a one-hot vector cannot have \(size ?? 0) elements")
        }
        shape.insert(size.map { Dimension($0) } ?? .unknown, at: axisIndex)
        return [ValueType(scalarType, shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let indices = operands[0]
        guard let size = operands[1].integers.first else {
            throw ModelError(.invalidInput, "the size of one-hot vectors must be one integer")
        }
        let axisIndex = try normalizedAxis(axis, rank: indices.shape.count + 1)
        var shape = indices.shape
        shape.insert(size, at: axisIndex)
        let inner = indices.shape[axisIndex...].reduce(1, *)
        var values = [Double](repeating: off, count: try extents(shape).elementCount)
        for (position, index) in indices.integers.enumerated() where (0..<size).contains(index) {
            values[(position / inner * size + index) * inner + position % inner] = on
        }
        return [Tensor(values: values, scalarType: scalarType, shape: shape)]
    }
}

extension OneHot: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("oneHot", \.oneHot) { parameters, context throws(ModelError) in
                let op = OneHot(
                    axis: Int(clamping: parameters.axis),
                    on: Double(parameters.onValue),
                    off: Double(parameters.offValue),
                    scalarType: .float32
                )
                let size =
                    context.inputs.count > 1
                    ? try context.integers(context.input(1))
                    : context.constant(integers: [Int(clamping: parameters.oneHotVectorSize)])
                let indices = try context.integers(context.input())
                try context.finish(try context.add(op, indices, size))
            }
        ]
    }
}

extension OneHot {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let indices = IndexSource(request, 0), let shape = request.operand(0)?.logicalShape,
            let width = scalarType.copyWidth, let axisIndex = try? normalizedAxis(axis, rank: shape.count + 1)
        else { return [] }
        let outer = shape[..<axisIndex].reduce(1, *)
        let size = request.results[0].logicalShape[axisIndex]
        let inner = shape[axisIndex...].reduce(1, *)
        let (on, off) = (Tensor(scalar: on, scalarType), Tensor(scalar: off, scalarType))
        return [
            Kernel("one hot", scratchByteCount: indices.scratchByteCount) { context in
                OneHotKernel.run(
                    indices.pointer(context),
                    into: context.result(),
                    outer: outer,
                    size: size,
                    inner: inner,
                    elementByteCount: width,
                    on: on.address,
                    off: off.address
                )
            }
        ]
    }
}

extension OneHot {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.overAxis(axis, rank: context.rank() + 1) {
            OneHot(axis: $0, on: on, off: off, scalarType: scalarType)
        }
    }
}
