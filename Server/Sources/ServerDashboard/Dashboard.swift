public import Hummingbird
public import ServerCore

/// The web pages with which people use the server.
///
/// Pages are rendered here as complete HTML; scripts only enhance forms that work without them. Everything goes through
/// `Service`, which checks permissions.
public struct Dashboard: Sendable {
    let service: ServerCore.Service
    /// The address at which clients reach the server; `nil` for that of requests.
    let publicAddress: String?
    /// Whether browsers reach the server by https.
    let isSecure: Bool
    let files: DashboardFiles
    let cookie: SessionCookie

    /// Creates the pages.
    ///
    /// - Parameters:
    ///   - service: the service that they use.
    ///   - publicAddress: the address at which clients reach the server, such as `https://models.example.org`.
    ///   - isSecure: whether they reach it by https when there is no public address.
    /// - Throws: when the program's own files cannot be read.
    public init(_ service: ServerCore.Service, publicAddress: String? = nil, isSecure: Bool = false) throws {
        self.service = service
        self.publicAddress = publicAddress
        files = try DashboardFiles()
        self.isSecure = publicAddress?.hasPrefix("https://") ?? isSecure
        cookie = SessionCookie(isSecure: self.isSecure)
    }

    /// Adds the pages to a server's routes.
    public func add<Context: RequestContext>(to router: Router<Context>) {
        let pages = Pages(dashboard: self, router: router)
        addSignIn(to: pages)
        addTeams(to: pages)
        addArchives(to: pages)
        addCollections(to: pages)
        addReleases(to: pages)
        addDeployments(to: pages)
        addSettings(to: pages)
        addWebhooks(to: pages)
        addMembers(to: pages)
        addAccount(to: pages)
    }
}

/// The routes to pages.
///
/// All pages first authenticate the request; forms and uploads are also checked to come from a page of this server.
struct Pages<Context: RequestContext> {
    let dashboard: Dashboard
    let router: Router<Context>

    /// Adds a page for everybody.
    func open(_ path: RouterPath, _ page: @escaping @Sendable (Request, Parameters) async throws -> Response) {
        let dashboard = dashboard
        router.get(path) { request, context in
            await dashboard.answer(request, context.logger) { try await page(request, context.parameters) }
        }
    }

    /// Adds a form for people who are not signed in yet.
    func openForm(_ path: RouterPath, _ page: @escaping @Sendable (Request, Parameters, Form) async throws -> Response)
    {
        let dashboard = dashboard
        router.post(path) { request, context in
            await dashboard.answer(request, context.logger) {
                try dashboard.checkOrigin(request)
                return try await page(request, context.parameters, try await Form(request))
            }
        }
    }

    /// Adds a page for people who are signed in.
    func get(_ path: RouterPath, _ page: @escaping @Sendable (Visit) async throws -> Response) {
        let dashboard = dashboard
        router.get(path) { request, context in
            await dashboard.answer(request, context.logger) {
                try await page(try await dashboard.visit(request, context.parameters))
            }
        }
    }

    /// Adds a form, which must contain the session's secret.
    func form(_ path: RouterPath, _ page: @escaping @Sendable (Visit, Form) async throws -> Response) {
        let dashboard = dashboard
        router.post(path) { request, context in
            await dashboard.answer(request, context.logger) {
                try dashboard.checkOrigin(request)
                let visit = try await dashboard.visit(request, context.parameters)
                let form = try await Form(request)
                try dashboard.check(form["csrf"], visit)
                return try await page(visit, form)
            }
        }
    }

    /// Adds a route for a page's script, with the session's secret in a header.
    func send(_ path: RouterPath, _ page: @escaping @Sendable (Visit) async throws -> Response) {
        let dashboard = dashboard
        router.post(path) { request, context in
            await dashboard.answer(request, context.logger) {
                try dashboard.checkOrigin(request)
                let visit = try await dashboard.visit(request, context.parameters)
                try dashboard.check(request.headers[.csrfToken] ?? "", visit)
                return try await page(visit)
            }
        }
    }
}
