import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf
import Testing

/// 100,000 damaged files: every reader answers with a value or an error that says something, never with a trap.
///
/// Seeds are fixed, so a case that fails, fails again; its bytes then go to `Tests/Fixtures/FailCases`.
@Suite struct FuzzTests {
    @Test func specificationsSurvive() throws {
        let seeds = try models.map(SpecificationReader.encode)
        fuzz(seeds, cases: 50_000, seed: 1) { bytes in try readModel(bytes) }
    }

    @Test func manifestsSurvive() {
        let item = PackageManifest.Item(
            identifier: "A-1",
            name: "m",
            author: "a",
            description: "é",
            path: "a/m.mlmodel"
        )
        let text = PackageManifest(items: [item], rootIdentifier: "A-1").json
        let others = [
            #"{"a": [1, -2.5e3, true, null, "\u00e9\ud83d\ude00"], "b": {}}"#, #"{"fileFormatVersion": "1.0.0"}"#,
        ]
        let seeds = ([text] + others).map { Array($0.utf8) }
        fuzz(seeds, cases: 20_000, seed: 2) { bytes in _ = try PackageManifest(json: bytes).root() }
    }

    @Test func weightFilesSurvive() throws {
        let tensors = BlobDataType.allCases.compactMap(\.scalarType).map {
            Tensor(values: [1, 0, 1], scalarType: $0, shape: [3])
        }
        let seeds = [try Seeds.weightFile(), try Seeds.weightFile(tensors)]
        fuzz(seeds, cases: 30_000, seed: 3) { bytes in
            let file = try WeightFile(TensorStorage(copying: bytes), path: "weight.bin")
            for offset in (try? file.blobOffsets()) ?? [64, 192] {
                let blob = try file.blob(at: offset)
                let tensor = try blob.tensor(shape: [blob.elementCount])
                _ = tensor.values.reduce(0, +)
            }
        }
    }

    /// Files that once broke a reader, or were made to.
    @Test func keptCasesSurvive() throws {
        let folder =
            FileAccess.folder(of: FileAccess.folder(of: FileAccess.folder(of: #filePath))) + "/Fixtures/FailCases"
        let names = try FileAccess.names(in: folder)
        #expect(!names.isEmpty)
        for name in names {
            let bytes = try FileAccess.read(folder + "/" + name)
            let message = failure {
                if name.hasSuffix(".mlmodel") { try readModel(bytes) }
                if name.hasSuffix(".json") { _ = try PackageManifest(json: bytes).root() }
                if name.hasSuffix(".bin") {
                    _ = try WeightFile(TensorStorage(copying: bytes), path: name).blob(at: 64).tensor(shape: [4])
                }
            }
            #expect(message.count > 20, "\(name): \(message)")
        }
    }

    private func fuzz(_ seeds: [[UInt8]], cases: Int, seed: UInt64, read: ([UInt8]) throws -> Void) {
        var mutator = Mutator(seed: seed)
        var failures = 0
        var mute: [Int] = []
        for index in 0..<cases {
            let bytes = mutator.damaged(seeds[index % seeds.count], with: seeds[mutator.number(below: seeds.count)])
            let message = failure { try read(bytes) }
            if message.isEmpty { continue }
            failures += 1
            if message.utf8.count < 20 { mute.append(index) }
        }
        #expect(mute.isEmpty, "cases without an explanation: \(mute)")
        #expect(failures > cases / 20 && failures < cases, "\(failures) of \(cases) cases were refused")
    }

    /// Reads a model and does with it all that this module can do.
    private func readModel(_ bytes: [UInt8]) throws {
        let model = try SpecificationReader.decode(bytes)
        let again = try SpecificationReader.decode(try SpecificationReader.encode(model))
        #expect(again == model || again.textFormatString().contains("nan"))
        _ = SpecificationVersion.minimum(model)
        _ = SpecificationVersion.lowered(model)
        try SpecificationReader.validate(model)
        let file = ModelFile(specification: model, blobs: ["weight.bin": [UInt8](repeating: 1, count: 300)])
        for candidate in [model] + model.stages {
            guard case .mlProgram(let program)? = candidate.type else { continue }
            for function in program.functions.values {
                for block in function.blockSpecializations.values {
                    for value in block.operations.flatMap(\.attributes.values) { _ = try? file.tensor(of: value) }
                }
            }
            _ = try MILPrinter.text(program)
        }
    }

    /// One small model of every shape of file.
    private var models: [SpecModel] {
        var program = Seeds.program
        var inline = MILValue()
        inline.type = Seeds.tensorType(.float16, [2])
        inline.immediateValue.tensor.bytes.values = SpecBytes.field([0, 0x3C, 0, 0xC0])
        program.mlProgram.attributes = ["half": inline, "name": Seeds.text("é")]
        var pipeline = SpecModel()
        pipeline.specificationVersion = 9
        pipeline.pipelineClassifier.pipeline.models = [Seeds.regressor, Seeds.network, program]
        var trees = SpecModel()
        trees.specificationVersion = 1
        trees.treeEnsembleRegressor.treeEnsemble.nodes = (0..<3 as Range<UInt64>).map { index in
            .with {
                $0.nodeID = index; $0.branchFeatureValue = 0.5; $0.evaluationInfo = [.with { $0.evaluationValue = 1 }]
            }
        }
        var labels = SpecModel()
        labels.specificationVersion = 3
        labels.dictVectorizer.stringToIndex.vector = ["a", "b", "ü"]
        labels.description_p.input = [
            Seeds.feature("words", .dictionaryType(.with { $0.stringKeyType = .init() }))
        ]
        return [Seeds.regressor, Seeds.network, program, pipeline, trees, labels]
    }
}
