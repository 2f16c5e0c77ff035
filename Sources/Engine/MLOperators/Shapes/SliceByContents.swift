package import MLGraph
package import MLNumerics

/// A slice whose steps and masks are operands, too.
///
/// Operands: x, begin [rank], end [rank], and optionally steps, begin mask, end mask and squeeze mask [rank], each
/// replacing the attribute. The result is that of `SliceByIndex`.
package struct SliceByContents: Operator {
    /// The attributes for operands that are absent.
    package var rule: SliceRule
    /// The result's rank when the squeeze mask is computed by the model.
    package var declaredRank: Int?

    package init(_ rule: SliceRule, declaredRank: Int? = nil) {
        self.rule = rule
        self.declaredRank = declaredRank
    }

    package var displayName: String { "nn_slice" }
    package var shapeOperands: [Int] { [1, 2, 3, 4, 5, 6] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let isKnown = (1...6).allSatisfy { !operands.has($0) || operands.constant($0) != nil }
        if isKnown {
            let slice = SliceByIndex(completed { operands.integers($0) })
            let begins = (0...2).map { index -> Operands.Operand? in
                guard let type = try? operands.type(index) else { return nil }
                return Operands.Operand(type: type, constant: operands.constant(index))
            }
            return try slice.resultTypes(of: Operands(begins))
        }
        let squeezed =
            operands.has(6) ? operands.integers(6).map { $0.count { $0 != 0 } } : rule.squeezeMask.count { $0 }
        guard let rank = squeezed.map({ x.rank - $0 }) ?? declaredRank, rank >= 0, rank <= x.rank else {
            throw ModelError(.unsupported, "the rank of a slice follows from data; state it among the layer's outputs")
        }
        return [x.with(Shape(repeating: .unknown, count: rank))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let slice = SliceByIndex(completed { operands.optional($0)?.integers })
        let provided = [operands[0], operands[1], operands[2]]
        let types = try slice.resultTypes(
            of: Operands(provided.map { .init(type: ValueType($0.scalarType, Shape($0.shape)), constant: $0) })
        )
        return try slice.reference(ReferenceOperands(provided, resultTypes: types))
    }

    private func completed(_ integers: (Int) -> [Int]?) -> SliceRule {
        var result = rule
        if let steps = integers(3) { result.steps = steps }
        if let mask = integers(4) { result.beginMask = mask.map { $0 != 0 } }
        if let mask = integers(5) { result.endMask = mask.map { $0 != 0 } }
        if let mask = integers(6) { result.squeezeMask = mask.map { $0 != 0 } }
        return result
    }
}
