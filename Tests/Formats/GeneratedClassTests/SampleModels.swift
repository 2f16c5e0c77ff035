import Foundation
import MLFiles
import MLGeneration
import MLNumerics
import MLSpecification
import TestSupport
import Testing

/// A model, and how the source of its class is asked for.
struct Sample: Sendable, CustomTestStringConvertible {
    /// The name of the model's file without its ending.
    let name: String
    let model: @Sendable () throws -> SpecModel
    var options = GenerationOptions()
    /// Whether its source is compiled in the mode of Swift 5.
    var isOld = false

    var testDescription: String { name }

    func source() throws -> String {
        let file = ModelFile(specification: try model(), path: "\(name).mlmodel")
        return try ClassGenerator.source(of: file, named: name, options: options)
    }

}

enum Samples {
    static let all = [
        Sample(name: "Everything", model: everything), Sample(name: "Choices", model: choices),
        Sample(name: "Halves", model: halves), Sample(name: "Bytes", model: bytes),
        Sample(name: "Digits", model: digits), Sample(name: "point-teacher", model: { UpdatableModels.network() }),
        Sample(name: "Price", model: price), Sample(name: "Scene", model: scene),
        Sample(name: "Counter", model: counter, options: GenerationOptions(isPublic: true)),
        Sample(name: "Tools", model: tools), Sample(name: "2 awkward \"names\" 😀", model: awkward),
        Sample(name: "String", model: price),
        Sample(
            name: "Legacy",
            model: {
                var model = try price(); model.specificationVersion = 1; return model
            },
            options: GenerationOptions(isPublic: true, swift: try! SwiftLanguage("5.0")),
            isOld: true
        ),
    ]

    // MARK: Features

    static func feature(
        _ name: String,
        _ description: String = "",
        isOptional: Bool = false,
        _ type: (inout SpecFeatureType) -> Void
    ) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = description
        type(&feature.type)
        feature.type.isOptional = isOptional
        return feature
    }

    static func number(_ name: String, _ description: String = "", isOptional: Bool = false) -> SpecFeatureDescription {
        feature(name, description, isOptional: isOptional) { $0.doubleType = SpecDoubleFeatureType() }
    }

    static func array(
        _ name: String,
        _ type: SpecArrayFeatureType.ArrayDataType,
        _ shape: [Int64],
        isOptional: Bool = false
    ) -> SpecFeatureDescription {
        feature(name, isOptional: isOptional) {
            $0.multiArrayType.dataType = type
            $0.multiArrayType.shape = shape
        }
    }

    static func picture(
        _ name: String,
        _ space: SpecImageFeatureType.ColorSpace,
        _ width: Int64,
        _ height: Int64,
        isOptional: Bool = false
    ) -> SpecFeatureDescription {
        feature(name, isOptional: isOptional) {
            $0.imageType.colorSpace = space
            $0.imageType.width = width
            $0.imageType.height = height
        }
    }

    /// One of each type.
    static func kinds(isOptional: Bool) -> [SpecFeatureDescription] {
        [
            feature("count", "How many there are.", isOptional: isOptional) { $0.int64Type = SpecInt64FeatureType() },
            number("ratio", isOptional: isOptional),
            feature("title", isOptional: isOptional) { $0.stringType = SpecStringFeatureType() },
            picture("photo", .rgb, 4, 3, isOptional: isOptional),
            picture("mask", .grayscale, 2, 2, isOptional: isOptional),
            array("doubles", .double, [2], isOptional: isOptional),
            array("floats", .float32, [1, 2], isOptional: isOptional),
            array("integers", .int32, [3], isOptional: isOptional),
            feature("shares", isOptional: isOptional) { $0.dictionaryType.stringKeyType = SpecStringFeatureType() },
            feature("votes", isOptional: isOptional) { $0.dictionaryType.int64KeyType = SpecInt64FeatureType() },
            feature("words", isOptional: isOptional) { $0.sequenceType.stringType = SpecStringFeatureType() },
            feature("codes", isOptional: isOptional) { $0.sequenceType.int64Type = SpecInt64FeatureType() },
        ]
    }

    // MARK: Models

    private static func identity(_ features: [SpecFeatureDescription], version: Int32) -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = version
        model.identity = SpecIdentity()
        model.description_p.input = features
        model.description_p.output = features
        return model
    }

    @Sendable static func everything() throws -> SpecModel {
        var model = identity(kinds(isOptional: false), version: 4)
        model.description_p.metadata.shortDescription = "Gives back what it gets.\n\nOf every type one."
        model.description_p.metadata.author = "The tests"
        model.description_p.metadata.license = "Apache-2.0"
        model.description_p.metadata.versionString = "1.2"
        return model
    }

    @Sendable static func choices() throws -> SpecModel { identity(kinds(isOptional: true), version: 6) }

    @Sendable static func halves() throws -> SpecModel {
        identity([array("halves", .float16, [2, 2]), picture("depth", .grayscaleFloat16, 2, 2)], version: 7)
    }

    @Sendable static func bytes() throws -> SpecModel { identity([array("bytes", .int8, [4])], version: 10) }

    @Sendable static func digits() throws -> SpecModel {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Fixtures/digits")
        return try ModelFile.open(path: fixtures.appendingPathComponent("Digits.mlmodel").path).specification
    }

    /// A pipeline: values halved, then 3 x₀ + x₁.
    @Sendable static func price() throws -> SpecModel {
        var scaler = SpecModel()
        scaler.specificationVersion = 4
        scaler.scaler.shiftValue = [0, 0]
        scaler.scaler.scaleValue = [0.5, 0.5]
        scaler.description_p.input = [array("rooms", .double, [2])]
        scaler.description_p.output = [array("scaled", .double, [2])]
        var weights = SpecGLMRegressor.DoubleArray()
        weights.value = [3, 1]
        var line = SpecModel()
        line.specificationVersion = 4
        line.glmRegressor.weights = [weights]
        line.glmRegressor.offset = [0]
        line.description_p.input = [array("scaled", .double, [2])]
        line.description_p.output = [number("price")]
        line.description_p.predictedFeatureName = "price"
        var model = SpecModel()
        model.specificationVersion = 4
        model.pipelineRegressor.pipeline.models = [scaler, line]
        model.pipelineRegressor.pipeline.names = ["scaler", "line"]
        model.description_p.input = [array("rooms", .double, [2])]
        model.description_p.output = [number("price")]
        model.description_p.predictedFeatureName = "price"
        return model
    }

    /// With the system's own extractor of features, and a picture of no stated size.
    @Sendable static func scene() throws -> SpecModel {
        var print = SpecModel()
        print.specificationVersion = 3
        print.visionFeaturePrint.scene.version = .sceneVersion1
        var model = SpecModel()
        model.specificationVersion = 3
        model.pipeline.models = [print]
        model.description_p.input = [
            picture("image", .rgb, 0, 0),
            feature("preview") {
                $0.imageType.colorSpace = .rgb
                $0.imageType.imageSizeRange.widthRange.lowerBound = 299
                $0.imageType.imageSizeRange.widthRange.upperBound = -1
                $0.imageType.imageSizeRange.heightRange.lowerBound = 299
                $0.imageType.imageSizeRange.heightRange.upperBound = -1
            },
        ]
        model.description_p.output = [array("features", .double, [2048])]
        return model
    }

    private static func program(_ text: String) throws -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 9
        model.mlProgram = try MILParser.program(Array("program(1.3) { \(text) }".utf8))
        return model
    }

    /// sum := sum + x; y = sum.
    @Sendable static func counter() throws -> SpecModel {
        var model = try program(
            """
            func main<ios18>(tensor<fp32, [2]> x, state<tensor<fp16, [2]>> sum) {
                tensor<fp16, [2]> old = read_state(input = sum);
                string half = const()[val = string("fp16")];
                tensor<fp16, [2]> step = cast(x = x, dtype = half);
                tensor<fp16, [2]> new = add(x = old, y = step);
                write_state(data = new, input = sum);
                string single = const()[val = string("fp32")];
                tensor<fp32, [2]> y = cast(x = new, dtype = single);
            } -> (y);
            """
        )
        model.description_p.input = [array("x", .float32, [2])]
        model.description_p.output = [array("y", .float32, [2])]
        model.description_p.state = [
            feature("sum", "What was added.") {
                $0.stateType.arrayType.dataType = .float16
                $0.stateType.arrayType.shape = [2]
            }
        ]
        return model
    }

    /// Several functions; the default one doubles, one is called as a type that the default one has.
    @Sendable static func tools() throws -> SpecModel {
        var model = try program(
            """
            func double<ios18>(tensor<fp32, [2]> x) { tensor<fp32, [2]> y = add(x = x, y = x); } -> (y);
            func input<ios18>(tensor<fp32, [2]> x) { tensor<fp32, [2]> y = mul(x = x, y = x); } -> (y);
            func label<ios18>(tensor<fp32, [3]> p) {
                tensor<string, [3]> names = const()[val = tensor<string, [3]>(["a", "b", "c"])];
                string best, dict<string, fp32> all = classify(probabilities = p, classes = names);
            } -> (best, all);
            """
        )
        func function(_ name: String) -> SpecFunctionDescription {
            var function = SpecFunctionDescription()
            function.name = name
            function.input = [array("x", .float32, [2])]
            function.output = [array("y", .float32, [2])]
            return function
        }
        var label = function("label")
        label.input = [array("p", .float32, [3])]
        label.output = [UpdatableModels.text("best"), UpdatableModels.votes("all")]
        label.predictedFeatureName = "best"
        label.predictedProbabilitiesName = "all"
        model.description_p.defaultFunctionName = "double"
        model.description_p.functions = [function("input"), function("double"), label]
        return model
    }

    /// Names and descriptions that mean something in Swift, or try to leave the place where they stand.
    static let awkwardNames = [
        "Class", "init", "self", "Type", "class", "model", "featureNames", "featureValue", "provider", "input",
        "options",
        "state", "using", "featureName", "a-b", "a b", "a_b", "1st", "", "-", "_", "größe", "大きさ", "عرض", "😀",
        "👩‍🔬",
        "x\"; fatalError() //", "\\(fatalError())", "line\nbreak", "*/ fatalError() /*", "tab\there", "\u{202E}evil",
        "String", "Error", "Result", "Set", "Double", "MLFeatureValue", "MLMultiArray", "type", "xShapedArray", "x",
        "_2_awkward__names___😀Input", "values", "$0", "`quoted`", "#if", "\u{0301}mark", "open", "left", "any", "some",
    ]

    @Sendable static func awkward() throws -> SpecModel {
        let attack = "*/ \" \\(fatalError()) \\\n\r\nfatalError()\u{2028}fatalError() \u{0} \u{202E} \"\"\" /* #if"
        var model = identity(
            awkwardNames.map { name in
                if name == "x" || name == "MLMultiArray" { return array(name, .float32, [1]) }
                return number(name, attack)
            },
            version: 8
        )
        model.description_p.metadata.shortDescription = attack
        model.description_p.metadata.author = attack
        model.description_p.metadata.license = attack
        model.description_p.metadata.versionString = attack
        return model
    }
}
