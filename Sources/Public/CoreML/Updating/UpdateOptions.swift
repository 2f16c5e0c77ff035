import MLNumerics
import MLUpdating

extension UpdateOption {
    /// Converts the parameters of a configuration to options of an update; those of linked models are left out.
    ///
    /// - Parameters:
    ///   - parameters: The configuration's parameters.
    ///   - target: The models of the pipeline that the parameters apply to; other models keep their own.
    /// - Returns: The options, in the order of the keys' descriptions.
    /// - Throws: `MLModelError.parameters` when a parameter is unknown or its value has the wrong type.
    static func options(_ parameters: [MLParameterKey: Any], for target: UpdateTarget?) throws -> [UpdateOption] {
        var result: [UpdateOption] = []
        for (key, value) in parameters.sorted(by: { $0.key.description < $1.key.description }) {
            if key.name == MLParameterKey.linkedModelFileName.name { continue }
            if key.name == MLParameterKey.linkedModelSearchPath.name { continue }
            guard let parameter = UpdateParameter(rawValue: key.name) else {
                let names = UpdateParameter.allCases.map(\.rawValue).joined(separator: ", ")
                throw MLModelError(.parameters, "There is no parameter \"\(key.name)\"; there are \(names).")
            }
            switch parameter {
            case .weights, .biases:
                guard let array = value as? MLMultiArray else {
                    throw MLModelError(.parameters, "The parameter \(key) is \(value), but it takes an MLMultiArray.")
                }
                result.append(UpdateOption(parameter, scope: layer(key.scope, target), .tensor(copy(array))))
            default:
                // A model of the pipeline that is not updated has its own number of neighbors.
                if parameter == .numberOfNeighbors, let scope = key.scope, target?.names.contains(scope) != true {
                    continue
                }
                guard let value = UpdateParameter.Value(value) else {
                    throw MLModelError(.parameters, "The parameter \(key) is \(value), but it takes a number.")
                }
                result.append(UpdateOption(parameter, scope: key.scope, .value(value)))
            }
        }
        return result
    }

    /// The layer that a scope names: "layer", or "model.layer" within a pipeline.
    static func layer(_ scope: String?, _ target: UpdateTarget?) -> String? {
        guard let scope, let name = target?.names.last, scope.hasPrefix(name + ".") else { return scope }
        return String(scope.dropFirst(name.count + 1))
    }

    /// Copies the elements into memory of their own.
    private static func copy(_ array: MLMultiArray) -> Tensor {
        let source = array.tensor()
        let copy = Tensor(uninitialized: source.scalarType, shape: source.shape)
        copy.address.copyMemory(from: source.address, byteCount: source.byteCount)
        withExtendedLifetime(source) {}
        return copy
    }
}

extension UpdateParameter.Value {
    /// Makes the value of a parameter from a number of any type or a Boolean.
    init?(_ value: Any) {
        guard let number = value as? NSNumber else { return nil }
        switch String(cString: number.objCType) {
        case "c", "B": self = .flag(number.boolValue)
        case "f", "d": self = .number(number.doubleValue)
        default: self = .integer(number.int64Value)
        }
    }

    /// The value as `NSNumber`.
    var number: NSNumber {
        switch self {
        case .integer(let value): NSNumber(value: value)
        case .number(let value): NSNumber(value: value)
        case .flag(let value): NSNumber(value: value)
        }
    }
}

extension UpdateParameters {
    /// The present values under Core ML's keys.
    var byKey: [MLParameterKey: Any] {
        Dictionary(uniqueKeysWithValues: values.map { (MLParameterKey(name: $0.key.rawValue), $0.value.number) })
    }
}
