import ArgumentParser
import Foundation

struct EnrolmentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enrolment",
        abstract: "Control the devices that may get keys: an app's conditions, and enrolment tokens.",
        discussion: """
            Examples:
              coreml deploy enrolment --app shop
              coreml deploy enrolment set --app shop --requires-token --device-limit 500
              coreml deploy enrolment token --team acme --app shop --uses 100 --days 30
              coreml deploy enrolment tokens --team acme
              coreml deploy enrolment end 3f0c… --team acme
            """,
        subcommands: [
            EnrolmentShow.self, EnrolmentSet.self, EnrolmentTokenCreate.self, EnrolmentTokenList.self,
            EnrolmentTokenEnd.self,
        ],
        defaultSubcommand: EnrolmentShow.self
    )
}

struct Conditions: Codable {
    let requiresToken: Bool
    let deviceLimit: Int?

    var text: String {
        (requiresToken ? "Devices enrol with a token" : "Any device enrols")
            + (deviceLimit.map { ", at most \($0) of them." } ?? ".")
    }
}

struct EnrolmentShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the conditions for enrolling devices of an app."
    )

    @Option(help: "The app's identifier (coreml deploy app list).") var app: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        try server.show(try server.client().get("apps/\(app)/enrolment"), as: Conditions.self) { print($0.text) }
    }
}

struct EnrolmentSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change the conditions for enrolling devices of an app; enrolled devices stay enrolled."
    )

    @Option(help: "The app's identifier (coreml deploy app list).") var app: String
    @Flag(inversion: .prefixedNo, help: "Whether a device needs an enrolment token.") var requiresToken = false
    @Option(help: "The maximum number of devices; unlimited by default.") var deviceLimit: Int?
    @OptionGroup var server: ServerOptions

    func run() throws {
        let body = Conditions(requiresToken: requiresToken, deviceLimit: deviceLimit)
        try server.show(try server.client().put("apps/\(app)/enrolment", body), as: Conditions.self) { print($0.text) }
    }
}

struct EnrolmentTokenCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token for enrolling devices; its text is shown only once."
    )

    @OptionGroup var team: TeamOptions
    @Option(help: "The only app that it is valid for; all of the team's apps by default.") var app: String?
    @Option(help: "The maximum number of devices that can enrol with it; unlimited by default.") var uses: Int?
    @Option(help: "The number of days that it is valid.") var days = 90
    @OptionGroup var server: ServerOptions

    private struct Body: Encodable {
        let app: String?
        let uses: Int?
        let days: Int
    }

    private struct CreateResponse: Decodable { let text: String }

    func run() throws {
        let body = Body(app: app, uses: uses, days: days)
        try server.show(try server.client().post(team.path + "/enrolment-tokens", body), as: CreateResponse.self) {
            print($0.text)
        }
    }
}

struct EnrolmentTokenList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "List the tokens that devices enrol with."
    )

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    private struct Entry: Decodable {
        let id: String
        let app: String?
        let expires: Date
        let remaining: Int?
        let createdBy: String
    }

    func run() throws {
        try server.show(try server.client().get(team.path + "/enrolment-tokens"), as: [Entry].self) { tokens in
            var table = Table("id", "app", "left", "until", "by")
            for token in tokens {
                table.add(
                    token.id,
                    token.app ?? "all",
                    token.remaining.map(String.init) ?? "any number",
                    ListFormat.day(token.expires),
                    token.createdBy
                )
            }
            table.print(empty: "No tokens yet: coreml deploy enrolment token --team \(team.team)")
        }
    }
}

struct EnrolmentTokenEnd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "Revoke an enrolment token; enrolled devices stay enrolled."
    )

    @Argument(help: "The token, as coreml deploy enrolment tokens names it.") var token: String
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws { _ = try server.client().delete(team.path + "/enrolment-tokens/\(token)") }
}
