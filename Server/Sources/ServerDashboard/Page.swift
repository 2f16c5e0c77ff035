import Foundation
import HTTPTypes
import Hummingbird
import Mustache
import ServerCore

/// A page before it is rendered: the values for `layout.mustache`, which surrounds each.
struct Layout {
    struct Link {
        let name: String
        let address: String
    }

    struct Section {
        let name: String
        let address: String
        let icon: String
        let isCurrent: Bool
    }

    struct TeamHead {
        let id: String
        let name: String
        let sections: [Section]
        let others: [Link]
    }

    // These names differ from all that pages use: a template that lacks a value looks for it here, too.
    let pageTitle: String
    let filesVersion: String
    let csrf: String?
    let user: String?
    let teamHead: TeamHead?
    /// The pages above this one.
    let trail: [Link]
    let notice: String?
    let page: Any
}

/// The section of a team that a page belongs to.
enum Section: String, CaseIterable {
    case apps, archives, keys, tokens, members, webhooks, audit

    var label: String {
        switch self {
        case .apps: "Apps"
        case .archives: "Archives"
        case .keys: "Keys & trust"
        case .tokens: "Tokens"
        case .members: "Members"
        case .webhooks: "Webhooks"
        case .audit: "Audit log"
        }
    }

    func address(_ team: String) -> String { self == .apps ? "/teams/\(team)" : "/teams/\(team)/\(rawValue)" }

    func isVisible(_ permissions: Permissions) -> Bool {
        switch self {
        case .apps, .archives, .keys, .members: true
        case .tokens, .webhooks: permissions.manageMembers
        case .audit: permissions.audit
        }
    }
}

extension Dashboard {
    /// The messages after an action, by the word in the page's address.
    private static let notices = [
        "team": "The team has been created. Its signing keys are on this server.",
        "app": "The app has been created.",
        "collection": "The collection has been created.",
        "release": "The release has been created and signed.",
        "deployment": "The deployment is saved as a draft: no device gets it until it is activated.",
        "activate": "The deployment is live.",
        "approve": "Approved: the deployment can be activated now.",
        "withdraw": "The deployment is a draft again.",
        "advance": "The rollout is at its next step.",
        "release-gate": "The rollout continues as soon as the other conditions hold.",
        "skip-gate": "The rollout is at its next step.",
        "roll-back": "Rolled back: devices get their previous models.",
        "roll-back-to-bundled": "Rolled back: devices get the models of the app.",
        "approvals": "The environments that need approvals are saved.",
        "webhookRemoved": "The webhook is removed.",
        "pause": "Paused: every device keeps its current models.",
        "resume": "The deployment continues.",
        "halt": "Halted: every device goes back to the models of the app.",
        "key": "The new key is in use. Models encrypted with the previous key can still be opened.",
        "withdrawn": "The invitation is withdrawn: its link no longer works.",
        "removed": "The member is removed.", "roles": "The roles are saved.",
        "keyRevoked": "The key is revoked: models encrypted with it can no longer be opened.",
        "revoked": "The token is revoked.",
        "password": "The password is saved; you are signed out everywhere else.",
        "noPassword": "The password is removed.", "noAuthenticator": "The authenticator is removed.",
    ]

    // MARK: Pages

    /// A page within a team.
    func page(
        _ template: String,
        _ content: Any,
        title: String,
        team: String,
        section: Section,
        trail: [Layout.Link] = [],
        status: HTTPResponse.Status = .ok,
        _ visit: Visit
    ) async throws -> Response {
        let teams = try await service.teams(of: visit.actor)
        let permissions = visit.visitor.permissions(in: team)
        let head = Layout.TeamHead(
            id: team,
            name: teams.first { $0.id == team }?.name ?? team,
            sections: Section.allCases.filter { $0.isVisible(permissions) }.map {
                Layout.Section(
                    name: $0.label,
                    address: $0.address(team),
                    icon: "icon-\($0.rawValue)",
                    isCurrent: $0 == section
                )
            },
            others: teams.filter { $0.id != team }.map { Layout.Link(name: $0.name, address: "/teams/\($0.id)") }
        )
        return render(
            template,
            content,
            title: title,
            team: head,
            trail: trail,
            visit.query("done"),
            visit.visitor,
            status
        )
    }

    /// A page outside of teams.
    func page(
        _ template: String,
        _ content: Any,
        title: String,
        visitor: Visitor? = nil,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        render(template, content, title: title, team: nil, trail: [], nil, visitor, status)
    }

    func errorPage(_ error: ServiceError, visitor: Visitor?) -> Response {
        struct Content {
            let title: String
            let text: String
            let status: Int
        }
        return page(
            "error",
            Content(title: error.title, text: error.description, status: error.status.code),
            title: error.title,
            visitor: visitor,
            status: error.status
        )
    }

    private func render(
        _ template: String,
        _ content: Any,
        title: String,
        team: Layout.TeamHead?,
        trail: [Layout.Link],
        _ done: String?,
        _ visitor: Visitor?,
        _ status: HTTPResponse.Status
    ) -> Response {
        let layout = Layout(
            pageTitle: title,
            filesVersion: files.version,
            csrf: visitor?.csrf,
            user: visitor?.principal.name,
            teamHead: team,
            trail: trail,
            notice: done.flatMap { Self.notices[$0] },
            page: content
        )
        return html(rendered(template, layout), status: status)
    }

    /// A part of a page, for scripts to insert.
    func fragment(_ template: String, _ content: Any) -> Response { html(rendered(template, content)) }

    private func rendered(_ template: String, _ content: Any) -> String {
        guard let text = files.templates.render(content, withTemplate: template) else {
            preconditionFailure("there is no template \(template)")
        }
        return text
    }

    // MARK: Answers

    /// The restrictions for pages: load only the server's own files, and send forms only to it.
    private static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'"

    private static func headers(_ type: String) -> HTTPFields {
        var headers: HTTPFields = [
            .contentType: type, .cacheControl: "no-store", .contentSecurityPolicy: contentSecurityPolicy,
            .xContentTypeOptions: "nosniff",
        ]
        for (name, value) in [
            ("Referrer-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return headers
    }

    func html(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: Self.headers("text/html; charset=utf-8"),
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: Self.headers("text/plain; charset=utf-8"),
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    /// A file to be saved.
    func download(_ bytes: [UInt8], name: String, type: String) -> Response {
        var headers = Self.headers(type)
        headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    func redirect(_ address: String, cookie: String? = nil) -> Response {
        var headers = Self.headers("text/plain; charset=utf-8")
        headers[.location] = address
        if let cookie { headers[.setCookie] = cookie }
        return Response(status: .seeOther, headers: headers)
    }

    /// Server-sent events.
    func events(_ body: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void) -> Response {
        Response(status: .ok, headers: Self.headers("text/event-stream"), body: ResponseBody(body))
    }

    func file(_ name: String) throws -> Response {
        guard let file = files.served[name] else { throw ServiceError(.notFound, "There is no file \"\(name)\".") }
        return Response(
            status: .ok,
            headers: [
                .contentType: file.type, .cacheControl: "public, max-age=31536000, immutable",
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes))
        )
    }
}
