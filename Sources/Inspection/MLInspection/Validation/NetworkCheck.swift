import MLEngine
import MLFiles
import MLGraph
import MLLowering
import MLNumerics
import MLOperators
import MLSpecification

/// Checks the layers of a neural network.
enum NetworkCheck {
    static func check(_ file: ModelFile, _ list: inout FindingList) {
        let model = file.specification
        let layers = model.networkLayers ?? []
        if layers.isEmpty { list.error("the network has no layers", at: "layers") }
        checkPreprocessing(model, &list)
        var walk = LayerWalk(known: Set(model.description_p.input.map(\.name)))
        walk.check(layers, &list)
        for output in model.description_p.output where !walk.known.contains(output.name) && !isLabel(output, of: model)
        {
            list.error("no layer makes it", at: "output '\(output.name)'")
        }
        checkLabels(file, &list)
    }

    /// Whether an output is the label that follows from a classifier's probabilities.
    private static func isLabel(_ output: SpecFeatureDescription, of model: SpecModel) -> Bool {
        guard case .neuralNetworkClassifier? = model.type else { return false }
        let description = model.description_p
        return [description.predictedFeatureName, description.predictedProbabilitiesName].contains(output.name)
    }

    private static func checkPreprocessing(_ model: SpecModel, _ list: inout FindingList) {
        let steps: [SpecNeuralNetworkPreprocessing]
        switch model.type {
        case .neuralNetwork(let network)?: steps = network.preprocessing
        case .neuralNetworkClassifier(let network)?: steps = network.preprocessing
        case .neuralNetworkRegressor(let network)?: steps = network.preprocessing
        default: steps = []
        }
        for (index, step) in steps.enumerated() where !step.featureName.isEmpty {
            if !model.description_p.input.contains(where: { $0.name == step.featureName }) {
                list.error("the model has no input '\(step.featureName)'", at: "preprocessing[\(index)]")
            }
        }
    }

    /// Compares the labels with the probabilities, whose shape is inferred from the whole network.
    private static func checkLabels(_ file: ModelFile, _ list: inout FindingList) {
        guard let labels = ClassLabels(of: file.specification),
            case .neuralNetworkClassifier? = file.specification.type,
            let lowered = try? EngineLoader.lower(file), let classifier = lowered.classifier,
            lowered.graph.body.outputs.indices.contains(classifier.probabilities),
            let count = lowered.graph.type(of: lowered.graph.body.outputs[classifier.probabilities]).shape.elementCount
                .count
        else { return }
        LabelCheck.compare(labels, probabilities: count, &list)
    }
}

/// A traversal of layers in execution order.
private struct LayerWalk {
    var known: Set<String>
    private var names: Set<String> = []

    init(known: Set<String>) { self.known = known }

    mutating func check(_ layers: [SpecNeuralNetworkLayer], _ list: inout FindingList) {
        for (index, layer) in layers.enumerated() {
            let name = layer.name.isEmpty ? "layers[\(index)]" : "layer '\(layer.name)'"
            list.inside("\(name) (\(layer.kindName))") { list in
                if layer.name.isEmpty { list.warning("the layer has no name") }
                if !layer.name.isEmpty, !names.insert(layer.name).inserted { list.warning("two layers have this name") }
                for input in layer.input where !known.contains(input) {
                    list.error("its input '\(input)' is made by no layer before it and is not an input of the model")
                }
                checkKind(layer, &list)
                checkWeights(layer, &list)
            }
            known.formUnion(layer.output)
        }
    }

    private mutating func checkKind(_ layer: SpecNeuralNetworkLayer, _ list: inout FindingList) {
        switch layer.layer {
        case nil: list.error("the kind of layer is not known; the model is newer than this software, or damaged")
        case .branch(let branch)?:
            let outer = known
            check(branch.ifBranch.layers, &list)
            let first = known
            known = outer
            check(branch.elseBranch.layers, &list)
            known.formUnion(first)
        case .loop(let loop)?:
            let turns = loop.maxLoopIterations
            if loop.conditionNetwork.layers.isEmpty, turns == 0, loop.conditionVar.isEmpty {
                list.error("the loop has neither a condition nor a number of iterations")
            }
            check(loop.conditionNetwork.layers, &list)
            check(loop.bodyNetwork.layers, &list)
            if !loop.conditionVar.isEmpty, !loop.conditionNetwork.layers.isEmpty, !known.contains(loop.conditionVar) {
                list.error("nothing makes its condition '\(loop.conditionVar)'")
            }
        case .custom(let custom)?:
            if custom.className.isEmpty { list.error("the layer names no class") }
        case .loopBreak?, .loopContinue?: break
        default:
            if Catalogue.standard.rule(forField: layer.kindName) == nil {
                list.error("layers of the kind '\(layer.kindName)' are not supported")
            }
        }
        if layer.output.isEmpty {
            switch layer.layer {
            case .branch?, .loop?, .loopBreak?, .loopContinue?, nil: break
            default: list.error("the layer has no output")
            }
        }
    }

    private func checkWeights(_ layer: SpecNeuralNetworkLayer, _ list: inout FindingList) {
        for field in layer.weightFields {
            let weights = layer[keyPath: field.path]
            let forms = [
                !weights.floatValue.isEmpty, SpecBytes.count(weights.float16Value) > 0,
                SpecBytes.count(weights.rawValue) > 0, SpecBytes.count(weights.int8RawValue) > 0,
            ].count { $0 }
            if forms > 1 { list.error("values are stored in \(forms) forms; one is expected", at: field.name) }
            let isInput = field.name == "weights" && layer.input.count > 1
            guard forms > 0 else {
                if let shape = field.shape, !shape.isEmpty, !isInput {
                    list.error("no values are stored where the shape \(shape) needs them", at: field.name)
                }
                continue
            }
            if SpecBytes.count(weights.float16Value) % 2 != 0 {
                list.error("an odd number of bytes is not a list of half-precision numbers", at: field.name)
            }
            if weights.floatValue.contains(where: { !$0.isFinite }) {
                list.warning("some of the values are not finite", at: field.name)
            }
            let bits = weights.quantization.numberOfBits
            if SpecBytes.count(weights.rawValue) > 0, !(1...8).contains(bits) {
                list.error("quantised weights of \(bits) bits; 1 to 8 are possible", at: field.name)
                continue
            }
            if case .lookupTableQuantization(let table)? = weights.quantization.quantizationType, bits <= 8,
                table.floatValue.count != 1 << Int(bits)
            {
                list.error("a table of \(table.floatValue.count) entries for indices of \(bits) bits", at: field.name)
            }
            checkCount(weights, field, &list)
        }
    }

    private func checkCount(_ weights: SpecWeightParams, _ field: LayerWeightField, _ list: inout FindingList) {
        guard let shape = field.shape, !shape.isEmpty else { return }
        guard let needed = try? shape.map({ Int(clamping: $0) }).checkedElementCount() else {
            list.error("\(shape) is not a shape of weights", at: field.name)
            return
        }
        let found = weights.valueCount(expecting: needed)
        if found != needed {
            list.error("\(found) values are stored where the shape \(shape) needs \(needed)", at: field.name)
        }
    }
}
