public import Hummingbird
public import ServerCore

/// The routes of the server, and what answers to other methods on their paths.
/// - Parameter proxies: whose word on where requests came from is taken.
public func makeRouter(
    _ service: Service,
    publicAddress: String? = nil,
    proxies: TrustedProxies? = nil
) -> Router<Context> {
    let router = makeRoutes(service, publicAddress: publicAddress, proxies: proxies)
    router.refuseOtherMethods()
    return router
}

/// The routes alone, as `openapi.yaml` lists them.
public func makeRoutes(
    _ service: Service,
    publicAddress: String? = nil,
    proxies: TrustedProxies? = nil
) -> Router<Context> {
    let router = Router(context: Context.self)
    router.add(middleware: Measuring(measurements: .shared))
    router.add(middleware: ErrorAnswers())
    if let proxies { router.add(middleware: ForwardedAddress(proxies: proxies)) }
    router.add(middleware: RateLimits())
    router.get("health") { _, _ in try await healthAnswer(service) }
    DeviceRoutes(service: service).add(to: router)
    KeyRoutes(service: service.keyService).add(to: router)
    let api = router.group("api/v1").add(middleware: Authentication(service: service))
    let routes = APIRoutes(service: service, publicAddress: publicAddress)
    routes.addOpen(to: api)
    let identified = api.group().add(middleware: Identified())
    routes.add(to: identified)
    routes.addAccess(to: identified)
    RolloutRoutes(service: service).add(to: identified)
    TrustRoutes(service: service).add(to: identified)
    return router
}
