import Foundation
import Hummingbird
import ServerCore

/// The common content of pages about a collection.
struct CollectionContext {
    let app: App
    let id: String
    var path: String { "/apps/\(app.id)/collections/\(id)" }

    func trail(_ last: Layout.Link...) -> [Layout.Link] {
        [
            .init(name: "Apps", address: "/teams/\(app.team)"), .init(name: app.name, address: "/apps/\(app.id)"),
            .init(name: id, address: path),
        ] + last
    }
}

extension Dashboard {
    func addCollections<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("apps/:app") { visit in try await appPage(visit) }
        pages.get("apps/:app/configuration") { visit in
            let environment = visit.query("environment") ?? "production"
            let bytes = try await service.clientConfiguration(
                app: visit.name("app"),
                environment: environment,
                server: visit.address,
                as: visit.actor
            )
            return download(bytes, name: "ModelDeployment.json", type: "application/json")
        }
        pages.get("apps/:app/collections/new") { visit in
            let app = try await service.app(visit.name("app"), as: visit.actor)
            try require(.manageApps, visit, app.team)
            return try await newCollectionPage(visit, app)
        }
        pages.form("apps/:app/collections") { visit, form in try await makeCollection(visit, form) }
        pages.get("apps/:app/collections/:collection") { visit in try await collectionPage(visit) }
        pages.get("apps/:app/collections/:collection/history") { visit in try await historyPage(visit) }
        pages.get("apps/:app/collections/:collection/events") { visit in try await collectionEvents(visit) }
    }

    /// The collection that an address names.
    func place(_ visit: Visit) async throws -> (CollectionContext, ModelCollection) {
        let app = try await service.app(visit.name("app"), as: visit.actor)
        let collection = try await service.collection(visit.name("collection"), app: app.id, as: visit.actor)
        return (CollectionContext(app: app, id: collection.id), collection)
    }

    // MARK: Apps

    private func appPage(_ visit: Visit) async throws -> Response {
        struct Content {
            struct Entry {
                let id: String
                let description: String?
                let models: [String]
                let latest: Int?
                let live: [LiveCard]
                let hasLive: Bool
                let deployments: Int
            }

            let app: String
            let name: String
            let environments: [String]
            let may: Permissions
            let collections: [Entry]
            let isEmpty: Bool
            let approvals: ApprovalsCard?
            let commands: Commands
        }
        let app = try await service.app(visit.name("app"), as: visit.actor)
        let overviews = try await service.overview(ofApp: app.id, as: visit.actor)
        let content = Content(
            app: app.id,
            name: app.name,
            environments: app.environments,
            may: visit.visitor.permissions(in: app.team),
            collections: overviews.map { overview in
                Content.Entry(
                    id: overview.collection.id,
                    description: overview.collection.description.isEmpty ? nil : overview.collection.description,
                    models: overview.collection.models,
                    latest: overview.latest?.number,
                    live: overview.live.map { LiveCard($0) },
                    hasLive: !overview.live.isEmpty,
                    deployments: overview.deployments
                )
            },
            isEmpty: overviews.isEmpty,
            approvals: visit.visitor.permissions(in: app.team).manageMembers
                ? ApprovalsCard(app, address: visit.address) : nil,
            commands: Commands(
                "configuration --app \(app.id) -o ModelDeployment.json",
                "GET",
                "apps/\(app.id)/configuration?environment=\(app.environments.first ?? "production")",
                address: visit.address
            )
        )
        return try await page(
            "app",
            content,
            title: app.name,
            team: app.team,
            section: .apps,
            trail: [.init(name: "Apps", address: "/teams/\(app.team)")],
            visit
        )
    }

    // MARK: New collections

    private func newCollectionPage(
        _ visit: Visit,
        _ app: App,
        _ form: Form? = nil,
        failure: ServiceError? = nil
    ) async throws -> Response {
        let content = FormPage(
            title: "New collection",
            lead: "Models that belong together: devices get all of them in one step, or none.",
            action: "/apps/\(app.id)/collections",
            submit: "Make the collection",
            cancel: "/apps/\(app.id)",
            fields: [
                Field(
                    name: "id",
                    label: "Identifier",
                    value: form?["id"] ?? "",
                    hint: "The identifier in the app's code: MLModelCollection.beginAccessing(identifier:).",
                    placeholder: "FlowerModels",
                    isRequired: true,
                    isCode: true
                ),
                Field(
                    name: "models",
                    label: "Models",
                    value: form?["models"] ?? "",
                    hint: "Their names, one per line. Each release has one archive for each of them.",
                    placeholder: "FlowerClassifier\nFlowerEffects",
                    isRequired: true,
                    isMultiline: true,
                    isCode: true
                ),
                Field(
                    name: "description",
                    label: "Description",
                    value: form?["description"] ?? "",
                    placeholder: "Purpose"
                ),
            ],
            failure: failure.map { ($0.field, $0.description) },
            commands: Commands(
                "collection create ‹id› --app \(app.id) ‹--model:models›",
                "POST",
                "apps/\(app.id)/collections",
                body: "{\"id\":«id»,\"models\":¦models¦,\"description\":«description»}",
                address: visit.address
            )
        )
        return try await page(
            "form",
            content,
            title: "New collection",
            team: app.team,
            section: .apps,
            trail: [
                .init(name: "Apps", address: "/teams/\(app.team)"), .init(name: app.name, address: "/apps/\(app.id)"),
            ],
            status: failure?.status ?? .ok,
            visit
        )
    }

    private func makeCollection(_ visit: Visit, _ form: Form) async throws -> Response {
        let app = try await service.app(visit.name("app"), as: visit.actor)
        do {
            let collection = try await service.createCollection(
                form["id"],
                app: app.id,
                description: form["description"],
                models: form.words("models"),
                as: visit.actor
            )
            return redirect("/apps/\(app.id)/collections/\(collection.id)?done=collection")
        } catch let error as ServiceError where error.isAboutForm {
            return try await newCollectionPage(visit, app, form, failure: error)
        }
    }

    // MARK: A collection

    private func collectionPage(_ visit: Visit) async throws -> Response {
        struct Tab {
            let name: String
            let isCurrent: Bool
        }
        struct Content {
            let path: String
            let app: String
            let id: String
            let description: String?
            let models: [String]
            let may: Permissions
            let environments: [Tab]
            let hasEnvironments: Bool
            let environment: String
            let live: LiveCard?
            let chart: AdoptionChart?
            let devices: String
            let releases: [ReleaseRow]
            let hasReleases: Bool
            let comparison: String?
            let deployments: [DeploymentRow]
            let hasDeployments: Bool
            let commands: Commands
        }
        let (place, collection) = try await place(visit)
        let environment = try environment(visit, place.app)
        let live = try await service.liveStates(app: place.app.id, collection: place.id, as: visit.actor)
        let releases = try await service.releases(app: place.app.id, collection: place.id, as: visit.actor)
        let deployments = try await service.deployments(app: place.app.id, collection: place.id, as: visit.actor)
        let adoption = try await service.adoption(scope(place, environment, days: 7), hours: 6, as: visit.actor)
        let content = Content(
            path: place.path,
            app: place.app.id,
            id: place.id,
            description: collection.description.isEmpty ? nil : collection.description,
            models: collection.models,
            may: visit.visitor.permissions(in: place.app.team),
            environments: place.app.environments.map { Tab(name: $0, isCurrent: $0 == environment) },
            hasEnvironments: place.app.environments.count > 1,
            environment: environment,
            live: live.first { $0.environment == environment }.map { LiveCard($0) },
            chart: AdoptionChart(adoption),
            devices: Texts.number(
                try await service.devices(scope(place, environment, days: 1), as: visit.actor).values.reduce(0, +)
            ),
            releases: releases.map(ReleaseRow.init),
            hasReleases: !releases.isEmpty,
            comparison: releases.count < 2
                ? nil : "\(place.path)/compare?from=\(releases[1].number)&to=\(releases[0].number)",
            deployments: deployments.filter { $0.environment == environment }.map(DeploymentRow.init),
            hasDeployments: deployments.contains { $0.environment == environment },
            commands: Commands(
                "list --app \(place.app.id) --collection \(place.id)",
                "GET",
                "apps/\(place.app.id)/collections/\(place.id)/deployments",
                address: visit.address
            )
        )
        return try await page(
            "collection",
            content,
            title: place.id,
            team: place.app.team,
            section: .apps,
            trail: Array(place.trail().dropLast()),
            visit
        )
    }

    /// The environment that a page is about: the first, unless the address names another.
    func environment(_ visit: Visit, _ app: App) throws -> String {
        let requested = visit.query("environment") ?? app.environments[0]
        guard app.environments.contains(requested) else {
            throw ServiceError(.notFound, "The app has no environment \"\(requested)\".")
        }
        return requested
    }

    func scope(_ place: CollectionContext, _ environment: String, days: Double) -> ReportScope {
        ReportScope(
            app: place.app.id,
            collection: place.id,
            environment: environment,
            since: Date(timeIntervalSinceNow: -days * 86_400)
        )
    }

    // MARK: History

    private func historyPage(_ visit: Visit) async throws -> Response {
        struct Entry {
            let since: Moment
            let until: String
            let version: Int
            let deployment: String
            let name: String
            let chip: StateChip?
            let rules: [DefinitionLines.Line]
            let isAsked: Bool
        }
        struct Content {
            let path: String
            let environment: String
            let entries: [Entry]
            let isEmpty: Bool
            let at: String
            let answer: Entry?
            let hasQuestion: Bool
            let error: String?
            let commands: Commands
        }
        let (place, _) = try await place(visit)
        let environment = try environment(visit, place.app)
        let history = try await service.history(
            app: place.app.id,
            collection: place.id,
            environment: environment,
            as: visit.actor
        )
        let at = visit.query("at").flatMap(Self.date)
        let asked = at.flatMap { at in history.first { $0.since <= at } }
        let entries = history.enumerated().map { index, entry in
            let deployment = Self.deployment(inSummary: entry.summary)
            return Entry(
                since: Moment(entry.since),
                until: index == 0 ? "now" : Texts.moment(history[index - 1].since),
                version: entry.version,
                deployment: entry.deployment,
                name: deployment?.title ?? entry.deployment,
                chip: deployment.map { StateChip($0.state) },
                rules: deployment.map { DefinitionLines($0.definition).rules } ?? [],
                isAsked: entry.version == asked?.version
            )
        }
        let content = Content(
            path: place.path,
            environment: environment,
            entries: entries,
            isEmpty: entries.isEmpty,
            at: visit.query("at") ?? "",
            answer: entries.first { $0.isAsked },
            hasQuestion: at != nil,
            error: visit.query("at") != nil && at == nil
                ? "A date and a time are needed, such as 2026-11-23T14:00." : nil,
            commands: Commands(
                "list --app \(place.app.id) --collection \(place.id)",
                "GET",
                "apps/\(place.app.id)/collections/\(place.id)/history?environment=\(environment)",
                address: visit.address
            )
        )
        return try await page(
            "history",
            content,
            title: "Policy history",
            team: place.app.team,
            section: .apps,
            trail: place.trail(),
            visit
        )
    }

    /// The deployment as it was when it went live.
    private static func deployment(inSummary text: String) -> Deployment? {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try? decoder.decode(Deployment.self, from: Data(text.utf8))
    }

    /// A time as `datetime-local` fields send it, interpreted as UTC.
    static func date(_ text: String) -> Date? {
        let full =
            text.count == 10
            ? text + "T00:00:00Z" : text.count == 16 ? text + ":00Z" : text.count == 19 ? text + "Z" : text
        return try? Date(full, strategy: .iso8601)
    }
}
