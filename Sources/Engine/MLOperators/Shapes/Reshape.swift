package import MLGraph
package import MLNumerics

/// The same elements in the same order, with another shape.
///
/// Operands: x, shape [K]. An extent −1 is inferred; 0 copies the extent of `x` at the same distance from the last axis
/// (1 where `x` has none).
package struct Reshape: Operator {
    package static let names: [MILName] = ["reshape"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("shape")
    }

    package var shapeOperands: [Int] { [1] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let rank = try operands.integerCount(1)
        guard let target = operands.integers(1) else {
            guard let rank else {
                throw ModelError(.unknownRank, "the rank of the new shape must be known; give it a fixed length")
            }
            return [type.with(Shape(repeating: .unknown, count: rank))]
        }
        return [type.with(try Reshape.shape(type.shape, as: target))]
    }

    /// The shape for `target`, with its 0 and −1 resolved.
    static func shape(_ source: Shape, as target: [Int]) throws(ModelError) -> Shape {
        var result: Shape = []
        var open: Int?
        for (axis, extent) in target.enumerated() {
            switch extent {
            case -1:
                guard open == nil else {
                    throw ModelError(.invalidModel, "shape \(target) has more than one -1; leave one extent open")
                }
                open = axis
                result.append(1)
            case 0:
                let place = source.count - (target.count - axis)
                result.append(place >= 0 ? source[place] : 1)
            case 1...: result.append(Dimension(extent))
            default: throw ModelError(.invalidModel, "shape \(target) has a negative extent")
            }
        }
        guard let open else {
            if let given = source.elementCount.count, let wanted = result.elementCount.count, given != wanted {
                throw ModelError(.invalidModel, "\(given) elements of shape \(source) do not fill shape \(target)")
            }
            return result
        }
        // Unknown extents that are copied cancel out.
        let kept = target.enumerated().filter { $0.element == 0 }.map { source.count - (target.count - $0.offset) }
        let numerator = source.enumerated().filter { !kept.contains($0.offset) }.map(\.element).elementCount
        let denominator = target.filter { $0 > 0 }.elementCount
        guard let count = numerator.count else {
            result[open] = .unknown
            return result
        }
        guard denominator > 0, count % denominator == 0 else {
            throw ModelError(.invalidModel, "shape \(source) does not divide into shape \(target)")
        }
        result[open] = Dimension(count / denominator)
        return result
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let shape = try Reshape.shape(Shape(operands[0].shape), as: operands[1].integers).counts ?? operands[0].shape
        return [operands[0].reshaped(shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }
}
