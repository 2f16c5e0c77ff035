import MLEngine
import MLOperators

/// Functions of each element. Those of real numbers take floating-point elements; cast integers first.
extension MLTensor {
    private func real(_ name: String, _ op: any TensorOperator) -> MLTensor {
        let call = TensorCall(name)
        call.requireFloats(self)
        return call(op, self)
    }

    private func number(_ name: String, _ op: any TensorOperator) -> MLTensor {
        let call = TensorCall(name)
        call.requireNumbers(self)
        return call(op, self)
    }

    // MARK: Numbers

    /// The absolute value of each element.
    public func abs() -> MLTensor { number("abs", Unary<Abs>()) }
    /// 1 for elements above 0, −1 for those below, and the element itself for 0 and NaN.
    public func sign() -> MLTensor { number("sign", Unary<Sign>()) }
    /// The square of each element.
    public func squared() -> MLTensor { number("squared", Unary<Square>()) }
    /// The square root of each element; NaN below 0.
    public func squareRoot() -> MLTensor { real("squareRoot", Unary<Sqrt>()) }
    /// One divided by the square root of each element.
    public func rsqrt() -> MLTensor { real("rsqrt", Unary(Rsqrt(epsilon: 0))) }
    /// One divided by each element.
    public func reciprocal() -> MLTensor { real("reciprocal", Unary(Inverse(epsilon: 0))) }

    /// Each element rounded up to a whole number.
    public func ceil() -> MLTensor { number("ceil", Unary<Ceil>()) }
    /// Each element rounded down to a whole number.
    public func floor() -> MLTensor { number("floor", Unary<Floor>()) }
    /// Each element rounded to the nearest whole number, halves to the even one.
    public func round() -> MLTensor { number("round", Unary<Round>()) }

    // MARK: Exponentials and logarithms

    /// e raised to each element.
    public func exp() -> MLTensor { real("exp", Unary<Exp>()) }
    /// 2 raised to each element.
    public func exp2() -> MLTensor { real("exp2", Unary<Exp2>()) }
    /// The natural logarithm of each element: −∞ at 0, NaN below.
    public func log() -> MLTensor { real("log", Unary(Log(epsilon: 0))) }

    // MARK: Trigonometry

    /// The sine of each element, an angle in radians.
    public func sin() -> MLTensor { real("sin", Unary<Sin>()) }
    /// The cosine of each element, an angle in radians.
    public func cos() -> MLTensor { real("cos", Unary<Cos>()) }
    /// The tangent of each element, an angle in radians.
    public func tan() -> MLTensor { real("tan", Unary<Tan>()) }
    /// The angle in radians whose sine is the element.
    public func asin() -> MLTensor { real("asin", Unary<Asin>()) }
    /// The angle in radians whose cosine is the element.
    public func acos() -> MLTensor { real("acos", Unary<Acos>()) }
    /// The angle in radians whose tangent is the element.
    public func atan() -> MLTensor { real("atan", Unary<Atan>()) }
    /// The hyperbolic sine of each element.
    public func sinh() -> MLTensor { real("sinh", Unary<Sinh>()) }
    /// The hyperbolic cosine of each element.
    public func cosh() -> MLTensor { real("cosh", Unary<Cosh>()) }
    /// The hyperbolic tangent of each element.
    public func tanh() -> MLTensor { real("tanh", Unary<Tanh>()) }
    /// The number whose hyperbolic sine is the element.
    public func asinh() -> MLTensor { real("asinh", Unary<Asinh>()) }
    /// The number whose hyperbolic cosine is the element.
    public func acosh() -> MLTensor { real("acosh", Unary<Acosh>()) }
    /// The number whose hyperbolic tangent is the element.
    public func atanh() -> MLTensor { real("atanh", Unary<Atanh>()) }

    // MARK: Bounds

    /// Each element, or the nearest bound when it lies outside.
    public func clamped(to bounds: ClosedRange<Float>) -> MLTensor {
        number("clamped", Unary(Clip(lower: Double(bounds.lowerBound), upper: Double(bounds.upperBound))))
    }

    /// Each element, or the bound when it lies below.
    public func clamped(to bounds: PartialRangeFrom<Float>) -> MLTensor {
        number("clamped", Unary(Threshold(alpha: Double(bounds.lowerBound))))
    }

    /// Each element, or the bound when it lies above.
    public func clamped(to bounds: PartialRangeThrough<Float>) -> MLTensor {
        number("clamped", Unary(Clip(lower: -Double.infinity, upper: Double(bounds.upperBound))))
    }

    // MARK: Softmax

    /// The exponentials of the elements, divided by their sum along an axis.
    ///
    /// - Parameter axis: The axis along which the results add up to 1.
    /// - Returns: A tensor of the same shape.
    public func softmax(alongAxis axis: Int = -1) -> MLTensor {
        let call = TensorCall("softmax")
        call.requireFloats(self)
        return call(Softmax(axis: call.axis(axis, rank: rank)), self)
    }

    // MARK: Scalar types

    /// The elements in another scalar type.
    ///
    /// Floating-point numbers are rounded to nearest even; toward integers they are truncated toward zero and saturate, and
    /// NaN becomes 0. `Bool` is where elements are not 0; Booleans become 0 and 1.
    ///
    /// - Parameter scalarType: The new type of the elements.
    /// - Returns: A tensor of the same shape.
    public func cast<Scalar>(to scalarType: Scalar.Type) -> MLTensor where Scalar: MLTensorScalar {
        let type = tensorElement(scalarType).scalarType
        return lazy.scalarType == type ? self : TensorCall("cast")(Cast(to: type), self)
    }

    /// The elements in the scalar type of another tensor.
    public func cast(like other: MLTensor) -> MLTensor {
        lazy.scalarType == other.lazy.scalarType ? self : TensorCall("cast")(Cast(to: other.lazy.scalarType), self)
    }
}
