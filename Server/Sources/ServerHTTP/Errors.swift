import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ServerBlobs
import ServerCore
import ServerDatabase

/// Turns errors into responses: a status, and JSON that says what is wrong.
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
            return ErrorAnswers.response(Self.noDatabase)
        }
    }

    static let noDatabase = ServiceError(
        .unavailable,
        "The server's database cannot be used now; its log says why.",
        retryAfter: 30
    )

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
        prepared(error, status).response
    }

    static func prepared(_ error: ServiceError, _ status: HTTPResponse.Status? = nil) -> PreparedAnswer {
        struct Body: Encodable {
            struct Content: Encodable {
                let code: String
                let message: String
                let field: String?
            }

            let error: Content
        }
        let body = Body(error: .init(code: error.code.rawValue, message: error.description, field: error.field))
        var answer = Answers.prepared(Answers.encoded(body), type: "application/json", status: status ?? error.status)
        if let seconds = error.retryAfter { answer.head.headerFields[.retryAfter] = String(seconds) }
        if error.code == .unauthenticated { answer.head.headerFields[.wwwAuthenticate] = "Bearer" }
        return answer
    }
}

extension ServiceError {
    var status: HTTPResponse.Status { HTTPResponse.Status(code: httpStatus) }
}

/// Answers in the form that most routes use.
enum Answers {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        bytes(encoded(value), type: "application/json", status: status)
    }

    static func encoded(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        guard let data = try? encoder.encode(value) else { preconditionFailure("the server's own values are JSON") }
        return [UInt8](data)
    }

    static func bytes(_ bytes: [UInt8], type: String, status: HTTPResponse.Status = .ok) -> Response {
        prepared(bytes, type: type, status: status).response
    }

    static func prepared(_ bytes: [UInt8], type: String, status: HTTPResponse.Status) -> PreparedAnswer {
        PreparedAnswer(status, [.contentType: type, .cacheControl: "no-store"], bytes)
    }

    static let empty = Response(status: .noContent)
}

/// An answer with all its bytes.
struct PreparedAnswer: Sendable {
    var head: HTTPResponse
    let bytes: ByteBuffer

    init(_ status: HTTPResponse.Status, _ headers: HTTPFields, _ bytes: [UInt8] = []) {
        self.bytes = ByteBuffer(bytes: bytes)
        head = HTTPResponse(status: status, headerFields: headers)
        // Headers that the response adds by itself are added here, too.
        head = response.head
    }

    var response: Response {
        let body = bytes.readableBytes == 0 ? ResponseBody() : ResponseBody(byteBuffer: bytes)
        return Response(status: head.status, headers: head.headerFields, body: body)
    }
}
