import MLNumerics

/// Groups sounds by their recording conditions.
///
/// The speaker, the singing species or the microphone shapes the mean spectrum of a recording. A penalty chosen by
/// predicting sounds from others of the same group is too small for sounds of new groups; one chosen by predicting each
/// group from the others is not.
package enum SpectrumGroups {
    /// The number of groups.
    static let count = 4

    private static let passes = 50

    /// The group of each example: Lloyd's k-means of mean spectra, minus the mean of their class.
    ///
    /// - Parameters:
    ///   - spectrograms: The spectrograms [examples, bands, frames], with their classes.
    ///   - classCount: The number of classes.
    ///   - bands: The number of frequency bands.
    ///   - frames: The number of frames of a spectrogram.
    ///   - seed: The seed of the initial centres, which are drawn with probabilities proportional to the squared
    ///     distance from the nearest centre (k-means++).
    /// - Returns: The index of each example's group.
    package static func groups(
        _ spectrograms: LabeledExamples,
        classCount: Int,
        bands: Int,
        frames: Int,
        seed: UInt64
    ) -> [Int] {
        let count = spectrograms.count
        var spectra = [[Double]](repeating: [Double](repeating: 0, count: bands), count: count)
        var means = [[Double]](repeating: [Double](repeating: 0, count: bands), count: classCount)
        var sizes = [Double](repeating: 0, count: classCount)
        for (index, label) in spectrograms.labels.enumerated() {
            sizes[label] += 1
            for band in 0..<bands {
                let start = (index * bands + band) * frames
                let sum = spectrograms.values[start..<start + frames].reduce(0.0) { $0 + Double($1) }
                spectra[index][band] = sum / Double(frames)
                means[label][band] += sum / Double(frames)
            }
        }
        for (index, label) in spectrograms.labels.enumerated() {
            for band in 0..<bands { spectra[index][band] -= means[label][band] / sizes[label] }
        }
        func distance(_ a: [Double], _ b: [Double]) -> Double {
            var sum = 0.0
            for band in 0..<bands { sum += (a[band] - b[band]) * (a[band] - b[band]) }
            return sum
        }
        var source = SplitMix64(seed: seed)
        var centres = [spectra[Int(source.next() % UInt64(count))]]
        var nearest = spectra.map { distance($0, centres[0]) }
        while centres.count < min(Self.count, count) {
            var draw = source.unit() * nearest.reduce(0, +)
            let chosen = nearest.firstIndex { distance in
                draw -= distance
                return draw < 0
            }
            centres.append(spectra[chosen ?? count - 1])
            for index in 0..<count {
                nearest[index] = min(nearest[index], distance(spectra[index], centres[centres.count - 1]))
            }
        }
        var groups = [Int](repeating: 0, count: count)
        for _ in 0..<passes {
            let former = groups
            groups = spectra.map { spectrum in
                let distances = centres.map { distance(spectrum, $0) }
                return distances.indices.min { distances[$0] < distances[$1] } ?? 0
            }
            guard groups != former else { break }
            for group in centres.indices {
                let members = groups.indices.filter { groups[$0] == group }
                guard !members.isEmpty else { continue }
                for band in 0..<bands {
                    centres[group][band] = members.reduce(0) { $0 + spectra[$1][band] } / Double(members.count)
                }
            }
        }
        return groups
    }
}
