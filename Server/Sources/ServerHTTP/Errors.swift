import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ServerBlobs
import ServerCore
import ServerDatabase

/// Makes answers of errors: a status, and JSON that names what is wrong.
struct ErrorAnswers: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch let error as ServiceError {
            return ErrorAnswers.response(error)
        } catch let error as HTTPError {
            return ErrorAnswers.response(
                ServiceError(code(of: error.status), error.body ?? error.status.reasonPhrase),
                error.status
            )
        } catch let error as DecodingError {
            return ErrorAnswers.response(ServiceError(.invalid, message(of: error), field: field(of: error)))
        } catch let error as BlobError {
            if case .failure = error { context.logger.error("\(error)") }
            return ErrorAnswers.response(serviceError(of: error))
        } catch let error as DatabaseError {
            context.logger.error("\(error)")
            return ErrorAnswers.response(
                ServiceError(
                    .unavailable,
                    "The server's database cannot be used now; its log says why.",
                    retryAfter: 30
                )
            )
        }
    }

    private func serviceError(of error: BlobError) -> ServiceError {
        switch error {
        case .missing: ServiceError(.notFound, error.description)
        case .wrongDigest: ServiceError(.invalid, error.description, field: "sha256")
        case .failure:
            ServiceError(.unavailable, "The server cannot store or read files now; its log says why.", retryAfter: 30)
        }
    }

    private func code(of status: HTTPResponse.Status) -> ServiceError.Code {
        switch status {
        case .notFound: .notFound
        case .unauthorized: .unauthenticated
        case .contentTooLarge: .tooLarge
        default: .invalid
        }
    }

    private func path(of error: DecodingError) -> [any CodingKey] {
        switch error {
        case .keyNotFound(let key, let context): context.codingPath + [key]
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath
        @unknown default: []
        }
    }

    private func field(of error: DecodingError) -> String? {
        let path = path(of: error).map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return path.isEmpty ? nil : path.first == "." ? String(path.dropFirst()) : path
    }

    private func message(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound: "A member is missing."
        case .typeMismatch(let type, _), .valueNotFound(let type, _): "This must be of the type \(type)."
        case .dataCorrupted(let context): context.debugDescription
        @unknown default: "The JSON cannot be read."
        }
    }

    static func response(_ error: ServiceError, _ status: HTTPResponse.Status? = nil) -> Response {
        struct Body: Encodable {
            struct Content: Encodable {
                let code: String
                let message: String
                let field: String?
            }

            let error: Content
        }
        let body = Body(error: .init(code: error.code.rawValue, message: error.description, field: error.field))
        var response = Answers.json(body, status: status ?? error.status)
        if let seconds = error.retryAfter { response.headers[.retryAfter] = String(seconds) }
        if error.code == .unauthenticated { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}

extension ServiceError {
    var status: HTTPResponse.Status { HTTPResponse.Status(code: httpStatus) }
}

/// Answers as most routes give them.
enum Answers {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        guard let data = try? encoder.encode(value) else { preconditionFailure("the server's own values are JSON") }
        return bytes([UInt8](data), type: "application/json", status: status)
    }

    static func bytes(_ bytes: [UInt8], type: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }

    static let empty = Response(status: .noContent)
}
