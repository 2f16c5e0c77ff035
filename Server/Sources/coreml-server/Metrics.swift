import Foundation
import Hummingbird
import Logging
import ServerCore
import ServerHTTP

/// The routes for Prometheus and load balancers, on a port that devices do not reach.
struct Metrics: Sendable {
    let service: ServerCore.Service
    let reception: Reception
    let certificate: ServerCertificate?

    func application(port: Int, _ logger: Logger) -> some ApplicationProtocol {
        let router = Router()
        router.get("metrics") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: Measurements.shared.text(try await gauges())))
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

    private func gauges() async throws -> [String: Double] {
        var gauges = try await service.gauges()
        gauges["coreml_requests_waiting"] = Double(reception.waitingRequests)
        if let certificate {
            gauges["coreml_certificate_seconds_left"] = certificate.expires.timeIntervalSinceNow
        }
        return gauges
    }
}
