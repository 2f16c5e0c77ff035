/// An error inside the engine: a code, a message that states the problem and the remedy, and the path to it.
///
/// Every internal module throws this type; the public module maps `code` to `MLModelError` once, at its boundary.
package struct ModelError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// Extensible: new kinds are new static members.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String
        package init(_ description: String) { self.description = description }

        /// The bytes of a file contradict the format, or each other.
        package static let malformed = Code("malformed")
        /// The file system reported an error.
        package static let io = Code("io")
        /// Valid, but not implemented here.
        package static let unsupported = Code("unsupported")
        /// The model violates the rules of its language: types, arity, unknown names.
        package static let invalidModel = Code("invalid model")
        /// A value given by the caller does not fit the model.
        package static let invalidInput = Code("invalid input")
        /// The rank of a value depends on an extent that the model leaves open: read the model with concrete extents.
        package static let unknownRank = Code("unknown rank")
        /// The caller cancelled the operation.
        package static let cancelled = Code("cancelled")
        /// An unknown parameter, or a value that the model does not allow.
        package static let parameter = Code("parameter")
        /// The model cannot be updated, or an update failed.
        package static let update = Code("update")
    }

    package var code: Code
    /// One or two sentences: the problem and the remedy.
    package var message: String
    /// The location from the outside in: file, function, layer, field.
    package var trail: [String]

    package init(_ code: Code, _ message: String, at trail: String...) {
        self.code = code
        self.message = message
        self.trail = trail
    }

    /// The same error, with an outer location added.
    package func at(_ location: String) -> ModelError {
        var copy = self
        copy.trail.insert(location, at: 0)
        return copy
    }

    package var description: String {
        trail.isEmpty ? message : trail.joined(separator: " › ") + ": " + message
    }
}

/// Runs `body` and prepends `location` to the trail of an error that it throws.
package func withErrorContext<R>(
    _ location: @autoclosure () -> String,
    _ body: () throws(ModelError) -> R
) throws(ModelError) -> R {
    do { return try body() } catch { throw error.at(location()) }
}
