package import MLNumerics

/// The named arguments of one MIL operation while an operator reads them.
///
/// An operator takes the arguments that it supports: `operand` for values that stay operands, the typed readers for
/// attributes, which must be constants. `finish` reports the remaining ones.
package struct Arguments {
    /// One bound value: a value of the graph with its known properties.
    package struct Binding: Sendable {
        package let id: ValueID
        package let type: ValueType
        package let constant: Tensor?

        package init(id: ValueID, type: ValueType, constant: Tensor?) {
            self.id = id
            self.type = type
            self.constant = constant
        }
    }

    /// The operation's name in the file.
    package let operationName: String
    package let opset: Opset
    /// The number of the operation's bodies.
    package let blockCount: Int
    /// The types that the file declares for the results.
    package let declaredTypes: [ValueType]
    private let bindings: [String: [Binding]]
    private var unusedNames: Set<String>
    /// The operands taken so far, in the operator's order.
    package private(set) var operands: [ValueID?] = []

    package init(
        operationName: String,
        opset: Opset,
        bindings: [String: [Binding]],
        declaredTypes: [ValueType] = [],
        blockCount: Int = 0
    ) {
        self.operationName = operationName
        self.opset = opset
        self.bindings = bindings
        self.declaredTypes = declaredTypes
        self.blockCount = blockCount
        unusedNames = Set(bindings.keys)
    }

    /// True when the file gives the argument.
    package func has(_ name: String) -> Bool { !(bindings[name] ?? []).isEmpty }

    /// The type of an argument's (first) value, `nil` when it is not given.
    package func type(_ name: String) -> ValueType? { bindings[name]?.first?.type }

    /// Takes a required operand.
    package mutating func operand(_ name: String) throws(ModelError) {
        guard let binding = bindings[name]?.first else { throw missing(name) }
        unusedNames.remove(name)
        operands.append(binding.id)
    }

    /// Takes an operand that may be absent.
    ///
    /// Returns whether it is there.
    @discardableResult
    package mutating func optionalOperand(_ name: String) -> Bool {
        unusedNames.remove(name)
        operands.append(bindings[name]?.first?.id)
        return operands.last != .some(nil)
    }

    /// Takes a variadic operand (`values` of `concat`); returns how many there are.
    @discardableResult
    package mutating func variadicOperand(_ name: String) throws(ModelError) -> Int {
        guard let all = bindings[name] else { throw missing(name) }
        unusedNames.remove(name)
        operands += all.map(\.id)
        return all.count
    }

    /// The contents of a constant argument, `nil` when it is not given.
    package mutating func tensor(_ name: String) throws(ModelError) -> Tensor? {
        guard let binding = bindings[name]?.first else { return nil }
        unusedNames.remove(name)
        guard let constant = binding.constant else {
            throw ModelError(.unsupported, "argument '\(name)' of '\(operationName)' must be a constant")
        }
        return constant
    }

    /// The contents of a variadic argument all of whose values are constants.
    package mutating func tensors(_ name: String) throws(ModelError) -> [Tensor] {
        guard let all = bindings[name] else { throw missing(name) }
        unusedNames.remove(name)
        var result: [Tensor] = []
        for binding in all {
            guard let constant = binding.constant else {
                throw ModelError(.unsupported, "argument '\(name)' of '\(operationName)' must be a constant")
            }
            result.append(constant)
        }
        return result
    }

    package mutating func int(_ name: String, default value: Int? = nil) throws(ModelError) -> Int {
        guard let tensor = try numeric(name) else { return try defaulted(value, name) }
        guard let first = tensor.integers.first else { throw empty(name) }
        return first
    }

    package mutating func ints(_ name: String, default value: [Int]? = nil) throws(ModelError) -> [Int] {
        guard let tensor = try numeric(name) else { return try defaulted(value, name) }
        return tensor.integers
    }

    package mutating func float(_ name: String, default value: Double? = nil) throws(ModelError) -> Double {
        guard let tensor = try numeric(name) else { return try defaulted(value, name) }
        guard let first = tensor.values.first else { throw empty(name) }
        return first
    }

    package mutating func floats(_ name: String, default value: [Double]? = nil) throws(ModelError) -> [Double] {
        guard let tensor = try numeric(name) else { return try defaulted(value, name) }
        return tensor.values
    }

    package mutating func bool(_ name: String, default value: Bool? = nil) throws(ModelError) -> Bool {
        guard let tensor = try numeric(name) else { return try defaulted(value, name) }
        guard let first = tensor.values.first else { throw empty(name) }
        return first != 0
    }

    package mutating func bools(_ name: String, default value: [Bool]? = nil) throws(ModelError) -> [Bool] {
        guard let tensor = try numeric(name) else { return try defaulted(value, name) }
        return tensor.values.map { $0 != 0 }
    }

    package mutating func string(_ name: String, default value: String? = nil) throws(ModelError) -> String {
        guard let tensor = try tensor(name) else { return try defaulted(value, name) }
        guard tensor.scalarType == .string, let first = tensor.strings.first else {
            throw ModelError(.invalidModel, "argument '\(name)' of '\(operationName)' must be a string")
        }
        return first
    }

    /// Takes and ignores an argument that has no meaning here.
    package mutating func ignore(_ name: String) { unusedNames.remove(name) }

    /// Throws when the operator did not take all given arguments.
    package func finish() throws(ModelError) {
        guard let name = unusedNames.min() else { return }
        throw ModelError(
            .unsupported,
            "'\(operationName)' has an argument '\(name)' that is not known in opset \(opset)"
        )
    }

    private mutating func numeric(_ name: String) throws(ModelError) -> Tensor? {
        guard let tensor = try tensor(name) else { return nil }
        guard tensor.scalarType != .string else {
            throw ModelError(.invalidModel, "argument '\(name)' of '\(operationName)' must be a number, not a string")
        }
        return tensor
    }

    private func defaulted<T>(_ value: T?, _ name: String) throws(ModelError) -> T {
        guard let value else { throw missing(name) }
        return value
    }

    private func missing(_ name: String) -> ModelError {
        ModelError(.invalidModel, "'\(operationName)' has no argument '\(name)'")
    }

    private func empty(_ name: String) -> ModelError {
        ModelError(.invalidModel, "argument '\(name)' of '\(operationName)' has no element")
    }
}
