import Hummingbird
import ServerCore

/// Passes the address of a request on to the code that signs people in.
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
