package import MLGraph
package import MLNumerics
import MLSpecification

/// The indices of the nonzero elements, in row-major order: int32 [n, rank].
package struct NonZero: Operator {
    package static let names: [MILName] = ["non_zero"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) { try arguments.operand("x") }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let count = operands.constant(0).map { Dimension($0.values.count { $0 != 0 }) }
        return [ValueType(.int32, [count ?? .unknown, Dimension(type.rank)])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        switch x.scalarType {
        case .float32: return [Self.positions(Float.self, x)]
        case .int32: return [Self.positions(Int32.self, x)]
        case .bool, .uint8, .int8: return [Self.positions(UInt8.self, x)]
        default: return [Self.positions(Double.self, Tensor(values: x.values, scalarType: .float64, shape: x.shape))]
        }
    }

    private static func positions<Element: Numeric & BitwiseCopyable>(_: Element.Type, _ x: Tensor) -> Tensor {
        let rank = x.shape.count
        return x.withElements(of: Element.self) { elements in
            var count = 0
            for element in elements where element != 0 { count += 1 }
            var result = Tensor(uninitialized: .int32, shape: [count, rank])
            result.withMutableElements(of: Int32.self) { positions in
                // The index of the current line, and of the next result.
                var index = [Int32](repeating: 0, count: rank)
                let width = x.shape.last ?? 1
                var next = 0
                for line in 0..<(width == 0 ? 0 : elements.count / width) {
                    var remaining = line
                    for axis in (0..<Swift.max(rank - 1, 0)).reversed() {
                        index[axis] = Int32(truncatingIfNeeded: remaining % x.shape[axis])
                        remaining /= x.shape[axis]
                    }
                    for column in 0..<width where elements[line * width + column] != 0 {
                        guard rank > 0 else { continue }
                        for axis in 0..<(rank - 1) { positions[next + axis] = index[axis] }
                        positions[next + rank - 1] = Int32(truncatingIfNeeded: column)
                        next += rank
                    }
                }
            }
            return result
        }
    }
}

extension NonZero: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("whereNonZero", \.whereNonZero) { _, context throws(ModelError) in
                try context.finish(try context.add(NonZero(), context.input()))
            }
        ]
    }
}
