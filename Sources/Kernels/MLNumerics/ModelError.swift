/// What went wrong inside the engine: a code, a message that names the culprit and the remedy, and the path to it.
///
/// Every internal module throws this type; the public module maps `code` to `MLModelError` once, at its border.
package struct ModelError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.  Extensible: new kinds are new static members.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String
        package init(_ description: String) { self.description = description }

        /// The bytes of a file contradict the format, or each other.
        package static let malformed = Code("malformed")
        /// The file system said no.
        package static let io = Code("io")
        /// Valid, but not built here yet.
        package static let unsupported = Code("unsupported")
        /// The model contradicts its language: types, arity, unknown names.
        package static let invalidModel = Code("invalid model")
        /// A value given by the caller does not fit the model.
        package static let invalidInput = Code("invalid input")
        /// The rank of a value depends on an extent that the model leaves open: read the model for given extents.
        package static let unknownRank = Code("unknown rank")
        /// The caller asked to stop.
        package static let cancelled = Code("cancelled")
        /// A parameter that the model does not have, or a value that it does not allow.
        package static let parameter = Code("parameter")
        /// The model cannot learn, or an update of it went astray.
        package static let update = Code("update")
    }

    package var code: Code
    /// One or two sentences: what is wrong and what to do about it.
    package var message: String
    /// From the outside in: file, function, layer, field.
    package var trail: [String]

    package init(_ code: Code, _ message: String, at trail: String...) {
        self.code = code
        self.message = message
        self.trail = trail
    }

    /// The same error, one step further out.
    package func at(_ place: String) -> ModelError {
        var copy = self
        copy.trail.insert(place, at: 0)
        return copy
    }

    package var description: String {
        trail.isEmpty ? message : trail.joined(separator: " › ") + ": " + message
    }
}

/// Runs `body`; an error that leaves it gets `place` in front of its trail.
package func trailing<R>(
    _ place: @autoclosure () -> String,
    _ body: () throws(ModelError) -> R
) throws(ModelError) -> R {
    do { return try body() } catch { throw error.at(place()) }
}
