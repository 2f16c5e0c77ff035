import Hummingbird
import ServerCore

/// Tells whoever signs somebody in where the request came from.
struct CallerAddress: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.method == .post, RequestPath(request.uri.path).isSignIn else {
            return try await next(request, context)
        }
        return try await Caller.$address.withValue(context.limitedAddress) { try await next(request, context) }
    }
}
