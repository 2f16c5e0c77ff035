import MLFiles
import MLNumerics
import MLSpecification

/// Small models and files that the tests of this target start from.
enum Seeds {
    /// Linear regressor: two numbers to one.
    static var regressor: SpecModel {
        var model = SpecModel()
        model.specificationVersion = 1
        model.description_p.input = [
            feature("x", .doubleType(SpecDoubleFeatureType())), feature("y", .doubleType(SpecDoubleFeatureType())),
        ]
        model.description_p.output = [feature("sum", .doubleType(SpecDoubleFeatureType()))]
        model.description_p.predictedFeatureName = "sum"
        model.description_p.metadata.author = "Tests"
        model.description_p.metadata.userDefined = ["b": "2", "a": "1"]
        var row = SpecGLMRegressor.DoubleArray()
        row.value = [1, 2]
        model.glmRegressor.weights = [row]
        model.glmRegressor.offset = [0.5]
        return model
    }

    /// Neural network: a convolution with weights inside and a ReLU.
    static var network: SpecModel {
        var model = SpecModel()
        model.specificationVersion = 4
        var array = SpecArrayFeatureType()
        array.shape = [1, 1, 4, 4]
        array.dataType = .float32
        model.description_p.input = [feature("image", .multiArrayType(array))]
        model.description_p.output = [feature("result", .multiArrayType(array))]
        var convolution = SpecConvolutionLayerParams()
        convolution.outputChannels = 1
        convolution.kernelChannels = 1
        convolution.kernelSize = [3, 3]
        convolution.weights.floatValue = (0..<9).map(Float.init)
        convolution.bias.float16Value = SpecBytes.field([0, 0x3C])
        var first = SpecNeuralNetworkLayer()
        first.name = "conv"
        first.input = ["image"]
        first.output = ["hidden"]
        first.convolution = convolution
        var second = SpecNeuralNetworkLayer()
        second.name = "relu"
        second.input = ["hidden"]
        second.output = ["result"]
        second.activation.reLu = SpecActivationReLU()
        model.neuralNetwork.layers = [first, second]
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        return model
    }

    /// ML program: adds a constant of a weight file to its input.
    static var program: SpecModel {
        var model = SpecModel()
        model.specificationVersion = 9
        var array = SpecArrayFeatureType()
        array.shape = [2, 2]
        array.dataType = .float32
        model.description_p.input = [feature("x", .multiArrayType(array))]
        model.description_p.output = [feature("y", .multiArrayType(array))]

        var weight = MILValue()
        weight.type = tensorType(.float32, [2, 2])
        weight.blobFileValue.fileName = "@model_path/weights/weight.bin"
        weight.blobFileValue.offset = 64
        var constant = MILOperation()
        constant.type = "const"
        constant.outputs = [named("w", weight.type)]
        constant.attributes = ["name": text("w"), "val": weight]
        var add = MILOperation()
        add.type = "add"
        add.inputs = ["x": argument("x"), "y": argument("w")]
        add.outputs = [named("y", weight.type)]
        add.attributes = ["name": text("y")]
        var block = MILBlock()
        block.operations = [constant, add]
        block.outputs = ["y"]
        var function = MILFunction()
        function.inputs = [named("x", weight.type)]
        function.opset = "CoreML8"
        function.blockSpecializations = ["CoreML8": block]
        model.mlProgram.version = 1
        model.mlProgram.functions = ["main": function]
        return model
    }

    /// The weight file of `program`.
    static func weightFile(_ tensors: [Tensor] = [Tensor([1, 2, 3, 4] as [Float], shape: [2, 2])]) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            let writer = try WeightFileWriter(path: folder + "/weight.bin")
            for tensor in tensors { _ = try writer.append(tensor) }
            try writer.finish()
            return try FileAccess.read(folder + "/weight.bin")
        }
    }

    static func feature(_ name: String, _ type: SpecFeatureType.OneOf_Type) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.type = type
        return feature
    }

    static func tensorType(_ dataType: MILDataType, _ shape: [UInt64]) -> MILValueType {
        var type = MILValueType()
        type.tensorType.dataType = dataType
        type.tensorType.rank = Int64(shape.count)
        type.tensorType.dimensions = shape.map { extent in
            var dimension = MILDimension()
            dimension.constant.size = extent
            return dimension
        }
        return type
    }

    static func named(_ name: String, _ type: MILValueType) -> MILNamedValueType {
        var value = MILNamedValueType()
        value.name = name
        value.type = type
        return value
    }

    static func argument(_ name: String) -> MILArgument {
        var binding = MILArgument.Binding()
        binding.name = name
        var argument = MILArgument()
        argument.arguments = [binding]
        return argument
    }

    static func text(_ string: String) -> MILValue {
        var value = MILValue()
        value.type = tensorType(.string, [])
        value.immediateValue.tensor.strings.values = [string]
        return value
    }
}

/// Runs `body` with a folder that is removed afterwards.
func withTemporaryFolder<R>(_ body: (String) throws -> R) throws -> R {
    let folder = try FileAccess.makeTemporaryFolder("mlfiles-tests")
    defer { try? FileAccess.remove(folder) }
    return try body(folder)
}

/// The error that `body` throws, as text; empty when it throws none.
func failure(_ body: () throws -> Void) -> String {
    do {
        try body()
        return ""
    } catch {
        return "\(error)"
    }
}
