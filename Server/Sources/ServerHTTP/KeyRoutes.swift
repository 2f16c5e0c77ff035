import Foundation
import HTTPTypes
import Hummingbird
import ServerCore

/// The routes of devices to the key service: `Documentation/Formats/key-service.md`.
struct KeyRoutes {
    let service: Service

    /// The largest accepted request in bytes; the service has smaller limits for each kind.
    private static let maximumRequestByteCount = 1 << 20

    func add(to router: Router<Context>) {
        for (path, kind) in [
            ("challenge", DeviceKeyRequest.Kind.challenge), ("enroll", .enrolment), ("renew", .renewal),
        ] {
            router.post("v1/\(path)") { request, context in
                await answer(kind, body: try await body(of: request), context)
            }
        }
        router.post("v1/keys/:key/release") { request, context in
            await answer(.release, name: try context.name("key"), body: try await body(of: request), context)
        }
        router.get("v1/revocations/:team") { _, context in
            await answer(.revocations, name: try context.name("team"), context)
        }
    }

    private func answer(
        _ kind: DeviceKeyRequest.Kind,
        name: String = "",
        body: [UInt8] = [],
        _ context: Context
    ) async -> Response {
        let request = DeviceKeyRequest(kind, name: name, body: body, address: context.limitedAddress)
        let answer = await service.answer(request)
        var response = Answers.bytes(
            Array(answer.body),
            type: "application/json",
            status: HTTPResponse.Status(code: answer.status)
        )
        if let seconds = answer.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }

    private func body(of request: Request) async throws -> [UInt8] {
        Array(buffer: try await request.body.collect(upTo: Self.maximumRequestByteCount))
    }
}
