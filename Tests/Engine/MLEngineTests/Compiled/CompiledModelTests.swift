import Glibc
import MLEngine
import MLFeatures
import MLFiles
import MLKernels
import MLNumerics
import MLSpecification
import Testing

/// The predictions of a compiled folder: it answers as its source does, has the same description, and is whole or
/// refused.
struct CompiledModelTests {
    private let folder = CompiledFolder()

    private func compiled(_ model: SpecModel, named name: String = "m") throws -> String {
        try ModelCompiler.compile(ModelFile(specification: model), named: name, into: folder.path) {
            Issue.record("compiled without graphs: \($0)")
        }
    }

    private func answer(_ path: String, _ inputs: [String: Tensor]) throws -> [String: FeatureData] {
        let file = try ModelFile.open(path: path, for: .prediction)
        #expect(file.compiled != nil)
        return try EngineLoader.load(file).prediction(from: inputs.mapValues { .tensor($0) })
    }

    private func tensor(_ features: [String: FeatureData], _ name: String) throws -> Tensor {
        guard case .tensor(let tensor)? = features[name] else { throw ModelError(.invalidModel, "no \(name)") }
        return tensor
    }

    @Test func programOfEveryWayToHoldAConstantAnswersAsItsSource() throws {
        let model = try CompiledModels.program()
        let x = Tensor((0..<32).map { Float($0) / 7 - 2 }, shape: [1, 32])
        let expected = try EngineLoader.load(ModelFile(specification: model)).prediction(from: ["x": .tensor(x)])
        let path = try compiled(model)
        let found = try answer(path, ["x": x])
        #expect(try tensor(found, "y").values == tensor(expected, "y").values)
        // The folder alone says what the specification says of the interface.
        let file = try ModelFile.open(path: path, for: .prediction)
        #expect(file.specification.description_p == model.description_p)
        #expect(file.specification.serializedCount < model.serializedCount / 4)
        #expect(try file.whole().specification == model)
    }

    @Test func weightsServeInThePlaceOfConstantsThatNobodyReads() throws {
        let model = try CompiledModels.program(columns: 256)
        let path = try compiled(model)
        let size = try #require(FileAccess.byteCount(of: path + "/" + CompiledModel.fileName))
        // 32 × 256 floats, packed once; the same again would stand there if they were kept as they were, too.
        #expect(size > 32 * 256 * 4 && size < 2 * 32 * 256 * 4)
    }

    /// A kernel may want another packed form than those that were chosen at compile time.
    @Test func aModelWhoseKernelsAskForOtherPackedFormsIsReadFromItsSpecification() throws {
        let model = try CompiledModels.program(columns: 256)
        let path = try compiled(model)
        try forgetPackedForms(in: path + "/" + CompiledModel.fileName)
        let x = Tensor((0..<32).map { Float($0) / 7 - 2 }, shape: [1, 32])
        let expected = try EngineLoader.load(ModelFile(specification: model)).prediction(from: ["x": .tensor(x)])
        #expect(try tensor(try answer(path, ["x": x]), "y").values == tensor(expected, "y").values)
    }

    /// Rewrites a compiled form so that its index names no packed weights.
    private func forgetPackedForms(in path: String) throws {
        let bytes = TensorStorage(copying: try FileAccess.read(path))
        let sections = try SectionFile(bytes, path: path)
        try FileAccess.remove(path)
        let writer = try SectionFileWriter(path, version: CompiledModel.version)
        for name in [CompiledModel.Section.interface, CompiledModel.Section.origin, CompiledModel.Section.graphs] {
            try writer.add(name, try sections.bytes(name))
        }
        var index = BinaryWriter()
        index.unsigned(0)
        let set = "\(KernelTable.current)"
        try writer.add(CompiledModel.Section.packedIndex(set), index.bytes)
        for name in [CompiledModel.Section.constants, CompiledModel.Section.packed(set)] {
            let range = try sections.range(name)
            try bytes.withBytes { bytes in
                _ = try writer.add(name, partCount: 1) { (_, append) throws(ModelError) in
                    try append(bytes.bytes.extracting(range))
                }
            }
        }
        try writer.seal()
    }

    /// The default extents are no promise that the graph takes them.
    @Test func aDefaultShapeThatTheGraphRefusesIsNoObstacle() throws {
        let model = try CompiledModels.program(rows: nil, inputs: nil)
        let path = try compiled(model)
        let x = Tensor((0..<64).map { Float($0) / 7 - 2 }, shape: [2, 32])
        let expected = try EngineLoader.load(ModelFile(specification: model)).prediction(from: ["x": .tensor(x)])
        #expect(try tensor(try answer(path, ["x": x]), "y").values == tensor(expected, "y").values)
        #expect(throws: ModelError.self) { try answer(path, ["x": Tensor([1] as [Float], shape: [1, 1])]) }
    }

    /// The file under a loaded model is truncated: that model's predictions end with an error, others go on.
    @Test func aFileThatIsShortenedWhileItIsUsedIsNamed() throws {
        let model = try CompiledModels.program(columns: 4096)
        let x = Tensor((0..<32).map { Float($0) / 7 - 2 }, shape: [1, 32])
        let path = try compiled(model)
        let engine = try EngineLoader.load(ModelFile.open(path: path, for: .prediction))
        let other = try EngineLoader.load(ModelFile(specification: model))
        let expected = try tensor(try other.prediction(from: ["x": .tensor(x)]), "y").values
        #expect(truncate(path + "/" + CompiledModel.fileName, 4096) == 0)
        let error = #expect(throws: ModelError.self) { try engine.prediction(from: ["x": .tensor(x)]) }
        #expect("\(try #require(error))".contains(CompiledModel.fileName))
        #expect(throws: ModelError.self) { try engine.prediction(from: ["x": .tensor(x)]) }
        #expect(try tensor(try other.prediction(from: ["x": .tensor(x)]), "y").values == expected)
    }

    @Test func classifierKeepsItsLabels() throws {
        let model = try CompiledModels.classifier()
        let path = try compiled(model)
        let file = try ModelFile.open(path: path, for: .prediction)
        #expect(ClassLabels(of: file.specification) == .strings(["a", "b", "c"]))
        let found = try EngineLoader.load(file).prediction(from: [
            "p": .tensor(Tensor([0.1, 0.7, 0.2] as [Float], shape: [3]))
        ])
        guard case .string("b")? = found["best"] else { throw ModelError(.invalidModel, "\(found)") }
    }

    @Test func functionsAreChosenByName() throws {
        let path = try compiled(CompiledModels.functions())
        let file = try ModelFile.open(path: path, for: .prediction)
        let x = FeatureData.tensor(Tensor([1, 2] as [Float], shape: [2]))
        let double = try EngineLoader.load(file).prediction(from: ["x": x])
        let square = try EngineLoader.load(file, functionName: "square").prediction(from: ["x": x])
        #expect(try tensor(double, "y").values == [2, 4])
        #expect(try tensor(square, "y").values == [1, 4])
        let error = #expect(throws: ModelError.self) { try EngineLoader.load(file, functionName: "cube") }
        #expect(error?.message.contains("'double', 'square'") == true)
    }

    @Test(arguments: [1, 3, 8]) func flexibleShapesAreBoundWhenTheyCome(rows: Int) throws {
        let model = try CompiledModels.program(rows: nil)
        let x = Tensor((0..<32 * rows).map { Float($0 % 11) - 5 }, shape: [rows, 32])
        let expected = try EngineLoader.load(ModelFile(specification: model)).prediction(from: ["x": .tensor(x)])
        #expect(try tensor(answer(try compiled(model), ["x": x]), "y").values == tensor(expected, "y").values)
    }

    @Test func stagesOfAPipelineAreGraphsOfTheirOwn() throws {
        let model = try CompiledModels.pipeline()
        let x = Tensor([1, 2, 3] as [Float], shape: [3])
        let expected = try EngineLoader.load(ModelFile(specification: model)).prediction(from: ["x": .tensor(x)])
        #expect(try tensor(answer(try compiled(model), ["x": x]), "y").values == tensor(expected, "y").values)
    }

    @Test func compilingTwiceGivesTheSameBytes() throws {
        let model = try CompiledModels.program()
        let first = try FileAccess.read(compiled(model, named: "a") + "/" + CompiledModel.fileName)
        let second = try FileAccess.read(compiled(model, named: "b") + "/" + CompiledModel.fileName)
        #expect(first == second)
    }

    @Test func modelsWithoutGraphsGetNone() throws {
        var tree = SpecModel()
        tree.specificationVersion = 4
        tree.identity = SpecIdentity()
        let path = try compiled(tree)
        #expect(try !FileAccess.names(in: path).contains(CompiledModel.fileName))
    }

    // MARK: What is broken

    /// The compiled file with its bytes changed.
    private func changing(_ change: (inout [UInt8]) -> Void) throws -> String {
        let path = try compiled(CompiledModels.program())
        let file = path + "/" + CompiledModel.fileName
        var bytes = try FileAccess.read(file)
        change(&bytes)
        try FileAccess.write(bytes, to: file)
        return path
    }

    private func expectError(_ path: String, _ part: String) {
        let error = #expect(throws: ModelError.self) {
            try EngineLoader.load(ModelFile.open(path: path, for: .prediction))
        }
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains(CompiledModel.fileName) == true, "\(error?.description ?? "")")
    }

    @Test func aNewerVersionIsNamed() throws {
        let path = try changing { $0[8] = 200 }
        expectError(path, "version of the compiled model is 200")
    }

    @Test func anOlderVersionIsReadFromTheSpecification() throws {
        let path = try changing { $0[8] = 0 }
        let file = try ModelFile.open(path: path, for: .prediction)
        #expect(file.compiled == nil)
        #expect(try file.specification == CompiledModels.program())
    }

    @Test(arguments: [0, 1, 63, 64, 4096, 5000]) func aFileCutOffIsRefused(length: Int) throws {
        let path = try changing { $0.removeLast($0.count - min(length, $0.count - 1)) }
        expectError(path, length < 64 ? "not a file of sections" : "cut off")
    }

    @Test func anotherSpecificationIsNoticed() throws {
        let path = try compiled(CompiledModels.program())
        try ModelFile.writeModel(try CompiledModels.classifier(), to: path + "/specification.bin")
        expectError(path, "'specification.bin' is not the file that the model was compiled with")
    }

    /// Every byte of what is read whole is covered by a hash; whatever else changes, loading ends with an answer or an
    /// error.
    @Test func changedBytesNeverTrap() throws {
        let path = try compiled(CompiledModels.program())
        let file = path + "/" + CompiledModel.fileName
        let bytes = try FileAccess.read(file)
        var generator = SplitMix64(seed: 7)
        let x = FeatureData.tensor(Tensor([Float](repeating: 1, count: 32), shape: [1, 32]))
        var refused = 0
        for _ in 0..<400 {
            var changed = bytes
            for _ in 0..<1 + Int(generator.next() % 3) {
                changed[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
            }
            try FileAccess.write(changed, to: file)
            do throws(ModelError) {
                _ = try EngineLoader.load(ModelFile.open(path: path, for: .prediction)).prediction(from: ["x": x])
            } catch { refused += 1 }
        }
        #expect(refused > 0)
    }
}

/// A temporary folder that goes with its owner.
private final class CompiledFolder: Sendable {
    let path: String
    init() { path = (try? FileAccess.makeTemporaryFolder("compiled")) ?? "/nonexistent" }
    deinit { try? FileAccess.remove(path) }
}

/// Models that need every part of the compiled form.
private enum CompiledModels {
    private static func feature(_ name: String, _ shape: [Int?]) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.multiArrayType.dataType = .float32
        feature.type.multiArrayType.shape = shape.map { Int64($0 ?? 1) }
        if shape.contains(nil) {
            feature.type.multiArrayType.shapeRange.sizeRanges = shape.map { extent in
                var range = SpecSizeRange()
                range.lowerBound = UInt64(extent ?? 1)
                range.upperBound = Int64(extent ?? -1)
                return range
            }
        }
        return feature
    }

    private static func model(_ text: String) throws -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 9
        model.mlProgram = try MILParser.program(Array("program(1.3) { \(text) }".utf8))
        return model
    }

    /// A dense layer with a table of rows behind it: packed, read as it is, folded from two constants, of text.
    /// - Parameters:
    ///   - rows: the rows of x; `nil` for any number.
    ///   - inputs: its columns, which are 32 even where `nil` says that they may be any.
    static func program(rows: Int? = 1, inputs: Int? = 32, columns: Int = 64) throws -> SpecModel {
        let count = rows.map(String.init) ?? "?"
        let weights = (0..<32).map { row in
            let values = (0..<columns).map { "\(Double((row * columns + $0) % 13) / 8 - 0.75)" }
            return "[" + values.joined(separator: ", ") + "]"
        }.joined(separator: ", ")
        let bias = (0..<columns).map { "\(Double($0) / 16)" }.joined(separator: ", ")
        var model = try model(
            """
            func main<ios18>(tensor<fp32, [\(count), \(inputs.map(String.init) ?? "?")]> x) {
                tensor<fp32, [32, \(columns)]> w = const()[val = tensor<fp32, [32, \(columns)]>([\(weights)])];
                tensor<fp32, [\(columns)]> b = const()[val = tensor<fp32, [\(columns)]>([\(bias)])];
                tensor<fp32, [\(columns)]> c = add(x = b, y = b);
                bool no = const()[val = bool(false)];
                tensor<fp32, [\(count), \(columns)]> h = matmul(x = x, y = w, transpose_x = no, transpose_y = no);
                tensor<fp32, [\(count), \(columns)]> s = add(x = h, y = c);
                tensor<fp32, [\(count), \(columns)]> y = relu(x = s);
            } -> (y);
            """
        )
        model.description_p.input = [feature("x", [rows, inputs])]
        model.description_p.output = [feature("y", [rows, columns])]
        return model
    }

    static func classifier() throws -> SpecModel {
        var model = try model(
            """
            func main<ios18>(tensor<fp32, [3]> p) {
                tensor<string, [3]> names = const()[val = tensor<string, [3]>(["a", "b", "c"])];
                string best, dict<string, fp32> all = classify(probabilities = p, classes = names);
            } -> (best, all);
            """
        )
        var (best, all) = (SpecFeatureDescription(), SpecFeatureDescription())
        best.name = "best"
        best.type.stringType = SpecStringFeatureType()
        all.name = "all"
        all.type.dictionaryType.stringKeyType = SpecStringFeatureType()
        model.description_p.input = [feature("p", [3])]
        model.description_p.output = [best, all]
        model.description_p.predictedFeatureName = "best"
        model.description_p.predictedProbabilitiesName = "all"
        return model
    }

    static func functions() throws -> SpecModel {
        var model = try model(
            """
            func double<ios18>(tensor<fp32, [2]> x) { tensor<fp32, [2]> y = add(x = x, y = x); } -> (y);
            func square<ios18>(tensor<fp32, [2]> x) { tensor<fp32, [2]> y = mul(x = x, y = x); } -> (y);
            """
        )
        model.description_p.defaultFunctionName = "double"
        for name in ["double", "square"] {
            var function = SpecFunctionDescription()
            function.name = name
            function.input = [feature("x", [2])]
            function.output = [feature("y", [2])]
            model.description_p.functions.append(function)
        }
        return model
    }

    /// Two dense layers, each a network of its own.
    static func pipeline() throws -> SpecModel {
        func stage(_ input: String, _ output: String, _ weights: [Float]) -> SpecModel {
            var model = SpecModel()
            model.specificationVersion = 5
            var layer = SpecNeuralNetworkLayer()
            layer.name = output
            layer.input = [input]
            layer.output = [output]
            layer.innerProduct.inputChannels = 3
            layer.innerProduct.outputChannels = 3
            layer.innerProduct.weights.floatValue = weights
            model.neuralNetwork.layers = [layer]
            model.description_p.input = [feature(input, [3])]
            model.description_p.output = [feature(output, [3])]
            return model
        }
        var model = SpecModel()
        model.specificationVersion = 5
        model.pipeline.models = [
            stage("x", "h", [1, 2, 3, 4, 5, 6, 7, 8, 9]), stage("h", "y", [0, 1, 0, 1, 0, 1, 2, 0, 0]),
        ]
        model.description_p.input = [feature("x", [3])]
        model.description_p.output = [feature("y", [3])]
        return model
    }
}

extension SpecModel {
    fileprivate var serializedCount: Int { (try? SpecificationReader.encode(self).count) ?? 0 }
}
