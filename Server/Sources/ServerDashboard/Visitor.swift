import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ServerCore

/// The person who uses the dashboard, and the secrets of the session.
struct Visitor: Sendable {
    let principal: Principal
    /// A secret of the session that other sites cannot know, which forms contain.
    let csrf: String
    /// The secret that the cookie contains.
    let secret: String

    func permissions(in team: String) -> Permissions { Permissions(principal.permissions(in: team)) }
}

/// The visitor's permissions, for templates.
struct Permissions: Sendable {
    let manageApps: Bool
    let publish: Bool
    let deploy: Bool
    let manageKeys: Bool
    let audit: Bool
    let manageMembers: Bool

    init(_ permissions: Set<Permission>) {
        manageApps = permissions.contains(.manageApps)
        publish = permissions.contains(.publish)
        deploy = permissions.contains(.deploy)
        manageKeys = permissions.contains(.manageKeys)
        audit = permissions.contains(.audit)
        manageMembers = permissions.contains(.manageMembers)
    }
}

/// The cookie that identifies the session.
struct SessionCookie: Sendable {
    /// Whether browsers reach the server by https: they then restrict the cookie to this host and to https.
    let isSecure: Bool

    private var name: String { isSecure ? "__Host-coreml" : "coreml" }
    private static let session = 7 * 86_400
    private static let token = 12 * 3600

    func read(_ request: Request) -> String? { request.cookies[name]?.value }

    /// The header that sets the cookie to a session's secret or to a token.
    ///
    /// The server ends a session after 12 hours without use and 7 days at the latest; the browser forgets a token after
    /// 12 hours.
    func setting(_ secret: String) -> String {
        let seconds = secret.hasPrefix("mlk_session_") ? Self.session : Self.token
        return "\(name)=\(secret); Max-Age=\(seconds); Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    // MARK: Away at an identity provider

    private var stateName: String { isSecure ? "__Host-coreml-state" : "coreml-state" }

    func readState(_ request: Request) -> String? { request.cookies[stateName]?.value }

    /// The header that sets the state's cookie.
    ///
    /// It is lax because it must be sent when the provider sends the browser back.
    func settingState(_ state: String) -> String {
        "\(stateName)=\(state); Max-Age=600; Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")
    }

    var clearingState: String {
        "\(stateName)=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")
    }

    var clearing: String { "\(name)=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "") }
}

extension ServerCore.Service {
    /// The holder of a session or a token.
    func visitor(_ secret: String) async throws -> Visitor {
        if secret.hasPrefix("mlk_session_") {
            let (principal, csrf) = try await principal(session: secret)
            return Visitor(principal: principal, csrf: csrf, secret: secret)
        }
        let principal = try await principal(token: secret)
        // Only the holder of the token can compute this, and it does not reveal the token.
        let code = HMAC<SHA256>.authenticationCode(for: Data("csrf".utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return Visitor(
            principal: principal,
            csrf: code.map { String(format: "%02x", $0) }.joined(),
            secret: secret
        )
    }
}

/// Whether both are equal, in a time that does not depend on where they differ.
func isEqual(_ first: String, _ second: String) -> Bool {
    let (first, second) = (Array(first.utf8), Array(second.utf8))
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
}
