import HTTPTypes
import Hummingbird
import ServerCore

/// Authenticates requests by their tokens, and reports refusals to the audit log.
struct Authentication: RouterMiddleware {
    let service: Service

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do { return try await authenticate(request, context, next) } catch let error as ServiceError {
            service.note(error, request: "\(request.method.rawValue) \(request.uri.path)")
            throw error
        }
    }

    private func authenticate(
        _ request: Request,
        _ context: Context,
        _ next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let header = request.headers[.authorization] else { return try await next(request, context) }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw ServiceError(.unauthenticated, "Only Authorization: Bearer is supported.")
        }
        var context = context
        let text = String(parts[1])
        context.credential = text
        context.principal =
            text.hasPrefix("mlk_session_")
            ? try await service.principal(session: text).0 : try await service.principal(token: text)
        return try await next(request, context)
    }
}

/// Refuses unauthenticated requests before anything of them is read.
struct Identified: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        _ = try context.actor
        return try await next(request, context)
    }
}
