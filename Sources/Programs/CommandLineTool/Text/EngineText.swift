import MLEngine
import MLModels
import MLSpecification

/// The engines of a model that is not a graph: its own, or those of a pipeline's models.
enum EngineText {
    /// The kind of engine: the name of its type.
    static func kind(_ engine: any ModelEngine) -> String { "\(type(of: engine))" }

    static func text(_ engine: any ModelEngine) -> String {
        var table = Table(rightAligned: [0])
        table.add("step", "engine", "model", "from", "to")
        var count = 0
        func add(_ engine: any ModelEngine, _ name: String) {
            if let pipeline = engine as? Pipeline {
                for stage in pipeline.stages {
                    add(stage.engine, name.isEmpty ? stage.name : "\(name) › \(stage.name)")
                }
                return
            }
            let (inputs, outputs) = (engine.interface.input, engine.interface.output)
            table.add("\(count)", kind(engine), name, list(inputs), list(outputs))
            count += 1
        }
        add(engine, "")
        return table.text(indent: "") + "\n\(count) models"
    }

    private static func list(_ features: [SpecFeatureDescription]) -> String {
        let names = features.prefix(4).map(\.name).joined(separator: ", ")
        return features.count > 4 ? names + ", … (\(features.count))" : names
    }
}
