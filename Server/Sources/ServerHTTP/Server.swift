public import Hummingbird
public import ServerCore

/// The routes of the server.
public func makeRouter(_ service: Service, publicAddress: String? = nil) -> Router<Context> {
    let router = Router(context: Context.self)
    router.add(middleware: Measuring(measurements: .shared))
    router.add(middleware: ErrorAnswers())
    router.get("health") { _, _ in try await healthAnswer(service) }
    DeviceRoutes(service: service).add(to: router)
    KeyRoutes(service: service.keyService).add(to: router)
    let api = router.group("api/v1").add(middleware: Authentication(service: service))
    APIRoutes(service: service, publicAddress: publicAddress).add(to: api)
    return router
}
