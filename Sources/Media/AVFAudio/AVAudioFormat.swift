public import Foundation

/// A number of channels.
public typealias AVAudioChannelCount = UInt32
/// A number of frames: a sample of each channel.
public typealias AVAudioFrameCount = UInt32
/// A frame's number in a stream.
public typealias AVAudioFramePosition = Int64

/// The samples' form.
public enum AVAudioCommonFormat: UInt, Sendable {
    /// Another form; buffers of it cannot be made here.
    case otherFormat = 0
    /// 32-bit floating point numbers, the standard form.
    case pcmFormatFloat32 = 1
    /// 64-bit floating point numbers; buffers of it cannot be made here.
    case pcmFormatFloat64 = 2
    /// 16-bit integers.
    case pcmFormatInt16 = 3
    /// 32-bit integers; buffers of it cannot be made here.
    case pcmFormatInt32 = 4
}

/// The form of a sound's samples.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class AVAudioFormat: NSObject, @unchecked Sendable {
    /// Frames a second.
    public let sampleRate: Double
    /// The number of channels.
    public let channelCount: AVAudioChannelCount
    /// The samples' form.
    public let commonFormat: AVAudioCommonFormat
    /// Whether a frame's samples follow each other; otherwise each channel has its own memory.
    public let isInterleaved: Bool
    /// Whether samples are 32-bit floating point numbers, each channel in its own memory.
    public var isStandard: Bool { commonFormat == .pcmFormatFloat32 && !isInterleaved }

    /// Creates a format; `nil` if the rate is not positive, there are no channels, or the form is `.otherFormat`.
    public init?(
        commonFormat format: AVAudioCommonFormat,
        sampleRate: Double,
        channels: AVAudioChannelCount,
        interleaved: Bool
    ) {
        guard sampleRate > 0, sampleRate.isFinite, channels > 0, format != .otherFormat else { return nil }
        (self.sampleRate, channelCount, commonFormat, isInterleaved) = (sampleRate, channels, format, interleaved)
    }

    /// Creates the standard format: 32-bit floating point numbers, each channel in its own memory.
    ///
    /// It is `nil` if the rate is not positive or there are no channels.
    public convenience init?(standardFormatWithSampleRate sampleRate: Double, channels: AVAudioChannelCount) {
        self.init(commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, channels: channels, interleaved: false)
    }

    /// Whether another object is a format with the same values.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? AVAudioFormat else { return false }
        return sampleRate == other.sampleRate && channelCount == other.channelCount
            && commonFormat == other.commonFormat && isInterleaved == other.isInterleaved
    }

    /// Equal formats have equal hashes.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(sampleRate)
        hasher.combine(channelCount)
        hasher.combine(commonFormat)
        hasher.combine(isInterleaved)
        return hasher.finalize()
    }

    /// The format as text.
    open override var description: String {
        "\(channelCount) channels, \(sampleRate) Hz, \(commonFormat)\(isInterleaved ? ", interleaved" : "")"
    }
}

/// Samples of a format.
open class AVAudioBuffer: NSObject {
    /// The form of the samples.
    public let format: AVAudioFormat

    init(format: AVAudioFormat) { self.format = format }
}

/// Uncompressed samples in memory.
open class AVAudioPCMBuffer: AVAudioBuffer {
    /// The number of frames that there is memory for.
    public let frameCapacity: AVAudioFrameCount
    private var length: AVAudioFrameCount = 0
    private let memory: UnsafeMutableRawPointer
    private let floats: UnsafeMutablePointer<UnsafeMutablePointer<Float>>?
    private let integers: UnsafeMutablePointer<UnsafeMutablePointer<Int16>>?

    /// Makes memory for frames of silence; `nil` for forms other than 32-bit floating point and 16-bit integers.
    public init?(pcmFormat format: AVAudioFormat, frameCapacity: AVAudioFrameCount) {
        let isFloat = format.commonFormat == .pcmFormatFloat32
        guard isFloat || format.commonFormat == .pcmFormatInt16 else { return nil }
        let channels = Int(format.channelCount)
        let (samples, isTooLarge) = channels.multipliedReportingOverflow(by: Int(frameCapacity))
        guard !isTooLarge, samples < 1 << 40 else { return nil }
        let size = max(samples, 1) * (isFloat ? 4 : 2)
        memory = .allocate(byteCount: size, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        // Interleaved samples are in one memory; channels begin one sample apart.
        let step = format.isInterleaved ? 1 : Int(frameCapacity)
        if isFloat {
            let base = memory.bindMemory(to: Float.self, capacity: max(samples, 1))
            let pointers = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: channels)
            for channel in 0..<channels { (pointers + channel).initialize(to: base + channel * step) }
            (floats, integers) = (pointers, nil)
        } else {
            let base = memory.bindMemory(to: Int16.self, capacity: max(samples, 1))
            let pointers = UnsafeMutablePointer<UnsafeMutablePointer<Int16>>.allocate(capacity: channels)
            for channel in 0..<channels { (pointers + channel).initialize(to: base + channel * step) }
            (floats, integers) = (nil, pointers)
        }
        self.frameCapacity = frameCapacity
        super.init(format: format)
    }

    deinit {
        floats?.deallocate()
        integers?.deallocate()
        memory.deallocate()
    }

    /// The number of frames that are sound, at most `frameCapacity`; 0 at first.
    open var frameLength: AVAudioFrameCount {
        get { length }
        set {
            precondition(newValue <= frameCapacity, "the buffer has room for \(frameCapacity) frames, not \(newValue)")
            length = newValue
        }
    }

    /// The distance between consecutive samples of a channel: 1, or the number of channels where they are interleaved.
    public var stride: Int { format.isInterleaved ? Int(format.channelCount) : 1 }
    /// A pointer to the samples of each channel, `stride` apart; `nil` unless they are 32-bit floating point numbers.
    public var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? { floats.map { UnsafePointer($0) } }
    /// A pointer to the samples of each channel, `stride` apart; `nil` unless they are 16-bit integers.
    public var int16ChannelData: UnsafePointer<UnsafeMutablePointer<Int16>>? { integers.map { UnsafePointer($0) } }
}
