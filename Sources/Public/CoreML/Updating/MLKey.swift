/// The name of a parameter or a metric, possibly limited to one part of a model.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLKey: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The name of the parameter or metric.
    public let name: String
    /// The part of the model that it applies to: a layer or a model of a pipeline; `nil` for the whole model.
    public let scope: String?

    init(name: String, scope: String? = nil) {
        self.name = name
        self.scope = scope
    }

    /// Whether the other object is a key of the same kind, name and scope.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? MLKey else { return false }
        return Swift.type(of: self) == Swift.type(of: other) && name == other.name && scope == other.scope
    }

    /// A hash of name and scope.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(scope)
        return hasher.finalize()
    }

    /// The name, after the scope and a dot if there is one: `fc1.weights`.
    open override var description: String { scope.map { "\($0).\(name)" } ?? name }
    /// The key itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the class can be decoded securely: always true.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes name and scope.
    public func encode(with coder: NSCoder) {
        coder.encode(NSString(string: name), forKey: "name")
        if let scope { coder.encode(NSString(string: scope), forKey: "scope") }
    }

    /// Decodes a key that `encode(with:)` wrote; `nil` when there is no name.
    public required init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
        self.name = String(describing: name)
        scope = coder.decodeObject(of: NSString.self, forKey: "scope").map { String(describing: $0) }
    }
}

/// Values and their keys as text, by the names of the keys.
func keyedText(_ values: [some MLKey: Any]) -> String {
    let entries = values.map { "\($0.key.description) = \($0.value)" }.sorted()
    return entries.isEmpty ? "none" : entries.joined(separator: ", ")
}

/// The name of a parameter of a model, to set in a configuration or to read from a model.
///
/// `@unchecked Sendable`: it adds nothing to `MLKey`.
open class MLParameterKey: MLKey, @unchecked Sendable {
    /// The learning rate of the optimizer: a double.
    public class var learningRate: MLParameterKey { MLParameterKey(name: "learningRate") }
    /// The momentum of stochastic gradient descent: a double.
    public class var momentum: MLParameterKey { MLParameterKey(name: "momentum") }
    /// The number of examples in a mini-batch: an integer.
    public class var miniBatchSize: MLParameterKey { MLParameterKey(name: "miniBatchSize") }
    /// Adam's decay rate of the first moment: a double.
    public class var beta1: MLParameterKey { MLParameterKey(name: "beta1") }
    /// Adam's decay rate of the second moment: a double.
    public class var beta2: MLParameterKey { MLParameterKey(name: "beta2") }
    /// Adam's epsilon, added to the denominator: a double.
    public class var eps: MLParameterKey { MLParameterKey(name: "eps") }
    /// The number of passes over the training data: an integer.
    public class var epochs: MLParameterKey { MLParameterKey(name: "epochs") }
    /// Whether each epoch takes the examples in another random order: a Boolean.
    public class var shuffle: MLParameterKey { MLParameterKey(name: "shuffle") }
    /// The seed of the random order of examples: an integer.
    public class var seed: MLParameterKey { MLParameterKey(name: "seed") }
    /// The number of neighbors that a nearest-neighbors classifier considers: an integer.
    public class var numberOfNeighbors: MLParameterKey { MLParameterKey(name: "numberOfNeighbors") }

    /// The weights of an updatable layer, which is the key's scope: an `MLMultiArray`.
    ///
    /// The shape is [outputs, inputs] for an inner product and [outputs, inputs / groups, height, width] for a
    /// convolution.
    public class var weights: MLParameterKey { MLParameterKey(name: "weights") }
    /// The biases of an updatable layer, which is the key's scope: an `MLMultiArray`.
    public class var biases: MLParameterKey { MLParameterKey(name: "biases") }
    /// The file name of the model that a linked model refers to: a string.
    public class var linkedModelFileName: MLParameterKey { MLParameterKey(name: "linkedModelFileName") }

    /// The folders in which linked models are searched, separated by colons: a string.
    ///
    /// Relative folders start at the folder of the model with the link; `$BUNDLE_MAIN` is the folder of the main
    /// executable.
    public class var linkedModelSearchPath: MLParameterKey { MLParameterKey(name: "linkedModelSearchPath") }

    /// The same parameter of one part of a model.
    ///
    /// - Parameter scope: The name of a layer, of a model of a pipeline, or "model.layer".
    /// - Returns: The key with that scope.
    public func scoped(to scope: String) -> MLParameterKey { MLParameterKey(name: name, scope: scope) }
}

/// The name of a metric that an update reports.
///
/// `@unchecked Sendable`: it adds nothing to `MLKey`.
open class MLMetricKey: MLKey, @unchecked Sendable {
    /// The mean loss over the last mini-batch or epoch: a single-precision number.
    public class var lossValue: MLMetricKey { MLMetricKey(name: "lossValue") }
    /// The index of the epoch, from 0: a 64-bit integer.
    public class var epochIndex: MLMetricKey { MLMetricKey(name: "epochIndex") }
    /// The index of the mini-batch within its epoch, from 0: a 64-bit integer.
    public class var miniBatchIndex: MLMetricKey { MLMetricKey(name: "miniBatchIndex") }
}
