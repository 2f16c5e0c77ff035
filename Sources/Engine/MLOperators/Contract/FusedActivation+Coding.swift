// Written as the compiler writes an enumeration: a record whose only field, named like the function, is a record of the
// parameters. The compiler's own code has a type of keys for each function, makes all of them at run time for the first
// function that is read, and searches the conformances of the whole program for each of them.
extension Activation: Codable {
    /// The name of a function or of a parameter.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        guard container.allKeys.count == 1, let function = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "one function is expected")
            )
        }
        let parameters = try container.nestedContainer(keyedBy: Name.self, forKey: function)
        func parameter(_ name: String) throws -> Double {
            try parameters.decode(Double.self, forKey: Name(name))
        }
        switch function.stringValue {
        case "none": self = .none
        case "relu": self = .relu
        case "clip": self = .clip(low: try parameter("low"), high: try parameter("high"))
        case "leakyRelu": self = .leakyRelu(alpha: try parameter("alpha"))
        case "sigmoid": self = .sigmoid
        case "tanh": self = .tanh
        case "silu": self = .silu
        case "geluErf": self = .geluErf
        case "geluTanh": self = .geluTanh
        case "geluSigmoid": self = .geluSigmoid
        case "hardSigmoid": self = .hardSigmoid(alpha: try parameter("alpha"), beta: try parameter("beta"))
        case "hardSwish": self = .hardSwish(alpha: try parameter("alpha"), beta: try parameter("beta"))
        case "elu": self = .elu(alpha: try parameter("alpha"))
        case "softplus": self = .softplus
        case "softsign": self = .softsign
        case "scaledTanh": self = .scaledTanh(alpha: try parameter("alpha"), beta: try parameter("beta"))
        case "linear": self = .linear(alpha: try parameter("alpha"), beta: try parameter("beta"))
        case "thresholdedRelu": self = .thresholdedRelu(alpha: try parameter("alpha"))
        case let other:
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "there is no '\(other)'")
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        let (function, values) = written
        var container = encoder.container(keyedBy: Name.self)
        var parameters = container.nestedContainer(keyedBy: Name.self, forKey: Name(function))
        for (name, value) in values { try parameters.encode(value, forKey: Name(name)) }
    }

    private var written: (function: String, parameters: [(name: String, value: Double)]) {
        switch self {
        case .none: ("none", [])
        case .relu: ("relu", [])
        case .clip(let low, let high): ("clip", [("low", low), ("high", high)])
        case .leakyRelu(let alpha): ("leakyRelu", [("alpha", alpha)])
        case .sigmoid: ("sigmoid", [])
        case .tanh: ("tanh", [])
        case .silu: ("silu", [])
        case .geluErf: ("geluErf", [])
        case .geluTanh: ("geluTanh", [])
        case .geluSigmoid: ("geluSigmoid", [])
        case .hardSigmoid(let alpha, let beta): ("hardSigmoid", [("alpha", alpha), ("beta", beta)])
        case .hardSwish(let alpha, let beta): ("hardSwish", [("alpha", alpha), ("beta", beta)])
        case .elu(let alpha): ("elu", [("alpha", alpha)])
        case .softplus: ("softplus", [])
        case .softsign: ("softsign", [])
        case .scaledTanh(let alpha, let beta): ("scaledTanh", [("alpha", alpha), ("beta", beta)])
        case .linear(let alpha, let beta): ("linear", [("alpha", alpha), ("beta", beta)])
        case .thresholdedRelu(let alpha): ("thresholdedRelu", [("alpha", alpha)])
        }
    }
}
