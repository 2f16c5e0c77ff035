public import Hummingbird
public import ServerCore

/// The routes of the server, with answers to other methods on their paths.
///
/// - Parameters:
///   - service: the service that answers.
///   - publicAddress: the address at which clients reach the server; `nil`, the default, for that of requests.
///   - isSecure: whether clients reach the server by https when there is no public address.
///   - proxies: the machines whose statements about the origin of requests are trusted; `nil` for none.
///   - reception: the state that the server's connections share; `nil` where there are no connections.
/// - Returns: the router.
public func makeRouter(
    _ service: Service,
    publicAddress: String? = nil,
    isSecure: Bool = false,
    proxies: TrustedProxies? = nil,
    reception: Reception? = nil
) -> Router<Context> {
    let router = makeRoutes(
        service,
        publicAddress: publicAddress,
        isSecure: isSecure,
        proxies: proxies,
        reception: reception
    )
    router.refuseOtherMethods()
    return router
}

/// The routes that `openapi.yaml` lists, with the same parameters as
/// ``makeRouter(_:publicAddress:isSecure:proxies:reception:)``.
public func makeRoutes(
    _ service: Service,
    publicAddress: String? = nil,
    isSecure: Bool = false,
    proxies: TrustedProxies? = nil,
    reception: Reception? = nil
) -> Router<Context> {
    let router = Router(context: Context.self)
    router.add(middleware: Measuring(measurements: .shared))
    router.add(middleware: ErrorAnswers())
    if let proxies { router.add(middleware: ForwardedAddress(proxies: proxies)) }
    router.add(middleware: reception?.limits ?? RateLimits())
    router.add(middleware: CallerAddress())
    router.get("health") { _, _ in try await healthAnswer(service) }
    DeviceRoutes(service: service, reception: reception).add(to: router)
    KeyRoutes(service: service).add(to: router)
    let api = router.group("api/v1").add(middleware: Authentication(service: service))
    let routes = APIRoutes(service: service, publicAddress: publicAddress, isSecure: isSecure)
    routes.addOpen(to: api)
    let identified = api.group().add(middleware: Identified())
    routes.add(to: identified)
    routes.addAccess(to: identified)
    RolloutRoutes(service: service).add(to: identified)
    TrustRoutes(service: service).add(to: identified)
    return router
}
