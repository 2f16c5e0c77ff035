package import MLNumerics

/// The parameters of an update; the names are Core ML's.
package enum UpdateParameter: String, Sendable, CaseIterable {
    case learningRate, momentum, miniBatchSize, beta1, beta2, eps, epochs, shuffle, seed, numberOfNeighbors
    case weights, biases

    /// A value of a parameter.
    package enum Value: Sendable, Equatable, CustomStringConvertible {
        case integer(Int64)
        case number(Double)
        case flag(Bool)

        package var description: String {
            switch self {
            case .integer(let value): "\(value)"
            case .number(let value): "\(value)"
            case .flag(let value): "\(value)"
            }
        }
    }
}

/// A caller's value for a parameter, of the whole model or of the part that `scope` names.
package struct UpdateOption: Sendable {
    package enum Content: Sendable {
        case value(UpdateParameter.Value)
        /// A layer's weights or biases.
        case tensor(Tensor)
    }

    package let parameter: UpdateParameter
    /// The layer of weights and biases, or a model of a pipeline; `nil` for the trainable model.
    package let scope: String?
    package let content: Content

    package init(_ parameter: UpdateParameter, scope: String? = nil, _ content: Content) {
        self.parameter = parameter
        self.scope = scope
        self.content = content
    }

    package init(_ parameter: UpdateParameter, _ value: UpdateParameter.Value) {
        self.init(parameter, scope: nil, .value(value))
    }

    /// The option in the form of Core ML's keys.
    var name: String { scope.map { "\($0).\(parameter.rawValue)" } ?? parameter.rawValue }
}
