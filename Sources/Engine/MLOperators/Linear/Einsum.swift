package import MLGraph
package import MLNumerics

/// A sum of products over named axes: the result has the axes named after the arrow, every other axis is summed. An
/// axis named twice in one operand is its diagonal; extents of 1 are broadcast.
///
/// Operands: as many as the equation names. Result: of the first operand's scalar type.
package struct Einsum: Operator {
    package static let names: [MILName] = ["einsum"]

    /// The equation, such as "nchw,nwhu->nchu": one letter for each axis.
    package var equation: String

    package init(_ equation: String) { self.equation = equation }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.variadicOperand("values")
        equation = try arguments.string("equation")
    }

    /// The letters of each operand and of the result.
    func terms() throws(ModelError) -> (operands: [[Character]], result: [Character]) {
        let plain = equation.filter { $0 != " " }
        guard let arrow = plain.firstRange(of: "->") else {
            throw ModelError(.invalidModel, "einsum equation '\(equation)' has no '->'; state the result's axes")
        }
        let operands = plain[..<arrow.lowerBound].split(separator: ",", omittingEmptySubsequences: false).map(
            Array.init
        )
        let result = Array(plain[arrow.upperBound...])
        let letters = operands.joined() + result
        guard letters.allSatisfy({ $0.isLetter && $0.isASCII }) else {
            throw ModelError(.unsupported, "einsum equation '\(equation)' has axes that are not single letters")
        }
        guard Set(result).count == result.count, Set(result).isSubset(of: Set(operands.joined())) else {
            throw ModelError(.invalidModel, "the result of einsum '\(equation)' repeats an axis or has an unknown one")
        }
        return (operands, result)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let terms = try terms()
        guard terms.operands.count == operands.count else {
            throw ModelError(.invalidModel, "einsum '\(equation)' has \(operands.count) operands")
        }
        var extents: [Character: Dimension] = [:]
        for (index, letters) in terms.operands.enumerated() {
            let shape = try operands.shape(index)
            guard shape.count == letters.count else {
                throw ModelError(.invalidModel, "operand \(index) of einsum '\(equation)' has shape \(shape)")
            }
            for (letter, extent) in zip(letters, shape) {
                extents[letter] = try broadcast([extents[letter] ?? 1], [extent])[0]
            }
        }
        return [ValueType(try operands.type(0).scalarType, terms.result.map { extents[$0] ?? 1 })]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let terms = try terms()
        let summed = Set(terms.operands.joined()).subtracting(terms.result).sorted()
        let letters = terms.result + summed
        var extents: [Character: Int] = [:]
        for (index, names) in terms.operands.enumerated() {
            for (letter, extent) in zip(names, operands[index].shape) where extent != 1 || extents[letter] == nil {
                extents[letter] = extent
            }
        }
        let space = letters.map { extents[$0] ?? 1 }
        var product = [Double](repeating: 1, count: space.elementCount)
        for (index, names) in terms.operands.enumerated() {
            let shape = operands[index].shape
            let strides = shape.rowMajorStrides
            let values = operands[index].values
            let steps = letters.map { letter in
                names.indices.reduce(0) { $0 + (names[$1] == letter && shape[$1] != 1 ? strides[$1] : 0) }
            }
            for (place, offset) in Self.offsets(space, steps).enumerated() { product[place] *= values[offset] }
        }
        let inner = Swift.max(space.dropFirst(terms.result.count).reduce(1, *), 0)
        let result = (0..<operands.shape().elementCount).map { place in
            product[place * inner..<(place + 1) * inner].reduce(0, +)
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: operands.shape())]
    }

    /// The sums of indices times steps, in row-major order of `space`.
    private static func offsets(_ space: [Int], _ steps: [Int]) -> [Int] {
        var offsets = [0]
        for (extent, step) in zip(space, steps) {
            offsets = offsets.flatMap { offset in (0..<extent).map { offset + $0 * step } }
        }
        return offsets
    }
}
