import MLFiles
import MLSpecification
import SwiftProtobuf
import Testing

@Suite struct SpecificationVersionTests {
    /// One change of a model that needs a version, and that version.
    @Test func everyFeatureNeedsItsVersion() {
        let network = Seeds.network
        func layer(_ layer: SpecNeuralNetworkLayer.OneOf_Layer, inputs: Int = 1) -> SpecModel {
            var model = SpecModel()
            model.neuralNetwork.layers = [
                .with {
                    $0.layer = layer; $0.input = Array(repeating: "x", count: inputs)
                }
            ]
            return model
        }
        func array(_ change: (inout SpecFeatureType) -> Void) -> SpecModel {
            var model = Seeds.regressor
            change(&model.description_p.input[0].type)
            return model
        }
        func kind(_ type: SpecModel.OneOf_Type) -> SpecModel { .with { $0.type = type } }
        var half = SpecConvolutionLayerParams()
        half.weights.float16Value = SpecBytes.field([0, 0])
        var quantised = SpecConvolutionLayerParams()
        quantised.weights.quantization.numberOfBits = 8
        let cases: [(Int32, SpecModel)] = [
            (1, Seeds.regressor), (4, network), (9, Seeds.program),
            (1, layer(.convolution(.init()))), (2, layer(.convolution(half))), (3, layer(.convolution(quantised))),
            (4, layer(.convolution(.init()), inputs: 2)), (2, layer(.custom(.init()))),
            (3, layer(.cropResize(.init()))),
            (4, layer(.erf(.init()))), (5, layer(.cumSum(.init()))), (5, layer(.sliceDynamic(.init()), inputs: 7)),
            (4, layer(.sliceDynamic(.init()))), (5, layer(.upsample(.with { $0.fractionalScalingFactor = [1.5] }))),
            (5, layer(.branch(.with { $0.ifBranch.layers = [.with { $0.cumSum = .init() }] }))),
            (7, array { $0.multiArrayType.dataType = .float16 }), (10, array { $0.multiArrayType.dataType = .int8 }),
            (3, array { $0.multiArrayType.enumeratedShapes = .init() }),
            (7, array { $0.imageType.colorSpace = .grayscaleFloat16 }),
            (
                5,
                array {
                    $0.isOptional = true; $0.multiArrayType.floatDefaultValue = 0
                }
            ),
            (3, array { $0.sequenceType.stringType = .init() }), (9, array { $0.stateType.arrayType = .init() }),
            (3, kind(.customModel(.init()))), (4, kind(.linkedModel(.init()))),
            (8, kind(.classConfidenceThresholding(.init()))),
            (3, kind(.wordTagger(.init()))), (8, kind(.textClassifier(.with { $0.revision = 4 }))),
            (8, kind(.visionFeaturePrint(.with { $0.scene.version = .sceneVersion2 }))),
            (9, kind(.pipeline(.with { $0.models = [Seeds.regressor, Seeds.program] }))),
            (
                4,
                .with {
                    $0 = Seeds.regressor; $0.isUpdatable = true
                }
            ),
        ]
        for (version, model) in cases {
            #expect(SpecificationVersion.minimum(model) == version, "\(model)")
            #expect(SpecificationVersion.lowered(model).specificationVersion == version)
        }
    }

    @Test func everyVersionNamesItsSystems() {
        #expect(
            (1...10).map { SpecificationVersion.systems($0)?.iOS } == [
                "11.0", "11.2", "12.0", "13.0", "14.0", "15.0", "16.0", "17.0", "18.0", "26.0",
            ]
        )
        #expect(SpecificationVersion.systems(11) == nil && SpecificationVersion.systems(0) == nil)
        #expect(SpecificationVersion.systems(SpecificationReader.newestVersion) != nil)
    }
}
