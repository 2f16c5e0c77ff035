package import MLGraph
package import MLNumerics

/// The axes permuted: axis `i` of the result is axis `permutation[i]` of `x`.
package struct Transpose: Rearrangement {
    package static let names: [MILName] = ["transpose"]
    /// Negative entries count from the end.
    package var permutation: [Int]

    package init(_ permutation: [Int]) { self.permutation = permutation }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        permutation = try arguments.ints("perm")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        return [type.with(try normalizedPermutation(rank: type.rank).map { type.shape[$0] })]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        x.transposed(try normalizedPermutation(rank: x.shape.count))
    }

    /// The permutation with every axis counted from the front.
    package func normalizedPermutation(rank: Int) throws(ModelError) -> [Int] {
        var result: [Int] = []
        for axis in permutation { result.append(try normalizedAxis(axis, rank: rank)) }
        guard result.sorted() == Array(0..<rank) else {
            throw ModelError(.invalidModel, "\(permutation) is no permutation of the axes of rank \(rank)")
        }
        return result
    }
}
