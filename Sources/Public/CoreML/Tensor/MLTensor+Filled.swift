import MLEngine
import MLNumerics
import MLOperators

/// Tensors of one value, of sequences and of random numbers.
extension MLTensor {
    /// A tensor of one repeated number.
    ///
    /// - Parameters:
    ///   - repeatedValue: The value of every element.
    ///   - shape: The extent of each axis, outermost first.
    public init(repeating repeatedValue: Float, shape: [Int]) {
        self.init(repeating: repeatedValue, shape: shape, scalarType: Float.self)
    }

    /// A tensor of one repeated value.
    ///
    /// - Parameters:
    ///   - repeatedValue: The value of every element.
    ///   - shape: The extent of each axis, outermost first.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(repeating repeatedValue: Scalar, shape: [Int], scalarType: Scalar.Type = Scalar.self)
    where Scalar: MLTensorScalar {
        self.init(filled: tensorScalar(repeatedValue), shape, "init(repeating:shape:scalarType:)")
    }

    /// A tensor of floating-point zeros.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(zeros shape: [Int], scalarType: Scalar.Type = Scalar.self)
    where Scalar: MLTensorScalar, Scalar: BinaryFloatingPoint, Scalar.RawSignificand: FixedWidthInteger {
        self.init(filled: tensorScalar(Scalar.zero), shape, "init(zeros:scalarType:)")
    }

    /// A tensor of integer zeros.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(zeros shape: [Int], scalarType: Scalar.Type = Scalar.self)
    where Scalar: MLTensorScalar, Scalar: FixedWidthInteger {
        self.init(filled: tensorScalar(Scalar.zero), shape, "init(zeros:scalarType:)")
    }

    /// A tensor of floating-point ones.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(ones shape: [Int], scalarType: Scalar.Type = Scalar.self)
    where Scalar: MLTensorScalar, Scalar: BinaryFloatingPoint, Scalar.RawSignificand: FixedWidthInteger {
        self.init(filled: tensorScalar(1 as Scalar), shape, "init(ones:scalarType:)")
    }

    /// A tensor of integer ones.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(ones shape: [Int], scalarType: Scalar.Type = Scalar.self)
    where Scalar: MLTensorScalar, Scalar: FixedWidthInteger {
        self.init(filled: tensorScalar(1 as Scalar), shape, "init(ones:scalarType:)")
    }

    private init(filled value: Tensor, _ shape: [Int], _ name: String) {
        let call = TensorCall(name)
        call.require(checkedCount(of: shape) != nil, "\(shape) is not a shape; extents are 0 or more")
        self = call.results(Fill(value: value.values[0], scalarType: value.scalarType), [], parameters: [shape])[0]
    }

    // MARK: Sequences

    /// A tensor of one axis: `start`, `start + stride`, … up to but not including `end`.
    ///
    /// - Parameters:
    ///   - start: The first element.
    ///   - end: The bound, which is no element.
    ///   - stride: The distance between neighbours, greater than 0.
    public init(rangeFrom start: Float, to end: Float, by stride: Float.Stride) {
        self.init(rangeFrom: start, to: end, by: stride, scalarType: Float.self)
    }

    /// A tensor of one axis: `start`, `start + stride`, … up to but not including `end`.
    ///
    /// - Parameters:
    ///   - start: The first element.
    ///   - end: The bound, which is no element.
    ///   - stride: The distance between neighbours, greater than 0.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(
        rangeFrom start: Scalar,
        to end: Scalar,
        by stride: Scalar.Stride,
        scalarType: Scalar.Type = Scalar.self
    ) where Scalar: MLTensorScalar, Scalar: Strideable {
        TensorCall("init(rangeFrom:to:by:scalarType:)").require(
            stride > 0,
            "the stride \(stride) is not greater than 0; reverse the tensor for a descending sequence"
        )
        self.init(Array(Swift.stride(from: start, to: end, by: stride)), scalarType: scalarType)
    }

    /// A tensor of one axis with numbers at equal distances from `start` through `end`.
    ///
    /// - Parameters:
    ///   - start: The first element.
    ///   - end: The last element, when there are two or more.
    ///   - count: The number of elements.
    public init(linearSpaceFrom start: Float, through end: Float, count: Int) {
        self.init(linearSpaceFrom: start, through: end, count: count, scalarType: Float.self)
    }

    /// A tensor of one axis with numbers at equal distances from `start` through `end`.
    ///
    /// - Parameters:
    ///   - start: The first element.
    ///   - end: The last element, when there are two or more.
    ///   - count: The number of elements.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(
        linearSpaceFrom start: Scalar,
        through end: Scalar,
        count: Int,
        scalarType: Scalar.Type = Scalar.self
    ) where Scalar: MLTensorScalar, Scalar: BinaryFloatingPoint {
        TensorCall("init(linearSpaceFrom:through:count:scalarType:)").require(
            count >= 0,
            "the number of elements is \(count); it must be 0 or more"
        )
        let (first, last) = (Double(start), Double(end))
        let scalars = (0..<count).map { index in
            Scalar(index == 0 ? first : first + (last - first) * Double(index) / Double(count - 1))
        }
        self.init(scalars, scalarType: scalarType)
    }

    // MARK: Random numbers

    /// A tensor of normally distributed random numbers.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - mean: The mean of the distribution.
    ///   - standardDeviation: The standard deviation of the distribution.
    ///   - seed: The same seed gives the same numbers on every machine; without one they differ each time.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(
        randomNormal shape: [Int],
        mean: Scalar = Scalar(0.0),
        standardDeviation: Scalar = Scalar(1.0),
        seed: UInt64? = nil,
        scalarType: Scalar.Type = Scalar.self
    ) where Scalar: MLTensorScalar, Scalar: BinaryFloatingPoint {
        let call = TensorCall("init(randomNormal:mean:standardDeviation:seed:scalarType:)")
        let numbers = Normal(mean: Double(mean), deviation: Double(standardDeviation))
        let type = tensorElement(scalarType).scalarType
        self = call.random(RandomFill(numbers, scalarType: type, seed: engineSeed(seed)), shape)
    }

    /// A tensor of uniformly distributed random numbers.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - bounds: The numbers lie in this range, which must not be empty.
    ///   - seed: The same seed gives the same numbers on every machine; without one they differ each time.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(
        randomUniform shape: [Int],
        in bounds: Range<Scalar> = 0..<1,
        seed: UInt64? = nil,
        scalarType: Scalar.Type = Scalar.self
    ) where Scalar: MLTensorScalar, Scalar: BinaryFloatingPoint {
        let call = TensorCall("init(randomUniform:in:seed:scalarType:)")
        call.require(!bounds.isEmpty, "the range \(bounds) is empty")
        let type = tensorElement(scalarType).scalarType
        let (low, high) = (Double(bounds.lowerBound), Double(bounds.upperBound))
        let numbers = RandomFill(Uniform(low: low, high: high), scalarType: type, seed: engineSeed(seed))
        // Numbers next to the upper bound may have been rounded to it.
        let last = Double(bounds.upperBound.nextDown)
        self = call(Unary(Clip(lower: low, upper: last)), call.random(numbers, shape))
    }

    /// A tensor of uniformly distributed random integers.
    ///
    /// - Parameters:
    ///   - shape: The extent of each axis, outermost first.
    ///   - bounds: The integers lie in this range, both bounds included.
    ///   - seed: The same seed gives the same numbers on every machine; without one they differ each time.
    ///   - scalarType: The type of the elements.
    public init<Scalar>(
        randomUniform shape: [Int],
        in bounds: ClosedRange<Scalar> = 0...1,
        seed: UInt64? = nil,
        scalarType: Scalar.Type = Scalar.self
    ) where Scalar: MLTensorScalar, Scalar: BinaryInteger {
        let call = TensorCall("init(randomUniform:in:seed:scalarType:)")
        // Double precision, so that each integer of 32 bits is as likely as the others.
        let numbers = RandomFill(
            Uniform(low: Double(bounds.lowerBound), high: Double(bounds.upperBound) + 1),
            scalarType: .float64,
            seed: engineSeed(seed)
        )
        let whole = call(Unary<Floor>(), call.random(numbers, shape))
        self = call(Cast(to: tensorElement(scalarType).scalarType), whole)
    }
}

extension TensorCall {
    fileprivate func random(_ op: any TensorOperator, _ shape: [Int]) -> MLTensor {
        require(checkedCount(of: shape) != nil, "\(shape) is not a shape; extents are 0 or more")
        return results(op, [], parameters: [shape])[0]
    }
}

/// A seed of the engine, which has 63 bits; one by chance when there is none, so that a tensor has the same elements
/// whenever it is computed.
private func engineSeed(_ seed: UInt64?) -> Int {
    guard let seed else { return Int.random(in: 0...Int.max) }
    return Int(truncatingIfNeeded: seed ^ (seed >> 63)) & Int.max
}
