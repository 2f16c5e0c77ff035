package import MLNumerics

/// A type rule's view of an operation's operands.
package struct Operands: Sendable {
    /// Type and, where known, contents of one operand.
    package struct Operand: Sendable {
        package let type: ValueType
        package let constant: Tensor?

        package init(type: ValueType, constant: Tensor? = nil) {
            self.type = type
            self.constant = constant
        }
    }

    private let operands: [Operand?]
    /// For control flow: the types of each body's inputs and outputs.
    package let bodies: [(inputs: [ValueType], outputs: [ValueType])]

    package init(_ operands: [Operand?], bodies: [(inputs: [ValueType], outputs: [ValueType])] = []) {
        self.operands = operands
        self.bodies = bodies
    }

    package var count: Int { operands.count }
    package func has(_ index: Int) -> Bool { index < operands.count && operands[index] != nil }

    /// The type of operand `index`; an error when it is absent.
    package func type(_ index: Int) throws(ModelError) -> ValueType {
        guard index < operands.count, let operand = operands[index] else {
            throw ModelError(.invalidModel, "operand \(index) is missing")
        }
        return operand.type
    }

    package func shape(_ index: Int) throws(ModelError) -> Shape { try type(index).shape }
    package func rank(_ index: Int) throws(ModelError) -> Int { try type(index).rank }

    /// The contents of operand `index`, `nil` when it is absent or not known yet.
    package func constant(_ index: Int) -> Tensor? { index < operands.count ? operands[index]?.constant : nil }

    /// The contents of an integer operand, `nil` when they are not known yet.
    package func integers(_ index: Int) -> [Int]? { constant(index)?.integers }

    /// An axis, counted from the end when negative, checked against the rank of operand `index`.
    package func axis(_ axis: Int, of index: Int = 0) throws(ModelError) -> Int {
        try MLGraph.normalizedAxis(axis, rank: rank(index))
    }
}

/// `axis` counted from the front; an error outside −rank ..< rank.
package func normalizedAxis(_ axis: Int, rank: Int) throws(ModelError) -> Int {
    guard axis >= -rank, axis < Swift.max(rank, 0) else {
        throw ModelError(.invalidModel, "axis \(axis) does not exist in a tensor of rank \(rank)")
    }
    return axis < 0 ? axis + rank : axis
}

/// The broadcast shape of `a` and `b`: aligned at the last axis, extents equal or 1.
package func broadcast(_ a: Shape, _ b: Shape) throws(ModelError) -> Shape {
    var result: Shape = []
    let rank = Swift.max(a.count, b.count)
    for axis in 0..<rank {
        let x = axis - (rank - a.count) >= 0 ? a[axis - (rank - a.count)] : 1
        let y = axis - (rank - b.count) >= 0 ? b[axis - (rank - b.count)] : 1
        switch (x.count, y.count) {
        case (let p?, let q?) where p == q: result.append(x)
        case (1?, _): result.append(y)
        case (_, 1?): result.append(x)
        case (nil, nil): result.append(.unknown)
        case (nil, _): result.append(y)
        case (_, nil): result.append(x)
        default:
            throw ModelError(.invalidModel, "shapes \(a) and \(b) do not broadcast: \(x) against \(y)")
        }
    }
    return result
}

/// The operands of a reference evaluation: whole tensors, in the operator's order.
package struct ReferenceOperands: Sendable {
    private let tensors: [Tensor?]
    /// The types that the type rule inferred for these operands.
    package let resultTypes: [ValueType]

    package init(_ tensors: [Tensor?], resultTypes: [ValueType]) {
        self.tensors = tensors
        self.resultTypes = resultTypes
    }

    package var count: Int { tensors.count }
    package subscript(index: Int) -> Tensor {
        guard let tensor = tensors[index] else { preconditionFailure("operand \(index) is required by the type rule") }
        return tensor
    }
    package func optional(_ index: Int) -> Tensor? { index < tensors.count ? tensors[index] : nil }

    /// The scalar type of result `index`.
    package func scalarType(_ index: Int = 0) -> ScalarType { resultTypes[index].scalarType }
    /// The extents of result `index`, when they do not depend on data.
    package func shape(_ index: Int = 0) -> [Int] {
        guard let counts = resultTypes[index].shape.counts else {
            preconditionFailure("the shape of result \(index) depends on data")
        }
        return counts
    }
}
