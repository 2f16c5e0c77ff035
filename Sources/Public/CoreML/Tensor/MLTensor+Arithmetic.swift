import MLEngine
import MLNumerics
import MLOperators

extension TensorCall {
    /// Tensors cast to their common scalar type.
    ///
    /// That is the type of all, the wider one of two floating-point or two integer types, the floating-point type of a
    /// floating-point and an integer type, and the other type than `Bool`. Literals give way to tensors whose numbers
    /// include theirs.
    func common(_ tensors: [MLTensor]) -> [MLTensor] {
        let firm = tensors.filter { !$0.isLiteral }.map(\.lazy.scalarType)
        let literals = tensors.filter(\.isLiteral).map(\.lazy.scalarType)
        var type = firm.dropFirst().reduce(firm.first) { $0.map { [type = $1] in $0.common(with: type) } }
        for literal in literals {
            guard let present = type else {
                type = literal
                continue
            }
            if firm.isEmpty || literal.kindRank > present.kindRank { type = present.common(with: literal) }
        }
        guard let type else { return tensors }
        return tensors.map { cast($0, to: type) }
    }

    /// The tensor in a scalar type; literals that the type cannot represent end the program.
    func cast(_ tensor: MLTensor, to type: ScalarType) -> MLTensor {
        guard tensor.lazy.scalarType != type else { return tensor }
        if tensor.isLiteral, let known = tensor.lazy.knownElements {
            if let range = type.integerRange {
                require(
                    known.values.allSatisfy { range.contains($0) },
                    "\(known.values) do not fit in \(type.tensorScalar); cast the tensor to a wider type first"
                )
            }
            return MLTensor(LazyTensor(known.converted(to: type)), isLiteral: true)
        }
        return self(Cast(to: type), tensor)
    }

    /// A function of two tensors, element by element, in their common scalar type.
    func combine(_ op: any TensorOperator, _ x: MLTensor, _ y: MLTensor) -> MLTensor {
        results(op, common([x, y]))[0]
    }

    /// The same for functions of numbers, which one of the operands at least must have.
    func arithmetic(_ op: any TensorOperator, _ x: MLTensor, _ y: MLTensor) -> MLTensor {
        let operands = common([x, y])
        requireNumbers(operands[0])
        return results(op, operands)[0]
    }
}

extension ScalarType {
    /// Booleans, integers, floating-point numbers: a kind includes the numbers of those before it.
    fileprivate var kindRank: Int { self == .bool ? 0 : isFloat ? 2 : 1 }

    /// The type in which elements of both types are computed.
    fileprivate func common(with other: ScalarType) -> ScalarType {
        if kindRank != other.kindRank { return kindRank > other.kindRank ? self : other }
        if bitWidth != other.bitWidth { return bitWidth > other.bitWidth ? self : other }
        return integerRange?.lowerBound ?? 0 < 0 ? self : other
    }
}

/// One element as a rank-0 tensor of the engine.
func tensorScalar(_ value: some MLTensorScalar) -> Tensor {
    guard let element = value as? any TensorElement else {
        fatalError("\(value) is not a scalar of a tensor: \(tensorElement(type(of: value)))")
    }
    return Tensor(scalar: element.double, type(of: element).scalarType)
}

extension MLTensor {
    /// A number that takes the scalar type of the tensor that it meets.
    init(operand value: some MLTensorScalar) { self.init(LazyTensor(tensorScalar(value)), isLiteral: true) }

    // MARK: Addition and subtraction

    /// The sum of two tensors, element by element, with broadcasting; integers saturate.
    public static func + (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall("+").arithmetic(Binary<Add>(), lhs, rhs)
    }

    /// The sum of each element and a number.
    public static func + (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs + MLTensor(operand: rhs)
    }

    /// The sum of a number and each element.
    public static func + (lhs: some MLTensorScalar & Numeric, rhs: MLTensor) -> MLTensor {
        MLTensor(operand: lhs) + rhs
    }

    /// Replaces the tensor by the sum of both.
    public static func += (lhs: inout MLTensor, rhs: MLTensor) { lhs = lhs + rhs }

    /// The difference of two tensors, element by element, with broadcasting; integers saturate.
    public static func - (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall("-").arithmetic(Binary<Sub>(), lhs, rhs)
    }

    /// The difference of each element and a number.
    public static func - (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs - MLTensor(operand: rhs)
    }

    /// The difference of a number and each element.
    public static func - (lhs: some MLTensorScalar & Numeric, rhs: MLTensor) -> MLTensor {
        MLTensor(operand: lhs) - rhs
    }

    /// Replaces the tensor by the difference of both.
    public static func -= (lhs: inout MLTensor, rhs: MLTensor) { lhs = lhs - rhs }

    /// The elements with the opposite sign; unsigned integers become 0.
    public static prefix func - (rhs: MLTensor) -> MLTensor {
        let call = TensorCall("prefix -")
        call.requireNumbers(rhs)
        guard rhs.lazy.scalarType.isFloat else { return MLTensor(operand: Int8(0)) - rhs }
        return call.arithmetic(Binary<Mul>(), rhs, MLTensor(operand: Int8(-1)))
    }

    // MARK: Multiplication and division

    /// The product of two tensors, element by element, with broadcasting; integers saturate.
    ///
    /// A tensor of Booleans counts as one of 0 and 1 in the other's type. `matmul(_:)` multiplies matrices.
    public static func * (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall("*").arithmetic(Binary<Mul>(), lhs, rhs)
    }

    /// The product of each element and a number.
    public static func * (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs * MLTensor(operand: rhs)
    }

    /// The product of a number and each element.
    public static func * (lhs: some MLTensorScalar & Numeric, rhs: MLTensor) -> MLTensor {
        MLTensor(operand: lhs) * rhs
    }

    /// Replaces the tensor by the product of both, element by element.
    public static func *= (lhs: inout MLTensor, rhs: MLTensor) { lhs = lhs * rhs }

    /// The quotient of two tensors, element by element, with broadcasting.
    ///
    /// Quotients of integers are truncated toward zero; a division by 0 gives 0.
    public static func / (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall("/").arithmetic(Binary<RealDiv>(), lhs, rhs)
    }

    /// The quotient of each element and a number.
    public static func / (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs / MLTensor(operand: rhs)
    }

    /// The quotient of a number and each element.
    public static func / (lhs: some MLTensorScalar & Numeric, rhs: MLTensor) -> MLTensor {
        MLTensor(operand: lhs) / rhs
    }

    /// Replaces the tensor by the quotient of both.
    public static func /= (lhs: inout MLTensor, rhs: MLTensor) { lhs = lhs / rhs }

    /// The remainder of the division of two tensors, element by element, with broadcasting.
    ///
    /// It is x − y · ⌊x / y⌋, and so has the sign of the divisor; with an integer divisor 0 it is 0.
    public static func % (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall("%").arithmetic(Binary<Mod>(), lhs, rhs)
    }

    /// The remainder of the division of each element by a number.
    public static func % (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs % MLTensor(operand: rhs)
    }

    /// The remainder of the division of a number by each element.
    public static func % (lhs: some MLTensorScalar & Numeric, rhs: MLTensor) -> MLTensor {
        MLTensor(operand: lhs) % rhs
    }

    /// Replaces the tensor by the remainder of the division.
    public static func %= (lhs: inout MLTensor, rhs: MLTensor) { lhs = lhs % rhs }

    // MARK: Powers and products of matrices

    /// Each element raised to the exponent at its place, with broadcasting.
    public func pow(_ exponent: MLTensor) -> MLTensor { TensorCall("pow").arithmetic(Binary<Pow>(), self, exponent) }

    /// Each element raised to a power.
    public func pow(_ exponent: some MLTensorScalar & Numeric) -> MLTensor { pow(MLTensor(operand: exponent)) }

    /// The product of matrices.
    ///
    /// The last two axes hold the matrices, those before are broadcast. An operand with one axis is a row (this one) or a
    /// column (`other`), and its axis is missing in the result: two of them give their inner product.
    ///
    /// - Parameter other: The right factor, whose matrices have as many rows as this tensor's have columns.
    /// - Returns: The products.
    public func matmul(_ other: MLTensor) -> MLTensor { TensorCall("matmul").arithmetic(MatMul(), self, other) }
}

/// The smaller element of two tensors at each place, with broadcasting; NaN where one of them is.
public func pointwiseMin(_ lhs: MLTensor, _ rhs: MLTensor) -> MLTensor {
    TensorCall("pointwiseMin").arithmetic(Binary<Min>(), lhs, rhs)
}

/// The greater element of two tensors at each place, with broadcasting; NaN where one of them is.
public func pointwiseMax(_ lhs: MLTensor, _ rhs: MLTensor) -> MLTensor {
    TensorCall("pointwiseMax").arithmetic(Binary<Max>(), lhs, rhs)
}
