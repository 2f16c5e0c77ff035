import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ServerBlobs
import ServerCore
import ServerDatabase

/// A request of a person who is signed in.
struct Visit: Sendable {
    let request: Request
    let parameters: Parameters
    let visitor: Visitor
    /// The address of the server, without a slash at the end.
    let address: String

    var actor: Principal { visitor.principal }

    /// A component of the path.
    func name(_ parameter: String) throws -> String { try parameters.require(parameter) }

    /// A number in the path; anything else has no page.
    func number(_ parameter: String) throws -> Int {
        let text = try name(parameter)
        guard let number = Int(text) else { throw ServiceError(.notFound, "Nothing named \"\(text)\" exists here.") }
        return number
    }

    /// A parameter of the query; `nil` when it is missing or empty.
    func query(_ name: String) -> String? {
        guard let text = request.uri.queryParameters[Substring(name)], !text.isEmpty else { return nil }
        return String(text)
    }

    /// Whether a script asked, which gets a part of a page.
    var isFromScript: Bool { request.headers[.csrfToken] != nil }
}

extension HTTPField.Name {
    static let refresh = HTTPField.Name("Refresh")!
    static let csrfToken = HTTPField.Name("X-CSRF-Token")!
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
}

extension Dashboard {
    func address(_ request: Request) -> String {
        publicAddress ?? "\(isSecure ? "https" : "http")://\(request.head.authority ?? "localhost")"
    }

    /// Authenticates a request.
    func visit(_ request: Request, _ parameters: Parameters) async throws -> Visit {
        guard let secret = cookie.read(request) else { throw ServiceError(.unauthenticated, "Sign in first.") }
        return Visit(
            request: request,
            parameters: parameters,
            visitor: try await service.visitor(secret),
            address: address(request)
        )
    }

    /// Refuses requests from pages of other sites.
    func checkOrigin(_ request: Request) throws {
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" { throw Self.foreignForm }
        if let origin = request.headers[.origin] {
            let known = [
                address(request), "http://\(request.head.authority ?? "")", "https://\(request.head.authority ?? "")",
            ]
            guard known.contains(origin) else { throw Self.foreignForm }
        }
    }

    func check(_ csrf: String, _ visit: Visit) throws {
        guard isEqual(csrf, visit.visitor.csrf) else { throw Self.foreignForm }
    }

    private static let foreignForm = ServiceError(
        .forbidden,
        "This form does not belong to a page that is open here, or you have signed in again since: go back, reload the "
            + "page and send it again."
    )

    /// Answers a request, or reports the error.
    func answer(
        _ request: Request,
        _ logger: Logger,
        _ body: () async throws -> Response
    ) async -> Response {
        do { return try await body() } catch let error as ServiceError {
            service.note(error, request: "\(request.method.rawValue) \(request.uri.path)")
            return await failure(error, request)
        } catch let error as HTTPError {
            return await failure(
                ServiceError(
                    error.status == .contentTooLarge ? .tooLarge : .invalid,
                    error.body ?? "The request cannot be read."
                ),
                request
            )
        } catch let error as BlobError {
            logger.error("\(error)")
            return await failure(ServiceError(.unavailable, error.description, retryAfter: 30), request)
        } catch {
            logger.error("\(error)")
            return await failure(
                ServiceError(.unavailable, "The server cannot do this now; its log says why.", retryAfter: 30),
                request
            )
        }
    }

    private func failure(_ error: ServiceError, _ request: Request) async -> Response {
        let isFromScript = request.headers[.csrfToken] != nil
        if error.code == .unauthenticated, !isFromScript {
            let isPage = request.method == .get && request.uri.path != "/"
            let query = request.uri.query.map { "?" + $0 } ?? ""
            let next = isPage ? "?next=" + Self.queryEscaped(request.uri.path + query) : ""
            return redirect("/sign-in" + next)
        }
        if isFromScript { return text(error.description, status: error.status) }
        let visitor = (try? await visit(request, Parameters()))?.visitor
        return errorPage(error, visitor: visitor)
    }

    static func queryEscaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension ServiceError {
    var status: HTTPResponse.Status { HTTPResponse.Status(code: httpStatus) }

    /// The heading above the explanation.
    var title: String {
        switch code {
        case .invalid: "The input is not valid"
        case .unauthenticated: "You are not signed in"
        case .forbidden: "You do not have permission for this"
        case .notFound: "Nothing exists here"
        case .conflict: "That is not possible now"
        case .tooLarge: "That is too large"
        case .rateLimited: "Too often"
        case .unavailable: "The server cannot do this now"
        }
    }
}
