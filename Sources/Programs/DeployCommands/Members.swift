import ArgumentParser
import Foundation

struct MemberEntry: Decodable {
    let id: String
    let email: String
    let name: String
    let roles: [String]
}

struct MemberCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "member",
        abstract: "List, invite and remove the members of a team.",
        discussion: """
            Examples:
              coreml deploy member --team acme
              coreml deploy member invite kim@example.org --team acme --role publisher \\
                --role viewer
              coreml deploy member roles kim@example.org --team acme --role deployer
              coreml deploy member link kim@example.org --team acme
              coreml deploy member remove kim@example.org --team acme
            """,
        subcommands: [
            MemberList.self, MemberInvite.self, MemberInvitations.self, MemberWithdraw.self, MemberRoles.self,
            MemberLink.self, MemberRemove.self,
        ],
        defaultSubcommand: MemberList.self
    )
}

/// The team that a command refers to.
struct TeamOptions: ParsableArguments {
    @Option(help: "The team's identifier (coreml deploy team list).") var team: String

    var path: String { "teams/\(team)" }
}

/// The roles to give to a member or token.
struct RoleOptions: ParsableArguments {
    @Option(
        name: .customLong("role"),
        help: "owner, admin, publisher, deployer, approver, keyCustodian, auditor or viewer; may be repeated."
    )
    var roles: [String]
}

extension ServerClient {
    /// The member with an address or an ID.
    func member(_ name: String, team: String) throws -> MemberEntry {
        let members = try Self.decode([MemberEntry].self, try get("teams/\(team)/members"))
        guard let member = members.first(where: { $0.email == name || $0.id == name }) else {
            throw Failure("The team \"\(team)\" has no member \"\(name)\".")
        }
        return member
    }
}

struct MemberList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the members of a team.")

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws {
        try server.show(try server.client().get(team.path + "/members"), as: [MemberEntry].self) { members in
            var table = Table("address", "name", "roles", "id")
            for member in members {
                table.add(member.email, member.name, member.roles.joined(separator: ", "), member.id)
            }
            table.print(
                empty: "There are no members yet: coreml deploy member invite ADDRESS --team \(team.team) --role ROLE"
            )
        }
    }
}

struct MemberInvite: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Invite a person to a team; prints a link to pass on.",
        discussion: """
            The link works once, within seven days, and is not shown again.  Users who have an account on the server \
            open it while signed in.
            """
    )

    @Argument(help: "The e-mail address of the person.") var email: String
    @Option(help: "The display name.") var name: String?
    @OptionGroup var roles: RoleOptions
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    private struct Body: Encodable {
        let email: String
        let name: String?
        let roles: [String]
    }

    private struct CreateResponse: Decodable { let link: String }

    func run() throws {
        let data = try server.client().post(
            team.path + "/invitations",
            Body(email: email, name: name, roles: roles.roles)
        )
        try server.show(data, as: CreateResponse.self) { print($0.link) }
    }
}

struct MemberInvitations: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invitations",
        abstract: "List open invitations."
    )

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    private struct Entry: Decodable {
        let id: String
        let email: String
        let roles: [String]
        let createdBy: String
        let expires: Date
    }

    func run() throws {
        try server.show(try server.client().get(team.path + "/invitations"), as: [Entry].self) { entries in
            var table = Table("id", "address", "roles", "expires", "by")
            for entry in entries {
                table.add(
                    entry.id,
                    entry.email,
                    entry.roles.joined(separator: ", "),
                    ListFormat.day(entry.expires),
                    entry.createdBy
                )
            }
            table.print(empty: "No invitation is open.")
        }
    }
}

struct MemberWithdraw: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "withdraw", abstract: "Withdraw an invitation.")

    @Argument(help: "The invitation, as coreml deploy member invitations names it.") var invitation: String
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws { _ = try server.client().delete(team.path + "/invitations/\(invitation)") }
}

struct MemberRoles: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "roles", abstract: "Change the roles of a member.")

    @Argument(help: "The member's address.") var member: String
    @OptionGroup var roles: RoleOptions
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws {
        let client = try server.client()
        let id = try client.member(member, team: team.team).id
        let data = try client.put(team.path + "/members/\(id)", ["roles": roles.roles])
        try server.show(data, as: MemberEntry.self) { print("\($0.email): \($0.roles.joined(separator: ", "))") }
    }
}

struct MemberLink: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Print a link that signs a member in once, within a day."
    )

    @Argument(help: "The member's address.") var member: String
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    private struct CreateResponse: Decodable { let link: String }

    func run() throws {
        let client = try server.client()
        let id = try client.member(member, team: team.team).id
        try server.show(try client.post(team.path + "/members/\(id)/link"), as: CreateResponse.self) { print($0.link) }
    }
}

struct MemberRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a member, or leave.",
        discussion: "Tokens that the member made stay valid: they belong to the team. The last owner cannot leave."
    )

    @Argument(help: "The member's address.") var member: String
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws {
        let client = try server.client()
        _ = try client.delete(team.path + "/members/\(try client.member(member, team: team.team).id)")
    }
}

struct Logout: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out, and forget the server that coreml deploy login has remembered."
    )

    @OptionGroup var server: ServerOptions

    func run() throws {
        let client = try server.client()
        if client.token?.hasPrefix("mlk_session_") ?? false { _ = try client.delete("sessions/current") }
        try Credentials.forget()
    }
}
