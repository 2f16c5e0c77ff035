import Glibc
import MLAudio
import MLFeatures
import MLModels
package import MLNumerics
package import MLSpecification

/// Sounds as a sound classifier's input spectrograms: windows of 0.975 s at 16 kHz, each 96 frames of 64 mel bands.
package struct SoundWindows: Sendable {
    package static let rate = 16_000
    package static let samples = 15_600
    package static let frames = 96
    package static let bands = 64
    /// The value of every band of silence's spectrogram: the logarithm of VGGish's offset.
    package static let silence = Float(log(0.01))

    /// The fraction of a window that overlaps the next one.
    package let overlap: Double
    /// The number of samples in a window.
    package let windowSamples: Int

    private let spectrogram: VGGishPreprocessing

    /// The interface of the first model in a sound classifier's pipeline.
    package static var preprocessing: SpecModel {
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [.array("audioSamples", [samples], "0.975 s of sound at 16 kHz, between -1 and 1")]
        model.description_p.output = [.array("melSpectrogram", [1, frames, bands])]
        model.soundAnalysisPreprocessing.vggish = SpecSoundAnalysisPreprocessing.Vggish()
        return model
    }

    /// - Parameters:
    ///   - overlap: The fraction of a window that overlaps the next one.
    ///   - windowSamples: The number of samples in a window; spectrograms need the default.
    /// - Throws: `.invalidInput` for an overlap that is not at least 0 and below 1.
    package init(overlap: Double, windowSamples: Int = Self.samples) throws(ModelError) {
        guard overlap >= 0, overlap < 1 else {
            throw ModelError(.invalidInput, "the overlap factor is \(overlap); it must be at least 0 and below 1")
        }
        self.overlap = overlap
        self.windowSamples = windowSamples
        let model = Self.preprocessing
        spectrogram = try VGGishPreprocessing(model.soundAnalysisPreprocessing, model.description_p)
    }

    /// The samples of a file in a classifier's format: 16 kHz, mono.
    package static func samples(ofFile path: String) throws(ModelError) -> [Float] {
        do { return try SoundFile.samples(ofFile: path, rate: rate) } catch {
            throw ModelError(.io, error.description)
        }
    }

    /// The first samples of the windows in a sound of `count` samples; one window for a sound that is not longer than a
    /// window.
    package func starts(_ count: Int) -> [Int] {
        let hop = max(1, Int((Double(windowSamples) * (1 - overlap)).rounded()))
        return Array(stride(from: 0, through: max(0, count - windowSamples), by: hop))
    }

    /// The samples of each window; a shorter sound is padded with silence.
    package func windows(_ sound: [Float]) -> [[Float]] {
        starts(sound.count).map { window(sound, $0) }
    }

    private func window(_ sound: [Float], _ start: Int) -> [Float] {
        let part = sound[start..<min(start + windowSamples, sound.count)]
        return part + [Float](repeating: 0, count: windowSamples - part.count)
    }

    /// The logarithmic mel spectrogram of each window, bands as channels: [windows, 64, 96].
    package func spectrograms(_ sound: [Float]) throws(ModelError) -> [Float] {
        let starts = starts(sound.count)
        let size = Self.frames * Self.bands
        var result = [Float](repeating: 0, count: starts.count * size)
        // Processed in groups of windows: an hour has thousands.
        for first in stride(from: 0, to: starts.count, by: 64) {
            try Cancellation.check()
            let windows = starts[first..<min(first + 64, starts.count)].map { window(sound, $0) }
            let column = FeatureColumn.arrays(Tensor(windows.flatMap { $0 }, shape: [windows.count, Self.samples]))
            let outputs = try spectrogram.outputs(
                for: FeatureBatch(count: windows.count, columns: ["audioSamples": column])
            )
            guard case .arrays(let tensor)? = outputs["melSpectrogram"] else {
                throw ModelError(.invalidModel, "the sound preprocessing gave no spectrogram")
            }
            let values = tensor.converted(to: .float32).floats
            for window in windows.indices {
                let position = (first + window) * size
                for frame in 0..<Self.frames {
                    for band in 0..<Self.bands {
                        result[position + band * Self.frames + frame] =
                            values[window * size + frame * Self.bands + band]
                    }
                }
            }
        }
        return result
    }
}
