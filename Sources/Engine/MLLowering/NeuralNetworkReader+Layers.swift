import MLGraph
import MLNumerics
import MLOperators
import MLSpecification

extension NeuralNetworkReader {
    /// Appends the operations of `layers` and binds the blobs that they output.
    mutating func lower(_ layers: [SpecNeuralNetworkLayer]) throws(ModelError) {
        for (index, layer) in layers.enumerated() {
            let position = layer.name.isEmpty ? "layer \(index)" : "layer '\(layer.name)'"
            builder.location = position
            do { try lower(layer) } catch {
                throw error.trail.first == position ? error : error.at(position)
            }
            if case .loopBreak = layer.layer { return }
            if case .loopContinue = layer.layer { return }
            if !loops.isEmpty, interrupts(layer) {
                return try lowerUnlessStopped(Array(layers[(index + 1)...]))
            }
        }
    }

    private mutating func lower(_ layer: SpecNeuralNetworkLayer) throws(ModelError) {
        guard let field = layer.fieldName else {
            throw ModelError(.unsupported, "the layer is of a kind that this version does not know")
        }
        switch layer.layer {
        case .copy: try bind(layer, [try blob(of: layer, 0)])
        case .expandDims(let expansion) where layer.input.first.flatMap({ blobs[$0] })?.isScalar == true:
            let ones = [Regroup.Axis](repeating: .one, count: min(expansion.axes.count, 5))
            let value = try builder.add(Regroup(ones), try blob(of: layer, 0).value)
            try bind(layer, [Blob(value: value, isFolded: false)])
        case .branch(let branch): try lower(branch, of: layer)
        case .loop(let loop): try lower(loop, of: layer)
        case .loopBreak: try interrupt(.breaks)
        case .loopContinue: try interrupt(.continues)
        case .custom(let custom) where catalogue.rule(forField: field) == nil:
            throw ModelError(
                .unsupported,
                "custom layers of class '\(custom.className)' have no implementation; register one before loading"
            )
        default: try lower(layer, field)
        }
    }

    private mutating func lower(_ layer: SpecNeuralNetworkLayer, _ field: String) throws(ModelError) {
        guard let rule = catalogue.rule(forField: field) else {
            throw ModelError(.unsupported, "layers of kind '\(field)' are not supported")
        }
        let form = usesRank5Arrays ? LegacyKinds.form(of: field) : .exact
        var sources: [Blob] = []
        for index in layer.input.indices { sources.append(try blob(of: layer, index)) }
        let folds = form == .folded || form == .either && !sources.isEmpty && sources.allSatisfy(\.isFolded)
        var inputs: [ValueID] = []
        for source in sources { inputs.append(folds ? try folded(source) : try unfolded(source)) }
        var context = LayerContext(
            builder: builder,
            layer: layer,
            inputs: inputs,
            usesRank5Mapping: form == .folded,
            batches: sources.map(\.batch)
        )
        try rule.lower(&context)
        builder = context.builder
        guard context.outputs.count == layer.output.count else {
            throw ModelError(.invalidModel, "the rule of '\(field)' stated no outputs")
        }
        let keepsScalars = layer.isElementwise && !sources.isEmpty && sources.allSatisfy(\.isScalar)
        let (batch, isScalar) = (context.outputBatch, context.givesScalars || keepsScalars)
        try bind(layer, context.outputs.map { Blob(value: $0, isFolded: folds, batch: batch, isScalar: isScalar) })
    }

    private func blob(of layer: SpecNeuralNetworkLayer, _ index: Int) throws(ModelError) -> Blob {
        guard index < layer.input.count else {
            throw ModelError(.invalidModel, "the layer has \(layer.input.count) inputs and needs input \(index)")
        }
        guard let blob = blobs[layer.input[index]] else {
            throw ModelError(.invalidModel, "no earlier layer gives the input blob '\(layer.input[index])'")
        }
        return blob
    }

    private mutating func bind(_ layer: SpecNeuralNetworkLayer, _ values: [Blob]) throws(ModelError) {
        for (name, value) in zip(layer.output, values) { assign(name, value) }
    }

    /// The blob as [Sequence·Batch, C, H, W].
    private mutating func folded(_ blob: Blob) throws(ModelError) -> ValueID {
        if blob.isFolded { return blob.value }
        let rank = builder.shape(of: blob.value).count
        switch rank {
        case 5: return try builder.add(Regroup.droppingBatch, blob.value)
        case 4: return blob.value
        case 0...3:
            let kept = (0..<rank).map { Regroup.Axis.axis($0) }
            return try builder.add(Regroup([Regroup.Axis](repeating: .one, count: 4 - rank) + kept), blob.value)
        default:
            throw ModelError(.invalidModel, "an input of rank \(rank) does not map to five axes")
        }
    }

    /// The blob with its rank in the model.
    mutating func unfolded(_ blob: Blob) throws(ModelError) -> ValueID {
        blob.isFolded ? try builder.unfolded(blob.value, batch: blob.batch) : blob.value
    }
}

/// The blob conventions of a network's layers with the rank-5 mapping.
enum LegacyKinds {
    enum Form {
        /// [Sequence·Batch, C, H, W]; axes count from the end.
        case folded
        /// The model's axes.
        case exact
        /// Elementwise: [Sequence·Batch, C, H, W] when every input has that form.
        case either
    }

    static func form(of field: String) -> Form {
        folded.contains(field) ? .folded : elementwise.contains(field) ? .either : .exact
    }

    /// The kinds of the first three versions of the specification, by the generated code's names.
    private static let folded: Set<String> = [
        "convolution", "pooling", "activation", "innerProduct", "embedding", "batchnorm", "mvn", "l2Normalize",
        "softmax", "lrn", "crop", "padding", "upsample", "resizeBilinear", "cropResize", "unary", "add", "multiply",
        "average", "scale", "bias", "max", "min", "dot", "reduce", "loadConstant", "reshape", "flatten", "permute",
        "concat", "split", "sequenceRepeat", "reorganizeData", "slice", "simpleRecurrent", "gru",
        "uniDirectionalLstm", "biDirectionalLstm", "uniDirectionalLSTM", "biDirectionalLSTM",
    ]

    private static let elementwise: Set<String> = [
        "clip", "ceil", "floor", "sign", "round", "exp2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
        "tanh", "asinh", "acosh", "atanh", "erf", "gelu", "clampedReLu", "clampedReLU", "equal", "notEqual",
        "lessThan", "lessEqual", "greaterThan", "greaterEqual", "logicalOr", "logicalXor", "logicalNot", "logicalAnd",
        "modBroadcastable", "minBroadcastable", "maxBroadcastable", "addBroadcastable", "powBroadcastable",
        "divideBroadcastable", "floorDivBroadcastable", "multiplyBroadcastable", "subtractBroadcastable",
        "whereBroadcastable", "fillLike",
    ]
}

/// Whether the layers of a network use the sequence axis of the rank-5 mapping, and which blobs are states of recurrent
/// layers, which have one step.
struct SequenceUse {
    var isUsed = false
    var states: Set<String> = []

    init(_ layers: [SpecNeuralNetworkLayer]) {
        for layer in layers {
            switch layer.layer {
            case .simpleRecurrent, .gru, .uniDirectionalLstm, .biDirectionalLstm:
                isUsed = true
                states.formUnion(layer.input.dropFirst())
            // Regions to crop are on the sequence axis.
            case .sequenceRepeat, .embedding, .cropResize: isUsed = true
            case .concat(let concat): if concat.sequenceConcat { isUsed = true }
            case .permute(let permute): if let first = permute.axis.first, first != 0 { isUsed = true }
            case .reshape(let reshape):
                if reshape.targetShape.count == 4, reshape.targetShape[0] != 1 { isUsed = true }
            default: break
            }
        }
    }
}

extension SpecNeuralNetworkLayer {
    /// Whether scalars stay scalars: functions of every element, and of corresponding elements.
    fileprivate var isElementwise: Bool {
        switch layer {
        case .activation, .unary, .clip, .ceil, .floor, .round, .sign, .exp2, .add, .multiply, .max, .min, .average,
            .addBroadcastable, .subtractBroadcastable, .multiplyBroadcastable, .divideBroadcastable,
            .floorDivBroadcastable, .modBroadcastable, .powBroadcastable, .maxBroadcastable, .minBroadcastable:
            true
        default: false
        }
    }
}
