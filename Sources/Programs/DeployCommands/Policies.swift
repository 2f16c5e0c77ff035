import ArgumentParser
import DeploymentPolicy
import Foundation

/// Reads policies from a server.
private struct PolicyReader {
    let client: ServerClient

    /// The policy of a deployment.
    func policy(of deployment: String) throws -> Policy {
        try Self.policy(try client.get("deployments/\(deployment)/policy"))
    }

    /// The policy that devices fetch now.
    func live(_ location: CollectionOptions, _ environment: String) throws -> Policy {
        let path = "/v1/apps/\(location.app)/environments/\(environment)/collections/\(location.collection)/policy.json"
        let document = try JSONSerialization.jsonObject(with: try client.getOpen(path)) as? [String: Any]
        guard let signed = document?["signed"] else { throw Failure("The server's policy cannot be read.") }
        return try Self.policy(try JSONSerialization.data(withJSONObject: signed, options: .withoutEscapingSlashes))
    }

    private static func policy(_ data: Data) throws -> Policy {
        do throws(PolicyError) { return try Policy([UInt8](data)) } catch {
            throw Failure("The server's policy cannot be read: \(error)")
        }
    }
}

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract:
            "Explain why a device gets its models: the rule that matches, its bucket, and why other rules do not match.",
        discussion: """
            The policy is fetched and evaluated here, with the same evaluator as on devices. Without --deployment it is \
            the policy that devices fetch now.

            Examples:
              coreml deploy explain --app shop --collection FlowerModels \\
                --attribute deviceClass=tablet --attribute osVersion=17.4 \\
                --attribute custom.tier=gold \\
                --install-id 3F2504E0-4F89-41D3-9A0C-0305E82C3301
              coreml deploy explain --app shop --collection FlowerModels \\
                --device device.json
              coreml deploy explain --app shop --collection FlowerModels \\
                --deployment 4k2m… --device device.json
            """
    )

    @OptionGroup var location: CollectionOptions
    @Option(help: "The environment, as named by coreml deploy app create.") var environment = "production"
    @Option(help: "A deployment, also one that is not live.") var deployment: String?
    @Option(help: "A JSON file with the device's attributes; - for standard input.") var device: String?
    @Option(
        name: .customLong("attribute"),
        help: ArgumentHelp("An attribute; may be repeated.", valueName: "name=value")
    )
    var attributes: [String] = []
    @Option(help: "The device's install ID, which determines its bucket for percentages.") var installID: String?
    @OptionGroup var server: ServerOptions

    func run() throws {
        let reader = PolicyReader(client: try server.client())
        let policy = try deployment.map(reader.policy) ?? reader.live(location, environment)
        let explanation: Explanation
        do throws(PolicyError) { explanation = try PolicyEvaluator(policy).explain(try described()) } catch {
            throw Failure("\(error)")
        }
        guard server.json else {
            print(explanation)
            return
        }
        let data = try JSONSerialization.data(
            withJSONObject: Self.json(explanation, policy),
            options: [.sortedKeys, .withoutEscapingSlashes]
        )
        FileHandle.standardOutput.write(data + Data("\n".utf8))
    }

    /// The device that the options describe.
    private func described() throws(PolicyError) -> DeviceAttributes {
        do {
            var members: [String: Any] = [:]
            if let device {
                let data =
                    device == "-"
                    ? FileHandle.standardInput.readDataToEndOfFile() : FileManager.default.contents(atPath: device)
                guard let data, let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
                    throw Failure("\(device) does not contain a JSON object.")
                }
                members = object
            }
            var signals = members["custom"] as? [String: Any] ?? [:]
            for text in attributes {
                let (attribute, value) = try Self.attribute(text)
                if case .custom(let name) = attribute { signals[name] = value } else { members[attribute.name] = value }
            }
            if !signals.isEmpty { members["custom"] = signals }
            if let installID { members["installID"] = installID }
            let data = try JSONSerialization.data(withJSONObject: members)
            return try DeviceAttributes(json: [UInt8](data))
        } catch let error as PolicyError { throw error } catch {
            throw PolicyError(.badText, at: "device", "\(error)")
        }
    }

    private static func attribute(_ text: String) throws -> (Attribute, Any) {
        guard let sign = text.firstIndex(of: "="), let attribute = Attribute(name: String(text[..<sign])) else {
            let names = Attribute.standard.map(\.name).joined(separator: ", ")
            throw Failure("\"\(text)\" is not an attribute: NAME=VALUE with \(names) or custom.NAME.")
        }
        let value = String(text[text.index(after: sign)...])
        switch attribute.kind {
        case .number: return (attribute, Int(value).map { $0 as Any } ?? value)
        case .signal: return (attribute, Int(value).map { $0 as Any } ?? Bool(value).map { $0 as Any } ?? value)
        default: return (attribute, value)
        }
    }

    private static func json(_ explanation: Explanation, _ policy: Policy) -> [String: Any] {
        var result: [String: Any] = [
            "deployment": policy.deployment, "policyVersion": policy.version, "state": policy.state.rawValue,
            "outcome": "\(explanation.decision.outcome)", "text": "\(explanation.decision)",
        ]
        if let release = explanation.decision.release { result["release"] = release.number }
        if let bucket = explanation.decision.bucket { result["bucket"] = bucket }
        if case .rule(let index, let id) = explanation.decision.source {
            result["rule"] = ["index": index, "id": id] as [String: Any]
        }
        result["rules"] = explanation.rules.map { rule in
            var entry: [String: Any] = [
                "id": rule.id, "standing": rule.standing.rawValue, "answer": "\(rule.truth)",
                "condition": rule.deciding.text, "path": rule.deciding.path,
            ]
            if let value = rule.deciding.value { entry["value"] = value }
            if let bucket = rule.bucket { entry["bucket"] = bucket }
            if let serves = rule.serves { entry["serves"] = "\(serves)" }
            return entry
        }
        return result
    }
}

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print the differences between two deployments for devices.",
        discussion: """
            Examples:
              coreml deploy diff 4k2m… 9x1c…
            """
    )

    @Argument(help: "The identifier of the older deployment.") var old: String
    @Argument(help: "The identifier of the newer deployment.") var new: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        let reader = PolicyReader(client: try server.client())
        // The identifiers of the deployments always differ.
        let changes = try reader.policy(of: old).changes(to: try reader.policy(of: new)).filter {
            $0.path != "deployment"
        }
        if server.json {
            let entries = changes.map { ["kind": $0.kind.rawValue, "path": $0.path, "summary": $0.summary] }
            let data = try JSONSerialization.data(
                withJSONObject: entries,
                options: [.sortedKeys, .withoutEscapingSlashes]
            )
            FileHandle.standardOutput.write(data + Data("\n".utf8))
            return
        }
        if changes.isEmpty { print("Nothing changes for devices.") }
        for change in changes {
            let sign =
                switch change.kind {
                case .added: "+"
                case .removed: "-"
                case .changed, .moved: "~"
                }
            print("\(sign) \(change.summary)")
        }
    }
}

struct CloneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clone",
        abstract: "Make a draft with the rules of another deployment.",
        discussion: """
            Examples:
              coreml deploy clone 4k2m… --name "Spring, again"
              coreml deploy clone 4k2m… --environment production
            """
    )

    @Argument(help: "The deployment's identifier (coreml deploy list).") var deployment: String
    @Option(help: "The display name of the new one.") var name: String?
    @Option(help: "The environment of the new one; the same by default.") var environment: String?
    @OptionGroup var server: ServerOptions

    private struct CreateResponse: Decodable {
        let id: String
        let state: String
    }

    func run() throws {
        let client = try server.client()
        let data = try client.get("deployments/\(deployment)")
        guard let old = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            let definition = old["definition"], let app = old["app"] as? String,
            let collection = old["collection"] as? String, let location = old["environment"] as? String
        else { throw Failure("The server's answer cannot be read; is it of another version?") }
        let body: [String: Any] = [
            "environment": environment ?? location, "definition": definition,
            "name": name ?? "Copy of \(old["name"] as? String ?? deployment)",
        ]
        let created = try client.post(
            "apps/\(app)/collections/\(collection)/deployments",
            json: try JSONSerialization.data(withJSONObject: body)
        )
        try server.show(created, as: CreateResponse.self) { print("deployment \($0.id)\t\($0.state)") }
    }
}
