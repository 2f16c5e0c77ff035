import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf

/// A model with an input and an output of nearly every kind, which counts its predictions in a state.
struct Doubling: ModelEngine {
    let interface: SpecModelDescription = .with {
        $0.input = [
            array("x", [2]),
            .with {
                $0.name = "words"
                $0.type.isOptional = true
                $0.type.sequenceType.stringType = .init()
            },
            picture("picture"),
        ]
        $0.output = [
            array("y", [2]),
            .with {
                $0.name = "label"
                $0.type.stringType = .init()
            },
            .with {
                $0.name = "count"
                $0.type.int64Type = .init()
            },
            .with {
                $0.name = "scores"
                $0.type.dictionaryType.stringKeyType = .init()
            },
            .with {
                $0.name = "shouted"
                $0.type.sequenceType.stringType = .init()
            },
            picture("copy"),
        ]
    }

    private static func array(_ name: String, _ shape: [Int64]) -> SpecFeatureDescription {
        .with {
            $0.name = name
            $0.type.multiArrayType.shape = shape
            $0.type.multiArrayType.dataType = .float32
        }
    }

    private static func picture(_ name: String) -> SpecFeatureDescription {
        .with {
            $0.name = name
            $0.type.isOptional = true
            $0.type.imageType.width = 2
            $0.type.imageType.height = 1
            $0.type.imageType.colorSpace = .rgb
        }
    }

    func makeState() -> ModelState { ModelState(["count": Tensor(values: [0], scalarType: .int64, shape: [])]) }

    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        guard case .tensor(let x)? = inputs["x"] else { throw ModelError(.invalidInput, "the input 'x' is missing") }
        var outputs: [String: FeatureData] = [:]
        let sum = x.values.reduce(0, +)
        outputs["y"] = .tensor(Tensor(values: x.values.map { $0 * 2 }, scalarType: .float32, shape: x.shape))
        outputs["label"] = .string("even")
        outputs["scores"] = .dictionary(.strings(["sum": sum, "one": 1]))
        let count = 1 + (state?["count"]?.integers.first ?? 0)
        state?["count"] = Tensor(values: [Double(count)], scalarType: .int64, shape: [])
        outputs["count"] = .int64(Int64(count))
        var words: [String] = []
        if case .sequence(.strings(let given))? = inputs["words"] { words = given.map { $0.uppercased() } }
        outputs["shouted"] = .sequence(.strings(words))
        outputs["copy"] = inputs["picture"] ?? .image(ImageBuffer(width: 2, height: 1, format: .rgba8))
        return outputs
    }
}

/// A folder for files, which is deleted with its owner.
final class VectorFolder {
    private let folder: String

    init() throws { folder = try FileAccess.makeTemporaryFolder("vectors") }

    deinit { try? FileAccess.remove(folder) }

    func path(_ name: String) -> String { folder + "/" + name }

    func write(_ bytes: [UInt8], _ name: String) throws {
        try FileAccess.makeFolder(FileAccess.folder(of: path(name)))
        try FileAccess.write(bytes, to: path(name))
    }

    func write(_ text: String, _ name: String) throws { try write(Array(text.utf8), name) }
}
