import AVFAudio
import CoreMedia
import Foundation
import SoundAnalysis
import Testing

@Suite("Analysis of sound in buffers")
struct StreamAnalysisTests {
    /// A buffer with the same samples in each channel.
    private func buffer(_ samples: ArraySlice<Float>, _ format: AVAudioFormat) throws -> AVAudioPCMBuffer {
        let count = AVAudioFrameCount(samples.count)
        let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: count))
        buffer.frameLength = count
        for (frame, sample) in samples.enumerated() {
            for channel in 0..<Int(format.channelCount) {
                buffer.floatChannelData?[channel][frame * buffer.stride] = sample
                buffer.int16ChannelData?[channel][frame * buffer.stride] = Int16(sample * 32_767)
            }
        }
        return buffer
    }

    @Test func `buffers of any size give the windows of the whole`() throws {
        let samples = SoundFixtures.samples(rate: 44_100)
        let formats = [
            try #require(AVAudioFormat(standardFormatWithSampleRate: 44_100, channels: 1)),
            try #require(
                AVAudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 44_100, channels: 2, interleaved: true)
            ),
            try #require(
                AVAudioFormat(commonFormat: .pcmFormatFloat32, sampleRate: 44_100, channels: 3, interleaved: true)
            ),
        ]
        for (format, size) in zip(formats, [1000, 44_100, 317]) {
            let analyzer = SNAudioStreamAnalyzer(format: format)
            let listener = Listener()
            try analyzer.add(SNClassifySoundRequest(mlModel: SoundFixtures.model()), withObserver: listener)
            for start in stride(from: 0, to: samples.count, by: size) {
                let part = samples[start..<min(start + size, samples.count)]
                analyzer.analyze(try buffer(part, format), atAudioFramePosition: AVAudioFramePosition(start))
            }
            analyzer.completeAnalysis()
            analyzer.completeAnalysis()
            #expect(listener.results.count == 199 && listener.completions == 1 && listener.errors.isEmpty)
            #expect(listener.turns == ["up", "down"])
            #expect(listener.results[198].timeRange.end.seconds == 1)
        }
    }

    @Test func `windows begin anew where frames are missing`() throws {
        let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 16_000, channels: 1))
        let analyzer = SNAudioStreamAnalyzer(format: format)
        let listener = Listener()
        try analyzer.add(SNClassifySoundRequest(mlModel: SoundFixtures.model()), withObserver: listener)
        let part = [Float](repeating: 0.5, count: 200)
        analyzer.analyze(try buffer(part[...], format), atAudioFramePosition: 1600)
        analyzer.analyze(try buffer(part[...], format), atAudioFramePosition: 1800)
        analyzer.analyze(try buffer(part[...], format), atAudioFramePosition: 16_000)
        #expect(listener.results.map(\.timeRange.start.seconds) == [0.1, 0.105, 0.11, 0.115, 1])
    }

    @Test func `buffers of another format end the requests`() throws {
        let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 16_000, channels: 1))
        let other = try #require(AVAudioFormat(standardFormatWithSampleRate: 8000, channels: 1))
        let analyzer = SNAudioStreamAnalyzer(format: format)
        let listener = Listener()
        let request = try SNClassifySoundRequest(mlModel: SoundFixtures.model())
        try analyzer.add(request, withObserver: listener)
        analyzer.analyze(try buffer([0, 0], other), atAudioFramePosition: 0)
        #expect((listener.errors.first as? SNError)?.code == .invalidFormat)
        analyzer.completeAnalysis()
        #expect(listener.completions == 0 && listener.errors.count == 1)
        let odd = try #require(AVAudioFormat(standardFormatWithSampleRate: 11_025.5, channels: 1))
        #expect(throws: SNError.self) {
            try SNAudioStreamAnalyzer(format: odd).add(request, withObserver: listener)
        }
    }

    @Test func `formats and buffers`() throws {
        #expect(AVAudioFormat(standardFormatWithSampleRate: 0, channels: 1) == nil)
        #expect(AVAudioFormat(standardFormatWithSampleRate: 8000, channels: 0) == nil)
        let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 8000, channels: 2))
        #expect(format.isStandard && format == AVAudioFormat(standardFormatWithSampleRate: 8000, channels: 2))
        let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 4))
        #expect(buffer.frameLength == 0 && buffer.stride == 1 && buffer.int16ChannelData == nil)
        let data = try #require(buffer.floatChannelData)
        data[1][3] = 7
        #expect(data[0][3] == 0 && data[1] == data[0] + 4)
        let wide = AVAudioFormat(commonFormat: .pcmFormatFloat64, sampleRate: 8000, channels: 1, interleaved: false)
        #expect(AVAudioPCMBuffer(pcmFormat: try #require(wide), frameCapacity: 4) == nil)
    }
}

@Suite("Times")
struct TimeTests {
    @Test func `times are fractions`() {
        let half = CMTime(value: 1, timescale: 2)
        #expect(
            half == CMTime(value: 300, timescale: 600) && half.hashValue == CMTime(value: 300, timescale: 600).hashValue
        )
        #expect(half + CMTime(value: 1, timescale: 3) == CMTime(value: 5, timescale: 6))
        #expect((half - CMTime(value: 2, timescale: 1)).seconds == -1.5)
        #expect(CMTime(value: 1, timescale: 3) < half && half < .positiveInfinity && .negativeInfinity < half)
        #expect(CMTime(seconds: 1.0 / 3, preferredTimescale: 1000) == CMTime(value: 333, timescale: 1000))
        #expect(CMTime(seconds: 1.0 / 3, preferredTimescale: 1000).hasBeenRounded)
        #expect(!CMTime.invalid.isValid && CMTime.invalid.seconds.isNaN && CMTime(value: 1, timescale: 0) == .invalid)
        #expect(CMTimeGetSeconds(CMTimeMake(value: 3, timescale: 4)) == 0.75)
        #expect(CMTime(seconds: .infinity, preferredTimescale: 1) == .positiveInfinity)
        let large = CMTime(value: .max, timescale: 1) + CMTime(value: .max, timescale: 7)
        #expect(large.isPositiveInfinity)
    }

    @Test func `ranges contain their start and not their end`() {
        let range = CMTimeRange(start: CMTime(value: 1, timescale: 1), end: CMTime(value: 3, timescale: 1))
        #expect(range.duration.seconds == 2 && range.isValid && !range.isEmpty)
        #expect(range.containsTime(range.start) && !range.containsTime(range.end) && !CMTimeRange.invalid.isValid)
        #expect(CMTimeRange.zero.isEmpty && !CMTimeRange.zero.containsTime(.zero))
    }
}
