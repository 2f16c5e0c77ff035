/// Why the server does not do what was asked.
public struct ServiceError: Error, Sendable, CustomStringConvertible {
    /// The kind of error: a stable word for programs.
    public enum Code: String, Sendable, CaseIterable {
        case invalid, unauthenticated, forbidden, notFound, conflict, tooLarge, rateLimited, unavailable
    }

    public let code: Code
    /// What is wrong and what helps, for people.
    public let description: String
    /// The member of the request that is wrong, such as `models.FlowerClassifier`; `nil` when it is none.
    public let field: String?
    /// After how many seconds it can be tried again.
    public let retryAfter: Int?
    /// What the audit log is to know of it, when somebody wanted what they may not.
    var denial: Denial?

    /// Somebody who is known was refused something in a team.
    struct Denial: Sendable, Hashable {
        let actor: String
        let team: String
        /// What it would have taken.
        let reason: String
    }

    public init(_ code: Code, _ description: String, field: String? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.description = description
        self.field = field
        self.retryAfter = retryAfter
    }

    /// The status of the HTTP response that tells of it.
    public var httpStatus: Int {
        switch code {
        case .invalid: 400
        case .unauthenticated: 401
        case .forbidden: 403
        case .notFound: 404
        case .conflict: 409
        case .tooLarge: 413
        case .rateLimited: 429
        case .unavailable: 503
        }
    }

    static func invalid(_ field: String, _ description: String) -> ServiceError {
        ServiceError(.invalid, description, field: field)
    }

    static func notFound(_ what: String) -> ServiceError {
        ServiceError(.notFound, "There is no \(what), or you may not see it.")
    }

    func denied(to actor: String, in team: String, _ reason: String) -> ServiceError {
        var copy = self
        copy.denial = Denial(actor: actor, team: team, reason: reason)
        return copy
    }

    static func forbidden(_ description: String) -> ServiceError { ServiceError(.forbidden, description) }
    static func conflict(_ description: String) -> ServiceError { ServiceError(.conflict, description) }
}
