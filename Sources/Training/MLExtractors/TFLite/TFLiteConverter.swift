package import MLNumerics
package import MLSpecification

/// Converts a TensorFlow Lite network of one image to a neural network of the specification.
///
/// Images are [1, height, width, channels] there and [1, channels, height, width] here; arrays of other ranks and the
/// network's outputs keep their shapes. Operators that are read: ADD, AVERAGE_POOL_2D, CONCATENATION, CONV_2D, DENSIFY,
/// DEPTH_TO_SPACE, DEPTHWISE_CONV_2D, DEQUANTIZE, FULLY_CONNECTED, LOGISTIC, MAX_POOL_2D, MEAN, MUL, PAD, PRELU, RELU,
/// RELU6, RESHAPE and RESIZE_BILINEAR. Weights are float32 or float16; quantised networks are refused.
package struct TFLiteConverter {
    /// The interface of a converted network.
    package struct Interface: Sendable, Hashable {
        /// The outputs' names in the file by their names in the model.
        package var outputs: [String: String]
        /// The network's input for a component from 0 to 255: component × scale + offset.
        package var scale: Double
        package var offset: Double

        package init(outputs: [String: String], scale: Double, offset: Double) {
            self.outputs = outputs
            self.scale = scale
            self.offset = offset
        }
    }

    /// A value of the network that is computed.
    struct Value {
        /// The name of the layer that computes it.
        var name: String
        /// The shape that the file states: images are [1, height, width, channels].
        var shape: [Int]
    }

    let file: TFLiteFile
    var network: NetworkLayers
    /// Values by the numbers of their tensors.
    var values: [Int: Value] = [:]
    /// Constants that operators made of others.
    var constants: [Int: TFLiteFile.Constant] = [:]
    /// Images to which a convolution still has to add rows and columns of zeros, in place of an operator of its own.
    var padded: [Int: (value: Value, amounts: [Int])] = [:]
    /// The number of operators that read each tensor, and whether it is an output.
    var readers: [Int: Int] = [:]
    /// The operator that is converted, for the names of layers and for errors.
    var position = 0

    private init(_ bytes: [UInt8], path: String, _ precision: NetworkLayers.Precision) throws(ModelError) {
        file = try TFLiteFile(bytes, path: path)
        network = NetworkLayers(precision)
    }

    /// Converts a file.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - path: Its name, for errors.
    ///   - interface: The outputs to keep, and the range of the input.
    ///   - precision: The scalars in which weights are stored.
    /// - Returns: A model with the image `image`, in colour, as its input.
    /// - Throws: `.malformed` for damaged files, `.unsupported`, with its name, for an operator that is not read.
    package static func specification(
        _ bytes: [UInt8],
        path: String,
        interface: Interface,
        precision: NetworkLayers.Precision
    ) throws(ModelError) -> SpecModel {
        var converter = try TFLiteConverter(bytes, path: path, precision)
        return try converter.model(interface)
    }

    private mutating func model(_ interface: Interface) throws(ModelError) -> SpecModel {
        guard file.inputs.count == 1, let input = file.inputs.first, case let tensor = file.tensors[input],
            tensor.scalar == .float32, tensor.shape.count == 4, tensor.shape[0] == 1, tensor.shape[3] == 3
        else { throw unsupported("an input other than one image in colour, [1, height, width, 3] in float32") }
        values[input] = Value(name: "image", shape: tensor.shape)
        for operation in file.operators {
            for number in operation.inputs { readers[number, default: 0] += 1 }
        }
        for number in file.outputs { readers[number, default: 0] += 1 }
        for (index, operation) in file.operators.enumerated() {
            position = index
            try convert(operation)
        }
        var outputs: [SpecFeatureDescription] = []
        for (name, original) in interface.outputs.sorted(by: { $0.key < $1.key }) {
            guard let number = file.outputs.first(where: { file.tensors[$0].name == original }) else {
                let names = file.outputs.map { file.tensors[$0].name }.joined(separator: ", ")
                throw file.buffer.damaged("it has no output '\(original)'; it has \(names)")
            }
            let value = try self.value(number)
            if value.shape.count == 4 {
                transpose(value.name, name, [0, 2, 3, 1])
            } else {
                network.reshape(value.name, name, value.shape)
            }
            outputs.append(.floats(name, value.shape, "The output '\(original)' of the network."))
        }
        return described(outputs, tensor.shape, interface)
    }

    private func described(
        _ outputs: [SpecFeatureDescription],
        _ shape: [Int],
        _ interface: Interface
    ) -> SpecModel {
        // Layers that no output needs, such as those of outputs that are left out, go.
        var needed = Set(outputs.map(\.name))
        var layers: [SpecNeuralNetworkLayer] = []
        for layer in network.layers.reversed() where layer.output.contains(where: needed.contains) {
            needed.formUnion(layer.input)
            layers.append(layer)
        }
        var model = SpecModel()
        model.specificationVersion = 5
        model.description_p.input = [
            .image("image", width: shape[2], height: shape[1], "The picture, in colour.")
        ]
        model.description_p.output = outputs
        model.neuralNetwork.layers = layers.reversed()
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        var scaler = SpecNeuralNetworkImageScaler()
        scaler.channelScale = Float(interface.scale)
        let offset = Float(interface.offset)
        (scaler.redBias, scaler.greenBias, scaler.blueBias) = (offset, offset, offset)
        var preprocessing = SpecNeuralNetworkPreprocessing()
        preprocessing.featureName = "image"
        preprocessing.scaler = scaler
        model.neuralNetwork.preprocessing = [preprocessing]
        return model
    }

    // MARK: What operators use

    func unsupported(_ subject: String) -> ModelError {
        ModelError(
            .unsupported,
            "the TensorFlow Lite network has \(subject), which is not converted here",
            at: "operator \(position)"
        )
    }

    /// The input `index` of an operator, which it must have.
    func input(_ operation: TFLiteFile.Operator, _ index: Int) throws(ModelError) -> Int {
        guard index < operation.inputs.count, operation.inputs[index] >= 0 else {
            throw file.buffer.damaged("the operator \(position) has no input \(index)")
        }
        return operation.inputs[index]
    }

    /// The only output of an operator.
    func output(_ operation: TFLiteFile.Operator) throws(ModelError) -> Int {
        guard operation.outputs.count == 1 else {
            throw file.buffer.damaged("the operator \(position) has \(operation.outputs.count) outputs, not one")
        }
        return operation.outputs[0]
    }

    /// A value that is computed.
    func value(_ number: Int) throws(ModelError) -> Value {
        guard let value = values[number] else {
            let name = file.tensors[number].name
            throw file.tensors[number].content.isEmpty && constants[number] == nil
                ? file.buffer.damaged("the value '\(name)' is used before it is computed")
                : unsupported("the constant '\(name)' where values are computed")
        }
        return value
    }

    /// An image, [1, height, width, channels], that is computed.
    func image(_ number: Int) throws(ModelError) -> Value {
        let value = try self.value(number)
        guard value.shape.count == 4, value.shape[0] == 1 else {
            throw unsupported("an operator for images on the shape \(value.shape)")
        }
        return value
    }

    /// The values of a constant.
    func constant(_ number: Int) throws(ModelError) -> TFLiteFile.Constant {
        if let known = constants[number] { return known }
        return try file.constant(number)
    }

    /// Whether a tensor is a constant.
    func isConstant(_ number: Int) -> Bool { constants[number] != nil || !file.tensors[number].content.isEmpty }

    /// A name for a layer of the operator that is converted.
    func name(_ kind: String) -> String { "\(kind)\(position)" }

    /// Records the layer that computes an operator's output, whose shape is the tensor's.
    mutating func set(_ number: Int, _ name: String) throws(ModelError) {
        guard values.updateValue(Value(name: name, shape: file.tensors[number].shape), forKey: number) == nil else {
            throw file.buffer.damaged("the value '\(file.tensors[number].name)' is computed twice")
        }
    }

    /// Appends a fused activation, as options number it, and returns the name of its layer.
    mutating func activated(_ input: String, _ function: Int8) throws(ModelError) -> String {
        switch function {
        case 0: return input
        case 1:
            var params = SpecActivationParams()
            params.reLu = SpecActivationReLU()
            network.add([input], input + ".relu", .activation(params))
            return input + ".relu"
        case 3:
            network.relu6(input, input + ".relu6")
            return input + ".relu6"
        default: throw unsupported("the fused activation \(function)")
        }
    }

    mutating func transpose(_ input: String, _ output: String, _ axes: [Int]) {
        var params = SpecTransposeLayerParams()
        params.axes = axes.map { UInt64($0) }
        network.add([input], output, .transpose(params))
    }

    /// The axis of our array that the axis `axis` of a tensor is.
    func ownAxis(_ axis: Int, rank: Int) throws(ModelError) -> Int {
        let position = axis < 0 ? axis + rank : axis
        guard position >= 0, position < rank else {
            throw file.buffer.damaged("the axis \(axis) of \(rank) does not exist")
        }
        return rank == 4 ? [0, 2, 3, 1][position] : position
    }
}
