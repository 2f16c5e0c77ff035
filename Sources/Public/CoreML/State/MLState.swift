import MLEngine
import MLNumerics

/// The buffers that a stateful model keeps from one prediction to the next.
///
/// `MLModel.makeState()` makes one, with all buffers zero.
///
/// `@unchecked Sendable`: a lock guards the buffers; a caller that writes to the array of a buffer must ensure that no
/// prediction uses the state meanwhile.
open class MLState: NSObject, @unchecked Sendable {
    let buffers: ModelState
    /// The names of the buffers, in the order of the model's description.
    package let names: [String]

    init(_ buffers: ModelState, names: [String]) {
        self.buffers = buffers
        self.names = names
    }

    /// The names of the buffers with their element types and shapes.
    open override var description: String {
        let texts = names.map { name in
            guard let array = buffers[name].map({ MLMultiArray($0) }) else { return name }
            return "\(name) : \(array.dataType.name), \(array.extents.map(String.init).joined(separator: " × "))"
        }
        return "MLState (\(texts.joined(separator: "; ")))"
    }

    /// Calls a closure with the only buffer of a model with one state.
    ///
    /// - Parameter body: Receives the buffer; its changes are seen by the next prediction. Ask again after a
    ///   prediction, which may move the buffer.
    /// - Returns: The result of `body`.
    /// - Throws: `MLModelError.generic` when the model has no state or several.
    public func withMultiArray<R>(_ body: (MLMultiArray) -> R) throws -> R {
        guard names.count == 1, let tensor = buffers[names[0]] else {
            let list = names.isEmpty ? "none" : names.joined(separator: ", ")
            throw MLModelError(.generic, "Name one of the model's states; they are: \(list).")
        }
        return body(MLMultiArray(tensor))
    }

    /// Calls a closure with the buffer of a state.
    ///
    /// - Parameters:
    ///   - stateName: The name of one of the model's states; another name traps.
    ///   - body: Receives the buffer; its changes are seen by the next prediction. Ask again after a prediction, which
    ///     may move the buffer.
    /// - Returns: The result of `body`.
    /// - Throws: Whatever `body` throws.
    public func withMultiArray<R>(for stateName: String, _ body: (MLMultiArray) throws -> R) rethrows -> R {
        guard let tensor = buffers[stateName] else {
            preconditionFailure("the model has no state \"\(stateName)\"; its states are \(names)")
        }
        return try body(MLMultiArray(tensor))
    }
}
