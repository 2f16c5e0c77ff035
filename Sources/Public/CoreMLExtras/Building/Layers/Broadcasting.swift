import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// An arithmetic operation on two values.
    public enum Arithmetic: Hashable, Sendable, CaseIterable {
        /// The sum, difference, product, quotient or power a^b.
        case add, subtract, multiply, divide, power
        /// The quotient rounded down, ⌊a / b⌋.
        case floorDivide
        /// The remainder, with the divisor's sign.
        case modulo
        /// The greater or the lesser of two elements.
        case maximum, minimum
    }

    /// A comparison of two values, or of a value and a number.
    public enum Comparison: Hashable, Sendable, CaseIterable {
        /// Equal, not equal, less, less or equal, greater, greater or equal.
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }

    /// A logical operation on two values, in which every number but 0 is true.
    public enum Logic: Hashable, Sendable, CaseIterable { case and, or, xor }

    /// Applies an arithmetic operation to two values, with broadcasting of axes of extent 1.
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

    /// Compares two values, with broadcasting: 1 where the comparison holds, else 0.
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

    /// Compares a value with a number: 1 where the comparison holds, else 0.
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

    /// Applies a logical operation to two values, with broadcasting: 1 where it holds, else 0.
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

    /// Negates a value: 1 where it is 0, else 0.
    @discardableResult
    public mutating func logicalNot(_ name: String, _ input: Value, output: Value? = nil) -> Value {
        add(name, [input], output, .logicalNot(.init()))
    }

    /// Selects `first` where `condition` is not 0, else `second`, with broadcasting.
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

    /// Broadcasts a value to the shape of another.
    @discardableResult
    public mutating func broadcastToLike(
        _ name: String,
        _ input: Value,
        like other: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [input, other], output, .broadcastToLike(.init()))
    }

    /// Broadcasts a value to a fixed shape.
    @discardableResult
    public mutating func broadcastTo(_ name: String, _ input: Value, shape: [Int], output: Value? = nil) -> Value {
        let extents = natural(name, "the shape", shape)
        return add(name, [input], output, .broadcastToStatic(.with { $0.targetShape = extents }))
    }

    /// Broadcasts a value to the shape that another one holds.
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
