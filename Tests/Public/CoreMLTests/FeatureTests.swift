import CoreML
import Testing

struct FeatureTests {
    static let digits = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Media/ImageIOTests/Fixtures")

    @Test func dictionariesBecomeFeatures() throws {
        let provider = try MLDictionaryFeatureProvider(dictionary: [
            "int": 3, "double": 0.5, "flag": true, "text": "hello", "array": try MLMultiArray([1.0, 2.0]),
            "votes": ["a": 1, "b": 2], "codes": [1: 0.5] as [Int64: Double], "number": NSNumber(value: 2.5),
            "whole": NSNumber(value: 7), "float": Float(1.5), "sequence": MLSequence(strings: ["x"]),
        ])
        let types = provider.dictionary.mapValues { $0.type }
        #expect(
            types == [
                "int": .int64, "double": .double, "flag": .int64, "text": .string, "array": .multiArray,
                "votes": .dictionary, "codes": .dictionary, "number": .double, "whole": .int64, "float": .double,
                "sequence": .sequence,
            ]
        )
        #expect(provider["votes"]?.dictionaryValue as? [String: Double] == ["a": 1, "b": 2])
        #expect(provider["codes"]?.dictionaryValue as? [Int64: Double] == [1: 0.5])
        #expect(throws: MLModelError.self) { try MLDictionaryFeatureProvider(dictionary: ["x": Date()]) }
        #expect(throws: MLModelError.self) { try MLFeatureValue(dictionary: ["a": 1, 2: 1]) }
    }

    @Test func valuesSurviveArchiving() throws {
        let values: [String: Any] = [
            "a": 3, "b": 2.5, "c": "text", "d": ["x": 1.5], "e": try MLMultiArray([1, 2]), "f": MLSequence(int64s: [4]),
        ]
        let provider = try MLDictionaryFeatureProvider(dictionary: values)
        let data = try NSKeyedArchiver.archivedData(withRootObject: provider, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: MLDictionaryFeatureProvider.self, from: data)
        #expect(read == provider)
    }

    @Test func configurationsSurviveArchiving() throws {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = .cpuAndNeuralEngine
        configuration.functionName = "decode"
        configuration.modelDisplayName = "Tutor"
        configuration.allowLowPrecisionAccumulationOnGPU = true
        configuration.optimizationHints.reshapeFrequency = .infrequent
        configuration.optimizationHints.specializationStrategy = .fastPrediction
        let data = try NSKeyedArchiver.archivedData(withRootObject: configuration, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: MLModelConfiguration.self, from: data)
        #expect(read?.description == configuration.description)
        #expect(read?.optimizationHints == configuration.optimizationHints)
    }

    @Test func errorsAreCaughtByCode() {
        func fail(_ code: MLModelError.Code) throws { throw MLModelError(code, userInfo: [:]) }
        do {
            try fail(.modelDecryptionKeyFetch)
        } catch MLModelError.io {
            Issue.record("caught as another code")
        } catch MLModelError.modelDecryptionKeyFetch {
            return
        } catch {
            Issue.record("not caught by its code: \(error)")
        }
        Issue.record("nothing was thrown")
    }

    @Test func batchesComeFromColumns() throws {
        let batch = try MLArrayBatchProvider(dictionary: ["x": [1, 2, 3], "y": ["a", "b", "c"]])
        #expect(batch.count == 3)
        #expect(batch.features(at: 1).featureValue(for: "y")?.stringValue == "b")
        #expect(throws: MLModelError.self) { try MLArrayBatchProvider(dictionary: ["x": [1], "y": []]) }
    }

    /// 0 means `centerCrop`, 1 `scaleFit`, 2 `scaleFill`; the picture is 185 × 115.
    @Test(arguments: [0, 1, 2])
    func picturesAreFitted(option: UInt) throws {
        let value = try MLFeatureValue(
            imageAt: Self.digits.appendingPathComponent("large.png"),
            pixelsWide: 40,
            pixelsHigh: 40,
            pixelFormatType: kCVPixelFormatType_32BGRA,
            options: [.cropAndScale: option]
        )
        let buffer = try #require(value.imageBufferValue)
        #expect(CVPixelBufferGetWidth(buffer) == 40 && CVPixelBufferGetHeight(buffer) == 40)
        let address = try #require(CVPixelBufferGetBaseAddress(buffer))
        let row = CVPixelBufferGetBytesPerRow(buffer)
        let top = (0..<40).map { x in (0..<3).map { Int(address.load(fromByteOffset: 4 * x + $0, as: UInt8.self)) } }
        let middle = (0..<40).map { x in Int(address.load(fromByteOffset: 20 * row + 4 * x, as: UInt8.self)) }
        #expect(top.allSatisfy { $0 == [0, 0, 0] } == (option == 1))
        #expect(middle.contains { $0 > 0 })
    }

    @Test func orientationOfFilesIsApplied() throws {
        let turned = try MLFeatureValue(
            imageAt: Self.digits.appendingPathComponent("orientation-6.png"),
            pixelsWide: 5,
            pixelsHigh: 9,
            pixelFormatType: kCVPixelFormatType_32BGRA
        )
        let upright = try MLFeatureValue(
            imageAt: Self.digits.appendingPathComponent("expected/orientation-6.png.png"),
            pixelsWide: 5,
            pixelsHigh: 9,
            pixelFormatType: kCVPixelFormatType_32BGRA
        )
        let a = try #require(turned.imageBufferValue)
        let b = try #require(upright.imageBufferValue)
        let size = CVPixelBufferGetDataSize(a)
        #expect(memcmp(CVPixelBufferGetBaseAddress(a)!, CVPixelBufferGetBaseAddress(b)!, size) == 0)
    }

    @Test func missingPicturesAreErrors() {
        #expect(throws: MLModelError.self) {
            try MLFeatureValue(
                imageAt: URL(fileURLWithPath: "/nowhere.png"),
                pixelsWide: 5,
                pixelsHigh: 9,
                pixelFormatType: kCVPixelFormatType_32BGRA
            )
        }
    }
}
