import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// Arithmetic of two values.
    public enum Arithmetic: Hashable, Sendable, CaseIterable {
        case add, subtract, multiply, divide, power
        /// ⌊a / b⌋
        case floorDivide
        /// The remainder, of the divisor's sign.
        case modulo
        case maximum, minimum
    }

    /// Comparison of two values, or of one and a number.
    public enum Comparison: Hashable, Sendable, CaseIterable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }

    /// Logic of two values; every number but 0 is true.
    public enum Logic: Hashable, Sendable, CaseIterable { case and, or, xor }

    /// Arithmetic of two values whose extents are equal or 1, counted from the last axis.
    @discardableResult
    public mutating func broadcast(
        _ name: String,
        _ function: Arithmetic,
        _ first: Value,
        _ second: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [first, second], output, function.specification)
    }

    /// 1 where the comparison of two values holds, else 0.
    @discardableResult
    public mutating func compare(
        _ name: String,
        _ comparison: Comparison,
        _ first: Value,
        _ second: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [first, second], output, comparison.specification(0))
    }

    /// 1 where the comparison with a number holds, else 0.
    @discardableResult
    public mutating func compare(
        _ name: String,
        _ comparison: Comparison,
        _ input: Value,
        with number: Float,
        output: Value? = nil
    ) -> Value {
        add(name, [input], output, comparison.specification(number))
    }

    @discardableResult
    public mutating func logical(
        _ name: String,
        _ function: Logic,
        _ first: Value,
        _ second: Value,
        output: Value? = nil
    ) -> Value {
        let kind: SpecNeuralNetworkLayer.OneOf_Layer =
            switch function {
            case .and: .logicalAnd(.init())
            case .or: .logicalOr(.init())
            case .xor: .logicalXor(.init())
            }
        return add(name, [first, second], output, kind)
    }

    /// 1 where the value is 0, else 0.
    @discardableResult
    public mutating func logicalNot(_ name: String, _ input: Value, output: Value? = nil) -> Value {
        add(name, [input], output, .logicalNot(.init()))
    }

    /// `first` where `condition` is not 0, else `second`; extents are equal or 1.
    @discardableResult
    public mutating func select(
        _ name: String,
        where condition: Value,
        _ first: Value,
        else second: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [condition, first, second], output, .whereBroadcastable(.init()))
    }

    /// Repeats extents of 1 until the value has the shape of another.
    @discardableResult
    public mutating func broadcastToLike(
        _ name: String,
        _ input: Value,
        like other: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [input, other], output, .broadcastToLike(.init()))
    }

    /// Repeats extents of 1 until the value has this shape.
    @discardableResult
    public mutating func broadcastTo(_ name: String, _ input: Value, shape: [Int], output: Value? = nil) -> Value {
        let extents = natural(name, "the shape", shape)
        return add(name, [input], output, .broadcastToStatic(.with { $0.targetShape = extents }))
    }

    /// Repeats extents of 1 until the value has the shape that another one holds.
    @discardableResult
    public mutating func broadcastToDynamic(
        _ name: String,
        _ input: Value,
        shape: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [input, shape], output, .broadcastToDynamic(.init()))
    }
}

extension NeuralNetworkBuilder.Arithmetic {
    fileprivate var specification: SpecNeuralNetworkLayer.OneOf_Layer {
        switch self {
        case .add: .addBroadcastable(.init())
        case .subtract: .subtractBroadcastable(.init())
        case .multiply: .multiplyBroadcastable(.init())
        case .divide: .divideBroadcastable(.init())
        case .power: .powBroadcastable(.init())
        case .floorDivide: .floorDivBroadcastable(.init())
        case .modulo: .modBroadcastable(.init())
        case .maximum: .maxBroadcastable(.init())
        case .minimum: .minBroadcastable(.init())
        }
    }
}

extension NeuralNetworkBuilder.Comparison {
    fileprivate func specification(_ number: Float) -> SpecNeuralNetworkLayer.OneOf_Layer {
        switch self {
        case .equal: .equal(.with { $0.alpha = number })
        case .notEqual: .notEqual(.with { $0.alpha = number })
        case .less: .lessThan(.with { $0.alpha = number })
        case .lessOrEqual: .lessEqual(.with { $0.alpha = number })
        case .greater: .greaterThan(.with { $0.alpha = number })
        case .greaterOrEqual: .greaterEqual(.with { $0.alpha = number })
        }
    }
}
