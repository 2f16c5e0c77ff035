import MLFiles
import MLSpecification

/// Checks the labels of classifiers.
enum LabelCheck {
    /// Reports a missing probability for a label; probabilities beyond the last label are ignored.
    static func compare(_ labels: ClassLabels, probabilities count: Int, _ list: inout FindingList) {
        if labels.count > count {
            list.error("\(labels.count) labels for \(count) probabilities", at: "classLabels")
        } else if labels.count < count {
            list.warning("\(labels.count) labels for \(count) probabilities; the last have none", at: "classLabels")
        }
    }

    static func check(_ model: SpecModel, _ list: inout FindingList) {
        let labels = ClassLabels(of: model)
        if let labels, model.stages.isEmpty {
            var known: Set<String> = []
            let twice = Set(labels.texts.filter { !known.insert($0).inserted })
            // A nearest-neighbours classifier has a label for each example.
            if let label = twice.min(), model.neighbors == nil {
                list.warning(
                    "\(twice.count) of \(labels.count) labels occur twice, such as '\(label)'",
                    at: "classLabels"
                )
            }
        }
        switch model.type {
        case .neuralNetworkClassifier?, .glmClassifier?, .supportVectorClassifier?, .treeEnsembleClassifier?:
            if labels == nil { list.error("the classifier has no labels", at: "classLabels") }
        default: break
        }
        guard let labels, model.stages.isEmpty else { return }
        let name = model.description_p.predictedFeatureName
        guard let feature = model.description_p.output.first(where: { $0.name == name }) else { return }
        switch (labels, feature.type.type) {
        case (.strings, .int64Type?):
            list.error("the labels are texts, but the output is an integer", at: "output '\(name)'")
        case (.integers, .stringType?):
            list.error("the labels are integers, but the output is a string", at: "output '\(name)'")
        default: break
        }
    }
}

extension SpecModel {
    /// The parameters of a nearest-neighbours classifier; `nil` for other models.
    var neighbors: SpecKNearestNeighborsClassifier? {
        guard case .kNearestNeighborsClassifier(let classifier)? = type else { return nil }
        return classifier
    }
}
