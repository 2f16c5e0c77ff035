import Foundation
package import MLImages
package import MLNumerics

/// The pictures of a video, sampled by their time stamps, in their order.
///
/// The program `ffmpeg` decodes; it runs as a child process that reads the one file and nothing else, and hands over
/// one picture at a time. Rotated videos are turned upright, and pictures are made no larger than `maximumSide`.
package final class VideoFrames {
    /// The largest width and height of a picture, in pixels.
    package static let maximumSide = 1280

    private let process = Process()
    private let pipe = Pipe()
    private let messages: URL
    private let path: String
    private var reader: PortablePixmap

    /// Starts to decode a video.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - frameRate: The pictures for each second, above 0. Where a video has fewer, pictures are repeated.
    ///   - seconds: The part of the video; the whole by default.
    ///   - program: The program that decodes; by default `COREML_FFMPEG`, else `ffmpeg` in the search path.
    /// - Throws: `.io` if there is no such file, and, with the names of the packages, if `ffmpeg` is not installed.
    package init(
        _ url: URL,
        frameRate: Double,
        seconds: ClosedRange<Double>? = nil,
        program: String? = nil
    ) throws(ModelError) {
        path = url.path
        guard frameRate > 0, frameRate <= 1000 else {
            throw ModelError(
                .invalidInput,
                "videos are sampled at up to 1000 frames per second, not \(frameRate)",
                at: path
            )
        }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ModelError(.io, "there is no such video, or it may not be read", at: path)
        }
        process.executableURL = try Self.program(program, for: path)
        messages = FileManager.default.temporaryDirectory.appendingPathComponent("video-\(UUID().uuidString).log")
        reader = PortablePixmap(pipe.fileHandleForReading, path: path)
        var arguments = ["-nostdin", "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file,pipe"]
        if let seconds {
            arguments += ["-ss", "\(max(seconds.lowerBound, 0))"]
            if seconds.upperBound.isFinite {
                arguments += ["-t", "\(seconds.upperBound - max(seconds.lowerBound, 0))"]
            }
        }
        let side = Self.maximumSide
        let scale = "scale=w='if(gt(iw,ih),min(\(side),iw),-2)':h='if(gt(iw,ih),-2,min(\(side),ih))'"
        arguments += ["-i", "file:" + url.absoluteURL.path, "-map", "0:v:0", "-an"]
        arguments += ["-vf", "fps=\(frameRate),\(scale)", "-f", "image2pipe", "-c:v", "ppm", "pipe:1"]
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        guard FileManager.default.createFile(atPath: messages.path, contents: nil),
            let log = FileHandle(forWritingAtPath: messages.path)
        else { throw ModelError(.io, "no temporary file can be written", at: messages.path) }
        process.standardError = log
        do {
            try process.run()
        } catch {
            throw ModelError(.io, "ffmpeg cannot be started: \(error.localizedDescription)", at: path)
        }
        try? log.close()
        try? pipe.fileHandleForWriting.close()
    }

    deinit {
        if process.isRunning { process.terminate() }
        try? FileManager.default.removeItem(at: messages)
    }

    private static func program(_ named: String?, for path: String) throws(ModelError) -> URL {
        let environment = ProcessInfo.processInfo.environment
        let folders = (environment["PATH"] ?? "").split(separator: ":").map { String($0) + "/ffmpeg" }
        let stated: String? = named ?? environment["COREML_FFMPEG"].flatMap { $0.isEmpty ? nil : $0 }
        let candidates: [String] = stated.map { [$0] } ?? folders
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw ModelError(
                .io,
                stated.map { "not a program that reads videos: \($0)" }
                    ?? "videos are read by the program ffmpeg, which is not installed; install the package ffmpeg (apt "
                    + "install ffmpeg, dnf install ffmpeg-free), or use folders of images, one for each frame",
                at: path
            )
        }
        return URL(fileURLWithPath: found)
    }

    /// The next picture; `nil` at the end.
    ///
    /// - Throws: `.malformed`, with the program's own words, for a video that cannot be decoded.
    package func next() throws(ModelError) -> Bitmap? {
        do throws(ModelError) {
            if let picture = try reader.next() { return picture }
        } catch {
            process.terminate()
            throw failure(error.message)
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0, process.terminationReason == .exit else {
            throw failure("ffmpeg ended with the status \(process.terminationStatus)")
        }
        return nil
    }

    private func failure(_ text: String) -> ModelError {
        let said = (try? String(decoding: Data(contentsOf: messages).prefix(1000), as: UTF8.self)) ?? ""
        let words = said.split(separator: "\n").prefix(3).joined(separator: "; ")
        return ModelError(.malformed, "the video cannot be read: \(words.isEmpty ? text : words)", at: path)
    }
}

/// Pictures one after another in Netpbm's form P6: a header of text, then three bytes for each pixel.
private struct PortablePixmap {
    private let handle: FileHandle
    private let path: String
    private var data = Data()

    init(_ handle: FileHandle, path: String) {
        self.handle = handle
        self.path = path
    }

    /// The next picture; `nil` at the end.
    mutating func next() throws(ModelError) -> Bitmap? {
        guard let form = try word() else { return nil }
        guard form == "P6", let width = Int(try word() ?? ""), let height = Int(try word() ?? ""), try word() == "255",
            (1...16_384).contains(width), (1...16_384).contains(height)
        else { throw ModelError(.malformed, "ffmpeg gave something other than frames", at: path) }
        guard try fill(3 * width * height) else {
            throw ModelError(.malformed, "its last frame is cut off", at: path)
        }
        var pixels = [UInt8](repeating: 255, count: 4 * width * height)
        data.withUnsafeBytes { (source: UnsafeRawBufferPointer) in
            for pixel in 0..<width * height {
                for component in 0..<3 { pixels[4 * pixel + component] = source[3 * pixel + component] }
            }
        }
        data = Data(data.dropFirst(3 * width * height))
        return Bitmap(width: width, height: height, layout: .rgba, pixels: pixels)
    }

    /// The next word of a header and the space behind it; `nil` at the end.
    private mutating func word() throws(ModelError) -> String? {
        for length in 0..<16 {
            guard try fill(length + 1) else {
                if length == 0 { return nil }
                throw ModelError(.malformed, "the header of a frame is cut off", at: path)
            }
            let last = data[data.startIndex + length]
            if last == 0x20 || last == 0x0A {
                let text = String(decoding: data.prefix(length), as: UTF8.self)
                data = Data(data.dropFirst(length + 1))
                return text
            }
        }
        throw ModelError(.malformed, "ffmpeg gave something other than frames", at: path)
    }

    /// Reads until `count` bytes are there; false at the end.
    private mutating func fill(_ count: Int) throws(ModelError) -> Bool {
        while data.count < count {
            let more: Data?
            do {
                more = try handle.read(upToCount: max(count - data.count, 1 << 16))
            } catch {
                throw ModelError(.io, "\(error.localizedDescription)", at: path)
            }
            guard let more, !more.isEmpty else { return false }
            data.append(more)
        }
        return true
    }
}
