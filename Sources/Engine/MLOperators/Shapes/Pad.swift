package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// `x` with elements added before and after on its last axes.
///
/// Operands: x, amounts [2·N]: before and after for each of the last N axes. Added elements are `value`, or those of
/// `x` mirrored without its edge, or its edge repeated.
package struct Pad: Operator {
    package enum Mode: String, Hashable, Sendable, Codable {
        case constant, reflect, replicate
    }

    package static let names: [MILName] = ["pad"]
    package var mode: Mode
    package var value: Double

    package init(mode: Mode, value: Double = 0) {
        self.mode = mode
        self.value = value
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("pad")
        let name = try arguments.string("mode", default: Mode.constant.rawValue)
        guard let mode = Mode(rawValue: name) else {
            throw ModelError(.invalidModel, "'\(name)' is not a mode of pad; use constant, reflect or replicate")
        }
        self.mode = mode
        value = try arguments.float("constant_val", default: 0)
    }

    package var shapeOperands: [Int] { [1] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        guard let count = try operands.integerCount(1), count % 2 == 0, count / 2 <= type.rank else {
            throw ModelError(.invalidModel, "padding amounts must be pairs, at most one for each axis")
        }
        var shape = type.shape
        let first = type.rank - count / 2
        guard let amounts = operands.integers(1) else {
            for axis in first..<type.rank { shape[axis] = .unknown }
            return [type.with(shape)]
        }
        for axis in first..<type.rank {
            let (before, behind) = (amounts[(axis - first) * 2], amounts[(axis - first) * 2 + 1])
            guard (0...Int(Int32.max)).contains(before), (0...Int(Int32.max)).contains(behind) else {
                throw ModelError(
                    .invalidModel,
                    "padding amounts \(before) and \(behind) must not be negative; use a slice to remove elements"
                )
            }
            if let extent = type.shape[axis].count, before + behind > 0 {
                guard extent > 0 || mode == .constant else {
                    throw ModelError(.invalidModel, "padding by \(mode) needs elements, but axis \(axis) has none")
                }
            }
            shape[axis] = shape[axis] + Dimension(before) + Dimension(behind)
        }
        return [type.with(shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let type = try resultTypes(
            of: Operands([.init(type: ValueType(x)), .init(type: ValueType(operands[1]), constant: operands[1])])
        )
        let shape = type[0].shape.counts ?? x.shape
        let tables = tables(x.shape, operands[1].integers)
        let strides = x.shape.rowMajorStrides
        let values = x.values
        var result = [Double](repeating: value, count: shape.elementCount)
        var position = 0
        func visit(_ axis: Int, _ base: Int?) {
            if axis == shape.count {
                if let base { result[position] = values[base] }
                position += 1
                return
            }
            for source in tables[axis] {
                visit(axis + 1, base.flatMap { base in source.map { base + $0 * strides[axis] } })
            }
        }
        visit(0, 0)
        return [Tensor(values: result, scalarType: x.scalarType, shape: shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let amounts = request.operand(1)?.constant?.integers,
            let width = x.scalarType.copyWidth, x.count > 0, x.logicalShape.count <= 8,
            x.layout == request.results[0].layout
        else { return [] }
        if amounts.allSatisfy({ $0 == 0 }) { return [Kernel(aliasing: 0)] }
        let constant = Tensor(scalar: value, x.scalarType)
        let tables = x.layout.physical(tables(x.logicalShape, amounts))
        return [
            Kernel("indexed copy") {
                let copy = IndexedCopy(sourceShape: x.shape, selections: tables, elementByteCount: width)
                return { context in
                    copy.run(context.operand(0), context.result(), constant: constant.address)
                }
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { operands.constant(1) != nil ? .agnostic : .rowMajor }

    /// For each index on each axis of the result the index in `x`; `nil` for the constant.
    package func tables(_ shape: [Int], _ amounts: [Int]) -> [[Int?]] {
        let first = shape.count - amounts.count / 2
        return shape.enumerated().map { axis, extent in
            guard axis >= first else { return Array(0..<extent) }
            let (before, behind) = (amounts[(axis - first) * 2], amounts[(axis - first) * 2 + 1])
            return (0..<(before + extent + behind)).map { position in
                let source = position - before
                switch mode {
                case .constant: return (0..<extent).contains(source) ? source : nil
                case .replicate: return min(max(source, 0), extent - 1)
                case .reflect:
                    // A mirror at either end, repeatedly when there is more to fill than the array has.
                    let period = max(2 * (extent - 1), 1)
                    let folded = (source % period + period) % period
                    return folded < extent ? folded : period - folded
                }
            }
        }
    }
}

extension Pad: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("padding", \.padding) { parameters, context throws(ModelError) in
                let amounts = parameters.paddingAmounts.borderAmounts
                guard amounts.isEmpty || amounts.count == 2 else {
                    throw ModelError(
                        .invalidModel,
                        "the padding has \(amounts.count) margins; one for the height and one for the width are needed"
                    )
                }
                let pairs = amounts.flatMap { [Int(clamping: $0.startEdgeSize), Int(clamping: $0.endEdgeSize)] }
                let op: Pad
                switch parameters.paddingType {
                case .constant(let constant): op = Pad(mode: .constant, value: Double(constant.value))
                case .reflection: op = Pad(mode: .reflect)
                case .replication: op = Pad(mode: .replicate)
                case nil: op = Pad(mode: .constant)
                }
                try context.finish(try context.add(op, context.input(), context.constant(integers: pairs)))
            },
            LayerRule("constantPad", \.constantPad) { parameters, context throws(ModelError) in
                let x = try context.input()
                var amounts =
                    context.inputs.count > 1
                    ? try context.integers(context.input(1))
                    : context.constant(integers: integers(parameters.padAmounts))
                if parameters.padToGivenOutputSizeMode { amounts = try context.missing(to: amounts, from: x) }
                try context.finish(
                    try context.add(Pad(mode: .constant, value: Double(parameters.value)), x, amounts)
                )
            },
        ]
    }
}

extension LayerContext {
    /// The amounts to add before and after on every axis of `x` to reach the extents `sizes`, of which at most one of
    /// each pair is not 0.
    fileprivate mutating func missing(to sizes: ValueID, from x: ValueID) throws(ModelError) -> ValueID {
        let rank = rank(of: x)
        let shape = try add(ExpandDims(axes: [1]), add(ShapeOf(), x))
        let twice = try add(Tile(), shape, constant(integers: [1, 2]))
        let extents = try add(Reshape(), twice, constant(integers: [2 * rank]))
        let zero = builder.constant(Tensor([0] as [Int32], shape: [1]))
        return try add(Binary<Max>(), add(Binary<Sub>(), sizes, extents), zero)
    }
}

extension Pad: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let shape = try context.extents(context.operand())
        guard let amounts = context.builder.constant(try context.operand(1))?.integers else {
            throw notDifferentiable("by amounts that are computed")
        }
        guard mode == .constant else { return try context.setMovedGradient(by: self) }
        let lead = shape.count - amounts.count / 2
        let begin = shape.indices.map { $0 < lead ? 0 : amounts[($0 - lead) * 2] }
        let dx = try context.add(
            SliceBySize(),
            context.resultGradient(),
            context.integers(begin),
            context.integers(shape)
        )
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension Pad {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        guard let amounts = context.integers(1) else { return nil }
        let reachesFirst = amounts.count == 2 * context.rank() && amounts.prefix(2) != [0, 0]
        return reachesFirst ? try context.shifted(self) : try context.elements(self)
    }
}
