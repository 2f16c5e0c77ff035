import COpenAPIFile
import Hummingbird
import HTTPTypes
import ServerCore

/// The contents of `Server/openapi.yaml`, which describes the routes and from which their tests are derived.
public let openAPIDocument = [UInt8](
    UnsafeBufferPointer(start: openapi_file(), count: Int(openapi_file_length()))
)

extension Router where Context == ServerHTTP.Context {
    /// Answers other methods on the routes' paths with 405 and the allowed ones (RFC 9110, section 15.5.6).
    func refuseOtherMethods() {
        var allowed: [String: (path: RouterPath, methods: Set<HTTPRequest.Method>)] = [:]
        for route in routes { allowed["\(route.path)", default: (route.path, [])].methods.insert(route.method) }
        let query = HTTPRequest.Method("QUERY")
        let all = [.get, .head, .post, .put, .delete, .patch, .options, .trace] + (query.map { [$0] } ?? [])
        for (path, methods) in allowed.values {
            let names = methods.map(\.rawValue).sorted().joined(separator: ", ")
            for method in all where !methods.contains(method) {
                on(path, method: method) { request, _ in
                    var response = ErrorAnswers.response(
                        ServiceError(.invalid, "\(request.method.rawValue) is not possible here; \(names) is."),
                        .methodNotAllowed
                    )
                    response.headers[.allow] = names
                    return response
                }
            }
        }
    }
}
