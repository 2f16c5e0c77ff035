import ArgumentParser
import Foundation

// MARK: Status

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the progress of a rollout, and the failures of its release on devices.",
        discussion: """
            Devices report in anonymous counts, with their checks.  Exit status 2 means that the rollout was halted, for scripts \
            that wait for one.

            Examples:
              coreml deploy status 4k2m…
              coreml deploy status 4k2m… --json
            """
    )

    @Argument(help: "The deployment's identifier (coreml deploy list).") var deployment: String
    @Option(help: "The number of hours whose reports are counted.") var hours = 24
    @OptionGroup var server: ServerOptions

    private struct Deployment: Decodable {
        let id: String
        let app: String
        let collection: String
        let environment: String
        let name: String
        let state: String
        let definition: Definition

        struct Definition: Decodable {
            let rollout: Ramp?

            struct Ramp: Decodable {}
        }
    }

    private struct Rollout: Codable {
        struct Step: Codable {
            let percentage: Double
        }

        let state: String
        let step: Int?
        let reason: String?
        let release: Int
        let percentage: Double
        let steps: [Step]
        let exposed: Int
        let reports: Int
        let failures: Int
        let verdict: String
        let waitsFor: [String]
    }

    private struct Devices: Codable {
        let release: Int
        let devices: Int
    }

    private struct Answer: Encodable {
        let id: String
        let state: String
        let rollout: Rollout?
        let devices: [Devices]
    }

    func run() throws {
        let client = try server.client()
        let deployment = try ServerClient.decode(Deployment.self, try client.get("deployments/\(deployment)"))
        let hasBegun = !["draft", "approved", "scheduled"].contains(deployment.state)
        let rollout =
            deployment.definition.rollout != nil && hasBegun
            ? try ServerClient.decode(Rollout.self, try client.get("deployments/\(deployment.id)/rollout")) : nil
        let devices = try ServerClient.decode(
            [Devices].self,
            try client.get(
                "apps/\(deployment.app)/collections/\(deployment.collection)/devices",
                ["environment": deployment.environment, "hours": String(hours)]
            )
        )
        if server.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let answer = Answer(id: deployment.id, state: deployment.state, rollout: rollout, devices: devices)
            FileHandle.standardOutput.write(try encoder.encode(answer) + Data("\n".utf8))
        } else {
            print("deployment  \(deployment.id)  \(deployment.state)  \(deployment.name)")
            if let rollout { Self.show(rollout) }
            if devices.isEmpty { print("devices     none reported in the last \(hours) hours") }
            for entry in devices {
                print(
                    "devices     about \(entry.devices) run \(entry.release == 0 ? "the app's models" : "release \(entry.release)")"
                )
            }
        }
        if deployment.state == "halted" || rollout?.state == "halted" { throw ExitCode(2) }
    }

    private static func show(_ rollout: Rollout) {
        let steps = rollout.steps.enumerated().map { index, step in
            let text = step.percentage.formatted() + " %"
            return index == rollout.step ? "[\(text)]" : text
        }
        let reason = rollout.reason.map { " (\($0))" } ?? ""
        print("rollout     release \(rollout.release), \(rollout.state)\(reason): \(steps.joined(separator: "  "))")
        print(
            "reports     \(rollout.failures) of \(rollout.reports) at this step are failures (\(rollout.verdict)); "
                + "about \(rollout.exposed) devices run it"
        )
        for obstacle in rollout.waitsFor { print("waits for   \(obstacle)") }
    }
}

// MARK: Approvals

struct ApprovalsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvals",
        abstract: "Set the environments of an app in which a second person must approve deployments.",
        discussion: """
            Examples:
              coreml deploy approvals --app shop production
              coreml deploy approvals --app shop            (nowhere)
            """
    )

    @Option(help: "The app's identifier (coreml deploy app list).") var app: String
    @Argument(help: "The environments; without any, no deployment needs an approval.") var environments: [String] = []
    @OptionGroup var server: ServerOptions

    private struct Body: Encodable { let environments: [String] }
    private struct App: Decodable { let approvals: [String] }

    func run() throws {
        let data = try server.client().put("apps/\(app)/approvals", Body(environments: environments))
        try server.show(data, as: App.self) { app in
            print(
                app.approvals.isEmpty ? "no approval is required" : "approved: \(app.approvals.joined(separator: ", "))"
            )
        }
    }
}

// MARK: Webhooks

struct WebhookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Notify other programs of events in a team.",
        discussion: """
            Every entry of the audit log is sent to the address, signed according to Standard Webhooks \
            (https://www.standardwebhooks.com), until it answers with a status of 2xx.

            Examples:
              coreml deploy webhook create https://chat.example.org/hook --team acme \\
                --action deployment
              coreml deploy webhook list --team acme
              coreml deploy webhook remove 4k2m… --team acme
            """,
        subcommands: [WebhookCreate.self, WebhookList.self, WebhookRemove.self],
        defaultSubcommand: WebhookList.self
    )
}

struct WebhookCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a webhook; prints its secret."
    )

    @Argument(help: "The URL that receives the events.") var url: String
    @Option(help: "The team's identifier (coreml deploy team list).") var team: String
    @Option(
        name: .customLong("action"),
        help: "The prefix of the actions to send, such as deployment or key.revoke; may be repeated. All by default."
    )
    var actions: [String] = []
    @OptionGroup var server: ServerOptions

    private struct Body: Encodable {
        let url: String
        let actions: [String]
    }

    private struct CreateResponse: Decodable { let secret: String }

    func run() throws {
        let data = try server.client().post("teams/\(team)/webhooks", Body(url: url, actions: actions))
        try server.show(data, as: CreateResponse.self) { print($0.secret) }
    }
}

struct WebhookList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the webhooks of a team.")

    @Option(help: "The team's identifier (coreml deploy team list).") var team: String
    @OptionGroup var server: ServerOptions

    private struct Entry: Decodable {
        let id: String
        let url: String
        let actions: [String]
        let lastStatus: String
    }

    func run() throws {
        try server.show(try server.client().get("teams/\(team)/webhooks"), as: [Entry].self) { entries in
            for entry in entries {
                let actions = entry.actions.isEmpty ? "all" : entry.actions.joined(separator: ", ")
                let status = entry.lastStatus.isEmpty ? "not used yet" : "last: \(entry.lastStatus)"
                print("\(entry.id)\t\(entry.url)\t\(actions)\t\(status)")
            }
        }
    }
}

struct WebhookRemove: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a webhook.")

    @Argument(help: "The webhook's identifier (coreml deploy webhook list).") var id: String
    @Option(help: "The team's identifier (coreml deploy team list).") var team: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        _ = try server.client().delete("teams/\(team)/webhooks/\(id)")
        print("removed \(id)")
    }
}
