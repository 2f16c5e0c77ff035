import Hummingbird
import Logging
import ServerCore
import ServerHTTP

/// What Prometheus and a load balancer ask, on a port that devices do not reach.
func metricsApplication(_ service: ServerCore.Service, port: Int, _ logger: Logger) -> some ApplicationProtocol {
    let router = Router()
    router.get("metrics") { _, _ in
        let gauges = try await service.gauges()
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: Measurements.shared.text(gauges)))
        )
    }
    router.get("health") { _, _ in try await healthAnswer(service) }
    return Application(
        router: router,
        configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: "coreml-server"),
        onServerRunning: { channel in
            print("Metrics at http://127.0.0.1:\(channel.localAddress?.port ?? 0)/metrics")
        },
        logger: logger
    )
}
