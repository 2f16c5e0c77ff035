public import Hummingbird
public import ServerCore

/// The pages that people use the server by.
///
/// Pages are made here, as whole HTML; what the browser adds works on forms that are there without it.  Everything goes
/// through `Service`, which decides who may do what.
public struct Dashboard: Sendable {
    let service: ServerCore.Service
    /// Where clients reach the server; from the request when it was not given.
    let publicAddress: String?
    /// Whether browsers reach the server by https.
    let isSecure: Bool
    let files: DashboardFiles
    let cookie: SessionCookie

    /// - Parameters:
    ///   - publicAddress: where clients reach the server, such as `https://models.example.org`.
    ///   - isSecure: whether they reach it by https when no public address says it.
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

/// Routes to pages, which all ask first who is there, and on forms and uploads whether they come from a page of this server.
struct Pages<Context: RequestContext> {
    let dashboard: Dashboard
    let router: Router<Context>

    /// A page for everybody.
    func open(_ path: RouterPath, _ page: @escaping @Sendable (Request, Parameters) async throws -> Response) {
        let dashboard = dashboard
        router.get(path) { request, context in
            await dashboard.answer(request, context.logger) { try await page(request, context.parameters) }
        }
    }

    /// A form for those who are not signed in yet.
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

    /// A page for those who are signed in.
    func get(_ path: RouterPath, _ page: @escaping @Sendable (Visit) async throws -> Response) {
        let dashboard = dashboard
        router.get(path) { request, context in
            await dashboard.answer(request, context.logger) {
                try await page(try await dashboard.visit(request, context.parameters))
            }
        }
    }

    /// A form of a page, which must hold the session's secret.
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

    /// What a page's script sends, with the session's secret in a header.
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
