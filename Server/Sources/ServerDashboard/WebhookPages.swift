import Foundation
import Hummingbird
import ServerCore

/// The pages of webhooks, and of environments in which a second person must approve.
extension Dashboard {
    func addWebhooks<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("teams/:team/webhooks") { visit in try await webhooksPage(visit) }
        pages.form("teams/:team/webhooks") { visit, form in try await makeWebhook(visit, form) }
        pages.form("teams/:team/webhooks/:webhook/remove") { visit, _ in
            let team = try visit.name("team")
            try await service.removeWebhook(visit.name("webhook"), of: team, as: visit.actor)
            return redirect("/teams/\(team)/webhooks?done=webhookRemoved")
        }
        pages.form("apps/:app/approvals") { visit, form in
            let app = try visit.name("app")
            _ = try await service.setApprovals(form.all("environments"), app: app, as: visit.actor)
            return redirect("/apps/\(app)?done=approvals")
        }
    }

    // MARK: Webhooks

    private struct Entry {
        let id: String
        let url: String
        let actions: [String]
        let isTold: Bool
        let chip: String
        let word: String
        let created: Moment
        let createdBy: String
        let commands: Commands
    }

    private struct Content {
        let team: String
        let webhooks: [Entry]
        let isEmpty: Bool
        let form: FormPage
        let made: String?
        let madeURL: String?
    }

    private func webhooksPage(
        _ visit: Visit,
        _ form: Form? = nil,
        failure: ServiceError? = nil,
        made: (webhook: Webhook, secret: String)? = nil
    ) async throws -> Response {
        let team = try visit.name("team")
        let webhooks = try await service.webhooks(of: team, as: visit.actor)
        let content = Content(
            team: team,
            webhooks: webhooks.map { webhook in
                let status = Int(webhook.lastStatus)
                let isGood = status.map { (200..<300).contains($0) } ?? false
                return Entry(
                    id: webhook.id,
                    url: webhook.url,
                    actions: webhook.actions,
                    isTold: webhook.actions.isEmpty,
                    chip: webhook.lastStatus.isEmpty ? "plain" : isGood ? "good" : "bad",
                    word: webhook.lastStatus.isEmpty ? "Not used yet" : "Last answer: \(webhook.lastStatus)",
                    created: Moment(webhook.created),
                    createdBy: webhook.createdBy,
                    commands: Commands(
                        "webhook remove \(webhook.id) --team \(team)",
                        "DELETE",
                        "teams/\(team)/webhooks/\(webhook.id)",
                        address: visit.address
                    )
                )
            },
            isEmpty: webhooks.isEmpty,
            form: webhookForm(visit, team, form, failure),
            made: made?.secret,
            madeURL: made?.webhook.url
        )
        return try await page(
            "webhooks",
            content,
            title: "Webhooks",
            team: team,
            section: .webhooks,
            status: failure?.status ?? .ok,
            visit
        )
    }

    private func webhookForm(_ visit: Visit, _ team: String, _ form: Form?, _ failure: ServiceError?) -> FormPage {
        let chosen = Set(form?.all("actions") ?? ["deployment"])
        let kinds = [
            ("deployment", "Deployments that go live, are halted or rolled back"), ("release", "New releases"),
            ("key", "Keys that are created or revoked"), ("token", "Tokens"), ("app", "Apps and their approvals"),
        ]
        return FormPage(
            title: "New webhook",
            lead: "It receives signed entries of the audit log; each is sent until it is confirmed.",
            action: "/teams/\(team)/webhooks",
            submit: "Make the webhook",
            cancel: "/teams/\(team)/webhooks",
            fields: [
                Field(
                    name: "url",
                    label: "Address",
                    value: form?["url"] ?? "",
                    placeholder: "https://chat.example.org/hook",
                    isRequired: true,
                    isCode: true
                ),
                Field(
                    name: "actions",
                    label: "The entries to send; all when nothing is chosen",
                    checks: kinds.map {
                        .init(value: $0.0, label: $0.0, isChosen: chosen.contains($0.0), about: $0.1)
                    }
                ),
            ],
            failure: failure.map { ($0.field, $0.description) },
            commands: Commands(
                "webhook create ‹url› --team \(team) ‹--action:actions›",
                "POST",
                "teams/\(team)/webhooks",
                body: "{\"url\":«url»,\"actions\":¦actions¦}",
                address: visit.address
            )
        )
    }

    private func makeWebhook(_ visit: Visit, _ form: Form) async throws -> Response {
        do {
            let made = try await service.createWebhook(
                form["url"],
                actions: form.all("actions"),
                team: visit.name("team"),
                as: visit.actor
            )
            return try await webhooksPage(visit, made: made)
        } catch let error as ServiceError where error.isAboutForm {
            return try await webhooksPage(visit, form, failure: error)
        }
    }
}

/// The environments in which a second person must approve: a part of an app's page.
struct ApprovalsCard {
    struct Environment {
        let name: String
        let isChosen: Bool
    }

    let environments: [Environment]
    let commands: Commands

    init(_ app: App, address: String) {
        environments = app.environments.map { Environment(name: $0, isChosen: app.approvals.contains($0)) }
        let names = app.environments.map { "\"\($0)\"" }.joined(separator: ",")
        commands = Commands(
            "approvals --app \(app.id) \(app.environments.joined(separator: " "))",
            "PUT",
            "apps/\(app.id)/approvals",
            body: "{\"environments\":[\(names)]}",
            address: address
        )
    }
}
