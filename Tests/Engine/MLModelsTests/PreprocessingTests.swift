import MLFeatures
import MLModels
import MLNumerics
import MLSpecification
import SwiftProtobuf
import Testing

struct PreprocessingTests {
    static func run(_ model: SpecModel, _ inputs: [String: FeatureData]) throws(ModelError) -> FeatureData? {
        try engine(model).prediction(from: inputs).first?.value
    }

    @Test func scaler() throws {
        func scaled(_ shift: [Double], _ scale: [Double], _ kinds: (Kind, Kind), _ x: FeatureData) throws(ModelError)
            -> FeatureData?
        {
            var parameters = SpecScaler()
            parameters.shiftValue = shift
            parameters.scaleValue = scale
            return try Self.run(model([("x", kinds.0)], [("y", kinds.1)], .scaler(parameters)), ["x": x])
        }
        #expect(
            try scaled([1, 2, 3], [2, 2, 4], (.array([3]), .array([3])), array([0, 0, 1]))?.numbers == [2, 4, 16]
        )
        #expect(
            try scaled([1], [2], (.array([2, 2]), .array([2, 2])), array([0, 1, 2, 3], [2, 2]))?.numbers == [
                2, 4, 6, 8,
            ]
        )
        #expect(try scaled([], [3], (.number, .number), .double(2))?.numbers == [6])
        #expect(try scaled([2], [], (.integer, .integer), .int64(2))?.numbers == [4])
        #expect(
            message { () throws(ModelError) in try scaled([], [0.3], (.integer, .integer), .int64(2)) }.contains("0.6")
        )
        #expect(
            message { () throws(ModelError) in try scaled([1, 2], [], (.array([3]), .array([3])), array([0, 0, 1])) }
                .contains("2 shift")
        )
        // Without a stated shape the input's shape stays.
        let free = try scaled([1], [1], (.array([]), .array([])), array([1, 2, 3, 4], [2, 2]))
        if case .tensor(let tensor)? = free { #expect(tensor.shape == [2, 2] && tensor.values == [2, 3, 4, 5]) }
    }

    @Test(arguments: [
        (SpecNormalizer.NormType.l1, [0.375, -0.5, 0.125]), (.l2, [0.75, -1, 0.25].map { $0 / 1.625.squareRoot() }),
        (.lmax, [0.75, -1, 0.25]),
    ])
    func normalizer(norm: SpecNormalizer.NormType, expected: [Double]) throws {
        var parameters = SpecNormalizer()
        parameters.normType = norm
        let spec = model([("x", .array([3]))], [("y", .array([3]))], .normalizer(parameters))
        #expect(isNear(try Self.run(spec, ["x": array([3, -4, 1])])?.numbers ?? [], expected))
        #expect(try Self.run(spec, ["x": array([0, 0, 0])])?.numbers == [0, 0, 0])
    }

    @Test func extractor() throws {
        var parameters = SpecArrayFeatureExtractor()
        parameters.extractIndex = [2, 0, 2]
        let spec = model([("x", .array([3]))], [("y", .array([3]))], .arrayFeatureExtractor(parameters))
        #expect(try Self.run(spec, ["x": array([7, 8, 9])])?.numbers == [9, 7, 9])
        let short = model([("x", .array([2]))], [("y", .array([3]))], .arrayFeatureExtractor(parameters))
        #expect(message { () throws(ModelError) in try engine(short) }.contains("element 2"))
        parameters.extractIndex = [1]
        let one = model([("x", .array([]))], [("y", .integer)], .arrayFeatureExtractor(parameters))
        #expect(try Self.run(one, ["x": array([7, 8])])?.numbers == [8])
        #expect(message { () throws(ModelError) in try Self.run(one, ["x": array([7])]) }.contains("1 elements"))
    }

    @Test func oneHot() throws {
        func spec(_ isSparse: Bool, ignoring: Bool) -> SpecModel {
            var parameters = SpecOneHotEncoder()
            parameters.stringCategories.vector = ["red", "green", "blue"]
            parameters.outputSparse = isSparse
            parameters.handleUnknown = ignoring ? .ignoreUnknown : .errorOnUnknown
            return model(
                [("x", .string)],
                [("y", isSparse ? .dictionary(isInteger: true) : .array([3]))],
                .oneHotEncoder(parameters)
            )
        }
        #expect(try Self.run(spec(false, ignoring: false), ["x": .string("green")])?.numbers == [0, 1, 0])
        #expect(try Self.run(spec(true, ignoring: false), ["x": .string("blue")])?.votes == ["2": 1])
        #expect(try Self.run(spec(false, ignoring: true), ["x": .string("pink")])?.numbers == [0, 0, 0])
        #expect(try Self.run(spec(true, ignoring: true), ["x": .string("pink")])?.votes.isEmpty == true)
        #expect(
            message { () throws(ModelError) in try Self.run(spec(false, ignoring: false), ["x": .string("pink")]) }
                .contains("pink")
        )
    }

    @Test func dictionariesToVectors() throws {
        var dictionary = SpecDictVectorizer()
        dictionary.stringToIndex.vector = ["a", "c", "b", "z"]
        let sparse = model([("x", .dictionary())], [("y", .dictionary(isInteger: true))], .dictVectorizer(dictionary))
        let dense = model([("x", .dictionary())], [("y", .array([4]))], .dictVectorizer(dictionary))
        let value = FeatureData.dictionary(.strings(["a": 4, "c": 8, "other": 1]))
        #expect(try Self.run(sparse, ["x": value])?.votes == ["0": 4, "1": 8])
        #expect(try Self.run(dense, ["x": value])?.numbers == [4, 8, 0, 0])
        var vectorizer = SpecFeatureVectorizer()
        vectorizer.inputList = [("d", 3), ("n", 1), ("v", 2)].map { name, count in
            var column = SpecFeatureVectorizer.InputColumn()
            (column.inputColumn, column.inputDimensions) = (name, UInt64(count))
            return column
        }
        let joined = model(
            [("n", .integer), ("d", .dictionary(isInteger: true)), ("v", .array([2]))],
            [("y", .array([6]))],
            .featureVectorizer(vectorizer)
        )
        let inputs: [String: FeatureData] = ["n": .int64(5), "d": .dictionary(.integers([2: 9])), "v": array([1, 2])]
        #expect(try Self.run(joined, inputs)?.numbers == [0, 0, 9, 5, 1, 2])
        let outside = inputs.merging(["d": .dictionary(.integers([3: 9]))]) { $1 }
        #expect(message { () throws(ModelError) in try Self.run(joined, outside) }.contains("key 3"))
        vectorizer.inputList[1].inputDimensions = 0
        let bad = model(
            [("n", .integer), ("d", .dictionary(isInteger: true)), ("v", .array([2]))],
            [("y", .array([6]))],
            .featureVectorizer(vectorizer)
        )
        #expect(message { () throws(ModelError) in try engine(bad) }.contains("'n' has 0"))
    }

    @Test func categoricalMapping() throws {
        var parameters = SpecCategoricalMapping()
        parameters.stringToInt64Map.map = ["a": 1, "b": 2]
        let strict = model([("x", .string)], [("y", .integer)], .categoricalMapping(parameters))
        #expect(try Self.run(strict, ["x": .string("b")])?.numbers == [2])
        #expect(message { () throws(ModelError) in try Self.run(strict, ["x": .string("q")]) }.contains("\"q\""))
        parameters.int64Value = -1
        let tolerant = model([("x", .string)], [("y", .integer)], .categoricalMapping(parameters))
        #expect(try Self.run(tolerant, ["x": .string("q")])?.numbers == [-1])
        parameters.strValue = "?"
        let mixed = model([("x", .string)], [("y", .integer)], .categoricalMapping(parameters))
        #expect(message { () throws(ModelError) in try engine(mixed) }.contains("string for unknown values"))
        var back = SpecCategoricalMapping()
        back.int64ToStringMap.map = [1: "a"]
        back.strValue = "?"
        var sequence = model([("x", .sequence)], [("y", .sequence)], .categoricalMapping(back))
        sequence.description_p.input[0].type.sequenceType.int64Type = SpecInt64FeatureType()
        if case .sequence(.strings(let texts))? = try Self.run(sequence, ["x": .sequence(.integers([1, 5]))]) {
            #expect(texts == ["a", "?"])
        } else {
            Issue.record("no sequence of strings")
        }
    }

    @Test func imputer() throws {
        func imputed(_ kind: Kind, _ x: FeatureData?, _ fill: (inout SpecImputer) -> Void) throws(ModelError)
            -> FeatureData?
        {
            var parameters = SpecImputer()
            fill(&parameters)
            return try Self.run(model([("x", kind)], [("y", kind)], .imputer(parameters)), x.map { ["x": $0] } ?? [:])
        }
        #expect(
            try imputed(.array([3]), array([1, -9, 3])) {
                $0.imputedDoubleArray.vector = [7, 8, 9]; $0.replaceDoubleValue = -9
            }?.numbers == [1, 8, 3]
        )
        #expect(
            try imputed(.array([3]), array([.nan, 2, 3])) {
                $0.imputedDoubleValue = 5; $0.replaceDoubleValue = .nan
            }?.numbers == [5, 2, 3]
        )
        #expect(try imputed(.number, .double(.nan)) { $0.imputedDoubleValue = 5 }?.numbers == [5])
        #expect(try imputed(.number, nil) { $0.imputedDoubleValue = 5 }?.numbers == [5])
        #expect(
            try imputed(.integer, .int64(0)) {
                $0.imputedInt64Value = 5; $0.replaceInt64Value = 0
            }?.numbers == [5]
        )
        #expect(
            try imputed(.string, .string("")) {
                $0.imputedStringValue = "none"; $0.replaceStringValue = ""
            }?.text == "none"
        )
        #expect(
            try imputed(.dictionary(), .dictionary(.strings(["a": 1, "b": .nan]))) {
                $0.imputedStringDictionary.map = ["b": 2, "c": 3]
            }?.votes == ["a": 1, "b": 2, "c": 3]
        )
        #expect(
            message { () throws(ModelError) in
                try imputed(.array([2]), array([1, 2])) { $0.imputedDoubleArray.vector = [1] }
            }.contains("1 values")
        )
        #expect(
            message { () throws(ModelError) in try imputed(.number, nil) { _ in } }.contains("no replacement value")
        )
        #expect(
            message { () throws(ModelError) in
                try imputed(.number, nil) {
                    $0.imputedDoubleValue = 1; $0.replaceStringValue = ""
                }
            }.contains("different types")
        )
    }

    @Test func identityGivesOwnMemory() throws {
        let spec = model(
            [("x", .array([2])), ("t", .string)],
            [("x", .array([2])), ("t", .string)],
            .identity(SpecIdentity())
        )
        let given = Tensor(values: [1, 2], scalarType: .float64, shape: [2])
        let answer = try engine(spec).prediction(from: ["x": .tensor(given), "t": .string("a")])
        #expect(answer["t"]?.text == "a" && answer["x"]?.numbers == [1, 2])
        if case .tensor(let tensor)? = answer["x"] { #expect(tensor.address != given.address) }
    }

    /// Any bytes: decoding, loading and predicting end in an answer or an error.
    @Test func damagedFilesNeverTrap() throws {
        var noise = Noise(state: 2026)
        let (machine, _) = SupportVectorTests.classifier(&noise, [2, 3, 1], hasProbabilities: true)
        let trees = TreeTests.random(
            &noise,
            trees: 3,
            depth: 4,
            features: 4,
            outputs: 2,
            behaviors: TreeTests.ordered,
            isDense: true
        )
        let models = [
            machine, TreeTests.regressor(trees, features: 4),
            NeighborTests.classifier([[1, 2, 3, 4], [4, 3, 2, 1]], ["a", "b"], k: 1),
            LinearTests.classifier([[1, 2, 3, 4]], [0], .referenceClass, .logit, ["a", "b"]),
        ]
        for spec in models {
            let bytes: [UInt8] = try spec.serializedBytes()
            for _ in 0..<1500 {
                var damaged = bytes
                for _ in 0...noise.index(3) {
                    damaged[noise.index(damaged.count)] = UInt8(truncatingIfNeeded: noise.next())
                }
                guard let read = try? SpecModel(serializedBytes: damaged), let engine = try? engine(read) else {
                    continue
                }
                _ = try? engine.prediction(from: ["x": array([0.1, -2, 3, 0.5])])
            }
        }
    }
}
