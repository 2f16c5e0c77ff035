import HTTPTypes
import Hummingbird
import ServerCore

/// Finds out who asks by the token of the request.
struct Authentication: RouterMiddleware {
    let service: Service

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let header = request.headers[.authorization] else { return try await next(request, context) }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw ServiceError(.unauthenticated, "Only Authorization: Bearer is known here.")
        }
        var context = context
        let text = String(parts[1])
        context.principal =
            text.hasPrefix("mlk_session_")
            ? try await service.principal(session: text).0 : try await service.principal(token: text)
        return try await next(request, context)
    }
}
