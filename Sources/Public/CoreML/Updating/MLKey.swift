/// The name of a parameter or a metric, possibly of one part of a model.
open class MLKey: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    public let name: String
    /// The part of the model it belongs to.
    public let scope: String?

    init(name: String, scope: String? = nil) {
        self.name = name
        self.scope = scope
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? MLKey else { return false }
        return Swift.type(of: self) == Swift.type(of: other) && name == other.name && scope == other.scope
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(scope)
        return hasher.finalize()
    }

    open override var description: String { scope.map { "\($0).\(name)" } ?? name }
    public func copy(with zone: NSZone? = nil) -> Any { self }

    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) {
        coder.encode(NSString(string: name), forKey: "name")
        if let scope { coder.encode(NSString(string: scope), forKey: "scope") }
    }

    public required init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
        self.name = String(describing: name)
        scope = coder.decodeObject(of: NSString.self, forKey: "scope").map { String(describing: $0) }
    }
}

/// Values by their keys, in the order of the keys' names.
func keyedText(_ values: [some MLKey: Any]) -> String {
    let entries = values.map { "\($0.key.description) = \($0.value)" }.sorted()
    return entries.isEmpty ? "none" : entries.joined(separator: ", ")
}

/// What a model can be told, or asked for.
open class MLParameterKey: MLKey, @unchecked Sendable {
    public class var learningRate: MLParameterKey { MLParameterKey(name: "learningRate") }
    public class var momentum: MLParameterKey { MLParameterKey(name: "momentum") }
    public class var miniBatchSize: MLParameterKey { MLParameterKey(name: "miniBatchSize") }
    public class var beta1: MLParameterKey { MLParameterKey(name: "beta1") }
    public class var beta2: MLParameterKey { MLParameterKey(name: "beta2") }
    public class var eps: MLParameterKey { MLParameterKey(name: "eps") }
    public class var epochs: MLParameterKey { MLParameterKey(name: "epochs") }
    public class var shuffle: MLParameterKey { MLParameterKey(name: "shuffle") }
    public class var seed: MLParameterKey { MLParameterKey(name: "seed") }
    public class var numberOfNeighbors: MLParameterKey { MLParameterKey(name: "numberOfNeighbors") }
    public class var weights: MLParameterKey { MLParameterKey(name: "weights") }
    public class var biases: MLParameterKey { MLParameterKey(name: "biases") }
    public class var linkedModelFileName: MLParameterKey { MLParameterKey(name: "linkedModelFileName") }
    public class var linkedModelSearchPath: MLParameterKey { MLParameterKey(name: "linkedModelSearchPath") }

    /// The same parameter of one part of a model.
    public func scoped(to scope: String) -> MLParameterKey { MLParameterKey(name: name, scope: scope) }
}

/// What is measured while a model is updated.
open class MLMetricKey: MLKey, @unchecked Sendable {
    public class var lossValue: MLMetricKey { MLMetricKey(name: "lossValue") }
    public class var epochIndex: MLMetricKey { MLMetricKey(name: "epochIndex") }
    public class var miniBatchIndex: MLMetricKey { MLMetricKey(name: "miniBatchIndex") }
}
