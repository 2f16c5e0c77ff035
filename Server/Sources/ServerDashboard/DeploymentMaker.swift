import DeploymentPolicy
import Foundation
import Hummingbird
import ServerCore

/// The data of the rule editor.
struct EditorData: Encodable {
    struct Attribute: Encodable {
        let name: String
        let label: String
        let kind: String
        let operators: [String]
        /// The common or only values.
        let values: [String]
    }

    struct Operator: Encodable {
        let name: String
        let label: String
        /// The number of values that it takes; 0 for a list.
        let count: Int
    }

    struct Release: Encodable {
        let number: Int
        let label: String
    }

    let attributes: [Attribute]
    let signalOperators: [String]
    let operators: [Operator]
    let releases: [Release]
    let preview: String

    init(releases: [ServerCore.Release], preview: String) {
        attributes = DeploymentPolicy.Attribute.standard.map { attribute in
            Attribute(
                name: attribute.name,
                label: attribute.label,
                kind: attribute.kind.rawValue,
                operators: attribute.operators.map(\.rawValue),
                values: Self.commonValues(attribute)
            )
        }
        signalOperators = DeploymentPolicy.Attribute.custom("x").operators.map(\.rawValue)
        operators = DeploymentPolicy.Operator.allCases.map {
            Operator(
                name: $0.rawValue,
                label: $0.label,
                count: $0.valueCount.lowerBound == $0.valueCount.upperBound ? $0.valueCount.lowerBound : 0
            )
        }
        self.releases = releases.map {
            Release(
                number: $0.number,
                label: "Release \($0.number)" + ($0.note.isEmpty ? "" : " · \($0.note.prefix(28))")
            )
        }
        self.preview = preview
    }

    private static func commonValues(_ attribute: DeploymentPolicy.Attribute) -> [String] {
        switch attribute {
        case .deviceClass: DeviceClass.allCases.map(\.rawValue)
        case .operatingSystem: ["iOS", "iPadOS", "macOS", "Linux", "watchOS", "tvOS", "visionOS"]
        case .accelerator: ["none", "gpu", "neuralEngine"]
        case .channel: ["store", "beta"]
        case .languageCode: ["en", "de", "fr", "es", "zh-Hant", "ja"]
        case .regionCode: ["US", "GB", "DE", "FR", "JP"]
        default: []
        }
    }
}

extension Dashboard {
    func addDeployments<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("apps/:app/collections/:collection/deployments/new") { visit in try await makerPage(visit) }
        pages.form("apps/:app/collections/:collection/deployments") { visit, form in
            try await makeDeployment(visit, form)
        }
        pages.send("apps/:app/collections/:collection/preview") { visit in try await preview(visit) }
        pages.get("deployments/:deployment") { visit in try await deploymentPage(visit) }
        pages.get("deployments/:deployment/events") { visit in try await deploymentEvents(visit) }
        pages.get("deployments/:deployment/:operation") { visit in try await confirmationPage(visit) }
        pages.form("deployments/:deployment/:operation") { visit, form in try await operate(visit) }
    }

    // MARK: Maker

    private struct MakerContent {
        struct Environment {
            let name: String
            let isChosen: Bool
        }

        let path: String
        let title: String
        let name: String
        let environments: [Environment]
        let hasEnvironments: Bool
        let definition: String
        let editor: String
        let error: String?
        let field: String?
        let hasReleases: Bool
        let clone: String?
        let device: DeviceForm
        let commands: Commands
    }

    private func makerPage(_ visit: Visit, _ form: Form? = nil, failure: ServiceError? = nil) async throws -> Response {
        let (place, _) = try await place(visit)
        try require(.deploy, visit, place.app.team)
        let releases = try await service.releases(app: place.app.id, collection: place.id, as: visit.actor)
        var (name, environment) = (form?["name"] ?? "", form?["environment"] ?? place.app.environments[0])
        var definition = DeploymentDefinition(default: releases.first.map { .release($0.number) } ?? .bundled)
        var clone: String?
        if form == nil, let id = visit.query("clone") {
            let source = try await service.deployment(id, as: visit.actor)
            guard source.app == place.app.id, source.collection == place.id else {
                throw ServiceError(.notFound, "The deployment belongs to another collection.")
            }
            (name, environment, definition) = ("\(source.title) (copy)", source.environment, source.definition)
            clone = source.title
        } else if form == nil, let number = visit.query("release").flatMap({ Int($0) }) {
            definition = DeploymentDefinition(default: .release(number))
        }
        let content = MakerContent(
            path: place.path,
            title: clone == nil ? "New deployment" : "A copy of \(clone ?? "")",
            name: name,
            environments: place.app.environments.map { .init(name: $0, isChosen: $0 == environment) },
            hasEnvironments: place.app.environments.count > 1,
            definition: try form?["definition"] ?? PageJSON.text(definition, isPretty: true),
            editor: try PageJSON.text(EditorData(releases: releases, preview: place.path + "/preview")),
            error: failure?.description,
            field: failure?.field,
            hasReleases: !releases.isEmpty,
            clone: clone,
            device: DeviceForm(),
            commands: try Commands(
                making: definition,
                name: name,
                app: place.app.id,
                collection: place.id,
                environment: environment,
                address: visit.address
            )
        )
        return try await page(
            "deployment-new",
            content,
            title: content.title,
            team: place.app.team,
            section: .apps,
            trail: place.trail(),
            status: failure?.status ?? .ok,
            visit
        )
    }

    /// Refuses a page to people who could not send its form.
    func require(_ permission: Permission, _ visit: Visit, _ team: String) throws {
        guard visit.actor.permissions(in: team).contains(permission) else {
            throw ServiceError(
                .forbidden,
                "\(visit.actor.name) may not do this in the team \"\(team)\": the permission \(permission.rawValue) is needed."
            )
        }
    }

    private func makeDeployment(_ visit: Visit, _ form: Form) async throws -> Response {
        let (place, _) = try await place(visit)
        do {
            let deployment = try await service.createDeployment(
                try PageJSON.read(DeploymentDefinition.self, form["definition"].utf8, "definition"),
                name: form["name"],
                app: place.app.id,
                collection: place.id,
                environment: form.optional("environment") ?? place.app.environments[0],
                as: visit.actor
            )
            return redirect("/deployments/\(deployment.id)?done=deployment")
        } catch let error as ServiceError where error.isAboutForm {
            return try await makerPage(visit, form, failure: error)
        }
    }

    // MARK: Preview

    private struct PreviewQuestion: Decodable {
        let definition: AnyJSON
        /// Attributes in the form that `DeviceAttributes` reads.
        let device: AnyJSON?
        let environment: String?
        let name: String?
        /// An existing deployment, which already decides which devices percentages select.
        let deployment: String?
    }

    private func preview(_ visit: Visit) async throws -> Response {
        let (place, _) = try await place(visit)
        let buffer = try await visit.request.body.collect(upTo: Form.maximumByteCount)
        let question = try PageJSON.read(PreviewQuestion.self, Array(buffer: buffer), "preview")
        let environment = question.environment ?? place.app.environments[0]
        let deployments = try await service.liveStates(app: place.app.id, collection: place.id, as: visit.actor)
        let live = deployments.first { $0.environment == environment }?.deployment
        let existing = try await existing(question.deployment, place, visit)
        do {
            let definition =
                try existing?.definition
                ?? PageJSON.read(DeploymentDefinition.self, PageJSON.text(question.definition).utf8, "definition")
            let evaluator = try await service.evaluator(
                of: definition,
                salt: existing?.id ?? "preview",
                deployment: existing,
                app: place.app.id,
                collection: place.id,
                environment: environment,
                as: visit.actor
            )
            let explanation = try question.device.map { device in
                do throws(PolicyError) {
                    return evaluator.explain(try DeviceAttributes(json: Array(try PageJSONText(device).bytes)))
                } catch { throw ServiceError(.invalid, error.description, field: "device") }
            }
            let lines = DefinitionLines(definition)
            return fragment(
                "preview",
                Preview(
                    explanation,
                    lines: lines,
                    live: existing == nil ? live.map { ($0.title, DefinitionLines($0.definition)) } : nil,
                    isDrawn: existing != nil,
                    commands: existing != nil
                        ? nil
                        : try Commands(
                            making: definition,
                            name: question.name ?? "",
                            app: place.app.id,
                            collection: place.id,
                            environment: environment,
                            address: visit.address
                        )
                )
            )
        } catch let error as ServiceError where error.code == .invalid {
            return fragment("preview", Preview(failure: error))
        }
    }

    private func existing(_ id: String?, _ place: CollectionContext, _ visit: Visit) async throws -> Deployment? {
        guard let id else { return nil }
        let deployment = try await service.deployment(id, as: visit.actor)
        guard deployment.app == place.app.id, deployment.collection == place.id else {
            throw ServiceError(.notFound, "The deployment belongs to another collection.")
        }
        return deployment
    }
}

/// JSON as bytes, for readers with errors of their own type.
private struct PageJSONText {
    let bytes: [UInt8]

    init(_ value: AnyJSON) throws(PolicyError) {
        guard let text = try? PageJSON.text(value) else { throw PolicyError(.malformed, at: "", "This is not JSON.") }
        bytes = Array(text.utf8)
    }
}

/// The fields that describe a device.
struct DeviceForm {
    struct Input {
        let name: String
        let label: String
        let placeholder: String
        let isNumber: Bool
        let isSelect: Bool
        let options: [String]
    }

    let first: [Input]
    let more: [Input]

    init() {
        let examples: [Attribute: String] = [
            .languageCode: "en-GB", .operatingSystem: "iPadOS", .osVersion: "17.4", .regionCode: "GB",
            .appVersion: "2.1",
            .appBuild: "214", .deviceModel: "iPad14,8", .memory: "8000000000", .cores: "8",
            .accelerator: "neuralEngine",
            .freeDisk: "20000000000", .runtimeVersion: "1.0", .channel: "store",
        ]
        let all = Attribute.standard.map { attribute in
            Input(
                name: attribute.name,
                label: attribute.label,
                placeholder: examples[attribute] ?? "",
                isNumber: attribute.kind == .number,
                isSelect: attribute == .deviceClass,
                options: attribute == .deviceClass ? DeviceClass.allCases.map(\.rawValue) : []
            )
        }
        first = Array(all.prefix(6))
        more = Array(all.dropFirst(6))
    }
}

/// The preview of what devices would get, as a part of a page.
struct Preview {
    struct Rule {
        let number: Int
        let id: String
        let word: String
        let colour: String
        let reason: String
        let isServed: Bool
    }

    var error: String?
    var field: String?
    var title: String?
    var because: String?
    var refusal: String?
    var bucket: String?
    var isDrawn = false
    var rules: [Rule] = []
    var hasRules = false
    var lines: [DefinitionLines.Line] = []
    var others: [String] = []
    var changes: [DefinitionLines.Change] = []
    var live: String?
    var isSameAsLive = false
    var commands: Commands?

    init(failure: ServiceError) {
        error = failure.description
        field = failure.field
    }

    init(
        _ explanation: Explanation?,
        lines: DefinitionLines,
        live: (title: String, lines: DefinitionLines)?,
        isDrawn: Bool,
        commands: Commands?
    ) {
        self.lines = lines.rules
        others = lines.others
        self.isDrawn = isDrawn
        self.commands = commands
        if let live {
            self.live = live.title
            changes = DefinitionLines.difference(from: live.lines, to: lines)
            isSameAsLive = !changes.contains { $0.isAdded || $0.isRemoved }
        }
        guard let explanation else { return }
        let decision = explanation.decision
        title = decision.outcome.title
        because =
            switch decision.source {
            case .rule(let index, let id): "by rule \(index + 1), “\(id)”"
            case .fallback: explanation.rules.isEmpty ? "like every device" : "because no rule matched"
            case .state(let state): "because the deployment is \(state.rawValue)"
            }
        refusal = decision.refusal.map { refusal in
            refusal == .noInstallID
                ? "Percentages decide here, and this device has no install ID."
                : "\(decision.named.title) is refused: \(refusal)."
        }
        bucket = decision.bucket.map { Texts.number($0) }
        rules = explanation.rules.map(Self.rule)
        hasRules = !rules.isEmpty
    }

    private static func rule(_ trace: Explanation.RuleTrace) -> Rule {
        let (word, colour): (String, String) =
            switch trace.standing {
            case .served: ("Serves", "good")
            case .notMatched: ("No", "plain")
            case .unknown: ("Unknown", "warn")
            case .noInstallID: ("No install ID", "warn")
            case .notReached: trace.truth == .true ? ("Would match", "info") : ("Not reached", "plain")
            }
        let has =
            trace.deciding.value.map { "it has \($0)" }
            ?? (trace.truth == .unknown ? "the device does not state it" : nil)
        return Rule(
            number: trace.index + 1,
            id: trace.id,
            word: word,
            colour: colour,
            reason: trace.deciding.text + (has.map { " – \($0)" } ?? ""),
            isServed: trace.standing == .served
        )
    }
}
