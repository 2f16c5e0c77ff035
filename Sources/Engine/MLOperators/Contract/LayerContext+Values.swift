package import MLGraph
package import MLNumerics
import MLSpecification

/// Conventions that many layer rules share.
extension LayerContext {
    /// Sets the outputs; a value of rank 0 becomes a vector of one element, because blobs have at least one axis.
    package mutating func finish(_ values: ValueID...) throws(ModelError) {
        var outputs: [ValueID] = []
        for value in values {
            if rank(of: value) == 0 { givesScalars = true }
            outputs.append(rank(of: value) == 0 ? try add(ExpandDims(axes: [0]), value) : value)
        }
        try setOutputs(outputs)
    }

    /// The value with leading axes of extent 1, so that it has `rank`.
    package mutating func padded(_ id: ValueID, toRank rank: Int) throws(ModelError) -> ValueID {
        let missing = rank - self.rank(of: id)
        return missing > 0 ? try add(ExpandDims(axes: Array(0..<missing)), id) : id
    }

    /// The contents of an input that must be known when the model is read.
    package func constantIntegers(_ index: Int) throws(ModelError) -> [Int] {
        guard let tensor = builder.constant(try input(index)) else {
            throw ModelError(.unsupported, "input \(index) must be a constant; give its values as parameters")
        }
        return tensor.integers
    }
}

/// Numbers of the specification as Swift integers; numbers out of range are clamped and rejected by the type rules.
func integers(_ numbers: [UInt64]) -> [Int] { numbers.map { Int(clamping: $0) } }
func integers(_ numbers: [Int64]) -> [Int] { numbers.map { Int(clamping: $0) } }

/// The value of a field of the specification, or `value` when it is 0, which means not set.
func stated(_ number: Float, or value: Double) -> Double { number == 0 ? value : Double(number) }

extension LayerRule {
    /// A layer that applies a function to its input.
    static func unary<Parameters, Function: ScalarFunction>(
        _ field: String,
        _ path: any KeyPath<SpecNeuralNetworkLayer, Parameters> & Sendable,
        _ function: @escaping @Sendable (Parameters) -> Function
    ) -> LayerRule {
        LayerRule(field, path) { parameters, context throws(ModelError) in
            try context.finish(try context.add(Unary(function(parameters)), context.input()))
        }
    }

    /// A layer that combines its inputs one after the other with a function.
    static func binary<Parameters, Function: BinaryFunction>(
        _ field: String,
        _ path: any KeyPath<SpecNeuralNetworkLayer, Parameters> & Sendable,
        _: Function.Type
    ) -> LayerRule {
        LayerRule(field, path) { _, context throws(ModelError) in
            try context.finish(try context.joined(by: Function.self))
        }
    }

    /// A layer that compares its two inputs, or its only input with a number.
    static func comparison<Parameters, Function: BinaryFunction>(
        _ field: String,
        _ path: any KeyPath<SpecNeuralNetworkLayer, Parameters> & Sendable,
        _: Function.Type,
        alpha: @escaping @Sendable (Parameters) -> Float
    ) -> LayerRule {
        LayerRule(field, path) { parameters, context throws(ModelError) in
            let other = context.inputs.count > 1 ? context.inputs[1] : context.constant(alpha(parameters))
            try context.finish(try context.add(Binary<Function>(), context.input(), other))
        }
    }

    /// A layer that combines Booleans.
    static func logical<Parameters, Function: BinaryFunction>(
        _ field: String,
        _ path: any KeyPath<SpecNeuralNetworkLayer, Parameters> & Sendable,
        _: Function.Type
    ) -> LayerRule {
        LayerRule(field, path) { _, context throws(ModelError) in
            let x = try context.booleans(context.input(0))
            let y = try context.booleans(context.input(1))
            try context.finish(try context.add(Binary<Function>(), x, y))
        }
    }
}

extension LayerContext {
    /// All inputs combined one after the other with a function.
    mutating func joined<Function: BinaryFunction>(by _: Function.Type) throws(ModelError) -> ValueID {
        var result = try input()
        for other in inputs.dropFirst() { result = try add(Binary<Function>(), result, other) }
        return result
    }
}
