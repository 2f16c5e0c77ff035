import MLOperators

/// Comparisons and logic: tensors of Booleans.
extension MLTensor {
    // MARK: Comparisons

    /// Where the elements of two tensors are equal, with broadcasting: a tensor of Booleans.
    public static func .== (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall(".==").combine(Binary<Equal>(), lhs, rhs)
    }

    /// Where elements equal a number: a tensor of Booleans.
    public static func .== (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs .== MLTensor(operand: rhs)
    }

    /// Where the elements of two tensors differ, with broadcasting: a tensor of Booleans.
    public static func .!= (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall(".!=").combine(Binary<NotEqual>(), lhs, rhs)
    }

    /// Where elements differ from a number: a tensor of Booleans.
    public static func .!= (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs .!= MLTensor(operand: rhs)
    }

    /// Where the elements of one tensor are less than those of another, with broadcasting: a tensor of Booleans.
    public static func .< (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall(".<").arithmetic(Binary<Less>(), lhs, rhs)
    }

    /// Where elements are less than a number: a tensor of Booleans.
    public static func .< (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs .< MLTensor(operand: rhs)
    }

    /// Where the elements of one tensor are at most those of another, with broadcasting: a tensor of Booleans.
    public static func .<= (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall(".<=").arithmetic(Binary<LessEqual>(), lhs, rhs)
    }

    /// Where elements are at most a number: a tensor of Booleans.
    public static func .<= (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs .<= MLTensor(operand: rhs)
    }

    /// Where the elements of one tensor are greater than those of another, with broadcasting: a tensor of Booleans.
    public static func .> (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall(".>").arithmetic(Binary<Greater>(), lhs, rhs)
    }

    /// Where elements are greater than a number: a tensor of Booleans.
    public static func .> (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs .> MLTensor(operand: rhs)
    }

    /// Where the elements of one tensor are at least those of another, with broadcasting: a tensor of Booleans.
    public static func .>= (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall(".>=").arithmetic(Binary<GreaterEqual>(), lhs, rhs)
    }

    /// Where elements are at least a number: a tensor of Booleans.
    public static func .>= (lhs: MLTensor, rhs: some MLTensorScalar & Numeric) -> MLTensor {
        lhs .>= MLTensor(operand: rhs)
    }

    // MARK: Logic

    /// Where both of two tensors of Booleans are true, with broadcasting.
    public static func .& (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall(".&").logic(Binary<LogicalAnd>(), lhs, rhs)
    }

    /// Where one of two tensors of Booleans, or both, are true, with broadcasting.
    public static func .| (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall(".|").logic(Binary<LogicalOr>(), lhs, rhs)
    }

    /// Where exactly one of two tensors of Booleans is true, with broadcasting.
    public static func .^ (lhs: MLTensor, rhs: MLTensor) -> MLTensor {
        TensorCall(".^").logic(Binary<LogicalXor>(), lhs, rhs)
    }

    /// Where a tensor of Booleans is false.
    public static prefix func .! (rhs: MLTensor) -> MLTensor {
        let call = TensorCall("prefix .!")
        call.requireBooleans(rhs)
        return call(Unary<LogicalNot>(), rhs)
    }
}

extension TensorCall {
    fileprivate func logic(_ op: any TensorOperator, _ x: MLTensor, _ y: MLTensor) -> MLTensor {
        requireBooleans(x, y)
        return self(op, x, y)
    }
}
