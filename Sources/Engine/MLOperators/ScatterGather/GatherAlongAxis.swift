package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// At each position of `indices` the element of `x` at the same position, except along `axis`, where the index is used.
///
/// Operands: x, indices of the same rank and, except along `axis`, the same extents. Result: the shape of indices.
package struct GatherAlongAxis: Operator {
    package static let names: [MILName] = ["gather_along_axis"]
    package var axis: Int
    package var indexRule: IndexRule

    package init(axis: Int, indexRule: IndexRule = IndexRule()) {
        self.axis = axis
        self.indexRule = indexRule
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("indices")
        axis = try arguments.int("axis", default: 0)
        indexRule = try IndexRule(reading: &arguments)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let indices = try operands.integerType(1).shape
        let axisIndex = try operands.axis(axis)
        try requireAlike(type.shape, indices, except: axisIndex)
        return [type.with(indices)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let indices = operands[1]
        let axisIndex = try normalizedAxis(axis, rank: x.shape.count)
        let extent = x.shape[axisIndex]
        let inner = x.shape[(axisIndex + 1)...].reduce(1, *)
        guard extent > 0 || indices.count == 0 else {
            throw ModelError(.invalidInput, "axis \(axis) has no elements to gather")
        }
        let values = x.values
        var result: [Double] = []
        for (position, index) in indices.integers.enumerated() {
            let line = position / (indices.shape[axisIndex] * inner)
            let source = try indexRule.position(index, extent: extent)
            result.append(values[(line * extent + source) * inner + position % inner])
        }
        return [Tensor(values: result, scalarType: x.scalarType, shape: indices.shape)]
    }
}

extension GatherAlongAxis: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("gatherAlongAxis", \.gatherAlongAxis) { parameters, context throws(ModelError) in
                let op = GatherAlongAxis(axis: Int(clamping: parameters.axis))
                let indices = try context.integers(context.input(1))
                try context.finish(try context.add(op, context.input(), indices))
            }
        ]
    }
}

extension GatherAlongAxis {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        // A kernel cannot report an index outside.
        guard let x = request.operand(0), let indices = IndexSource(request, 1), !indexRule.isValidated,
            let width = x.scalarType.copyWidth, let axisIndex = try? normalizedAxis(axis, rank: x.logicalShape.count),
            x.count > 0, x.layout == .rowMajor
        else { return [] }
        let source = Lines(shape: x.logicalShape, axis: axisIndex)
        let count = request.results[0].logicalShape[axisIndex]
        return [
            Kernel("gather elements", scratchByteCount: indices.scratchByteCount) { context in
                ElementGather.alongAxis(
                    context.operand(0),
                    outer: source.outer,
                    axis: source.count,
                    inner: source.stride,
                    elementByteCount: width,
                    indices: indices.pointer(context),
                    count: count,
                    into: context.result()
                )
            }
        ]
    }
}

extension GatherAlongAxis: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let zeros = try context.zeros()
        let scatter = ScatterAlongAxis(axis: axis, mode: .add, indexRule: indexRule)
        let dx = try context.add(scatter, zeros, context.operand(1), context.resultGradient())
        context.setGradient(ofOperand: 0, to: dx)
    }
}

/// Throws unless the shapes agree in rank and in every extent but that of `axis`.
func requireAlike(_ a: Shape, _ b: Shape, except axis: Int) throws(ModelError) {
    guard a.count == b.count else { throw ModelError(.invalidModel, "shapes \(a) and \(b) must have the same rank") }
    var (x, y) = (a, b)
    x[axis] = 1
    y[axis] = 1
    _ = try unified(x, y)
}

extension GatherAlongAxis {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.overAxis(axis, of: [0, 1]) { GatherAlongAxis(axis: $0, indexRule: indexRule) }
    }
}
