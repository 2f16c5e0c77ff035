import Glibc
package import MLFeatures
import MLKernels
package import MLNumerics
package import MLSpecification

/// Converts 0.975 s of sound at 16 kHz to VGGish's log-mel spectrogram: 15,600 samples to [1, 96, 64].
///
/// Frames of 400 samples every 160, a periodic Hann window, the magnitude of a Fourier transform of 512 points, 64
/// triangular filters of equal width on the mel scale 1127 · ln(1 + f / 700) between 125 and 7,500 Hz, ln(sum + 0.01).
/// No filter includes the constant component.
package struct VGGishPreprocessing: ColumnEngine {
    private static let samples = 15_600
    private static let frameLength = 400
    private static let hop = 160
    private static let frames = 96
    private static let bands = 64
    private static let bins = 257
    private static let rate = 16_000.0

    package let interface: SpecModelDescription
    private let input: String
    private let output: NumericOutput
    /// Windowed cosines, then sines: [2 · bins, frameLength].
    private let waves: [Double]
    /// [bands, bins].
    private let triangles: [Double]

    package init(_ parameters: SpecSoundAnalysisPreprocessing, _ interface: SpecModelDescription) throws(ModelError) {
        guard case .vggish? = parameters.soundAnalysisPreprocessingType else {
            throw ModelError(.invalidModel, "the sound preprocessing states no kind")
        }
        self.interface = interface
        let source = try interface.soleInput()
        guard case .multiArrayType(let array)? = source.type.type else { throw source.mismatch("a multi-array") }
        if let count = array.fixedCount, count != Self.samples {
            throw ModelError(
                .invalidModel,
                "the input '\(source.name)' has \(count) samples; VGGish takes \(Self.samples)"
            )
        }
        input = source.name
        output = try NumericOutput(interface.soleOutput())
        var waves = [Double](repeating: 0, count: 2 * Self.bins * Self.frameLength)
        for bin in 0..<Self.bins {
            for sample in 0..<Self.frameLength {
                let window = 0.5 - 0.5 * cos(2 * .pi * Double(sample) / Double(Self.frameLength))
                let angle = 2 * .pi * Double(bin * sample % 512) / 512
                waves[bin * Self.frameLength + sample] = window * cos(angle)
                waves[(Self.bins + bin) * Self.frameLength + sample] = window * sin(angle)
            }
        }
        self.waves = waves
        triangles = Self.melTriangles()
    }

    private static func melTriangles() -> [Double] {
        func mel(_ frequency: Double) -> Double { 1127 * log(1 + frequency / 700) }
        let (low, high) = (mel(125), mel(7500))
        let edges = (0..<bands + 2).map { low + (high - low) * Double($0) / Double(bands + 1) }
        var triangles = [Double](repeating: 0, count: bands * bins)
        for band in 0..<bands {
            for bin in 1..<bins {
                let position = mel(Double(bin) * rate / 2 / Double(bins - 1))
                let rise = (position - edges[band]) / (edges[band + 1] - edges[band])
                let fall = (edges[band + 2] - position) / (edges[band + 2] - edges[band + 1])
                triangles[band * bins + bin] = Swift.max(0, Swift.min(rise, fall))
            }
        }
        return triangles
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let column = try batch.column(input)
        let rows = try column.rows(named: input)
        guard rows.shape[1] == Self.samples else {
            throw ModelError(
                .invalidInput,
                "the input '\(input)' has \(rows.shape[1]) samples; the model takes \(Self.samples), 0.975 s at 16 kHz"
            )
        }
        let size = Self.frames * Self.bands
        var result = Tensor(uninitialized: .float64, shape: [batch.count, 1, Self.frames, Self.bands])
        result.withMutableElements(of: Double.self) { target in
            rows.withElements(of: Double.self) { source in
                guard let source = source.baseAddress, let target = target.baseAddress else { return }
                // The samples are only read; each range writes its own rows.
                nonisolated(unsafe) let (x, y) = (source, target)
                inParallel(batch.count, work: 1 << 20) { range in
                    for row in range { spectrogram(x + row * Self.samples, into: y + row * size) }
                }
            }
        }
        let flat = result.reshaped([batch.count, size])
        guard case .arrays(let tensor) = try output.column(flat) else { return [output.name: try output.column(flat)] }
        // Without a stated shape, VGGish's.
        let hasShape = tensor.shape.count > 2
        return [
            output.name: .arrays(hasShape ? tensor : tensor.reshaped([batch.count, 1, Self.frames, Self.bands]))
        ]
    }

    private func spectrogram(_ samples: UnsafePointer<Double>, into result: UnsafeMutablePointer<Double>) {
        let width = 2 * Self.bins
        var spectrum = [Double](repeating: 0, count: Self.frames * width)
        var magnitudes = [Double](repeating: 0, count: Self.frames * Self.bins)
        DoubleKernel.dotProducts(
            samples,
            rows: Self.frames,
            stride: Self.hop,
            waves,
            rows: width,
            terms: Self.frameLength,
            into: &spectrum
        )
        for frame in 0..<Self.frames {
            for bin in 0..<Self.bins {
                let (real, imaginary) = (spectrum[frame * width + bin], spectrum[frame * width + Self.bins + bin])
                magnitudes[frame * Self.bins + bin] = (real * real + imaginary * imaginary).squareRoot()
            }
        }
        DoubleKernel.dotProducts(
            magnitudes,
            rows: Self.frames,
            triangles,
            rows: Self.bands,
            terms: Self.bins,
            into: result
        )
        for index in 0..<Self.frames * Self.bands { result[index] = log(result[index] + 0.01) }
    }
}
