import DeploymentPolicy
import Foundation
import ServerCore

/// JSON of pages and forms.
enum PageJSON {
    static func text(_ value: some Encodable, isPretty: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Reads JSON that a page sent.
    static func read<Value: Decodable>(_ type: Value.Type, _ bytes: some Sequence<UInt8>, _ field: String) throws
        -> Value
    {
        do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch let error as DecodingError {
            throw ServiceError(.invalid, explanation(of: error), field: field)
        }
    }

    private static func explanation(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): location(context.codingPath + [key]) + "is missing."
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            location(context.codingPath) + "has the wrong type."
        case .dataCorrupted(let context): location(context.codingPath) + context.debugDescription
        @unknown default: "The JSON cannot be read."
        }
    }

    private static func location(_ path: [any CodingKey]) -> String {
        let text = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return text.isEmpty ? "" : text.trimmingPrefix(".") + ": "
    }
}

/// The lines that describe a definition.
struct DefinitionLines {
    struct Line {
        /// The rule's number; `nil` for the default.
        let number: Int?
        let id: String
        let note: String?
        let condition: String
        let serves: String
        let shares: [Share]
        let isShared: Bool
    }

    struct Share {
        let name: String
        let percent: String
        let thousandths: Int
    }

    let rules: [Line]
    /// The settings besides rules.
    let others: [String]

    init(_ definition: DeploymentDefinition) {
        var lines = definition.rules.enumerated().map { index, rule in
            Self.line(
                index + 1,
                rule.id,
                rule.note,
                Self.text(rule.when),
                rule.serve,
                rule.percentage,
                rule.rest ?? definition.default,
                holdout: nil
            )
        }
        lines.append(
            Self.line(
                nil,
                "default",
                nil,
                definition.rules.isEmpty ? "every device" : "every other device",
                definition.default,
                definition.percentage,
                definition.rest ?? .bundled,
                holdout: definition.holdout
            )
        )
        rules = lines
        var others: [String] = []
        for (name, members) in (definition.segments ?? [:]).sorted(by: { $0.key < $1.key }) {
            others.append("segment \(name): \(Texts.count(members.count, "installation", "installations"))")
        }
        if let ramp = definition.rollout {
            let shares = ramp.steps.map { Texts.trimmed($0.percentage) + " %" }.joined(separator: ", ")
            others.append(
                "rolled out in steps: \(shares); after too many failures: \(Self.text(ramp.onHalt ?? .previous))"
            )
            let gates = ramp.steps.map { Self.text($0) }
            if let gate = gates.first, gates.allSatisfy({ $0 == gate }) {
                others.append("each step: \(gate)")
            } else {
                others += gates.enumerated().map { "step \($0.offset + 1): \($0.element)" }
            }
        }
        if let start = definition.start { others.append("not before \(start)") }
        if let reporting = definition.reporting {
            others.append("\(Texts.trimmed(reporting)) % of devices report how well releases work")
        }
        if let seconds = definition.pollInterval {
            others.append("devices check every \(Texts.trimmed(Double(seconds) / 3600)) hours")
        }
        if let release = definition.minimumRelease, release > 0 {
            others.append("releases below \(release) are refused, even if they are installed")
        }
        self.others = others
    }

    private static func text(_ action: DeploymentDefinition.Ramp.HaltAction) -> String {
        switch action {
        case .keep: "it stays at this step"
        case .previous: "its devices get the same release as the others"
        case .bundled: "all devices get the models of the app"
        }
    }

    private static func text(_ step: DeploymentDefinition.Ramp.Step) -> String {
        var texts = ["at least \(Texts.trimmed(step.hours ?? 24)) hours"]
        if let devices = step.devices, devices > 0 { texts.append("\(Texts.count(devices, "device", "devices"))") }
        if step.needsGoodVerdict == true { texts.append("an acceptable failure rate") }
        if step.waitsForPerson == true { texts.append("a person's approval") }
        return texts.joined(separator: ", ")
    }

    private static func line(
        _ number: Int?,
        _ id: String,
        _ note: String?,
        _ condition: String,
        _ serve: DeploymentDefinition.Choice,
        _ percentage: Double?,
        _ rest: DeploymentDefinition.Choice,
        holdout: Double?
    ) -> Line {
        let held = holdout ?? 0
        let share = min(percentage ?? 100, 100 - held)
        var shares = [(serve.label, share)]
        if 100 - held - share > 0.000_5 { shares.append((rest.label, 100 - held - share)) }
        if held > 0 { shares.append(("held out", held)) }
        return Line(
            number: number,
            id: id,
            note: note,
            condition: condition,
            serves: serve.label,
            shares: shares.map {
                Share(name: $0.0, percent: Texts.trimmed($0.1) + " %", thousandths: Int(($0.1 * 1000).rounded()))
            },
            isShared: shares.count > 1
        )
    }

    /// A condition as text; one that cannot be read stays JSON, and saving it reports the error.
    static func text(_ json: AnyJSON) -> String {
        guard let text = try? PageJSON.text(json) else { return "" }
        return (try? Condition(json: Array(text.utf8)))?.description ?? text
    }

    /// Each rule as one line, for comparing.
    var texts: [String] {
        rules.map { line in
            let shares =
                line.isShared ? " (" + line.shares.map { "\($0.name) \($0.percent)" }.joined(separator: ", ") + ")" : ""
            return "\(line.condition) → \(line.serves)\(shares)"
        } + others
    }

    /// The lines that only one of two definitions has, in the order of both.
    static func difference(from old: DefinitionLines?, to new: DefinitionLines) -> [Change] {
        let (old, new) = (old?.texts ?? [], new.texts)
        let difference = new.difference(from: old)
        var (removed, added): (Set<Int>, Set<Int>) = ([], [])
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): added.insert(offset)
            }
        }
        var (result, location): ([Change], Int) = ([], 0)
        for (index, text) in new.enumerated() {
            while location < old.count, removed.contains(location) {
                result.append(Change(text: old[location], isAdded: false, isRemoved: true))
                location += 1
            }
            result.append(Change(text: text, isAdded: added.contains(index), isRemoved: false))
            if !added.contains(index) { location += 1 }
        }
        result += old[min(location, old.count)...].enumerated().filter { removed.contains($0.offset + location) }.map {
            Change(text: $0.element, isAdded: false, isRemoved: true)
        }
        return result
    }

    struct Change {
        let text: String
        let isAdded: Bool
        let isRemoved: Bool
    }
}

extension DeploymentDefinition.Choice {
    var label: String {
        switch self {
        case .release(let number): "release \(number)"
        case .bundled: "models of the app"
        case .keep: "the current models of the device"
        }
    }

    /// The choice as an argument of `coreml deploy`.
    var argument: String {
        switch self {
        case .release(let number): String(number)
        case .bundled: "bundled"
        case .keep: "keep"
        }
    }
}

extension Outcome {
    var title: String {
        switch self {
        case .release(let number): "Release \(number)"
        case .bundled: "Models of the app"
        case .holdout: "Held out"
        case .keep: "Current models of the device"
        }
    }
}

extension Commands {
    /// The commands that create a deployment without the dashboard.
    init(
        making definition: DeploymentDefinition,
        name: String,
        app: String,
        collection: String,
        environment: String,
        address: String
    ) throws {
        var start = "create --app \(app) --collection \(collection)"
        if environment != "production" { start += " --environment \(environment)" }
        if !name.isEmpty { start += " --name \(Self.quoted(name))" }
        struct Body: Encodable {
            let definition: DeploymentDefinition
            let environment: String
            let name: String
        }
        self.init(
            start,
            "POST",
            "apps/\(app)/collections/\(collection)/deployments",
            body: try PageJSON.text(Body(definition: definition, environment: environment, name: name)),
            address: address
        )
        if let arguments = try Self.arguments(definition) {
            self = Commands(shell: shell + " \\\n  " + arguments, api: api)
        } else {
            let json = try PageJSON.text(definition, isPretty: true)
            self = Commands(
                shell: "cat > deployment.json <<'JSON'\n\(json)\nJSON\n\(shell) \\\n  --definition deployment.json",
                api: api
            )
        }
    }

    private init(shell: String, api: String) {
        self.shell = shell
        self.api = api
    }

    /// The options of a rollout whose steps have the same gates; `nil` for others.
    private static func options(_ ramp: DeploymentDefinition.Ramp) -> [String]? {
        guard var same = ramp.steps.first, ramp.usualFailureRate == nil, ramp.badFailureRate == nil,
            ramp.falseHalt == nil, ramp.comparesWithRest == nil, same.needsGoodVerdict != true
        else { return nil }
        for step in ramp.steps {
            same.percentage = step.percentage
            guard step == same else { return nil }
        }
        var parts = ["--steps " + ramp.steps.map { Texts.trimmed($0.percentage) }.joined(separator: ",")]
        if let hours = same.hours { parts.append("--hours \(Texts.trimmed(hours))") }
        if let devices = same.devices { parts.append("--devices \(devices)") }
        if same.waitsForPerson == true { parts.append("--manual") }
        if let action = ramp.onHalt { parts.append("--on-halt \(action.rawValue)") }
        return parts
    }

    /// The options for a definition that options can express; `nil` for others.
    private static func arguments(_ definition: DeploymentDefinition) throws -> String? {
        var parts = ["--default \(definition.default.argument)"]
        if let percentage = definition.percentage { parts.append("--percentage \(Texts.trimmed(percentage))") }
        if let rest = definition.rest { parts.append("--rest \(rest.argument)") }
        if let holdout = definition.holdout { parts.append("--holdout \(Texts.trimmed(holdout))") }
        if let start = definition.start { parts.append("--start \(start)") }
        if let ramp = definition.rollout {
            guard let options = Self.options(ramp) else { return nil }
            parts += options
        }
        guard definition.segments?.isEmpty ?? true, definition.pollInterval == nil, definition.minimumRelease == nil,
            definition.reporting == nil
        else {
            return nil
        }
        for rule in definition.rules {
            guard rule.percentage == nil, rule.rest == nil, case .object(let members) = rule.when,
                case .text(let attribute) = members["attribute"], case .text(let relation) = members["operator"],
                case .list(let values) = members["values"]
            else { return nil }
            var words: [String] = []
            for value in values {
                switch value {
                case .text(let text) where !text.contains(","): words.append(text)
                case .integer(let number): words.append(String(number))
                case .bool(let flag): words.append(String(flag))
                default: return nil
                }
            }
            let text = "\(attribute) \(relation) \(words.joined(separator: ",")): \(rule.serve.argument)"
            parts.append("--rule \(quoted(text))")
        }
        return parts.joined(separator: " \\\n  ")
    }
}
