import Foundation
import HTTPTypes
import Hummingbird
import ServerCore

/// The routes of `/api/v1` about permissions: members, tokens, enrolment of devices, the audit log.
extension APIRoutes {
    func addAccess(to router: RouterGroup<Context>) {
        router.delete("sessions/current", use: signOut)
        addMembers(to: router)
        router.get("teams/:team/tokens") { request, context in
            Answers.json(try await service.tokens(of: context.name("team"), as: context.actor))
        }
        router.post("teams/:team/tokens", use: createToken)
        router.delete("teams/:team/tokens/:token") { request, context in
            try await service.revokeToken(context.name("token"), team: context.name("team"), as: context.actor)
            return Answers.empty
        }
        addWorkloads(to: router)
        addEnrolment(to: router)
        router.get("teams/:team/audit", use: audit)
        router.get("teams/:team/audit/verification") { request, context in
            Answers.json(try await service.verifyAudit(of: context.name("team"), as: context.actor))
        }
    }

    @Sendable private func signOut(_ request: Request, _ context: Context) async throws -> Response {
        guard let secret = context.credential, secret.hasPrefix("mlk_session_") else {
            throw ServiceError(.conflict, "A token is not signed in: revoke it instead.")
        }
        try await service.signOut(secret)
        return Answers.empty
    }

    // MARK: Members

    private struct NewMember: Codable {
        let email: String
        let name: String?
        let roles: [Role]
    }

    private struct CreatedInvitation: Encodable {
        let invitation: Invitation
        /// The link, which is shown only once.
        let link: String
    }

    private struct Roles: Codable {
        let roles: [Role]
    }

    private struct Link: Encodable {
        /// The link, which is shown only once.
        let link: String
    }

    private func addMembers(to router: RouterGroup<Context>) {
        router.get("teams/:team/members") { request, context in
            Answers.json(try await service.members(of: context.name("team"), as: context.actor))
        }
        router.put("teams/:team/members/:member") { request, context in
            let roles = try await request.json(Roles.self, context).roles
            return Answers.json(
                try await service.setRoles(
                    roles,
                    of: context.name("member"),
                    in: context.name("team"),
                    as: context.actor
                )
            )
        }
        router.delete("teams/:team/members/:member") { request, context in
            try await service.removeMember(context.name("member"), of: context.name("team"), as: context.actor)
            return Answers.empty
        }
        router.post("teams/:team/members/:member/link") { request, context in
            let secret = try await service.memberLink(
                context.name("member"),
                of: context.name("team"),
                as: context.actor
            )
            return Answers.json(Link(link: "\(address(request))/sign-in/\(secret)"), status: .created)
        }
        router.get("teams/:team/invitations") { request, context in
            Answers.json(try await service.invitations(to: context.name("team"), as: context.actor))
        }
        router.post("teams/:team/invitations") { request, context in
            let body = try await request.json(NewMember.self, context)
            let (invitation, secret) = try await service.invite(
                body.email,
                name: body.name ?? "",
                roles: body.roles,
                to: context.name("team"),
                as: context.actor
            )
            return Answers.json(
                CreatedInvitation(invitation: invitation, link: "\(address(request))/sign-in/\(secret)"),
                status: .created
            )
        }
        router.delete("teams/:team/invitations/:invitation") { request, context in
            try await service.withdrawInvitation(
                context.name("invitation"),
                team: context.name("team"),
                as: context.actor
            )
            return Answers.empty
        }
    }

    // MARK: Tokens

    private struct NewToken: Codable {
        let name: String
        let roles: [Role]
        let app: String?
        let days: Int?
    }

    private struct CreatedToken: Encodable {
        let token: Token
        /// The text of the token, which is shown only once.
        let text: String
    }

    @Sendable private func createToken(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(NewToken.self, context)
        let (token, text) = try await service.createToken(
            team: context.name("team"),
            app: body.app,
            name: body.name,
            roles: body.roles,
            lifetime: Double(body.days ?? 90) * 86_400,
            as: context.actor
        )
        return Answers.json(CreatedToken(token: token, text: text), status: .created)
    }

    // MARK: Workloads

    private struct NewTrust: Codable {
        let name: String
        let issuer: String
        let audience: String
        let subject: String
        let roles: [Role]
        let app: String?
    }

    private struct Workload: Codable {
        let team: String
        /// The token of the identity provider.
        let token: String
    }

    private func addWorkloads(to router: RouterGroup<Context>) {
        router.get("teams/:team/workload-trusts") { request, context in
            Answers.json(try await service.workloadTrusts(of: context.name("team"), as: context.actor))
        }
        router.post("teams/:team/workload-trusts") { request, context in
            let body = try await request.json(NewTrust.self, context)
            let trust = try await service.trustWorkloads(
                named: body.name,
                issuer: body.issuer,
                audience: body.audience,
                subject: body.subject,
                roles: body.roles,
                app: body.app,
                in: context.name("team"),
                as: context.actor
            )
            return Answers.json(trust, status: .created)
        }
        router.delete("teams/:team/workload-trusts/:trust") { request, context in
            try await service.removeWorkloadTrust(context.name("trust"), team: context.name("team"), as: context.actor)
            return Answers.empty
        }
    }

    @Sendable func exchange(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(Workload.self, context)
        let (token, text) = try await service.exchange(body.token, team: body.team)
        return Answers.json(CreatedToken(token: token, text: text), status: .created)
    }

    // MARK: Enrolment of devices

    private struct NewEnrolmentToken: Codable {
        let app: String?
        let uses: Int?
        let days: Int?
    }

    private struct CreatedEnrolmentToken: Encodable {
        let token: StoredEnrolmentToken
        /// The text of the token, which is shown only once.
        let text: String
    }

    private func addEnrolment(to router: RouterGroup<Context>) {
        router.get("apps/:app/enrolment") { request, context in
            Answers.json(try await service.enrolmentConditions(of: context.name("app"), as: context.actor))
        }
        router.put("apps/:app/enrolment") { request, context in
            let conditions = try await request.json(EnrolmentConditions.self, context)
            return Answers.json(
                try await service.setEnrolmentConditions(conditions, of: context.name("app"), as: context.actor)
            )
        }
        router.get("teams/:team/enrolment-tokens") { request, context in
            Answers.json(try await service.enrolmentTokens(of: context.name("team"), as: context.actor))
        }
        router.post("teams/:team/enrolment-tokens", use: createEnrolmentToken)
        router.delete("teams/:team/enrolment-tokens/:token") { request, context in
            try await service.removeEnrolmentToken(
                context.name("token"),
                team: context.name("team"),
                as: context.actor
            )
            return Answers.empty
        }
    }

    @Sendable private func createEnrolmentToken(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(NewEnrolmentToken.self, context)
        let (token, text) = try await service.createEnrolmentToken(
            team: context.name("team"),
            app: body.app,
            uses: body.uses,
            lifetime: Double(body.days ?? 90) * 86_400,
            as: context.actor
        )
        return Answers.json(CreatedEnrolmentToken(token: token, text: text), status: .created)
    }

    // MARK: Audit

    @Sendable private func audit(_ request: Request, _ context: Context) async throws -> Response {
        func text(_ name: String) throws -> String? {
            try request.uri.queryParameters[Substring(name)].map { text in
                guard text.unicodeScalars.count <= 200 else {
                    throw ServiceError(.invalid, "At most 200 characters.", field: name)
                }
                return String(text)
            }
        }
        func time(_ name: String) throws -> Date? {
            try text(name).map { text in
                guard let time = try? Date(text, strategy: .iso8601) else {
                    throw ServiceError(.invalid, "A time such as 2026-11-23T14:00:00Z is needed.", field: name)
                }
                return time
            }
        }
        var filter = AuditFilter()
        filter.actor = try text("actor")
        filter.action = try text("action")
        filter.text = try text("text")
        filter.from = try time("from")
        filter.until = try time("until")
        let limit = try request.integer("limit") ?? 100
        guard (1...1000).contains(limit) else {
            throw ServiceError(.invalid, "1 to 1000 entries are given at a time.", field: "limit")
        }
        let before = try request.integer("before")
        guard before.map({ (1...1 << 53 - 1).contains($0) }) ?? true else {
            throw ServiceError(.invalid, "The number of an entry is needed.", field: "before")
        }
        return Answers.json(
            try await service.audit(
                of: context.name("team"),
                matching: filter,
                before: before,
                limit: limit,
                as: context.actor
            )
        )
    }
}
