import DeploymentKeys
public import Foundation

/// What a deployment server asks of its key service.
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
    /// What a device has sent.
    case device(DeviceKeyRequest)
}

/// What a device asks of the key service, as the server that it has reached passes it on.
public struct DeviceKeyRequest: Codable, Sendable {
    public enum Kind: String, Codable, Sendable { case challenge, enrolment, renewal, release, revocations }

    let kind: Kind
    /// The key of a release, the team of revocations; else empty.
    let name: String
    let body: Data
    /// The address that it came from, by which enrolments are limited.
    let address: String?
    /// What the deployment server knows of what is asked for; nothing when it knows no such app.
    var claim: KeyClaim?

    public init(_ kind: Kind, name: String = "", body: [UInt8] = [], address: String? = nil) {
        self.kind = kind
        self.name = name
        self.body = Data(body)
        self.address = address
    }
}

/// What a deployment server says of an app and of a model.
struct KeyClaim: Codable, Sendable, Equatable {
    let team: String
    let app: String
    /// The content key that a device asks for.
    let content: String?
    /// Whether a deployment of the app has a model with that content key, or had one lately.
    let isEntitled: Bool
}

/// What a device is answered.
public struct DeviceKeyAnswer: Codable, Sendable {
    public let status: Int
    public let body: Data
    /// For the header `Retry-After`, in seconds.
    public let retryAfter: Int?
}

/// Where the keys of models lie, and who can change who gets them.
public struct KeyStorage: Codable, Sendable, Equatable {
    /// Whether they are with a process of their own.
    public let isApart: Bool
    /// Where that process is reached from here.
    public let address: String?
    /// How the key that seals all others rests there, for people.
    public let rest: String
    /// Whether enrolment tokens and conditions are made where the keys are, and nowhere else.
    public let holdsEnrolment: Bool
}

/// A key that signs what the key service says, as the link carries it.
struct ServiceKeyText: Codable, Sendable {
    let algorithm: String
    let publicKey: Data

    init(_ key: SigningPublicKey) {
        algorithm = key.algorithm.rawValue
        publicKey = Data(key.bytes)
    }

    func key() throws -> SigningPublicKey {
        guard let algorithm = SigningAlgorithm(rawValue: algorithm) else {
            throw ServiceError(.unavailable, "The key service signs by \"\(algorithm)\", which is not known here.")
        }
        return try SigningPublicKey(algorithm, bytes: Array(publicKey))
    }
}

/// What a key service answers a deployment server.
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
