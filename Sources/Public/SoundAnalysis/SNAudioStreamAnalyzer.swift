public import AVFAudio
public import CoreML
import CoreMedia
import MLAudio

/// Analyses sound that arrives in buffers, from a microphone or a network.
///
/// Not for several threads at a time; observers are called on the thread that passes a buffer.
open class SNAudioStreamAnalyzer: NSObject {
    private let format: AVAudioFormat
    private let rate: Int
    private var requests = SoundRequests()
    private var resampler: Resampler
    /// The number of the frame that follows those that were passed; `nil` before the first.
    private var next: AVAudioFramePosition?
    private var isComplete = false

    /// Creates an analyzer for buffers of a format.
    ///
    /// A format whose rate is no whole number from 1,000 to 768,000 makes each request fail with `SNError.invalidFormat`
    /// when it is added.
    public init(format: AVAudioFormat) {
        self.format = format
        rate = Int(exactly: format.sampleRate) ?? 0
        resampler = Resampler(
            from: (1000...768_000).contains(rate) ? rate : Int(SNClassifySoundRequest.rate),
            to: Int(SNClassifySoundRequest.rate)
        )
    }

    /// Adds a request, whose results an observer receives; the analyzer keeps both.
    ///
    /// - Parameters:
    ///   - request: A request; its properties are taken over now.
    ///   - observer: Receives the results.
    /// - Throws: `SNError.invalidFormat` for a rate that is not supported, `SNError.operationFailed` for a request of an
    ///   unknown kind, or one that was added before.
    open func add(_ request: any SNRequest, withObserver observer: any SNResultsObserving) throws {
        guard (1000...768_000).contains(rate) else {
            throw SNError(
                .invalidFormat,
                "\(format.sampleRate) samples per second cannot be analysed; whole numbers from 1,000 to 768,000 can."
            )
        }
        try requests.add(request, observer)
    }

    /// Removes a request.
    open func remove(_ request: any SNRequest) { requests.remove(request) }

    /// Removes all requests.
    open func removeAllRequests() { requests.removeAll() }

    /// Analyses the next buffer.
    ///
    /// - Parameters:
    ///   - audioBuffer: Samples of the analyzer's format; requests fail with `SNError.invalidFormat` for others.
    ///   - audioFramePosition: The number of its first frame in the stream. Where frames are missing or come again, windows
    ///     restart.
    open func analyze(_ audioBuffer: AVAudioBuffer, atAudioFramePosition audioFramePosition: AVAudioFramePosition) {
        guard !isComplete else { return }
        guard audioBuffer.format == format, let buffer = audioBuffer as? AVAudioPCMBuffer else {
            let problem = SNError(.invalidFormat, "The buffer has the format \(audioBuffer.format), not \(format).")
            for request in requests.all { request.fail(problem) }
            return
        }
        if next != audioFramePosition {
            resampler = Resampler(from: rate, to: Int(SNClassifySoundRequest.rate))
            let start = CMTime(value: audioFramePosition, timescale: Int32(rate))
            for request in requests.all { request.restart(at: start) }
        }
        next = audioFramePosition &+ AVAudioFramePosition(buffer.frameLength)
        var samples: [Float] = []
        resampler.append(Self.mono(buffer), to: &samples)
        for request in requests.all { request.append(samples) }
    }

    /// Ends the stream; requests are complete.
    open func completeAnalysis() {
        guard !isComplete else { return }
        isComplete = true
        var samples: [Float] = []
        resampler.finish(to: &samples)
        for request in requests.all {
            request.append(samples)
            request.finish()
        }
    }

    /// The mean of the channels, −1…1.
    private static func mono(_ buffer: AVAudioPCMBuffer) -> [Float] {
        let (frames, channels) = (Int(buffer.frameLength), Int(buffer.format.channelCount))
        var result = [Float](repeating: 0, count: frames)
        let step = buffer.stride
        for channel in 0..<channels {
            if let floats = buffer.floatChannelData {
                for frame in 0..<frames { result[frame] += floats[channel][frame * step] }
            } else if let integers = buffer.int16ChannelData {
                for frame in 0..<frames { result[frame] += Float(integers[channel][frame * step]) / 32768 }
            }
        }
        let scale = 1 / Float(channels)
        return result.map { $0 * scale }
    }
}
