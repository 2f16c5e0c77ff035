package import MLGraph
package import MLNumerics

/// Checks that several type rules share.
extension Operands {
    /// The type of an operand that must be a tensor of numbers or Booleans.
    package func numericType(_ index: Int) throws(ModelError) -> ValueType {
        let type = try type(index)
        guard type.kind == .tensor, type.scalarType != .string else {
            throw ModelError(.invalidModel, "operand \(index) must be a tensor of numbers, not \(type)")
        }
        return type
    }

    /// The type of an operand of integers: indices, shapes, axes.
    package func integerType(_ index: Int) throws(ModelError) -> ValueType {
        let type = try type(index)
        guard type.kind == .tensor, type.scalarType.isInteger else {
            throw ModelError(.invalidModel, "operand \(index) must be a tensor of integers, not \(type)")
        }
        return type
    }

    /// The number of elements of a rank-1 operand of integers, `nil` while unknown.
    package func integerCount(_ index: Int) throws(ModelError) -> Int? {
        let type = try integerType(index)
        guard type.rank == 1 else {
            throw ModelError(.invalidModel, "operand \(index) must have rank 1, not \(type.rank)")
        }
        return type.shape[0].count
    }

    /// The scalar type in which operands of the two types are computed: the common one, or the wider one of the same
    /// kind.
    package func promotedType(_ a: Int, _ b: Int) throws(ModelError) -> ScalarType {
        let x = try numericType(a).scalarType
        let y = try numericType(b).scalarType
        if x == y { return x }
        if x.isFloat, y.isFloat { return x.bitWidth > y.bitWidth ? x : y }
        if x.isInteger, y.isInteger {
            if x.bitWidth != y.bitWidth { return x.bitWidth > y.bitWidth ? x : y }
            return x.integerRange?.lowerBound ?? 0 < 0 ? x : y
        }
        throw ModelError(
            .invalidModel,
            "operands of types \(x.milName) and \(y.milName) cannot be combined; cast one of them"
        )
    }

    /// Whether the given operands among `indices` are float32: kernels take them in any layout.
    package func areFloat32(_ indices: Range<Int>) -> Bool {
        indices.allSatisfy { (try? type($0))?.scalarType ?? .float32 == .float32 }
    }

    /// Throws unless operand `index` has rank `rank`.
    package func require(rank: Int, of index: Int) throws(ModelError) -> Shape {
        let shape = try shape(index)
        guard shape.count == rank else {
            throw ModelError(.invalidModel, "operand \(index) must have rank \(rank), not \(shape.count)")
        }
        return shape
    }
}

/// `a` and `b` merged into one extent; an error when both are known and differ.
package func unified(_ a: Dimension, _ b: Dimension) throws(ModelError) -> Dimension {
    guard a.isKnown else { return b }
    guard !b.isKnown || a == b else { throw ModelError(.invalidModel, "the extents \(a) and \(b) must be equal") }
    return a
}

/// Shapes merged extent by extent; an error when ranks or known extents differ.
package func unified(_ a: Shape, _ b: Shape) throws(ModelError) -> Shape {
    guard a.count == b.count else { throw ModelError(.invalidModel, "shapes \(a) and \(b) must be equal") }
    var result: Shape = []
    for (x, y) in zip(a, b) {
        guard !x.isKnown || !y.isKnown || x == y else {
            throw ModelError(.invalidModel, "shapes \(a) and \(b) must be equal")
        }
        result.append(x.isKnown ? x : y)
    }
    return result
}
