import MLFiles
import MLInspection
import MLNumerics
import MLSpecification
import SwiftProtobuf
import TestSupport
import Testing

/// How two models differ.
struct ComparisonTests {
    private typealias M = InspectedModels

    private func compare(_ a: SpecModel, _ b: SpecModel) -> ModelComparison {
        ModelComparison(ModelFile(specification: a), ModelFile(specification: b))
    }

    @Test func aModelDoesNotDifferFromItself() throws {
        let comparison = compare(M.network(), M.network())
        #expect(comparison.isIdentical && comparison.summary == "no difference")
        #expect(comparison.weights.count == 4)
        for model in [UpdatableModels.neighbors(k: 3, isTree: true), UpdatableModels.network()] {
            #expect(compare(model, model).isIdentical)
        }
    }

    @Test func weightsThatMovedAreMeasuredAndPlaced() throws {
        var moved = M.network()
        // From [0.25 × 6]: one value by 0.5.
        moved.neuralNetwork.layers[2].innerProduct.weights.floatValue[2] = 0.75
        let comparison = compare(M.network(), moved)
        #expect(comparison.interface.isEmpty && comparison.structure.isEmpty && comparison.fields.isEmpty)
        let weight = try #require(comparison.moved.first)
        #expect(comparison.moved.count == 1 && weight.name == "last.weights")
        #expect(weight.largestDifference == 0.5)
        let length = (6 * 0.0625).squareRoot()
        #expect(abs(weight.relativeDistance - 0.5 / length) < 1e-12)
        let other = (5 * 0.0625 + 0.5625).squareRoot()
        #expect(abs(weight.cosine - (5 * 0.0625 + 0.1875) / (length * other)) < 1e-12)
        #expect(comparison.summary == "same interface, same structure, 1 of 4 tensors changed, all in 'last'")
    }

    /// Zeros that stay zeros did not change; a direction is lost only when one of both is zero.
    @Test func zeroTensorsHaveACosine() throws {
        func network(_ value: Float) -> SpecModel {
            var model = M.network()
            model.neuralNetwork.layers[2].innerProduct.weights.floatValue = [Float](repeating: value, count: 6)
            return model
        }
        let cases: [(Float, Double, Double)] = [(0, 1, 0), (-0.0, 1, 0), (2, 0, 24.0.squareRoot())]
        for (other, cosine, distance) in cases {
            let comparison = compare(network(0), network(other))
            let weight = try #require(comparison.weights.first { $0.name == "last.weights" })
            #expect(weight.cosine == cosine && weight.hasMoved == (distance != 0), "\(other)")
            #expect(abs(weight.relativeDistance - distance) < 1e-12, "\(other)")
        }
    }

    @Test func storageIsComparedAfterDecoding() throws {
        var half = M.network()
        half.neuralNetwork.layers[0].innerProduct.weights = .with {
            // 0.25 as float16, twelve times.
            $0.float16Value = SpecBytes.field((0..<12).flatMap { _ in [0x00, 0x34] as [UInt8] })
        }
        half.specificationVersion = 4
        let comparison = compare(M.network(), half)
        #expect(comparison.moved.isEmpty && !comparison.isIdentical)
        #expect(comparison.weights.first { $0.name == "first.weights" }?.otherStorage.description == "float16")
        #expect(comparison.summary.contains("no tensor changed, 1 stored differently"), "\(comparison.summary)")
        half.neuralNetwork.layers[0].innerProduct.weights = .with {
            $0.rawValue = SpecBytes.field([0b0101_0101, 0b0101_0101, 0b0101_0110])
            $0.quantization.numberOfBits = 2
            $0.quantization.lookupTableQuantization.floatValue = [0, 0.25, 1, 2]
        }
        let packed = compare(M.network(), half)
        #expect(packed.moved.map(\.largestDifference) == [0.75])
    }

    @Test func interfacesAreComparedByName() throws {
        var other = M.network()
        other.description_p.input[0].type.multiArrayType.shape = [5]
        other.description_p.output[0].name = "z"
        other.description_p.output.append(M.array("more", [1]))
        other.description_p.metadata.author = "Ann"
        let changes = compare(M.network(), other)
        #expect(
            changes.interface.contains {
                $0.location == "input 'x'" && $0.before == "float32 [4]" && $0.after == "float32 [5]"
            }
        )
        #expect(changes.interface.contains { $0.kind == .removed && $0.location == "output 'y'" })
        #expect(changes.interface.filter { $0.kind == .added }.map(\.location) == ["output 'z'", "output 'more'"])
        #expect(changes.metadata.map(\.after) == ["Ann"])
    }

    @Test func labelsThatComeAndGoAreNamed() throws {
        let old = UpdatableModels.network()
        var new = old
        new.neuralNetworkClassifier.stringClassLabels.vector[0] = "otter"
        let changes = compare(old, new).interface.filter { $0.location == "class labels" }
        #expect(changes.map(\.kind) == [.removed, .added] && changes.last?.after == "otter")
        new.neuralNetworkClassifier.stringClassLabels.vector = old.neuralNetworkClassifier.stringClassLabels.vector
            .reversed()
        #expect(compare(old, new).interface.map(\.attribute) == ["order"])
    }

    @Test func layersAreMatchedWhateverTheirNames() throws {
        var other = M.network()
        other.neuralNetwork.layers.insert(
            .with {
                $0.name = "extra"
                $0.input = ["h"]
                $0.output = ["h2"]
                $0.activation.sigmoid = SpecActivationSigmoid()
            },
            at: 1
        )
        other.neuralNetwork.layers[2].input = ["h2"]
        for index in other.neuralNetwork.layers.indices { other.neuralNetwork.layers[index].name = "layer_\(index)" }
        let changes = compare(M.network(), other)
        #expect(changes.structure.filter { $0.kind == .added }.map(\.location) == ["layer 'layer_1' (activation)"])
        #expect(changes.structure.contains { $0.attribute == "input 0 comes from" && $0.after == "h2" })
        #expect(changes.structure.count == 2, "\(changes.structure)")
        #expect(changes.weights.count == 4 && changes.moved.isEmpty && changes.unpaired.isEmpty)
    }

    @Test func changedAttributesAreNamedWithBothValues() throws {
        var old = M.network()
        old.neuralNetwork.layers[1].activation.leakyReLu.alpha = 0.5
        var new = old
        new.neuralNetwork.layers[1].activation.leakyReLu.alpha = 0.25
        let change = try #require(compare(old, new).structure.first)
        #expect(change.location == "layer 'bend' (activation)" && change.attribute.hasSuffix("alpha"))
        #expect(change.before == "0.5" && change.after == "0.25")
    }

    @Test func programsAreMatchedThroughNewNumbers() throws {
        func program(_ prefix: String, _ start: Int, extra: Bool) throws -> SpecModel {
            var (body, last) = ("", "x")
            for index in 0..<6 {
                if extra, index == 3 {
                    body += "tensor<fp32, [3]> extra = tanh(x = \(last)); "
                    last = "extra"
                }
                let name = index == 5 ? "y" : "\(prefix)_\(start + index)"
                body +=
                    M.constant("\(prefix)_w\(index)", [3], value: "\(index)")
                    + "tensor<fp32, [3]> \(name) = add(x = \(last), y = \(prefix)_w\(index)); "
                last = name
            }
            return try M.program(body, inputs: [("x", [3])], outputShape: [3]).specification
        }
        let renamed = compare(try program("a", 0, extra: false), try program("b", 40, extra: false))
        #expect(renamed.isIdentical, "\(renamed.structure) \(renamed.unpaired)")
        let longer = compare(try program("a", 0, extra: false), try program("b", 7, extra: true))
        #expect(longer.structure.map(\.kind) == [.added, .changed], "\(longer.structure)")
        #expect(longer.weights.count == 6 && longer.moved.isEmpty)
    }

    @Test func otherModelsAreComparedFieldByField() throws {
        var old = SpecModel()
        old.specificationVersion = 1
        old.treeEnsembleRegressor.treeEnsemble.nodes = (0..<50).map { index in
            .with {
                $0.nodeID = UInt64(index)
                $0.branchFeatureValue = Double(index)
            }
        }
        var new = old
        new.treeEnsembleRegressor.treeEnsemble.nodes[7].branchFeatureValue = 9.5
        new.treeEnsembleRegressor.treeEnsemble.nodes[8].branchFeatureValue = 8.25
        let comparison = compare(old, new)
        let change = try #require(comparison.fields.first?.change)
        #expect(
            comparison.fields.count == 1
                && change.path == "treeEnsembleRegressor.treeEnsemble.nodes[].branchFeatureValue"
        )
        #expect(change.changed == 2 && change.largestDifference == 2.5)
        #expect(change.example.contains("nodes[7]") && change.before == "7" && change.after == "9.5")
        var linear = SpecModel()
        linear.glmRegressor.weights = [.with { $0.value = [1, 2] }]
        linear.glmRegressor.offset = [0]
        var shifted = linear
        shifted.glmRegressor.weights[0].value[1] = 3
        #expect(compare(linear, shifted).moved.map(\.largestDifference) == [1])
        #expect(compare(linear, old).structure.map(\.attribute) == ["kind"])
    }

    @Test func weightsOfANetworkAndAProgramAreComparedByShape() throws {
        let program = try M.program(
            M.constant("w1", [3, 4], value: "0.25") + M.constant("b1", [3], value: "1")
                + M.constant("w2", [2, 3], value: "0.5") + M.constant("b2", [2], value: "1")
                + "tensor<fp32, [1, 3]> h = linear(x = x, weight = w1, bias = b1); "
                + "tensor<fp32, [1, 2]> y = linear(x = h, weight = w2, bias = b2);",
            inputs: [("x", [1, 4])],
            outputShape: [1, 2]
        )
        let comparison = ModelComparison(ModelFile(specification: M.network()), program)
        #expect(comparison.structure.map(\.attribute) == ["kind"] && comparison.unpaired.isEmpty)
        #expect(comparison.weights.count == 4 && comparison.moved.map(\.otherName) == ["w2"])
    }

    @Test func modelsOfAPipelineAreComparedEach() throws {
        let old = UpdatableModels.pipeline(UpdatableModels.extractor(), UpdatableModels.neighbors(k: 3, isTree: false))
        var new = old
        var stages = old.stages
        stages[0].neuralNetwork.layers[0].name = "renamed"
        stages[1].kNearestNeighborsClassifier.numberOfNeighbors.defaultValue = 5
        new.setStages(stages)
        let comparison = compare(old, new)
        #expect(comparison.structure.isEmpty && comparison.fields.count == 1, "\(comparison.structure)")
        #expect(comparison.fields.first?.location == "model 'learner' › ")
        #expect(comparison.fields.first?.change.path.hasSuffix("numberOfNeighbors.defaultValue") == true)
    }

    /// Lists too long for a table are aligned by what occurs once.
    @Test func longListsAreAlignedToo() throws {
        func network(_ count: Int, without left: Int?) -> SpecModel {
            var model = M.network()
            model.neuralNetwork.layers = (0..<count).filter { $0 != left }.map { index in
                .with {
                    $0.name = "n\(index)\(left == nil ? "" : "b")"
                    $0.input = ["x"]
                    $0.output = ["v\(index)"]
                    $0.activation.linear.alpha = Float(index)
                }
            }
            return model
        }
        let comparison = compare(network(3000, without: nil), network(3000, without: 1500))
        #expect(
            comparison.structure.map(\.location) == ["layer 'n1500' (activation)"],
            "\(comparison.structure.prefix(5))"
        )
        var swapped = network(3000, without: nil)
        swapped.neuralNetwork.layers.swapAt(3, 2990)
        let moved = compare(network(3000, without: nil), swapped)
        #expect(!moved.structure.isEmpty && moved.structure.count <= 8, "\(moved.structure.count)")
    }
}
