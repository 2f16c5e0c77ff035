import DeploymentKeys
import HTTPTypes
import Hummingbird
import ServerCore

/// What devices ask of the key service: `Documentation/Formats/key-service.md`.
struct KeyRoutes {
    let service: KeyService

    /// The largest request that is taken; the service says what is too large for it.
    private static let largestRequest = 1 << 20

    func add(to router: Router<Context>) {
        router.post("v1/challenge") { request, context in
            response(await service.challenge(try await body(of: request)))
        }
        router.post("v1/enroll") { request, context in
            let caller = KeyServiceContext(address: context.limitedAddress)
            return response(await service.enrol(try await body(of: request), caller))
        }
        router.post("v1/renew") { request, context in
            let caller = KeyServiceContext(address: context.limitedAddress)
            return response(await service.renew(try await body(of: request), caller))
        }
        router.post("v1/keys/:key/release") { request, context in
            let caller = KeyServiceContext(address: context.limitedAddress)
            return response(
                await service.release(keyID: try context.name("key"), try await body(of: request), caller)
            )
        }
        router.get("v1/revocations/:team") { request, context in
            response(await service.revocations(team: try context.name("team")))
        }
    }

    private func body(of request: Request) async throws -> [UInt8] {
        Array(buffer: try await request.body.collect(upTo: Self.largestRequest))
    }

    private func response(_ reply: KeyServiceReply) -> Response {
        var response = Answers.bytes(
            reply.body,
            type: "application/json",
            status: HTTPResponse.Status(code: reply.status)
        )
        if let seconds = reply.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }
}
