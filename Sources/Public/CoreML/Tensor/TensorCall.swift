import MLEngine
import MLNumerics
import MLOperators

/// An operation that a method of `MLTensor` records, with what its messages need.
struct TensorCall {
    /// The method or operator, as it is written in a program.
    let name: String

    init(_ name: String) { self.name = name }

    /// Ends the program unless `condition` holds; the message names the operation.
    @inline(never)  // Swift 6.3's optimiser fails on callers that contain it.
    func require(_ condition: Bool, _ message: @autoclosure () -> String) {
        if !condition { fatalError("MLTensor.\(name): \(message())") }
    }

    /// The results of an operator on tensors and the given parameters; operands that do not fit end the program.
    @inline(never)
    func results(
        _ op: any TensorOperator,
        _ tensors: [MLTensor],
        parameters: [[Int]] = []
    ) -> [MLTensor] {
        var operands = tensors.map { tensor -> LazyTensor.Operand in
            // Literals do not change while a program runs, nor are they computed from anything.
            if tensor.isLiteral, tensor.isScalar, let known = tensor.lazy.knownElements { return .scalar(known) }
            return .tensor(tensor.lazy)
        }
        for numbers in parameters {
            operands.append(.parameter(Tensor(numbers.map { Int32(clamping: $0) }, shape: [numbers.count])))
        }
        do {
            return try LazyTensor.results(of: op, operands).map { MLTensor($0) }
        } catch {
            let types = tensors.map(\.description).joined(separator: " and ")
            fatalError("MLTensor.\(name) of \(types): \(error.message)")
        }
    }

    /// The only result of an operator.
    func callAsFunction(_ op: any TensorOperator, _ tensors: MLTensor..., parameters: [Int]...) -> MLTensor {
        results(op, tensors, parameters: parameters)[0]
    }

    // MARK: Checks of scalar types

    /// Ends the program unless the elements are numbers.
    func requireNumbers(_ tensors: MLTensor...) {
        for tensor in tensors {
            require(
                tensor.lazy.scalarType != .bool,
                "a tensor of Bool elements has no numbers; use cast(to: Float.self) or cast(to: Int32.self) first"
            )
        }
    }

    /// Ends the program unless the elements are floating-point numbers.
    func requireFloats(_ tensors: MLTensor...) {
        for tensor in tensors {
            require(
                tensor.lazy.scalarType.isFloat,
                "it takes floating-point numbers, not \(tensor.scalarType); use cast(to: Float.self) first"
            )
        }
    }

    /// Ends the program unless the elements are Booleans.
    func requireBooleans(_ tensors: MLTensor...) {
        for tensor in tensors {
            require(
                tensor.lazy.scalarType == .bool,
                "it takes Booleans, not \(tensor.scalarType); compare first, for example with .!= 0"
            )
        }
    }

    /// Ends the program unless the elements are integers.
    func requireIndices(_ tensor: MLTensor) {
        require(
            tensor.lazy.scalarType.isInteger,
            "indices are Int32 numbers, not \(tensor.scalarType); use cast(to: Int32.self) first"
        )
    }

    /// An axis, counted from the front, of a tensor of the given rank; one that does not exist ends the program.
    func axis(_ axis: Int, rank: Int) -> Int {
        require(axis >= -rank && axis < rank, "axis \(axis) does not exist in a tensor of rank \(rank)")
        return axis < 0 ? axis + rank : axis
    }

    /// Axes counted from the front, each once.
    func axes(_ axes: [Int], rank: Int) -> [Int] {
        let places = axes.map { axis($0, rank: rank) }
        require(Set(places).count == places.count, "axes \(axes) name an axis twice")
        return places
    }
}

/// An operator of the engine.
typealias TensorOperator = LazyTensor.Operator
