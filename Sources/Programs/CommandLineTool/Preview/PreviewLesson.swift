import Foundation
import MLEngine
import MLFiles
import MLNumerics
import MLPreview
import MLSpecification
import MLUpdating

/// A training run of the page: examples and settings.
struct PreviewLesson: Sendable {
    private let session: PreviewSession
    private let file: ModelFile
    private let examples: [[String: FeatureData]]
    private let options: [UpdateOption]

    /// - Throws: For examples and options that do not fit, before training starts.
    init(_ session: PreviewSession, _ parcel: Parcel) throws {
        self.session = session
        guard session.file.specification.isUpdatable else {
            throw Failure("the model cannot be taught; it is not updatable")
        }
        file = session.taughtFile ?? session.file
        var interface = SpecModelDescription()
        interface.input = file.specification.trainingFeatures
        let inputs = PreviewInputs(interface: interface)
        guard case .array(let list)? = parcel.json["examples"], !list.isEmpty else {
            throw Failure("there are no examples to learn from")
        }
        examples = try list.map { try inputs.features(parcel, $0) }
        options = try Self.options(parcel.json["options"])
    }

    private static func options(_ json: JSONValue?) throws -> [UpdateOption] {
        guard case .object(let members)? = json else { return [] }
        return try members.map { member in
            guard let parameter = UpdateParameter(rawValue: member.name) else {
                throw Failure("there is no parameter '\(member.name)'")
            }
            switch member.value {
            case .integer(let value):
                let isWhole = [.epochs, .miniBatchSize, .seed, .numberOfNeighbors].contains(parameter)
                return UpdateOption(parameter, isWhole ? .integer(value) : .number(Double(value)))
            case .number(let value): return UpdateOption(parameter, .number(value))
            case .bool(let value): return UpdateOption(parameter, .flag(value))
            default: throw Failure("the parameter '\(member.name)' takes a number")
            }
        }
    }

    /// Trains and reports progress; when the client disconnects, the result is discarded.
    func run(_ events: PageEvents) {
        do {
            try session.learning {
                let update = try failing { () throws(ModelError) in
                    try UpdateSession(file, options: options) { () throws(ModelError) in try EngineLoader.load(file) }
                }
                try failing { () throws(ModelError) in try update.begin(examples) }
                let epochs = update.parameters.integer(.epochs) ?? 1
                send(events, "begin", ["examples": examples.count, "epochs": epochs])
                let start = ContinuousClock.now
                var last = start
                while let event = try failing({ () throws(ModelError) in try update.step() }) {
                    guard sendProgress(event, update, events, &last) else { return }
                }
                try session.replaceModel(try failing { () throws(ModelError) in try update.updated() })
                send(events, "done", ["seconds": (ContinuousClock.now - start) / .seconds(1)])
            }
        } catch {
            send(events, "failed", ["error": PreviewInputs.sentence(error)])
        }
    }

    /// - Returns: False when the client has disconnected.
    private func sendProgress(
        _ event: UpdateSession.Event,
        _ update: UpdateSession,
        _ events: PageEvents,
        _ last: inout ContinuousClock.Instant
    ) -> Bool {
        switch event {
        case .trainingBegin: return true
        case .miniBatchEnd(let epoch, _, let loss):
            // The eye follows some ten images per second.
            guard ContinuousClock.now - last > .milliseconds(100) else { return true }
            last = .now
            return send(events, "batch", ["epoch": epoch, "loss": loss, "fraction": update.fraction])
        case .epochEnd(let epoch, let loss):
            return send(events, "epoch", ["epoch": epoch, "loss": loss, "fraction": update.fraction])
        }
    }

    /// The page's message when an event cannot be written as JSON.
    static let unwritable = #"{"error":"The event cannot be written as JSON."}"#

    @discardableResult private func send(_ events: PageEvents, _ name: String, _ object: [String: Any]) -> Bool {
        do {
            return events.send(name, try JSONFeature.text(object))
        } catch {
            return events.send("failed", Self.unwritable)
        }
    }
}
