import Foundation
import HTTPTypes
import Hummingbird
import ServerBlobs
import ServerCore

/// The routes of `/api/v1`, as `openapi.yaml` describes them.
struct APIRoutes {
    let service: Service
    /// The address at which clients reach the server, such as `https://models.example.org`; `nil` for that of requests.
    let publicAddress: String?
    /// Whether clients reach the server by https when there is no public address.
    let isSecure: Bool

    func address(_ request: Request) -> String {
        publicAddress ?? "\(isSecure ? "https" : "http")://\(request.head.authority ?? "localhost")"
    }

    /// Adds the routes that need no token.
    func addOpen(to router: RouterGroup<Context>) {
        router.post("sessions", use: signIn)
        router.post("oidc/token", use: exchange)
        router.get("openapi.yaml") { _, _ in Answers.bytes(openAPIDocument, type: "application/yaml") }
    }

    func add(to router: RouterGroup<Context>) {
        addTeams(to: router)
        addApps(to: router)
        addDeployments(to: router)
    }

    private func addTeams(to router: RouterGroup<Context>) {
        router.get("me", use: me)
        router.get("teams", use: teams)
        router.post("teams", use: createTeam)
        router.get("teams/:team") { request, context in
            Answers.json(try await service.team(context.name("team"), as: context.actor))
        }
        router.get("teams/:team/apps") { request, context in
            Answers.json(try await service.apps(of: context.name("team"), as: context.actor))
        }
        router.post("teams/:team/apps", use: createApp)
        router.get("teams/:team/archives") { request, context in
            Answers.json(try await service.archives(of: context.name("team"), as: context.actor))
        }
        router.post("teams/:team/archives", use: uploadArchive)
        router.post("teams/:team/vectors", use: uploadVectors)
        router.post("teams/:team/deltas", use: uploadDelta)
        router.get("teams/:team/archives/:sha256") { request, context in
            Answers.json(
                try await service.archive(context.name("sha256"), team: context.name("team"), as: context.actor)
            )
        }
        router.get("teams/:team/keys") { request, context in
            Answers.json(try await service.keys(of: context.name("team"), as: context.actor))
        }
        router.get("teams/:team/key-storage") { request, context in
            Answers.json(try await service.keyStorage(of: context.name("team"), as: context.actor))
        }
        router.post("teams/:team/keys") { request, context in
            Answers.json(try await service.rotateKey(of: context.name("team"), as: context.actor), status: .created)
        }
        router.get("teams/:team/keys/:key") { request, context in
            let name = try context.name("key")
            return Answers.bytes(
                try await service.publicKey(
                    name == "current" ? nil : name,
                    of: context.name("team"),
                    as: context.actor
                ),
                type: "application/json"
            )
        }
        router.delete("teams/:team/keys/:key") { request, context in
            Answers.json(
                try await service.revokeKey(context.name("key"), of: context.name("team"), as: context.actor)
            )
        }
    }

    private func addApps(to router: RouterGroup<Context>) {
        router.get("apps/:app") { request, context in
            Answers.json(try await service.app(context.name("app"), as: context.actor))
        }
        router.get("apps/:app/collections") { request, context in
            Answers.json(try await service.collections(of: context.name("app"), as: context.actor))
        }
        router.post("apps/:app/collections", use: createCollection)
        router.get("apps/:app/collections/:collection") { request, context in
            Answers.json(
                try await service.collection(context.name("collection"), app: context.name("app"), as: context.actor)
            )
        }
        router.get("apps/:app/configuration", use: clientConfiguration)
        router.get("apps/:app/collections/:collection/releases") { request, context in
            Answers.json(
                try await service.releases(
                    app: context.name("app"),
                    collection: context.name("collection"),
                    as: context.actor
                )
            )
        }
        router.post("apps/:app/collections/:collection/releases", use: createRelease)
        router.get("apps/:app/collections/:collection/releases/:number", use: release)
        router.get("apps/:app/collections/:collection/deployments") { request, context in
            Answers.json(
                try await service.deployments(
                    app: context.name("app"),
                    collection: context.name("collection"),
                    as: context.actor
                )
            )
        }
        router.post("apps/:app/collections/:collection/deployments", use: createDeployment)
        router.get("apps/:app/collections/:collection/history", use: history)
    }

    private func addDeployments(to router: RouterGroup<Context>) {
        router.get("deployments/:deployment/policy") { request, context in
            Answers.bytes(
                try await service.policy(of: context.name("deployment"), as: context.actor),
                type: "application/json"
            )
        }
        router.get("deployments/:deployment") { request, context in
            Answers.json(try await service.deployment(context.name("deployment"), as: context.actor))
        }
        router.put("deployments/:deployment", use: edit)
        router.post("deployments/:deployment/approve") { request, context in
            Answers.json(try await service.operate(.approve, context.name("deployment"), as: context.actor))
        }
        router.post("deployments/:deployment/:operation", use: operate)
    }

    // MARK: Releases and deployments

    @Sendable private func clientConfiguration(_ request: Request, _ context: Context) async throws -> Response {
        let environment = try await environment(request, context)
        return Answers.bytes(
            try await service.clientConfiguration(
                app: context.name("app"),
                environment: environment,
                server: address(request),
                as: context.actor
            ),
            type: "application/json"
        )
    }

    /// The environment that a request names, which the app must have.
    private func environment(_ request: Request, _ context: Context) async throws -> String {
        let app = try await service.app(context.name("app"), as: context.actor)
        let name = request.uri.queryParameters["environment"].map(String.init) ?? "production"
        guard app.environments.contains(name) else {
            throw ServiceError(
                .notFound,
                "The app has no environment \"\(name)\"; it has \(app.environments.joined(separator: ", ")).",
                field: "environment"
            )
        }
        return name
    }

    @Sendable private func createRelease(_ request: Request, _ context: Context) async throws -> Response {
        let release = try await service.createRelease(
            try await request.json(NewRelease.self, context),
            app: context.name("app"),
            collection: context.name("collection"),
            as: context.actor
        )
        return Answers.json(release, status: .created)
    }

    @Sendable private func release(_ request: Request, _ context: Context) async throws -> Response {
        guard let number = Int(try context.name("number")) else {
            throw ServiceError(.invalid, "A release has a number.", field: "number")
        }
        return Answers.json(
            try await service.release(
                number,
                app: context.name("app"),
                collection: context.name("collection"),
                as: context.actor
            )
        )
    }

    private struct NewDeployment: Codable {
        let name: String?
        let environment: String?
        let definition: DeploymentDefinition
    }

    @Sendable private func createDeployment(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(NewDeployment.self, context)
        let deployment = try await service.createDeployment(
            body.definition,
            name: body.name ?? "",
            app: context.name("app"),
            collection: context.name("collection"),
            environment: body.environment ?? "production",
            as: context.actor
        )
        return Answers.json(deployment, status: .created)
    }

    @Sendable private func edit(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(NewDeployment.self, context)
        return Answers.json(
            try await service.edit(context.name("deployment"), body.definition, name: body.name, as: context.actor)
        )
    }

    @Sendable private func operate(_ request: Request, _ context: Context) async throws -> Response {
        let name = try context.name("operation")
        guard let operation = Service.Operation(rawValue: name) else {
            throw ServiceError(
                .notFound,
                "Nothing named \"\(name)\" exists here; there is "
                    + Service.Operation.allCases.map(\.rawValue).joined(separator: ", ") + "."
            )
        }
        return Answers.json(try await service.operate(operation, context.name("deployment"), as: context.actor))
    }

    @Sendable private func history(_ request: Request, _ context: Context) async throws -> Response {
        let environment = try await environment(request, context)
        return Answers.json(
            try await service.history(
                app: context.name("app"),
                collection: context.name("collection"),
                environment: environment,
                as: context.actor
            )
        )
    }

    // MARK: Access

    private struct Me: Encodable {
        let name: String
        let isAdministrator: Bool
        let app: String?
        /// The permissions in each team.
        let teams: [String: [String]]
    }

    @Sendable private func me(_ request: Request, _ context: Context) async throws -> Response {
        let actor = try context.actor
        let teams = actor.roles.keys.map { ($0, actor.permissions(in: $0).map(\.rawValue).sorted()) }
        return Answers.json(
            Me(
                name: actor.name,
                isAdministrator: actor.isAdministrator,
                app: actor.app,
                teams: Dictionary(teams) { first, _ in first }
            )
        )
    }

    private struct SignInProof: Codable {
        /// The last component of a link.
        let link: String?
        let email: String?
        let password: String?
        /// The code of an authenticator, or a recovery code.
        let code: String?
    }

    private struct CreatedSession: Encodable {
        /// The text to be sent as a token.
        let text: String
    }

    @Sendable private func signIn(_ request: Request, _ context: Context) async throws -> Response {
        let proof = try await request.json(SignInProof.self, context)
        let session: Session
        switch (proof.link, proof.email, proof.password) {
        case (let link?, nil, nil) where proof.code == nil:
            session = try await service.signIn(link: link, current: context.principal)
        case (nil, let email?, let password?):
            session = try await service.signIn(
                email: email,
                password: password,
                code: proof.code,
                address: Caller.address
            )
        default: throw ServiceError(.invalid, "Sign in with a link, or with an email and a password.", field: "link")
        }
        return Answers.json(CreatedSession(text: session.secret), status: .created)
    }

    // MARK: Teams and apps

    @Sendable private func teams(_ request: Request, _ context: Context) async throws -> Response {
        Answers.json(try await service.teams(of: context.actor))
    }

    private struct NewTeam: Codable {
        let id: String
        let name: String?
    }

    @Sendable private func createTeam(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(NewTeam.self, context)
        return Answers.json(
            try await service.createTeam(body.id, name: body.name ?? body.id, as: context.actor),
            status: .created
        )
    }

    private struct NewApp: Codable {
        let id: String
        let name: String?
        let environments: [String]?
    }

    @Sendable private func createApp(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(NewApp.self, context)
        let app = try await service.createApp(
            body.id,
            team: context.name("team"),
            name: body.name ?? body.id,
            environments: body.environments ?? ["production"],
            as: context.actor
        )
        return Answers.json(app, status: .created)
    }

    private struct NewCollection: Codable {
        let id: String
        let description: String?
        let models: [String]
    }

    @Sendable private func createCollection(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(NewCollection.self, context)
        let collection = try await service.createCollection(
            body.id,
            app: context.name("app"),
            description: body.description ?? "",
            models: body.models,
            as: context.actor
        )
        return Answers.json(collection, status: .created)
    }
}

extension Context {
    /// A component of the path.
    func name(_ parameter: String) throws -> String { try parameters.require(parameter) }
}

extension Request {
    /// The body, which must be JSON without members that the type does not have.
    ///
    /// A misspelled member would change the meaning of the request.
    func json<Value: Codable>(_ type: Value.Type, _ context: Context) async throws -> Value {
        let data = Data(Array(buffer: try await body.collect(upTo: context.maxUploadSize)))
        let value = try JSONDecoder().decode(type, from: data)
        let provided = try JSONDecoder().decode(AnyJSON.self, from: data)
        let known = try JSONDecoder().decode(AnyJSON.self, from: try JSONEncoder().encode(value))
        if let path = provided.unknownMember(beside: known) {
            throw ServiceError(.invalid, "There is no such member, or it is null: leave it out.", field: path)
        }
        return value
    }

    /// A number among the query's parameters.
    func integer(_ name: String) throws -> Int? {
        try uri.queryParameters[Substring(name)].map { text in
            guard let value = Int(text) else { throw ServiceError(.invalid, "This must be a number.", field: name) }
            return value
        }
    }
}

extension AnyJSON {
    /// The path of the first member that `known` does not have.
    func unknownMember(beside known: AnyJSON) -> String? {
        switch (self, known) {
        case (.object(let members), .object(let others)):
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                guard let other = others[name] else { return name }
                if let path = value.unknownMember(beside: other) { return "\(name).\(path)" }
            }
            return nil
        case (.list(let values), .list(let others)):
            for (index, (value, other)) in zip(values, others).enumerated() {
                if let path = value.unknownMember(beside: other) { return "[\(index)].\(path)" }
            }
            return nil
        default: return nil
        }
    }
}
