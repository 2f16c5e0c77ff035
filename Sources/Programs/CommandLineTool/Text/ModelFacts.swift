import MLFeatureFiles
import MLFiles
import MLInspection
import MLNumerics
import MLSpecification

/// A summary of a model, as text and as JSON.
struct ModelFacts {
    private let model: ModelInspection
    private let learning: LearningFacts?

    init(_ model: ModelInspection) {
        self.model = model
        learning = LearningFacts(model.specification)
    }

    private var specification: SpecModel { model.specification }
    private var description: SpecModelDescription { specification.description_p }

    private var metadata: [(String, String)] {
        let metadata = description.metadata
        let fields = [
            ("description", metadata.shortDescription), ("author", metadata.author), ("licence", metadata.license),
            ("version", metadata.versionString),
        ]
        return fields.filter { !$0.1.isEmpty } + metadata.userDefined.sorted { $0.key < $1.key }
    }

    // MARK: Text

    private static let maximumFeatureCount = 40
    private static let maximumLabelCount = 20
    private static let maximumKindCount = 10

    var text: String {
        var lines = [
            "\(model.path): \(model.root.kind), specification \(specification.specificationVersion), "
                + byteText(model.byteCount)
        ]
        lines += systemsLines
        func section(_ title: String, _ features: [SpecFeatureDescription]) {
            guard !features.isEmpty else { return }
            var table = Table()
            for feature in features.prefix(Self.maximumFeatureCount) {
                table.add(feature.name, feature.typeText, feature.shortDescription)
            }
            lines.append("\n\(title)")
            lines.append(table.text())
            if features.count > Self.maximumFeatureCount {
                lines.append("  … and \(features.count - Self.maximumFeatureCount) more")
            }
        }
        section("Inputs", description.input)
        section("Outputs", description.output)
        section("Training inputs", description.trainingInput)
        section("States", description.state)
        for function in description.functions {
            section("Function \(function.name), inputs", function.input)
            section("Function \(function.name), outputs", function.output)
            section("Function \(function.name), states", function.state)
        }
        if !description.predictedFeatureName.isEmpty { lines.append("\nPredicts \(description.predictedFeatureName)") }
        if let labels = model.root.labels {
            let displayed = labels.texts.prefix(Self.maximumLabelCount).joined(separator: ", ")
            lines.append(
                "\n\(labels.count) classes: \(displayed)" + (labels.count > Self.maximumLabelCount ? ", …" : "")
            )
        }
        lines += pipelineLines + functionLines + parameterLines + weightFileLines + costLines
        if let learning { lines.append("\n\(learning.text)") }
        lines += operationLines
        let classes = model.root.all.flatMap(\.customClasses)
        if !classes.isEmpty {
            lines.append(
                "\nNeeds the app's \(classes.count == 1 ? "class" : "classes") \(classes.joined(separator: ", "))"
            )
        }
        for link in model.root.all.compactMap(\.link) { lines.append("\nLink to the compiled model \(link)") }
        if !metadata.isEmpty {
            var table = Table()
            for (key, value) in metadata { table.add(key, value.split(separator: "\n").joined(separator: " ")) }
            lines.append("\nMetadata")
            lines.append(table.text())
        }
        for item in model.unlistedItems { lines.append("\nnot part of the model: \(item)") }
        return lines.joined(separator: "\n")
    }

    private var systemsLines: [String] {
        let stated = model.statedSystems.map(Self.text) ?? "unknown systems"
        var lines = ["runs on \(stated) and later" + (specification.isUpdatable ? "; updatable" : "")]
        let needed = model.neededVersion
        if needed != specification.specificationVersion, let systems = SpecificationVersion.systems(needed) {
            lines.append(
                needed < specification.specificationVersion
                    ? " its features need no more than specification \(needed): \(Self.text(systems))"
                    : " its features need specification \(needed): \(Self.text(systems))"
            )
        }
        return lines
    }

    private static func text(_ systems: SpecificationVersion.Systems) -> String {
        "iOS \(systems.iOS), macOS \(systems.macOS), tvOS \(systems.tvOS), watchOS \(systems.watchOS), "
            + "visionOS \(systems.visionOS ?? firstVisionOS)"
    }

    /// The first release of visionOS, which supports all versions older than itself.
    private static let firstVisionOS = "1.0"

    private var pipelineLines: [String] {
        guard !model.root.stages.isEmpty else { return [] }
        var table = Table()
        func add(_ parts: [ModelPart], _ depth: Int) {
            for part in parts {
                let operations = part.operations.values.reduce(0, +)
                let count = ParameterSummary(part.tensors).parameters
                table.add(
                    String(repeating: "  ", count: depth) + part.name,
                    part.kind,
                    operations == 0 ? "" : "\(operations) operations",
                    count == 0 ? "" : "\(Self.short(Double(count))) parameters",
                    part.description.input.map(\.name).joined(separator: ", ") + " → "
                        + part.description.output.map(\.name).joined(separator: ", ")
                )
                add(part.stages, depth + 1)
            }
        }
        add(model.root.stages, 0)
        return ["\nPipeline", table.text()]
    }

    private var functionLines: [String] {
        let functions = model.root.functions
        guard functions.count > 1 else { return [] }
        var table = Table()
        for function in functions {
            table.add(
                function.name + (function.isDefault ? " (default)" : ""),
                function.opset,
                "\(function.operationCount) operations",
                "\(Self.short(Double(function.parameterCount))) parameters",
                function.states.isEmpty ? "" : "states \(function.states.joined(separator: ", "))"
            )
        }
        return ["\nFunctions", table.text()]
    }

    private var parameterLines: [String] {
        let parameters = model.parameters
        guard parameters.parameters > 0 else { return [] }
        var table = Table(rightAligned: [1, 2])
        for row in parameters.rows {
            table.add(
                row.storage.description,
                Self.short(Double(row.parameters)),
                byteText(row.bytes),
                "\(row.tensors) \(row.tensors == 1 ? "tensor" : "tensors")"
            )
        }
        var title = "\n\(Self.short(Double(parameters.parameters))) parameters in \(byteText(parameters.bytes))"
        if let ratio = parameters.compression, abs(ratio - 1) > 0.005 {
            let factor = Self.decimals(ratio > 1 ? ratio : 1 / ratio, 2)
            title += ", \(factor) times \(ratio > 1 ? "smaller" : "larger") than as float32"
        }
        if parameters.sharedTensors > 0 {
            title += "; \(parameters.sharedTensors) tensors share stored bytes with others"
        }
        return [title, table.text()]
    }

    private var weightFileLines: [String] {
        guard !model.weightFiles.isEmpty else { return [] }
        var table = Table(rightAligned: [1])
        for file in model.weightFiles {
            if let failure = file.failure {
                table.add(file.name, "", failure.message)
                continue
            }
            let unused = file.blobs - file.usedBlobs
            table.add(
                file.name,
                byteText(file.byteCount),
                "\(file.blobs) arrays"
                    + (file.references > file.usedBlobs ? ", \(file.references) references to \(file.usedBlobs)" : "")
                    + (unused > 0 ? ", \(unused) not used" : "")
            )
        }
        return ["\nWeight files", table.text()]
    }

    private var costLines: [String] {
        var lines: [String] = []
        for (part, cost) in model.costs {
            let location = part.name.isEmpty ? "" : " in '\(part.name)'"
            switch cost {
            case .failure(let error): lines.append("\nFloating-point operations\(location) were not counted: \(error)")
            case .success(let cost):
                var title =
                    "\n\(Self.short(cost.operations)) floating-point operations\(location), "
                    + "\(Self.short(cost.multiplyAdds)) multiply–adds; about \(byteText(cost.activationBytes)) of values at once"
                if !cost.assumedShapes.isEmpty {
                    let shapes = cost.assumedShapes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                    title += "\n(the shapes are flexible; counted for \(shapes.joined(separator: ", ")))"
                }
                if cost.uncounted > 0 {
                    title += "\n(\(cost.uncounted) operations on extents that depend on the data are not counted)"
                }
                lines.append(title)
                guard cost.operations > 0 else { continue }
                var table = Table(rightAligned: [0, 2])
                for row in cost.rows.prefix(Self.maximumKindCount) {
                    let share = row.operations / cost.operations
                    table.add(
                        Self.short(row.operations),
                        row.kind,
                        "\(row.count)",
                        "\(Self.decimals(share * 100, 1)) %"
                    )
                }
                lines.append(table.text())
                if cost.rows.count > Self.maximumKindCount {
                    lines.append("  … and \(cost.rows.count - Self.maximumKindCount) more kinds")
                }
            }
        }
        return lines
    }

    private var operationLines: [String] {
        let histogram = model.histogram
        guard !histogram.isEmpty else { return [] }
        var table = Table(rightAligned: [0])
        for (kind, count) in histogram { table.add("\(count)", kind) }
        let total = histogram.reduce(0) { $0 + $1.count }
        return ["\n\(total) \(total == 1 ? "operation" : "operations")", table.text()]
    }

    /// A count with a unit: 25.6 million.
    private static func short(_ count: Double) -> String {
        for (unit, name) in [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")] where count >= unit {
            return "\(decimals(count / unit, 2)) \(name)"
        }
        return count < 1e15 ? "\(Int(count))" : "\(count)"
    }

    private static func decimals(_ value: Double, _ digits: Int) -> String {
        let scale = digits == 1 ? 10.0 : 100.0
        return JSONWriter.text((value * scale).rounded() / scale)
    }

    // MARK: JSON

    var object: [String: Any] {
        func list(_ features: [SpecFeatureDescription]) -> [[String: Any]] {
            features.map {
                [
                    "name": $0.name, "type": $0.typeText, "description": $0.shortDescription,
                    "optional": $0.type.isOptional,
                ]
            }
        }
        var object: [String: Any] = [
            "path": model.path, "kind": model.root.kind,
            "specification": Int(specification.specificationVersion), "bytes": model.byteCount,
            "runs_on": model.statedSystems.map(Self.text) ?? "unknown", "updatable": specification.isUpdatable,
            "needed_specification": Int(model.neededVersion),
            "inputs": list(description.input), "outputs": list(description.output),
            "training_inputs": list(description.trainingInput), "states": list(description.state),
            "functions": description.functions.map(\.name), "classes": model.root.labels?.texts ?? [],
            "operations": Dictionary(model.histogram.map { ($0.kind, $0.count) }) { $1 },
            "parameters": parameterObject,
            "metadata": Dictionary(metadata, uniquingKeysWith: { first, _ in first }),
            "custom_classes": model.root.all.flatMap(\.customClasses), "foreign_items": model.unlistedItems,
            "weight_files": model.weightFiles.map(Self.object),
        ]
        object["minimum_systems"] = model.statedSystems.map(Self.object)
        object["needed_systems"] = SpecificationVersion.systems(model.neededVersion).map(Self.object)
        object["learning"] = learning?.object
        object["program_functions"] = model.root.functions.isEmpty ? nil : model.root.functions.map(Self.object)
        object["stages"] = model.root.stages.isEmpty ? nil : model.root.stages.map(Self.object)
        object["linked_model"] = model.root.link
        let costs = model.costs
        if !costs.isEmpty { object["compute"] = costs.map(Self.object) }
        return object
    }

    private static func object(_ systems: SpecificationVersion.Systems) -> [String: Any] {
        [
            "iOS": systems.iOS, "macOS": systems.macOS, "tvOS": systems.tvOS, "watchOS": systems.watchOS,
            "visionOS": systems.visionOS ?? firstVisionOS,
        ]
    }

    private var parameterObject: [String: Any] {
        let parameters = model.parameters
        var object: [String: Any] = [
            "count": parameters.parameters, "bytes": parameters.bytes, "shared_tensors": parameters.sharedTensors,
            "storage": parameters.rows.map { row -> [String: Any] in
                [
                    "type": row.storage.description, "tensors": row.tensors, "count": row.parameters,
                    "bytes": row.bytes,
                ]
            },
        ]
        object["compression"] = parameters.compression
        return object
    }

    private static func object(_ file: WeightFileFacts) -> [String: Any] {
        var object: [String: Any] = [
            "name": file.name, "bytes": file.byteCount, "arrays": file.blobs, "used_arrays": file.usedBlobs,
            "references": file.references,
        ]
        object["error"] = file.failure.map { "\($0)" }
        return object
    }

    private static func object(_ function: FunctionFacts) -> [String: Any] {
        [
            "name": function.name, "default": function.isDefault, "opset": function.opset,
            "operations": function.operationCount, "parameters": function.parameterCount, "states": function.states,
        ]
    }

    private static func object(_ part: ModelPart) -> [String: Any] {
        var object: [String: Any] = [
            "name": part.name, "kind": part.kind, "specification": Int(part.specificationVersion),
            "operations": part.operations, "parameters": ParameterSummary(part.tensors).parameters,
            "inputs": part.description.input.map(\.name), "outputs": part.description.output.map(\.name),
        ]
        if !part.stages.isEmpty { object["stages"] = part.stages.map { Self.object($0) } }
        object["linked_model"] = part.link
        return object
    }

    private static func object(_ entry: (part: ModelPart, cost: Result<ComputeCost, ModelError>)) -> [String: Any] {
        var object: [String: Any] = ["model": entry.part.name]
        switch entry.cost {
        case .failure(let error): object["error"] = "\(error)"
        case .success(let cost):
            object["floating_point_operations"] = cost.operations
            object["multiply_adds"] = cost.multiplyAdds
            object["activation_bytes"] = cost.activationBytes
            object["uncounted_operations"] = cost.uncounted
            object["assumed_shapes"] = [String: Any](
                uniqueKeysWithValues: cost.assumedShapes.map { ($0.key, $0.value as Any) }
            )
            object["by_kind"] = cost.rows.map { row -> [String: Any] in
                [
                    "kind": row.kind, "count": row.count, "multiply_adds": row.multiplyAdds,
                    "floating_point_operations": row.operations,
                ]
            }
        }
        return object
    }
}
