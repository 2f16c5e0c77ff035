import Glibc
import MLAudio
import Testing

/// A WAV file of 16-bit samples, channel beside channel.
private func wav(_ samples: [Int16], rate: UInt32, channels: UInt16, dataSize: UInt32? = nil) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
    let size = UInt32(samples.count * 2)
    bytes += Array("RIFF".utf8)
    append(36 + size)
    bytes += Array("WAVEfmt ".utf8)
    append(UInt32(16))
    append(UInt16(1))
    append(channels)
    append(rate)
    append(rate * UInt32(channels) * 2)
    append(channels * 2)
    append(UInt16(16))
    bytes += Array("data".utf8)
    append(dataSize ?? size)
    for sample in samples { append(sample) }
    return bytes
}

/// A file that lasts as long as the test.
private final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8], _ name: String) {
        path = "/tmp/series-test-\(getpid())-\(name)"
        let file = fopen(path, "w")
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    deinit { unlink(path) }
}

@Suite struct AudioTests {
    /// The amplitude of a frequency in the middle of a sound, by a windowed sum.
    private static func amplitude(_ sound: [Float], _ frequency: Double, rate: Double) -> Double {
        let margin = sound.count / 8
        var (real, imaginary, total) = (0.0, 0.0, 0.0)
        for index in margin..<sound.count - margin {
            let place = Double(index - margin) / Double(sound.count - 2 * margin)
            // Blackman and Harris's window, whose side lobes lie below 92 dB.
            let window =
                0.35875 - 0.48829 * cos(2 * .pi * place) + 0.14128 * cos(4 * .pi * place) - 0.01168
                * cos(6 * .pi * place)
            let angle = 2 * Double.pi * frequency * Double(index) / rate
            real += window * Double(sound[index]) * cos(angle)
            imaginary += window * Double(sound[index]) * sin(angle)
            total += window
        }
        return 2 * (real * real + imaginary * imaginary).squareRoot() / total
    }

    private static func resampled(_ sound: [Float], _ source: Int, _ target: Int, block: Int) -> [Float] {
        var resampler = Resampler(from: source, to: target)
        var result: [Float] = []
        for start in stride(from: 0, to: sound.count, by: block) {
            resampler.append(Array(sound[start..<min(start + block, sound.count)]), to: &result)
        }
        resampler.finish(to: &result)
        return result
    }

    /// A tone that both rates hold keeps frequency, amplitude and phase; nothing else appears.
    @Test(arguments: [(44100, 16000), (8000, 16000), (48000, 16000), (22050, 16000), (16000, 44100), (11025, 16000)])
    func tonesPass(source: Int, target: Int) {
        let frequency = 1000.0
        let sound = (0..<source).map { Float(0.5 * sin(2 * .pi * frequency * Double($0) / Double(source))) }
        let result = Self.resampled(sound, source, target, block: 4096)
        #expect(result.count == target)
        #expect(abs(Self.amplitude(result, frequency, rate: Double(target)) - 0.5) < 5e-4)
        for other in [250.0, 1500, 3000] {
            #expect(Self.amplitude(result, other, rate: Double(target)) < 2e-5)
        }
        // Nothing is delayed.
        for index in stride(from: target / 4, to: target / 2, by: 97) {
            let expected = 0.5 * sin(2 * .pi * frequency * Double(index) / Double(target))
            #expect(abs(Double(result[index]) - expected) < 2e-3)
        }
    }

    /// Frequencies above the lower rate do not come back as another tone.
    @Test func tonesAboveNyquistVanish() {
        for frequency in [8300.0, 9000, 12_000, 20_000] {
            let sound = (0..<44_100).map { Float(sin(2 * .pi * frequency * Double($0) / 44_100)) }
            let result = Self.resampled(sound, 44_100, 16_000, block: 1000)
            let energy = result[2000..<14_000].reduce(0.0) { $0 + Double($1) * Double($1) } / 12_000
            #expect(energy.squareRoot() < 1e-4, "\(frequency) Hz")
        }
    }

    @Test func blocksDoNotMatter() {
        let sound = (0..<5000).map { Float(sin(Double($0 * $0) * 1e-5)) }
        let whole = Self.resampled(sound, 44_100, 16_000, block: 5000)
        for block in [1, 7, 160, 1024] { #expect(Self.resampled(sound, 44_100, 16_000, block: block) == whole) }
        #expect(Self.resampled(sound, 16_000, 16_000, block: 100) == sound)
        // A rate without a common factor goes the way without a table.
        let odd = Self.resampled(sound, 383_981, 16_000, block: 300)
        #expect(odd == Self.resampled(sound, 383_981, 16_000, block: 5000))
        #expect(odd.count == (5000 * 16_000 + 383_980) / 383_981)
    }

    @Test func constantsStay() {
        let result = Self.resampled([Float](repeating: 0.25, count: 4000), 44_100, 16_000, block: 999)
        #expect(result[200..<1200].allSatisfy { abs($0 - 0.25) < 3e-6 })
    }

    @Test func channelsAreMixed() throws {
        let file = TemporaryFile(
            wav((0..<8000).flatMap { [Int16($0), Int16(1000)] }, rate: 16_000, channels: 2),
            "mix.wav"
        )
        let samples = try SoundFile.samples(ofFile: file.path, rate: 16_000)
        #expect(samples.count == 8000)
        #expect(samples[6000] == Float(7000) / 2 / 32_768)
        let half = try SoundFile.samples(ofFile: file.path, rate: 8000)
        #expect(half.count == 4000)
    }

    private func message(_ path: String, limit: Double = 3600) -> String {
        do throws(SoundError) {
            _ = try SoundFile.samples(ofFile: path, rate: 16_000, limit: limit)
            return ""
        } catch { return error.description }
    }

    @Test func brokenFilesAreNamed() {
        #expect(
            message("/tmp/there is no such file.wav").contains("there is no such file.wav: the file cannot be read")
        )
        let text = TemporaryFile(Array("not a sound at all, only some text".utf8), "text.wav")
        #expect(message(text.path).contains("cannot be read as sound"))
        let empty = TemporaryFile(wav([], rate: 8000, channels: 1), "empty.wav")
        #expect(message(empty.path).contains("holds no sound"))
        let nothing = TemporaryFile([], "nothing.wav")
        #expect(message(nothing.path).contains("cannot be read"))
        let slow = TemporaryFile(wav([1, 2, 3], rate: 10, channels: 1), "slow.wav")
        #expect(message(slow.path).contains("10 samples per second"))
        let long = TemporaryFile(wav([Int16](repeating: 1, count: 4000), rate: 2000, channels: 1), "long.wav")
        #expect(message(long.path, limit: 1).contains("longer than 1 seconds"))
        #expect(message(long.path, limit: 2.5).isEmpty)
        // 1 MB that a header promises and the file does not hold.
        let cut = TemporaryFile(
            wav([Int16](repeating: 5, count: 100), rate: 8000, channels: 1, dataSize: 1 << 20),
            "cut.wav"
        )
        #expect(message(cut.path).isEmpty || message(cut.path).contains("broken"))
    }

    /// Files with bytes changed or cut off give samples or an error, never a trap.
    @Test func damagedFilesDoNotTrap() throws {
        let whole = wav((0..<2000).map { Int16(truncatingIfNeeded: $0 &* 37) }, rate: 11_025, channels: 2)
        var state: UInt64 = 99
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for round in 0..<300 {
            var bytes = whole
            if round % 3 == 0 { bytes.removeLast(random(bytes.count)) }
            for _ in 0..<random(6) where !bytes.isEmpty { bytes[random(min(bytes.count, 60))] = UInt8(random(256)) }
            let file = TemporaryFile(bytes, "damaged.wav")
            do {
                let samples = try SoundFile.samples(ofFile: file.path, rate: 16_000, limit: 60)
                #expect(!samples.contains { !$0.isFinite })
            } catch {
                #expect("\(error)".contains("damaged.wav: "))
            }
        }
    }
}
