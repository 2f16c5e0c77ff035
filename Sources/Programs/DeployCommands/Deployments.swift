import ArgumentParser
import DeploymentPolicy
import Foundation

// MARK: Releases

struct ReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Make a release: an archive for each model of a collection.",
        discussion: """
            Files are uploaded first; an archive that was uploaded before can be named by its hash. If a delta from the \
            archives of recent releases is much smaller than the new archive, it is made and uploaded, too. For encrypted \
            archives this needs their keys on this machine; elsewhere use coreml archive --delta-from and coreml deploy \
            upload.

            Examples:
              coreml deploy release --app shop --collection FlowerModels \\
                FlowerClassifier=Flowers.mlarchive FlowerStylizer=Style.mlarchive \\
              --self-test FlowerClassifier=cases.npz \\
                --note "Trained on the spring photographs"
            """
    )

    @OptionGroup var location: CollectionOptions
    @Argument(help: ArgumentHelp("The archive of a model: a file or a hash.", valueName: "model=archive"))
    var models: [String]
    @Option(
        name: .customLong("self-test"),
        help: ArgumentHelp(
            "Stored inputs and outputs (.npz) that devices test a model with before they use it.",
            valueName: "model=file"
        )
    )
    var selfTests: [String] = []
    @Option(help: "The absolute and relative tolerance of answers.") var tolerance: Double?
    @Option(
        help: ArgumentHelp(
            "A device rejects a model whose self-test takes more than this many times as long as that of its current model; "
                + "0 for no limit.",
            valueName: "factor"
        )
    )
    var slowdown = 3.0
    @Option(help: "The oldest runtime that can load the models.") var minimumRuntime: String?
    @Option(help: "The release notes.") var note: String?
    @Option(help: "The number of earlier releases to make deltas from.") var deltas = 3
    @OptionGroup var server: ServerOptions

    private struct Model: Encodable {
        let archive: String
        let selfTest: String?
        let tolerance: Double?
        let slowdown: Double?
    }

    private struct Body: Encodable {
        let models: [String: Model]
        let minimumRuntime: String?
        let note: String?
    }

    private struct App: Decodable { let team: String }
    private struct CreateResponse: Decodable {
        let number: Int
        let sha256: String
    }

    func validate() throws {
        guard 0...32 ~= deltas else { throw ValidationError("--deltas takes 0 to 32") }
        guard slowdown == 0 || (slowdown.isFinite && slowdown >= 1) else {
            throw ValidationError("--slowdown needs a factor of 1 or more, or 0")
        }
    }

    func run() throws {
        let client = try server.client()
        let team = try ServerClient.decode(App.self, try client.get("apps/\(location.app)")).team
        func hash(_ file: String, _ kind: String) throws -> String {
            if file.utf8.count == 64, !FileManager.default.fileExists(atPath: file) { return file }
            return try ServerClient.decode(StoredFile.self, try client.uploadFile(file, team: team, kind: kind)).sha256
        }
        var tests: [String: String] = [:]
        for text in selfTests {
            let (name, file) = try Self.pair(text)
            tests[name] = try hash(file, "vectors")
        }
        var chosen: [String: Model] = [:]
        for text in models {
            let (name, file) = try Self.pair(text)
            let archive = try hash(file, "archives")
            chosen[name] = Model(
                archive: archive,
                selfTest: tests[name],
                tolerance: tolerance,
                slowdown: tests[name] == nil || slowdown == 0 ? nil : slowdown
            )
            guard file != archive else { continue }
            try ReleaseDeltas(client: client, team: team, collection: location.path, count: deltas) { line in
                if !server.json { print(line) }
            }.make(of: name, to: file, hash: archive)
        }
        let body = Body(models: chosen, minimumRuntime: minimumRuntime, note: note)
        try server.show(try client.post(location.path + "/releases", body), as: CreateResponse.self) {
            print("release \($0.number)")
        }
    }

    private static func pair(_ text: String) throws -> (String, String) {
        guard let sign = text.firstIndex(of: "=") else { throw ValidationError("\"\(text)\" is not MODEL=FILE") }
        return (String(text[..<sign]), String(text[text.index(after: sign)...]))
    }
}

// MARK: Deployments

struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a deployment: rules that choose the release of a collection for each device.",
        discussion: """
            A rule is ATTRIBUTE OPERATOR VALUE[,VALUE…]: RELEASE. Attributes: \(attributes); operators: \(operators). \
            Rules are evaluated in order, and the first match decides. RELEASE is a number, "bundled" (the models of the \
            app) or "keep" (the device's current models).

            Examples:
              coreml deploy create --app shop --collection FlowerModels --default 1 \\
                --activate
              coreml deploy create --app shop --collection FlowerModels --default 1 \\
                --rule "deviceClass is tablet: 2"
              coreml deploy create --app shop --collection FlowerModels --default 3 \\
                --percentage 5 --rest 2
              coreml deploy create --app shop --collection FlowerModels --default 3 \\
                --rest 2 --steps 1,5,25,100 --hours 12 --devices 100 --activate
              coreml deploy create --app shop --collection FlowerModels \\
                --definition spring.json
            """
    )

    private static let attributes = Attribute.standard.map(\.name).joined(separator: ", ") + ", custom.NAME"
    private static let operators = Operator.allCases.map(\.rawValue).joined(separator: ", ")

    @OptionGroup var location: CollectionOptions
    @Option(help: "The environment, as named by coreml deploy app create.") var environment = "production"
    @Option(help: "The deployment's display name.") var name: String?
    @Option(name: .customLong("default"), help: "The release for devices that no rule matches.") var fallback: String?
    @Option(help: "The share of devices that get the default; a percentage.") var percentage: Double?
    @Option(help: "The release for the other devices; bundled by default.") var rest: String?
    @Option(help: "The share of devices that are held out for comparison; a percentage.") var holdout: Double?
    @Option(
        help: ArgumentHelp(
            "Roll the default out in steps: the percentages of devices.",
            valueName: "1,5,25,100"
        )
    )
    var steps: String?
    @Option(help: "The minimum duration of a step in hours; 24 by default.") var hours: Double?
    @Option(help: "The number of devices that must run the release before the next step.") var devices: Int?
    @Flag(help: "A person must approve each step: coreml deploy set ID release-gate.") var manual = false
    @Option(help: "The action when too many devices fail: previous (by default), keep or bundled.") var onHalt: String?
    @Option(help: "Activate automatically at this date, such as 2026-11-24T08:00:00Z.") var start: String?
    @Option(name: .customLong("rule"), help: "A rule; may be repeated.") var rules: [String] = []
    @Option(help: "A JSON file with the whole definition, instead of the options above.") var definition: String?
    @Flag(help: "Activate it at once.") var activate = false
    @OptionGroup var server: ServerOptions

    private struct CreateResponse: Decodable {
        let id: String
        let state: String
    }

    func validate() throws {
        guard (definition == nil) != (fallback == nil) else { throw ValidationError("pass --default or --definition") }
        guard steps != nil || (hours == nil && devices == nil && !manual && onHalt == nil) else {
            throw ValidationError("--hours, --devices, --manual and --on-halt require --steps")
        }
    }

    func run() throws {
        let client = try server.client()
        let definition = try self.definition.map { try JSONSerialization.jsonObject(with: Self.contents($0)) } ?? made()
        var body: [String: Any] = ["environment": environment, "definition": definition]
        if let name { body["name"] = name }
        var data = try client.post(
            location.path + "/deployments",
            json: try JSONSerialization.data(withJSONObject: body)
        )
        if activate {
            let made = try ServerClient.decode(CreateResponse.self, data)
            data = try client.post("deployments/\(made.id)/activate")
        }
        try server.show(data, as: CreateResponse.self) { print("deployment \($0.id)\t\($0.state)") }
    }

    private static func contents(_ path: String) throws -> Data {
        guard let data = FileManager.default.contents(atPath: path) else { throw Failure("\(path) cannot be read.") }
        return data
    }

    private func made() throws -> [String: Any] {
        var result: [String: Any] = ["default": Self.choice(fallback ?? "bundled")]
        result["rules"] = try rules.enumerated().map { try Self.rule($1, number: $0 + 1) }
        if let percentage { result["percentage"] = percentage }
        if let rest { result["rest"] = Self.choice(rest) }
        if let holdout { result["holdout"] = holdout }
        if let start { result["start"] = start }
        if let steps { result["rollout"] = try ramp(steps) }
        return result
    }

    private func ramp(_ steps: String) throws -> [String: Any] {
        let fractions = steps.split(separator: ",").map { String($0).trimmingCharacters(in: .whitespaces) }
        var ramp: [String: Any] = [
            "steps": try fractions.map { text -> [String: Any] in
                guard let share = Double(text) else { throw ValidationError("\"\(text)\" is not a percentage") }
                var step: [String: Any] = ["percentage": share]
                if let hours { step["hours"] = hours }
                if let devices { step["devices"] = devices }
                if manual { step["waitsForPerson"] = true }
                return step
            }
        ]
        if let onHalt { ramp["onHalt"] = onHalt }
        return ramp
    }

    private static func choice(_ text: String) -> Any { Int(text) ?? text }

    private static func rule(_ text: String, number: Int) throws -> [String: Any] {
        guard let colon = text.lastIndex(of: ":") else {
            throw ValidationError("\"\(text)\" has no colon with the release for matching devices")
        }
        let words = text[..<colon].split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3, let attribute = Attribute(name: words[0]), let relation = Operator(rawValue: words[1])
        else {
            throw ValidationError("\"\(text)\" is not a rule: ATTRIBUTE OPERATOR VALUE: RELEASE")
        }
        let values = words[2].split(separator: ",").map { value -> any Sendable in
            let value = String(value).trimmingCharacters(in: .whitespaces)
            if relation == .isPresent { return value == "true" }
            switch attribute.kind {
            case .number: return Int(value) ?? value
            case .signal: return Int(value) ?? Bool(value) ?? value
            default: return value
            }
        }
        return [
            "id": "rule-\(number)",
            "note": String(text),
            "when": ["attribute": words[0], "operator": words[1], "values": values],
            "serve": choice(String(text[text.index(after: colon)...]).trimmingCharacters(in: .whitespaces)),
        ]
    }
}

struct Operate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Approve, activate, pause, resume, halt or roll back a deployment.",
        discussion: """
            approve               approve a deployment that another person made
            withdraw              withdraw an approval or a start date
            activate              deliver it to devices: at once, or at its start date
            pause, resume         keep each device's models as they are, and continue
            halt                  emergency stop: all devices return to the app's models
            roll-back             give devices their previous models
            roll-back-to-bundled  give devices the models of the app
            advance               go to the next step of a rollout, when its gate allows it
            release-gate          open a gate that waits for a person
            skip-gate             go to the next step although the gate does not allow it

            Examples:
              coreml deploy set 4k2m… pause
              coreml deploy set 4k2m… roll-back
            """
    )

    @Argument(help: "The deployment's identifier (coreml deploy list).") var deployment: String
    @Argument(help: "The operation, as above.") var operation: String
    @OptionGroup var server: ServerOptions

    private struct OperationResponse: Decodable {
        let id: String
        let state: String
    }

    func run() throws {
        let data = try server.client().post("deployments/\(deployment)/\(operation)")
        try server.show(data, as: OperationResponse.self) { print("deployment \($0.id)\t\($0.state)") }
    }
}

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the deployments of a collection."
    )

    @OptionGroup var location: CollectionOptions
    @OptionGroup var server: ServerOptions

    private struct Entry: Decodable {
        let id: String
        let name: String
        let environment: String
        let state: String
    }

    func run() throws {
        try server.show(try server.client().get(location.path + "/deployments"), as: [Entry].self) { entries in
            for entry in entries { print("\(entry.id)\t\(entry.state)\t\(entry.environment)\t\(entry.name)") }
        }
    }
}
