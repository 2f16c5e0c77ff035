import AVFAudio
import CoreML
import CoreMLExtras
import Foundation
import SoundAnalysis

/// Sounds, a model that hears whether they are above or below zero, and an observer that writes down what it is told.
enum SoundFixtures {
    /// A classifier of the mean of samples: "up" or "down".
    static func model(_ type: ModelArrayType = ModelArrayType(shape: [160])) throws -> MLModel {
        var builder = NeuralNetworkBuilder()
        builder.input("audioSamples", .multiArray(type))
        let mean = builder.reduceND("mean", .mean, "audioSamples", axes: [-1])
        let flat = builder.reshapeND("flat", mean, shape: [1, 1])
        let logits = builder.innerProduct("logits", flat, outputChannels: 2, weights: [20, -20])
        builder.classifier(
            labels: .strings(["up", "down"]),
            probabilities: builder.softmaxND("shares", logits, axis: -1)
        )
        return try builder.finished().model()
    }

    /// Half a second of 0.5, and then as long −0.5, or other lengths.
    static func samples(rate: Int, seconds: Double = 1) -> [Float] {
        let count = Int(Double(rate) * seconds)
        return (0..<count).map { $0 < count / 2 ? 0.5 : -0.5 }
    }

    /// Samples as a WAV file of 16 bits, the same in each channel.
    static func wav(_ samples: [Float], rate: Int, channels: Int = 1) -> Data {
        var data = Data("RIFF".utf8)
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
        }
        let size = 2 * samples.count * channels
        append(UInt32(36 + size))
        data += Data("WAVEfmt ".utf8)
        append(UInt32(16))
        for value in [UInt16(1), UInt16(channels)] { append(value) }
        for value in [UInt32(rate), UInt32(rate * channels * 2)] { append(value) }
        for value in [UInt16(channels * 2), 16] { append(value) }
        data += Data("data".utf8)
        append(UInt32(size))
        for sample in samples {
            for _ in 0..<channels { append(Int16((sample * 32_767).rounded())) }
        }
        return data
    }

    /// Runs `body` with a file.
    static func withFile<R>(_ data: Data, _ body: (URL) throws -> R) throws -> R {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("sound-\(UUID().uuidString).wav")
        try data.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url)
    }
}

/// Writes down what an analyzer says.
///
/// `@unchecked Sendable`: read only after the analysis.
final class Listener: NSObject, SNResultsObserving, @unchecked Sendable {
    private(set) var results: [SNClassificationResult] = []
    private(set) var errors: [any Error] = []
    private(set) var completions = 0
    /// Called with each result.
    var heard: () -> Void = {}

    /// The most probable class of each window, equal neighbours once.
    var turns: [String] {
        results.compactMap { $0.classifications.first?.identifier }.reduce(into: []) { turns, name in
            if turns.last != name { turns.append(name) }
        }
    }

    func request(_ request: any SNRequest, didProduce result: any SNResult) {
        if let result = result as? SNClassificationResult { results.append(result) }
        heard()
    }

    func request(_ request: any SNRequest, didFailWithError error: any Error) { errors.append(error) }
    func requestDidComplete(_ request: any SNRequest) { completions += 1 }
}
