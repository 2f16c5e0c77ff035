import MLEngine
import MLNumerics

/// What a stateful model keeps from one prediction to the next.
open class MLState: NSObject, @unchecked Sendable {
    let buffers: ModelState
    private let names: [String]

    init(_ descriptions: [MLFeatureDescription]) {
        names = descriptions.map { $0.name }
        var tensors: [String: Tensor] = [:]
        for description in descriptions {
            guard let constraint = description.stateConstraint else { continue }
            tensors[description.name] = Tensor(
                uninitialized: constraint.dataType.scalarType,
                shape: constraint.bufferShape,
                zeroed: true
            )
        }
        buffers = ModelState(tensors)
    }

    /// The only buffer; an error when there are several or none.
    public func withMultiArray<R>(_ body: (MLMultiArray) -> R) throws -> R {
        guard names.count == 1, let tensor = buffers[names[0]] else {
            let list = names.isEmpty ? "none" : names.joined(separator: ", ")
            throw MLModelError(.generic, "Name one of the model's states; they are: \(list).")
        }
        return body(MLMultiArray(tensor))
    }

    /// The buffer of a name, which must be one of the model's states.  What `body` writes is what the next prediction
    /// reads.
    public func withMultiArray<R>(for stateName: String, _ body: (MLMultiArray) throws -> R) rethrows -> R {
        guard let tensor = buffers[stateName] else {
            preconditionFailure("the model has no state \"\(stateName)\"; its states are \(names)")
        }
        return try body(MLMultiArray(tensor))
    }
}
