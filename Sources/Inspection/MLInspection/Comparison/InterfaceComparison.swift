import MLFeatureFiles
import MLFiles
import MLSpecification

/// Compares the interfaces and the metadata of two models.
enum InterfaceComparison {
    static func changes(_ a: SpecModel, _ b: SpecModel, inside location: String) -> [ModelChange] {
        let (old, new) = (a.description_p, b.description_p)
        var changes: [ModelChange] = []
        func value(_ attribute: String, _ before: String, _ after: String) {
            guard before != after else { return }
            changes.append(
                ModelChange(.changed, location.isEmpty ? "model" : location, attribute, before: before, after: after)
            )
        }
        value("specification version", "\(a.specificationVersion)", "\(b.specificationVersion)")
        value("updatable", "\(a.isUpdatable)", "\(b.isUpdatable)")
        value("predicted feature", old.predictedFeatureName, new.predictedFeatureName)
        value("predicted probabilities", old.predictedProbabilitiesName, new.predictedProbabilitiesName)
        value("default function", old.defaultFunctionName, new.defaultFunctionName)
        for (kind, before, after) in [
            ("input", old.input, new.input), ("output", old.output, new.output),
            ("training input", old.trainingInput, new.trainingInput), ("state", old.state, new.state),
        ] {
            changes += features(kind, before, after, inside: location)
        }
        let functions = Set(old.functions.map(\.name)).union(new.functions.map(\.name)).sorted()
        for name in functions {
            let before = old.functions.first { $0.name == name }
            let after = new.functions.first { $0.name == name }
            guard let before, let after else {
                changes.append(ModelChange(before == nil ? .added : .removed, location + "function '\(name)'"))
                continue
            }
            let inside = location + "function '\(name)' › "
            changes += features("input", before.input, after.input, inside: inside)
            changes += features("output", before.output, after.output, inside: inside)
            changes += features("state", before.state, after.state, inside: inside)
        }
        if a.stages.isEmpty, b.stages.isEmpty {
            changes += labels(
                ClassLabels(inside: a)?.texts ?? [],
                ClassLabels(inside: b)?.texts ?? [],
                inside: location
            )
        }
        return changes
    }

    private static func features(
        _ kind: String,
        _ before: [SpecFeatureDescription],
        _ after: [SpecFeatureDescription],
        inside location: String
    ) -> [ModelChange] {
        var changes: [ModelChange] = []
        for feature in before {
            let title = "\(location)\(kind) '\(feature.name)'"
            guard let other = after.first(where: { $0.name == feature.name }) else {
                changes.append(ModelChange(.removed, title, before: feature.typeText))
                continue
            }
            if feature.type != other.type {
                let isSaid = feature.typeText != other.typeText
                changes.append(
                    ModelChange(
                        .changed,
                        title,
                        isSaid ? "type" : "details of the type",
                        before: feature.typeText,
                        after: other.typeText
                    )
                )
            }
            if feature.shortDescription != other.shortDescription {
                changes.append(
                    ModelChange(
                        .changed,
                        title,
                        "description",
                        before: feature.shortDescription,
                        after: other.shortDescription
                    )
                )
            }
        }
        for feature in after where !before.contains(where: { $0.name == feature.name }) {
            changes.append(ModelChange(.added, "\(location)\(kind) '\(feature.name)'", after: feature.typeText))
        }
        let common = before.map(\.name).filter { name in after.contains { $0.name == name } }
        let order = after.map(\.name).filter(common.contains)
        if common != order {
            changes.append(
                ModelChange(
                    .changed,
                    "\(location)\(kind)s",
                    "order",
                    before: common.joined(separator: ", "),
                    after: order.joined(separator: ", ")
                )
            )
        }
        return changes
    }

    private static func labels(_ before: [String], _ after: [String], inside location: String) -> [ModelChange] {
        guard before != after else { return [] }
        func list(_ labels: [String]) -> String {
            labels.prefix(10).joined(separator: ", ") + (labels.count > 10 ? ", … (\(labels.count))" : "")
        }
        let (old, new) = (Set(before), Set(after))
        let (gone, come) = (before.filter { !new.contains($0) }, after.filter { !old.contains($0) })
        var changes: [ModelChange] = []
        if !gone.isEmpty { changes.append(ModelChange(.removed, location + "class labels", before: list(gone))) }
        if !come.isEmpty { changes.append(ModelChange(.added, location + "class labels", after: list(come))) }
        if changes.isEmpty {
            changes.append(
                ModelChange(.changed, location + "class labels", "order", before: list(before), after: list(after))
            )
        }
        return changes
    }

    static func metadata(_ a: SpecMetadata, _ b: SpecMetadata, inside location: String) -> [ModelChange] {
        func entries(_ metadata: SpecMetadata) -> [String: String] {
            var entries = metadata.userDefined
            for (key, value) in [
                ("description", metadata.shortDescription), ("author", metadata.author), ("licence", metadata.license),
                ("version", metadata.versionString),
            ] where !value.isEmpty {
                entries[key] = value
            }
            return entries
        }
        let (old, new) = (entries(a), entries(b))
        return Set(old.keys).union(new.keys).sorted().compactMap { key in
            guard old[key] != new[key] else { return nil }
            let kind: ModelChange.Kind = old[key] == nil ? .added : new[key] == nil ? .removed : .changed
            return ModelChange(kind, location + "'\(key)'", before: old[key], after: new[key])
        }
    }
}
