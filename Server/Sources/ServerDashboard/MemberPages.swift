import Hummingbird
import ServerCore

/// The contents of the page of a team's members.
private enum MembersPage {
    struct Entry {
        let id: String
        let email: String
        let name: String
        let initial: String
        let roles: [String]
        let isAdministrator: Bool
        let isYou: Bool
        let isChangeable: Bool
    }

    struct Open {
        let id: String
        let email: String
        let roles: [String]
        let expires: Moment
        let createdBy: String
        let commands: Commands
    }

    struct RoleEntry {
        let name: String
        let permissions: String
    }

    struct Content {
        let team: String
        let members: [Entry]
        let isEmpty: Bool
        let roles: [RoleEntry]
        let invitations: [Open]
        let hasInvitations: Bool
        let form: FormPage?
        let made: Dashboard.Made?
        let commands: Commands
    }
}

extension Dashboard {
    func addMembers<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("teams/:team/members") { visit in try await membersPage(visit) }
        pages.form("teams/:team/members") { visit, form in try await invite(visit, form) }
        pages.form("teams/:team/invitations/:invitation/withdraw") { visit, _ in
            let team = try visit.name("team")
            try await service.withdrawInvitation(visit.name("invitation"), team: team, as: visit.actor)
            return redirect("/teams/\(team)/members?done=withdrawn")
        }
        pages.get("teams/:team/members/:member") { visit in try await memberPage(visit) }
        pages.form("teams/:team/members/:member") { visit, form in try await changeRoles(visit, form) }
        pages.form("teams/:team/members/:member/link") { visit, _ in
            let (team, member) = (try visit.name("team"), try visit.name("member"))
            let secret = try await service.memberLink(member, of: team, as: visit.actor)
            return try await memberPage(visit, link: "\(visit.address)/sign-in/\(secret)")
        }
        pages.form("teams/:team/members/:member/remove") { visit, _ in
            let (team, member) = (try visit.name("team"), try visit.name("member"))
            try await service.removeMember(member, of: team, as: visit.actor)
            return redirect(
                visit.actor.account == member && !visit.actor.isAdministrator
                    ? "/" : "/teams/\(team)/members?done=removed"
            )
        }
    }

    // MARK: All members

    fileprivate struct Made {
        let email: String
        let link: String
    }

    private func membersPage(
        _ visit: Visit,
        _ form: Form? = nil,
        failure: ServiceError? = nil,
        made: Made? = nil
    ) async throws -> Response {
        let team = try visit.name("team")
        let may = visit.visitor.permissions(in: team).manageMembers
        let members = try await service.members(of: team, as: visit.actor)
        let invitations = may ? try await service.invitations(to: team, as: visit.actor) : []
        let content = MembersPage.Content(
            team: team,
            members: members.map {
                MembersPage.Entry(
                    id: $0.id,
                    email: $0.email,
                    name: $0.name,
                    initial: String($0.name.first ?? "?").uppercased(),
                    roles: $0.roles.map(\.rawValue),
                    isAdministrator: $0.isAdministrator,
                    isYou: $0.id == visit.actor.account,
                    isChangeable: may || $0.id == visit.actor.account
                )
            },
            isEmpty: members.isEmpty,
            roles: Role.allCases.map {
                MembersPage.RoleEntry(name: $0.rawValue, permissions: Self.text($0.permissions))
            },
            invitations: invitations.map {
                MembersPage.Open(
                    id: $0.id,
                    email: $0.email,
                    roles: $0.roles.map(\.rawValue),
                    expires: Moment($0.expires),
                    createdBy: $0.createdBy,
                    commands: Commands(
                        "member withdraw \($0.id) --team \(team)",
                        "DELETE",
                        "teams/\(team)/invitations/\($0.id)",
                        address: visit.address
                    )
                )
            },
            hasInvitations: !invitations.isEmpty,
            form: may ? invitationForm(visit, team, form, failure) : nil,
            made: made,
            commands: Commands("member --team \(team)", "GET", "teams/\(team)/members", address: visit.address)
        )
        return try await page(
            "members",
            content,
            title: "Members",
            team: team,
            section: .members,
            status: failure?.status ?? .ok,
            visit
        )
    }

    /// The roles that the visitor may give.
    private func roleOptions(_ visit: Visit, _ team: String, _ chosen: Set<String>) -> [Field.Option] {
        let own = visit.actor.permissions(in: team)
        return Role.allCases.filter { $0.permissions.isSubset(of: own) }.map {
            .init(
                value: $0.rawValue,
                label: $0.rawValue,
                isChosen: chosen.contains($0.rawValue),
                about: Self.text($0.permissions)
            )
        }
    }

    private func invitationForm(_ visit: Visit, _ team: String, _ form: Form?, _ failure: ServiceError?) -> FormPage {
        FormPage(
            title: "Invite a person",
            lead: "You get a link to pass on. It works once, within seven days.",
            action: "/teams/\(team)/members",
            submit: "Make the invitation",
            cancel: "/teams/\(team)/members",
            fields: [
                Field(
                    name: "email",
                    label: "Address",
                    value: form?["email"] ?? "",
                    placeholder: "kim@example.org",
                    isRequired: true
                ),
                Field(name: "name", label: "Name", value: form?["name"] ?? "", placeholder: "Kim"),
                Field(
                    name: "roles",
                    label: "Roles",
                    checks: roleOptions(visit, team, Set(form?.all("roles") ?? ["viewer"]))
                ),
            ],
            failure: failure.map { ($0.field, $0.description) },
            commands: Commands(
                "member invite ‹email› --team \(team) ‹--role:roles›",
                "POST",
                "teams/\(team)/invitations",
                body: "{\"email\":«email»,\"roles\":¦roles¦}",
                address: visit.address
            )
        )
    }

    private static func roles(_ form: Form) throws -> [Role] {
        try form.all("roles").map { text in
            guard let role = Role(rawValue: text) else {
                throw ServiceError(.invalid, "There is no role \"\(text)\".", field: "roles")
            }
            return role
        }
    }

    private func invite(_ visit: Visit, _ form: Form) async throws -> Response {
        do {
            let (invitation, secret) = try await service.invite(
                form["email"],
                name: form["name"],
                roles: Self.roles(form),
                to: visit.name("team"),
                as: visit.actor
            )
            let made = Made(email: invitation.email, link: "\(visit.address)/sign-in/\(secret)")
            return try await membersPage(visit, made: made)
        } catch let error as ServiceError where error.isAboutForm {
            return try await membersPage(visit, form, failure: error)
        }
    }

    // MARK: One member

    private func memberPage(_ visit: Visit, _ form: Form? = nil, failure: ServiceError? = nil, link: String? = nil)
        async throws -> Response
    {
        struct Content {
            let team: String
            let id: String
            let name: String
            let email: String
            let isYou: Bool
            let form: FormPage?
            let link: String?
            let mayLink: Bool
            let remove: Commands
            let linkCommands: Commands
        }
        let (team, id) = (try visit.name("team"), try visit.name("member"))
        let may = visit.visitor.permissions(in: team).manageMembers
        let isYou = visit.actor.account == id
        if !isYou { try require(.manageMembers, visit, team) }
        guard let member = try await service.members(of: team, as: visit.actor).first(where: { $0.id == id }) else {
            throw ServiceError(.notFound, "The team has no such member.")
        }
        let address = Commands.quoted(member.email)
        let content = Content(
            team: team,
            id: id,
            name: member.name,
            email: member.email,
            isYou: isYou,
            form: may ? rolesForm(visit, team, member, form, failure) : nil,
            link: link,
            mayLink: may && !isYou,
            remove: Commands(
                "member remove \(address) --team \(team)",
                "DELETE",
                "teams/\(team)/members/\(id)",
                address: visit.address
            ),
            linkCommands: Commands(
                "member link \(address) --team \(team)",
                "POST",
                "teams/\(team)/members/\(id)/link",
                address: visit.address
            )
        )
        return try await page(
            "member",
            content,
            title: member.name,
            team: team,
            section: .members,
            trail: [.init(name: "Members", address: "/teams/\(team)/members")],
            status: failure?.status ?? .ok,
            visit
        )
    }

    private func rolesForm(_ visit: Visit, _ team: String, _ member: Member, _ form: Form?, _ failure: ServiceError?)
        -> FormPage
    {
        FormPage(
            title: "Roles",
            lead: "You cannot grant more permissions than you have.",
            action: "/teams/\(team)/members/\(member.id)",
            submit: "Save the roles",
            cancel: "/teams/\(team)/members",
            fields: [
                Field(
                    name: "roles",
                    label: "Permissions of \(member.name)",
                    checks: roleOptions(visit, team, Set(form?.all("roles") ?? member.roles.map(\.rawValue)))
                )
            ],
            failure: failure.map { ($0.field, $0.description) },
            commands: Commands(
                "member roles \(Commands.quoted(member.email)) --team \(team) ‹--role:roles›",
                "PUT",
                "teams/\(team)/members/\(member.id)",
                body: "{\"roles\":¦roles¦}",
                address: visit.address
            )
        )
    }

    private func changeRoles(_ visit: Visit, _ form: Form) async throws -> Response {
        let (team, member) = (try visit.name("team"), try visit.name("member"))
        do {
            _ = try await service.setRoles(Self.roles(form), of: member, in: team, as: visit.actor)
            return redirect("/teams/\(team)/members?done=roles")
        } catch let error as ServiceError where error.isAboutForm {
            return try await memberPage(visit, form, failure: error)
        }
    }
}
