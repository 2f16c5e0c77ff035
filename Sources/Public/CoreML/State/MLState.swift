import MLEngine
import MLNumerics

/// What a stateful model keeps from one prediction to the next.
open class MLState: NSObject, @unchecked Sendable {
    let buffers: ModelState
    /// The names of the buffers, in the order of the model's description.
    package let names: [String]

    init(_ buffers: ModelState, names: [String]) {
        self.buffers = buffers
        self.names = names
    }

    /// The buffers with their types and shapes.
    open override var description: String {
        let texts = names.map { name in
            guard let array = buffers[name].map({ MLMultiArray($0) }) else { return name }
            return "\(name) : \(array.dataType.name), \(array.extents.map(String.init).joined(separator: " × "))"
        }
        return "MLState (\(texts.joined(separator: "; ")))"
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
