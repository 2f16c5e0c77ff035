package import MLGraph
package import MLNumerics
import MLSpecification

/// `start`, `start + step`, … up to but not including `end`.
///
/// Operands: start, end, step, scalars of one type. Result [⌈(end − start) / step⌉].
package struct Range1D: Operator {
    package static let names: [MILName] = ["range_1d"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("start")
        try arguments.operand("end")
        try arguments.operand("step")
    }

    package var shapeOperands: [Int] { [0, 1, 2] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let first = try operands.promotedType(0, 1)
        let scalarType = first == .int32 ? try operands.promotedType(0, 2) : first
        guard let start = operands.constant(0)?.values.first, let end = operands.constant(1)?.values.first,
            let step = operands.constant(2)?.values.first
        else { return [ValueType(scalarType, [.unknown])] }
        return [ValueType(scalarType, [Dimension(try count(start, end, step))])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        guard let start = operands[0].values.first, let end = operands[1].values.first,
            let step = operands[2].values.first
        else { throw ModelError(.invalidInput, "start, end and step of a range must be scalars") }
        let count = try count(start, end, step)
        return [
            Tensor(
                values: (0..<count).map { start + Double($0) * step },
                scalarType: operands.scalarType(),
                shape: [count]
            )
        ]
    }

    private func count(_ start: Double, _ end: Double, _ step: Double) throws(ModelError) -> Int {
        let count = ((end - start) / step).rounded(.up)
        guard count.isFinite, count < 2_147_483_648 else {
            throw ModelError(.invalidModel, "a range from \(start) to \(end) by \(step) has no end")
        }
        return try extents([max(Int(count), 0)])[0]
    }
}

extension Range1D: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("rangeStatic", \.rangeStatic) { parameters, context throws(ModelError) in
                try context.finish(
                    try context.range(parameters.endValue, parameters.startValue, parameters.stepSizeValue)
                )
            },
            LayerRule("rangeDynamic", \.rangeDynamic) { parameters, context throws(ModelError) in
                try context.finish(try context.range(0, parameters.startValue, parameters.stepSizeValue))
            },
        ]
    }
}

extension LayerContext {
    /// A range whose end, start and step, in this order, are replaced by inputs, if there are any.
    fileprivate mutating func range(_ end: Float, _ start: Float, _ step: Float) throws(ModelError) -> ValueID {
        var provided = inputs
        for number in [end, start, step].dropFirst(inputs.count) { provided.append(constant(number)) }
        return try add(Range1D(), provided[1], provided[0], provided[2])
    }
}
