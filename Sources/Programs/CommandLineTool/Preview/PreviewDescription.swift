import CreateML
import Foundation
import MLEngine
import MLFeatureFiles
import MLFiles
import MLInspection
import MLPreview
import MLSpecification
import MLUpdating

/// The description of the model for the page.
struct PreviewDescription {
    private let session: PreviewSession

    init(_ session: PreviewSession) { self.session = session }

    private var interface: SpecModelDescription { session.engine.interface }
    private var specification: SpecModel { session.file.specification }

    var json: JSONValue {
        get throws {
            let plan = session.plan
            let ranges = InputRanges(specification)
            func features(_ list: [SpecFeatureDescription], _ ranges: InputRanges? = nil) -> JSONValue {
                .array(list.map { PageModel.feature($0, text: $0.typeText, plan, ranges) })
            }
            let facts = try JSONFeature.value(JSONFeature.text(ModelFacts(ModelInspection(session.file)).object))
            let code = UsageLines(path: session.file.path, interface: interface, kind: plan.kind)
            var members: [JSONValue.Member] = [
                .init("name", .string(TableFile.name(session.file.path))),
                .init("kind", .string(plan.kind.rawValue)), .init("title", .string(plan.kind.title)),
                .init("stated", .bool(plan.isStated)),
                .init(
                    "roles",
                    .object(plan.roles.map { .init($0.key.rawValue, .string($0.value)) }.sorted { $0.name < $1.name })
                ),
                .init("inputs", features(interface.input, ranges)), .init("outputs", features(interface.output)),
                .init("states", features(interface.state)),
                .init("facts", facts), .init("loadMilliseconds", .number(session.loadMilliseconds)),
                .init("labels", labels),
                .init("hasVocabulary", .bool(session.vocabulary != nil)),
                .init("canSave", .bool(session.saveFolder != nil)), .init("isTaught", .bool(session.taughtFile != nil)),
                .init(
                    "code",
                    .object([
                        .init("swift", .string(code.swift)), .init("python", .string(code.python)),
                        .init("shell", .string(code.shell)),
                    ])
                ),
            ]
            if let parameters { members.append(.init("parameters", parameters)) }
            if let sensors = sensorColumns { members.append(.init("sensors", .array(sensors.map { .string($0) }))) }
            if specification.isUpdatable {
                members.append(.init("training", features(specification.trainingFeatures)))
            }
            return .object(members)
        }
    }

    /// The members of the preview parameters in the metadata; `nil` when there are none, or they are not JSON.
    private var parameters: JSONValue? {
        guard let text = specification.description_p.metadata.userDefined[PreviewPlan.parametersKey],
            case .object(let members)? = try? JSONFeature.value(text)
        else { return nil }
        return .object(members)
    }

    private var labels: JSONValue {
        switch ClassLabels(of: specification, functionName: session.function) {
        case .strings(let labels)?: .array(labels.map { .string($0) })
        case .integers(let labels)?: .array(labels.map { .string("\($0)") })
        case nil: detectorLabels
        }
    }

    /// The labels of a detector: from its non-maximum suppression, or from metadata in the form of Turi Create and
    /// YOLO.
    private var detectorLabels: JSONValue {
        for stage in specification.stages {
            if case .nonMaximumSuppression(let suppression)? = stage.type {
                let strings = suppression.stringClassLabels.vector
                if !strings.isEmpty { return .array(strings.map { .string($0) }) }
                return .array(suppression.int64ClassLabels.vector.map { .string("\($0)") })
            }
        }
        let stated = specification.description_p.metadata.userDefined["classes"] ?? ""
        return .array(stated.split(separator: ",").map { .string($0.trimmingCharacters(in: .whitespaces)) })
    }

    private var sensorColumns: [String]? {
        guard session.plan.kind == .activityClassifier else { return nil }
        return SensorInputs(interface)?.names
    }
}
