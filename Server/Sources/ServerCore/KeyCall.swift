import DeploymentKeys
public import Foundation

/// A request of a deployment server to its key service.
enum KeyCall: Codable, Sendable {
    case storage
    case makeTeam(team: String, name: String, server: String?)
    case serviceKeys(team: String)
    case keys(team: String)
    case publicKey(team: String, key: String?)
    case rotate(team: String)
    case revoke(team: String, key: String)
    case prepareServiceKey(team: String)
    case activateServiceKey(team: String, key: String)
    case conditions(team: String, app: String)
    case setConditions(team: String, app: String, EnrolmentConditions)
    case makeToken(team: String, app: String?, uses: Int?, lifetime: Double)
    case tokens(team: String)
    case removeToken(team: String, token: String)
    case advanceRevocations(versions: Int)
    case check
    /// A request that a device sent.
    case device(DeviceKeyRequest)
}

/// A device's request to the key service, as the server that it reached passes it on.
public struct DeviceKeyRequest: Codable, Sendable {
    /// The kind of request, one for each route.
    public enum Kind: String, Codable, Sendable { case challenge, enrolment, renewal, release, revocations }

    let kind: Kind
    /// The key of a release, or the team of revocations; otherwise empty.
    let name: String
    let body: Data
    /// The device's address, which enrolments are limited by.
    let address: String?
    /// The deployment server's statement about the request; `nil` when it does not know the app.
    var claim: KeyClaim?

    /// Creates a request from its route and body.
    public init(_ kind: Kind, name: String = "", body: [UInt8] = [], address: String? = nil) {
        self.kind = kind
        self.name = name
        self.body = Data(body)
        self.address = address
    }
}

/// A deployment server's statement about an app and a model.
struct KeyClaim: Codable, Sendable, Equatable {
    let team: String
    let app: String
    /// The content key that a device requests.
    let content: String?
    /// Whether a deployment of the app has a model with that content key, or had one recently.
    let isEntitled: Bool
}

/// The answer to a device's request.
public struct DeviceKeyAnswer: Codable, Sendable {
    /// The status of the HTTP response.
    public let status: Int
    /// The body of the HTTP response.
    public let body: Data
    /// The value of the header `Retry-After` in seconds; `nil` for none.
    public let retryAfter: Int?
}

/// The place where the keys of models are stored, and who decides which devices get them.
public struct KeyStorage: Codable, Sendable, Equatable {
    /// Whether they are stored by a process of its own.
    public let isApart: Bool
    /// The address of that process; `nil` when there is none.
    public let address: String?
    /// The protection of the key-encryption key, as text for people.
    public let rest: String
    /// Whether enrolment tokens and conditions are managed only where the keys are.
    public let holdsEnrolment: Bool
}

/// A key that signs answers of the key service, as the link transfers it.
struct ServiceKeyText: Codable, Sendable {
    let algorithm: String
    let publicKey: Data

    init(_ key: SigningPublicKey) {
        algorithm = key.algorithm.rawValue
        publicKey = Data(key.bytes)
    }

    func key() throws -> SigningPublicKey {
        guard let algorithm = SigningAlgorithm(rawValue: algorithm) else {
            throw ServiceError(.unavailable, "The key service signs with \"\(algorithm)\", which is not supported.")
        }
        return try SigningPublicKey(algorithm, bytes: Array(publicKey))
    }
}

/// A key service's answer to a deployment server.
enum KeyLinkAnswer<Value: Codable & Sendable>: Codable, Sendable {
    case value(Value)
    case refused(code: String, message: String, field: String?, retryAfter: Int?)

    init(_ error: ServiceError) {
        self = .refused(
            code: error.code.rawValue,
            message: error.description,
            field: error.field,
            retryAfter: error.retryAfter
        )
    }

    func get() throws -> Value {
        switch self {
        case .value(let value): return value
        case .refused(let code, let message, let field, let retryAfter):
            throw ServiceError(
                ServiceError.Code(rawValue: code) ?? .unavailable,
                message,
                field: field,
                retryAfter: retryAfter
            )
        }
    }
}

/// An answer without content.
struct KeyLinkDone: Codable, Sendable {}
