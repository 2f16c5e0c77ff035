import CreateML
import Foundation
import MLImages
import MLNumerics
import Testing

/// Frames of programs in the place of `ffmpeg`, which print what it would.
@Suite struct VideoFrameTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("frames-\(UUID().uuidString)")

    /// The frames that a shell program prints; its arguments are kept in `arguments`.
    private func frames(_ script: String, rate: Double = 30, seconds: ClosedRange<Double>? = nil) throws -> [Bitmap] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appendingPathComponent("program")
        try "#!/bin/sh\necho \"$@\" > '\(folder.path)/arguments'\n\(script)\n"
            .write(to: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        let video = folder.appendingPathComponent("concat:x.mp4")
        try Data([1]).write(to: video)
        let source = try VideoFrames(video, frameRate: rate, seconds: seconds, program: program.path)
        var result: [Bitmap] = []
        while let frame = try source.next() { result.append(frame) }
        let said = try String(contentsOf: folder.appendingPathComponent("arguments"), encoding: .utf8)
        #expect(
            said.contains("-i file:\(video.path) ") && said.contains("fps=\(rate),")
                && said.contains("whitelist file,pipe")
        )
        if let seconds {
            #expect(said.contains("-ss \(seconds.lowerBound) -t \(seconds.upperBound - seconds.lowerBound) "))
        }
        return result
    }

    private func message(_ script: String) -> String {
        do {
            _ = try frames(script)
            return "no error"
        } catch { return "\(error)" }
    }

    @Test func `Pictures come in their order`() throws {
        let found = try frames(
            "for c in a b c; do printf 'P6\\n2 1\\n255\\n'; printf \"$c$c$c$c$c$c\"; done",
            rate: 12.5,
            seconds: 1...3.5
        )
        #expect(found.map(\.pixels) == [97, 98, 99].map { [$0, $0, $0, 255, $0, $0, $0, 255] })
        #expect(found.allSatisfy { $0.width == 2 && $0.height == 1 })
        #expect(try frames("exit 0").isEmpty)
    }

    @Test func `Failures are told in the program's words`() {
        #expect(message("echo 'moov atom not found' >&2; exit 1").contains("moov atom not found"))
        #expect(message("exit 3").contains("status 3"))
        for text in [
            "hello there, this is no picture at all", "P6\\n0 1\\n255\\n", "P6\\n99999 99999\\n255\\n", "P5\\n",
        ] {
            #expect(message("printf '\(text)'").contains("cannot be read"))
        }
        #expect(message("printf 'P6\\n2 2\\n255\\nabc'").contains("cut off"))
        // One that never ends is stopped at its first bad picture.
        #expect(message("while :; do echo nonsense; done").contains("other than frames"))
    }

    @Test func `What is missing is named`() {
        func message(_ path: String, rate: Double = 30, program: String?) -> String {
            do throws(ModelError) {
                _ = try VideoFrames(URL(fileURLWithPath: path), frameRate: rate, program: program)
                return "no error"
            } catch { return error.description }
        }
        #expect(message("/nowhere.mp4", program: nil).contains("no such video"))
        let missing = message("/dev/null", program: "/nowhere/ffmpeg")
        #expect(missing.contains("not a program that reads videos: /nowhere/ffmpeg"))
        for rate in [0, -1, .infinity, .nan] {
            #expect(message("/dev/null", rate: rate, program: nil).contains("frames per second"))
        }
    }
}
