import CSoundFile

/// A sound file that is read from front to back: WAV, FLAC, Ogg, AIFF and whatever else libsndfile knows.
package final class SoundFile {
    package let path: String
    /// Frames a second.
    package let rate: Int
    package let channelCount: Int

    /// Frames that the header promises; not to be relied on.
    private let statedFrames: Int64
    private let file: OpaquePointer
    private var frames: [Float]
    /// Frames read so far.
    private var position = 0

    /// Frames that are read at once.
    private static let block = 1 << 14

    /// Rates that the resampler is made for.
    private static let rates = 1000...768_000

    /// - Throws: when there is no such file, it is no sound, or its rate or number of channels is out of range.
    package init(path: String) throws(SoundError) {
        self.path = path
        var info = csoundfile_info()
        var reason = [CChar](repeating: 0, count: 256)
        guard !path.utf8.contains(0), let file = csoundfile_open(path, &info, &reason, reason.count) else {
            let why = SoundFile.text(reason)
            throw SoundError(
                path: path,
                message: "the file cannot be read as sound (\(why.isEmpty ? "its name holds a zero byte" : why)); "
                    + "convert it to WAV or FLAC, or remove it"
            )
        }
        self.file = file
        (rate, channelCount, statedFrames) = (Int(info.rate), Int(info.channels), info.frames)
        frames = []
        guard Self.rates.contains(rate), (1...256).contains(channelCount) else {
            throw SoundError(
                path: path,
                message: "the file has \(channelCount) channels of \(rate) samples per second; "
                    + "rates from 1,000 to 768,000 and up to 256 channels can be read"
            )
        }
        frames = [Float](repeating: 0, count: Self.block * channelCount)
    }

    deinit { csoundfile_close(file) }

    private static func text(_ bytes: [CChar]) -> String {
        String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The next block as one channel, the mean of all; empty at the end.
    /// - Throws: when the bytes are broken or a sample is not a number.
    package func next() throws(SoundError) -> [Float] {
        var reason = [CChar](repeating: 0, count: 256)
        let count = Int(csoundfile_read(file, &frames, Int64(Self.block), &reason, reason.count))
        guard count >= 0 else {
            throw SoundError(
                path: path,
                message: "the file is broken after \(position) frames (\(Self.text(reason))); replace or remove it"
            )
        }
        var mono = [Float](repeating: 0, count: count)
        let scale = 1 / Float(channelCount)
        for frame in 0..<count {
            var total: Float = 0
            for channel in 0..<channelCount { total += frames[frame * channelCount + channel] }
            guard total.isFinite else {
                throw SoundError(
                    path: path,
                    message: "frame \(position + frame) is \(total), not a sound pressure; replace or remove the file"
                )
            }
            mono[frame] = total * scale
        }
        position += count
        return mono
    }

    /// The whole file as one channel of `rate` samples a second.
    ///
    /// - Parameters:
    ///   - path: The sound file.
    ///   - rate: The sampling rate of the result in hertz.
    ///   - limit: The longest sound, in seconds, that is read.
    /// - Returns: The samples, -1 to 1.
    /// - Throws: `SoundError` when the bytes are broken, there is no sound in them, or it is longer than `limit`.
    package static func samples(
        ofFile path: String,
        rate: Int,
        limit: Double = 3600
    ) throws(SoundError) -> [Float] {
        let file = try SoundFile(path: path)
        let tooLong = SoundError(
            path: path,
            message: "the sound is longer than \(Int(limit)) seconds; cut it into shorter files"
        )
        // Compressed streams state no length, which reads as a huge one: only those of known length are refused early.
        if file.statedFrames < Int64(1) << 40, Double(file.statedFrames) > limit * Double(file.rate) { throw tooLong }
        var resampler = Resampler(from: file.rate, to: rate)
        var result: [Float] = []
        while true {
            let block = try file.next()
            if block.isEmpty { break }
            resampler.append(block, to: &result)
            if Double(file.position) > limit * Double(file.rate) { throw tooLong }
        }
        guard file.position > 0 else {
            throw SoundError(path: path, message: "the file holds no sound; remove it")
        }
        resampler.finish(to: &result)
        return result
    }
}
