package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// Running sums along `axis`.
///
/// [d…] → [d…].
///
/// Operands: x, and, where a layer computes its axis, the axis, which replaces the attribute. `isExclusive` leaves each
/// element out of its own sum; `isReversed` runs from the end.
package struct CumulativeSum: Operator {
    package static let names: [MILName] = ["cumsum"]
    package var axis: Int
    package var isExclusive: Bool
    package var isReversed: Bool

    package init(axis: Int, isExclusive: Bool = false, isReversed: Bool = false) {
        self.axis = axis
        self.isExclusive = isExclusive
        self.isReversed = isReversed
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axis = try arguments.int("axis", default: 0)
        isExclusive = try arguments.bool("exclusive", default: false)
        isReversed = try arguments.bool("reverse", default: false)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        if let provided = operands.integers(1)?.first {
            _ = try operands.axis(provided)
        } else if !operands.has(1) {
            _ = try operands.axis(axis)
        }
        return [try operands.numericType(0)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        var values = x.values
        let axis = operands.optional(1)?.integers.first ?? axis
        let lines = Lines(shape: x.shape, axis: try normalizedAxis(axis, rank: x.shape.count))
        lines.forEach { start in
            var sum = 0.0
            let positions = lines.positions(from: start)
            for position in isReversed ? positions.reversed() : positions {
                let element = values[position]
                values[position] = isExclusive ? sum : sum + element
                sum += element
            }
        }
        return [Tensor(values: values, scalarType: x.scalarType, shape: x.shape)]
    }
}

extension CumulativeSum: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("cumSum", \.cumSum) { parameters, context throws(ModelError) in
                let op = CumulativeSum(
                    axis: context.inputs.count > 1 ? 0 : Int(clamping: parameters.axis),
                    isExclusive: parameters.excludeFinalSum,
                    isReversed: parameters.reverse
                )
                let axis = context.inputs.count > 1 ? try context.integers(context.input(1)) : nil
                try context.finish(try context.add(op, context.input(), axis))
            }
        ]
    }
}

extension CumulativeSum {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), request.isAll(.float32) || request.isAll(.int32),
            let axis = try? normalizedAxis(axis, rank: x.logicalShape.count), x.count > 0
        else { return [] }
        let lines = Lines(shape: x.logicalShape, axis: axis)
        let (isExclusive, isReversed, isInteger) = (isExclusive, isReversed, x.scalarType == .int32)
        return [
            Kernel(
                "running sum",
                inPlaceOperands: [0],
                body: { context in
                    ReductionKernel.cumulativeSum(
                        context.operand(0),
                        into: context.result(),
                        outer: lines.outer,
                        axis: lines.count,
                        inner: lines.stride,
                        isInteger: isInteger,
                        isExclusive: isExclusive,
                        isReversed: isReversed
                    )
                }
            )
        ]
    }
}

extension CumulativeSum: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard !context.has(1) else { throw notDifferentiable("along an axis that is computed") }
        var back = self
        back.isReversed.toggle()
        context.setGradient(ofOperand: 0, to: try context.add(back, context.resultGradient()))
    }
}

extension CumulativeSum {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        guard !context.has(1) else { return nil }
        return try context.overAxis(axis) {
            CumulativeSum(axis: $0, isExclusive: isExclusive, isReversed: isReversed)
        }
    }
}
