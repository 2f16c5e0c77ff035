package import MLGraph
package import MLNumerics

/// The number of elements of a list, an int32 scalar.
package struct ListLength: Operator {
    package static let names: [MILName] = ["list_length"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) { try arguments.operand("ls") }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        _ = try listType(operands)
        return [ValueType(.int32, [])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [Tensor(scalar: Double(operands[0].shape[0]), .int32)]
    }
}

/// The element of a list at an index.
///
/// Operands: list, index (a scalar).
package struct ListRead: Operator {
    package static let names: [MILName] = ["list_read"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("ls")
        try arguments.operand("index")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let list = try listType(operands)
        _ = try operands.integerType(1)
        return [ValueType(list.scalarType, Shape(list.shape.dropFirst()))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let elements = try operands[0].rows(operands[1].integers)
        return [elements.reshaped(Array(elements.shape.dropFirst()))]
    }
}

/// The elements of a list at several indices, stacked on a new first axis.
///
/// Operands: list, indices [n].
package struct ListGather: Operator {
    package static let names: [MILName] = ["list_gather"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("ls")
        try arguments.operand("indices")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let list = try listType(operands)
        _ = try operands.integerCount(1)
        return [ValueType(list.scalarType, try operands.shape(1) + list.shape.dropFirst())]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [try operands[0].rows(operands[1].integers)]
    }
}

/// A list with the element at an index replaced; the list grows when it is too short.
///
/// Operands: list, index (a scalar), value.
package struct ListWrite: Operator {
    package static let names: [MILName] = ["list_write"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("ls")
        try arguments.operand("index")
        try arguments.operand("value")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        _ = try operands.integerType(1)
        return [try writtenType(operands, element: operands.shape(2))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [try operands[0].replacingRows(operands[1].integers, by: operands[2].reshaped([1] + operands[2].shape))]
    }
}

/// A list with the elements at several indices replaced; the list grows when it is too short.
///
/// Operands: list, indices [n], values [n, …].
package struct ListScatter: Operator {
    package static let names: [MILName] = ["list_scatter"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("ls")
        try arguments.operand("indices")
        try arguments.operand("value")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        _ = try operands.integerCount(1)
        guard let count = try operands.shape(2).first else {
            throw ModelError(.invalidModel, "values scattered into a list need rank 1 or more")
        }
        _ = try unified(count, operands.shape(1)[0])
        return [try writtenType(operands, element: Shape(operands.shape(2).dropFirst()))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [try operands[0].replacingRows(operands[1].integers, by: operands[2])]
    }
}

/// The type of operand 0, which must be a list.
private func listType(_ operands: Operands) throws(ModelError) -> ValueType {
    let type = try operands.type(0)
    guard type.kind == .list, type.rank > 0 else {
        throw ModelError(.invalidModel, "operand 0 must be a list, not \(type)")
    }
    return type
}

/// The type of list 0 after elements of shape `element` were written to it: it may have grown, and an extent of 0,
/// which `MakeList` uses for extents that the first element determines, becomes the element's.
private func writtenType(_ operands: Operands, element: Shape) throws(ModelError) -> ValueType {
    let list = try listType(operands)
    let elementShape = list.shape.dropFirst()
    guard elementShape.count == element.count else {
        throw ModelError(
            .invalidModel,
            "elements of shape \(element) do not fit a list of elements \(Shape(elementShape))"
        )
    }
    let undecided = zip(elementShape, element).map { $0.count == 0 ? $1 : $0 }
    return list.with([.unknown] + (try unified(undecided, element)))
}

extension Tensor {
    /// The elements at `indices` of the first axis.
    fileprivate func rows(_ indices: [Int]) throws(ModelError) -> Tensor {
        let size = scalarType.byteCount(of: shape.dropFirst().reduce(1, *))
        let whole = try extents([indices.count] + shape.dropFirst())
        let result = Tensor(uninitialized: scalarType, shape: whole)
        for (position, index) in indices.enumerated() {
            guard (0..<shape[0]).contains(index) else {
                throw ModelError(.invalidInput, "element \(index) of a list of \(shape[0]) was never written")
            }
            (result.address + position * size).copyMemory(from: address + index * size, byteCount: size)
        }
        return result
    }

    /// The tensor with `elements` at `indices` of the first axis, grown as needed.
    fileprivate func replacingRows(_ indices: [Int], by elements: Tensor) throws(ModelError) -> Tensor {
        let element = Array(elements.shape.dropFirst())
        guard indices.count == elements.shape[0], indices.allSatisfy({ (0..<1 << 40).contains($0) }),
            count == 0 || Array(shape.dropFirst()) == element, elements.scalarType == scalarType
        else {
            throw ModelError(
                .invalidInput,
                "elements of shape \(element) at \(indices) do not fit a list of elements \(shape.dropFirst())"
            )
        }
        let length = max(shape[0], (indices.max() ?? -1) + 1)
        let result = Tensor(uninitialized: scalarType, shape: try extents([length] + element), zeroed: true)
        result.address.copyMemory(from: address, byteCount: byteCount)
        let size = scalarType.byteCount(of: element.reduce(1, *))
        for (position, index) in indices.enumerated() {
            (result.address + index * size).copyMemory(from: elements.address + position * size, byteCount: size)
        }
        return result
    }
}
