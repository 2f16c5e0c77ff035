import Hummingbird
import ServerCore

extension Dashboard {
    func addTeams<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("") { visit in
            let teams = try await service.teams(of: visit.actor)
            return redirect(teams.count == 1 ? "/teams/\(teams[0].id)" : "/teams")
        }
        pages.get("teams") { visit in try await teamsPage(visit) }
        pages.get("teams/new") { visit in
            guard visit.actor.isAdministrator else {
                throw ServiceError(.forbidden, "Only administrators of the server can create teams.")
            }
            return page("form", newTeam(visit), title: "New team", visitor: visit.visitor)
        }
        pages.form("teams") { visit, form in try await makeTeam(visit, form) }
        pages.get("teams/:team") { visit in try await teamPage(visit) }
        pages.get("teams/:team/apps/new") { visit in
            let team = try await service.team(visit.name("team"), as: visit.actor)
            try require(.manageApps, visit, team.id)
            return try await newAppPage(visit, team.id)
        }
        pages.form("teams/:team/apps") { visit, form in try await makeApp(visit, form) }
    }

    // MARK: Teams

    private func teamsPage(_ visit: Visit) async throws -> Response {
        struct Content {
            struct Entry {
                let id: String
                let name: String
                let apps: String
                let archives: String
                let roles: String
            }

            let teams: [Entry]
            let isEmpty: Bool
            let mayMake: Bool
        }
        var entries: [Content.Entry] = []
        for team in try await service.teams(of: visit.actor) {
            let overview = try await service.overview(ofTeam: team.id, as: visit.actor)
            entries.append(
                Content.Entry(
                    id: team.id,
                    name: team.name,
                    apps: Texts.count(overview.apps.count, "app", "apps"),
                    archives: Texts.count(overview.archives, "archive", "archives"),
                    roles: (visit.actor.roles[team.id] ?? []).map(\.rawValue).sorted().joined(separator: ", ")
                )
            )
        }
        return page(
            "teams",
            Content(teams: entries, isEmpty: entries.isEmpty, mayMake: visit.actor.isAdministrator),
            title: "Teams",
            visitor: visit.visitor
        )
    }

    private func newTeam(_ visit: Visit, _ form: Form? = nil, failure: ServiceError? = nil) -> FormPage {
        FormPage(
            title: "New team",
            lead:
                "A team owns apps and models, and has its own signing keys: devices trust one team, not the server.",
            action: "/teams",
            submit: "Make the team",
            cancel: "/teams",
            fields: [
                Field(
                    name: "id",
                    label: "Name in addresses",
                    value: form?["id"] ?? "",
                    hint: "1 to 64 letters a–z, digits and hyphens. It cannot be changed later.",
                    placeholder: "acme",
                    isRequired: true,
                    isCode: true
                ),
                Field(
                    name: "name",
                    label: "Name for people",
                    value: form?["name"] ?? "",
                    placeholder: "Acme Flowers"
                ),
            ],
            failure: failure.map { ($0.field, $0.description) },
            commands: Commands(
                "team create ‹id› --name ‹name›",
                "POST",
                "teams",
                body: "{\"id\":«id»,\"name\":«name»}",
                address: visit.address
            )
        )
    }

    private func makeTeam(_ visit: Visit, _ form: Form) async throws -> Response {
        do {
            let team = try await service.createTeam(form["id"], name: form["name"], as: visit.actor)
            return redirect("/teams/\(team.id)?done=team")
        } catch let error as ServiceError where error.isAboutForm {
            return page(
                "form",
                newTeam(visit, form, failure: error),
                title: "New team",
                visitor: visit.visitor,
                status: error.status
            )
        }
    }

    private func teamPage(_ visit: Visit) async throws -> Response {
        struct Content {
            struct Entry {
                let id: String
                let name: String
                let environments: String
                let collections: Int
                let releases: Int
                let live: String
                let hasLive: Bool
            }

            let id: String
            let name: String
            let may: Permissions
            let apps: [Entry]
            let isEmpty: Bool
            let archives: Int
            let steps: FirstSteps?
        }
        let id = try visit.name("team")
        let overview = try await service.overview(ofTeam: id, as: visit.actor)
        let may = visit.visitor.permissions(in: id)
        let content = Content(
            id: id,
            name: overview.team.name,
            may: may,
            apps: overview.apps.map {
                Content.Entry(
                    id: $0.app.id,
                    name: $0.app.name,
                    environments: $0.app.environments.joined(separator: ", "),
                    collections: $0.collections,
                    releases: $0.releases,
                    live: $0.live == 0 ? "Nothing is live yet" : "\($0.live) live",
                    hasLive: $0.live > 0
                )
            },
            isEmpty: overview.apps.isEmpty,
            archives: overview.archives,
            steps: FirstSteps(overview, may)
        )
        return try await page("team", content, title: overview.team.name, team: id, section: .apps, visit)
    }

    // MARK: Apps

    private func newAppPage(
        _ visit: Visit,
        _ team: String,
        _ form: Form? = nil,
        failure: ServiceError? = nil
    ) async throws -> Response {
        let content = FormPage(
            title: "New app",
            lead: "An app runs on devices. Each of its environments has its own deployments.",
            action: "/teams/\(team)/apps",
            submit: "Make the app",
            cancel: "/teams/\(team)",
            fields: [
                Field(
                    name: "id",
                    label: "Name in addresses",
                    value: form?["id"] ?? "",
                    hint: "1 to 64 letters a–z, digits and hyphens; unique on this server.",
                    placeholder: "flower-shop",
                    isRequired: true,
                    isCode: true
                ),
                Field(
                    name: "name",
                    label: "Name for people",
                    value: form?["name"] ?? "",
                    placeholder: "Flower Shop"
                ),
                Field(
                    name: "environments",
                    label: "Environments",
                    value: form?["environments"] ?? "production",
                    hint: "One per line, such as production and staging.",
                    isRequired: true,
                    isMultiline: true,
                    isCode: true
                ),
            ],
            failure: failure.map { ($0.field, $0.description) },
            commands: Commands(
                "app create ‹id› --team \(team) --name ‹name›",
                "POST",
                "teams/\(team)/apps",
                body: "{\"id\":«id»,\"name\":«name»,\"environments\":¦environments¦}",
                address: visit.address
            )
        )
        return try await page(
            "form",
            content,
            title: "New app",
            team: team,
            section: .apps,
            trail: [.init(name: "Apps", address: "/teams/\(team)")],
            status: failure?.status ?? .ok,
            visit
        )
    }

    private func makeApp(_ visit: Visit, _ form: Form) async throws -> Response {
        let team = try visit.name("team")
        do {
            let app = try await service.createApp(
                form["id"],
                team: team,
                name: form["name"],
                environments: form.words("environments"),
                as: visit.actor
            )
            return redirect("/apps/\(app.id)?done=app")
        } catch let error as ServiceError where error.isAboutForm {
            return try await newAppPage(visit, team, form, failure: error)
        }
    }
}

extension ServiceError {
    /// Whether the form can be corrected, and is shown again.
    var isAboutForm: Bool { code == .invalid || code == .conflict || code == .tooLarge }
}

/// The first steps, shown as long as nothing is live.
struct FirstSteps {
    struct Step {
        let number: Int
        let title: String
        let text: String
        let isDone: Bool
        let isNext: Bool
        let address: String?
        let action: String
    }

    let steps: [Step]

    /// Creates the steps; `nil` when all were done, or another person does them.
    init?(_ overview: TeamOverview, _ may: Permissions) {
        guard may.publish || may.deploy || may.manageApps else { return nil }
        let team = overview.team.id
        let app = overview.apps.first { $0.collections > 0 }?.app ?? overview.apps.first?.app
        let done = [
            !overview.apps.isEmpty, overview.archives > 0, overview.apps.contains { $0.releases > 0 },
            overview.apps.contains { $0.live > 0 },
        ]
        guard done.contains(false) else { return nil }
        let next = done.firstIndex(of: false)
        let texts = [
            (
                "Make an app", "Its devices get the models. You give it one small file, ModelDeployment.json.",
                "/teams/\(team)/apps/new", "New app"
            ),
            (
                "Upload archives",
                "Drop the .mlarchive files that coreml archive has made; encrypted ones stay encrypted.",
                "/teams/\(team)/archives", "Upload"
            ),
            (
                "Create a collection and a release", "Models that belong together arrive together or not at all.",
                app.map { "/apps/\($0.id)" } ?? "/teams/\(team)", "Open the app"
            ),
            (
                "Deploy", "Choose which devices get which release, preview the result, and activate.",
                app.map { "/apps/\($0.id)" } ?? "/teams/\(team)", "Open the app"
            ),
        ]
        steps = texts.enumerated().map { index, step in
            Step(
                number: index + 1,
                title: step.0,
                text: step.1,
                isDone: done[index],
                isNext: index == next,
                address: index == next ? step.2 : nil,
                action: step.3
            )
        }
    }
}
