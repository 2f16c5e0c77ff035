public import Hummingbird
public import ServerCore

/// The routes of a key service of its own, which answers only its deployment server.
public func makeKeyLinkRouter(_ host: KeyHost) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("health") { _, _ -> String in
        try await host.checkReadiness()
        return "ok\n"
    }
    router.post("v1/link") { request, _ -> Response in
        // A device's request has at most 64 KiB.
        let message = try await request.body.collect(upTo: 1 << 20)
        let (status, body) = await host.answer(Array(buffer: message))
        return Response(
            status: .init(code: status),
            headers: [.contentType: "application/octet-stream", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: body))
        )
    }
    return router
}
