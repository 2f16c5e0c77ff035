package import MLSpecification

/// The labels of a classifier, wherever its kind stores them.
package enum ClassLabels: Sendable, Equatable {
    case strings([String])
    case integers([Int64])

    /// Reads the labels of a model; `nil` if it is not a classifier, or stores no list.
    ///
    /// `functionName` is the function of a program; `nil` for its default.
    package init?(of model: SpecModel, functionName: String? = nil) {
        func strings(_ labels: [String]) -> ClassLabels? { labels.isEmpty ? nil : .strings(labels) }
        func integers(_ labels: [Int64]) -> ClassLabels? { labels.isEmpty ? nil : .integers(labels) }
        var found: ClassLabels?
        switch model.type {
        case .neuralNetworkClassifier(let kind)?:
            found = strings(kind.stringClassLabels.vector) ?? integers(kind.int64ClassLabels.vector)
        case .glmClassifier(let kind)?:
            found = strings(kind.stringClassLabels.vector) ?? integers(kind.int64ClassLabels.vector)
        case .supportVectorClassifier(let kind)?:
            found = strings(kind.stringClassLabels.vector) ?? integers(kind.int64ClassLabels.vector)
        case .treeEnsembleClassifier(let kind)?:
            found = strings(kind.stringClassLabels.vector) ?? integers(kind.int64ClassLabels.vector)
        case .kNearestNeighborsClassifier(let kind)?:
            found = strings(kind.stringClassLabels.vector) ?? integers(kind.int64ClassLabels.vector)
        case .textClassifier(let kind)?: found = strings(kind.stringClassLabels.vector)
        case .pipelineClassifier(let kind)?: found = kind.pipeline.models.lazy.compactMap { ClassLabels(of: $0) }.last
        case .pipeline(let kind)?: found = kind.models.lazy.compactMap { ClassLabels(of: $0) }.last
        case .mlProgram(let program)?:
            let declared = model.description_p.defaultFunctionName
            found = ClassLabels(program, functionName ?? (declared.isEmpty ? "main" : declared))
        default: break
        }
        guard let found else { return nil }
        self = found
    }

    /// Reads the `classes` of a program's `classify` operation.
    private init?(_ program: MILProgram, _ functionName: String) {
        if let function = program.functions[functionName],
            let block = function.blockSpecializations[function.opset]
        {
            for operation in block.operations where operation.type == "classify" {
                guard let argument = operation.inputs["classes"]?.arguments.first else { continue }
                var value = argument.value
                if case .name(let name)? = argument.binding {
                    let constant = block.operations.first { $0.outputs.first?.name == name }
                    guard let attribute = constant?.attributes["val"] else { continue }
                    value = attribute
                }
                if let labels = ClassLabels(value) {
                    self = labels
                    return
                }
            }
        }
        return nil
    }

    /// Reads the elements of a constant: a tensor, or a list of tensors.
    private init?(_ value: MILValue) {
        let elements = value.immediateValue.list.values
        let tensors = elements.isEmpty ? [value.immediateValue.tensor] : elements.map { $0.immediateValue.tensor }
        let strings = tensors.flatMap { $0.strings.values }
        let integers = tensors.flatMap { $0.longInts.values + $0.ints.values.map { Int64($0) } }
        if !strings.isEmpty {
            self = .strings(strings)
        } else if !integers.isEmpty {
            self = .integers(integers)
        } else {
            return nil
        }
    }
}
