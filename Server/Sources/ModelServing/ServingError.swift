/// A refusal or failure that a client is told, with the HTTP status that says whose fault it is.
package struct ServingError: Error, CustomStringConvertible {
    /// The status of the answer.
    package let status: Int
    /// The problem, and the object that has it.
    package let description: String
    /// The seconds after which the client may try again; `nil` if a retry does not help.
    package let retryAfter: Int?

    package init(_ status: Int, _ description: String, retryAfter: Int? = nil) {
        self.status = status
        self.description = description
        self.retryAfter = retryAfter
    }

    /// A request that can never succeed.
    static func invalid(_ description: String) -> ServingError { ServingError(400, description) }
    /// A model, version or path that does not exist.
    static func missing(_ description: String) -> ServingError { ServingError(404, description) }
    /// A request that came when there was no room for it.
    static func busy(_ description: String) -> ServingError { ServingError(503, description, retryAfter: 1) }
}
