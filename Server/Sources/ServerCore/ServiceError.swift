/// The refusal or failure of a request to the server.
public struct ServiceError: Error, Sendable, CustomStringConvertible {
    /// The kind of error: a stable word for programs.
    public enum Code: String, Sendable, CaseIterable {
        /// The kinds, each with an HTTP status of its own; see ``ServiceError/httpStatus``.
        case invalid, unauthenticated, forbidden, notFound, conflict, tooLarge, rateLimited, unavailable
    }

    /// The kind of error.
    public let code: Code
    /// The problem and its remedy, as text for people.
    public let description: String
    /// The member of the request that is wrong, such as `models.FlowerClassifier`; `nil` when it is none.
    public let field: String?
    /// The seconds after which it can be tried again; `nil` where that is not known.
    public let retryAfter: Int?
    /// The information for the audit log, when a known actor lacked a permission.
    var denial: Denial?

    /// The refusal of a request by a known actor for lack of permission.
    struct Denial: Sendable, Hashable {
        let actor: String
        let team: String
        /// The missing permission.
        let reason: String
    }

    /// Creates an error.
    public init(_ code: Code, _ description: String, field: String? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.description = description
        self.field = field
        self.retryAfter = retryAfter
    }

    /// The status of the HTTP response.
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

    static func notFound(_ subject: String) -> ServiceError {
        ServiceError(.notFound, "There is no \(subject), or you may not see it.")
    }

    func denied(to actor: String, in team: String, _ reason: String) -> ServiceError {
        var copy = self
        copy.denial = Denial(actor: actor, team: team, reason: reason)
        return copy
    }

    static func forbidden(_ description: String) -> ServiceError { ServiceError(.forbidden, description) }
    static func conflict(_ description: String) -> ServiceError { ServiceError(.conflict, description) }
}
