import CoreMedia
import CoreML
import CoreMLExtras
import Foundation
import SoundAnalysis
import Testing

@Suite("Analysis of sound files")
struct FileAnalysisTests {
    private func analyze(_ data: Data, _ request: SNClassifySoundRequest) throws -> Listener {
        let listener = Listener()
        try SoundFixtures.withFile(data) { url in
            let analyzer = try SNAudioFileAnalyzer(url: url)
            try analyzer.add(request, withObserver: listener)
            analyzer.analyze()
        }
        return listener
    }

    @Test(arguments: [(16_000, 1), (48_000, 2), (22_050, 1)])
    func `windows are answered in the order of time`(rate: Int, channels: Int) throws {
        let request = try SNClassifySoundRequest(mlModel: SoundFixtures.model())
        #expect(request.overlapFactor == 0.5 && request.windowDuration == CMTime(value: 1, timescale: 100))
        #expect(request.knownClassifications == ["up", "down"])
        let data = SoundFixtures.wav(SoundFixtures.samples(rate: rate), rate: rate, channels: channels)
        let listener = try analyze(data, request)
        #expect(listener.errors.isEmpty && listener.completions == 1)
        // 16,000 samples, windows of 160 that begin every 80.
        #expect(listener.results.count == 199)
        #expect(listener.results.map(\.timeRange.start.value) == (0..<199).map { 80 * $0 })
        #expect(listener.results.allSatisfy { $0.timeRange.duration.seconds == 0.01 })
        #expect(listener.turns == ["up", "down"])
        let last = try #require(listener.results.last)
        #expect(last.classifications.map(\.identifier) == ["down", "up"])
        #expect(last.classification(forIdentifier: "down")!.confidence > 0.99)
        #expect(last.classification(forIdentifier: "whistle") == nil)
        #expect(last.timeRange.end == CMTime(value: 1, timescale: 1))
    }

    @Test func `windows have the length and the overlap that are asked for`() throws {
        let type = ModelArrayType(shape: [1, 160], flexibility: .ranges([1...1, 80...1600]))
        let request = try SNClassifySoundRequest(mlModel: SoundFixtures.model(type))
        guard case .durationRange(let range) = request.windowDurationConstraint else {
            Issue.record("the lengths are a range")
            return
        }
        #expect(range.start.seconds == 0.005 && range.end.seconds == 0.1)
        request.windowDuration = CMTime(seconds: 0.05, preferredTimescale: 1000)
        request.overlapFactor = 0
        let data = SoundFixtures.wav(SoundFixtures.samples(rate: 16_000, seconds: 1.03), rate: 16_000)
        // 16,480 samples: twenty windows of 800, and a rest that is too short.
        #expect(try analyze(data, request).results.map(\.timeRange.start.value) == (0..<20).map { 800 * $0 })
        request.windowDuration = CMTime(value: 10, timescale: 1)
        #expect(request.windowDuration.seconds == 0.1)
        request.overlapFactor = 7
        #expect(request.overlapFactor < 1)
        let listed = ModelArrayType(shape: [160], flexibility: .shapes([[160], [400]]))
        let other = try SNClassifySoundRequest(mlModel: SoundFixtures.model(listed))
        other.windowDuration = CMTime(value: 1, timescale: 50)
        #expect(other.windowDuration.seconds == 0.025)
        #expect(
            other.windowDurationConstraint
                == .enumeratedDurations([CMTime(value: 1, timescale: 100), CMTime(value: 1, timescale: 40)])
        )
    }

    @Test func `a sound that is shorter than a window is followed by silence`() throws {
        let request = try SNClassifySoundRequest(mlModel: SoundFixtures.model())
        let listener = try analyze(SoundFixtures.wav([0.5, 0.5, 0.5], rate: 16_000), request)
        #expect(listener.results.count == 1 && listener.turns == ["up"])
        #expect(abs(listener.results[0].classifications[0].confidence - 0.594) < 0.01)
    }

    @Test func `several requests, and a second analysis`() throws {
        let (first, second) = (Listener(), Listener())
        try SoundFixtures.withFile(SoundFixtures.wav(SoundFixtures.samples(rate: 16_000), rate: 16_000)) { url in
            let analyzer = try SNAudioFileAnalyzer(url: url)
            let request = try SNClassifySoundRequest(mlModel: SoundFixtures.model())
            let other = try SNClassifySoundRequest(mlModel: SoundFixtures.model())
            other.overlapFactor = 0
            try analyzer.add(request, withObserver: first)
            try analyzer.add(other, withObserver: second)
            #expect(throws: SNError.self) { try analyzer.add(request, withObserver: second) }
            analyzer.analyze()
            #expect(first.results.count == 199 && second.results.count == 100)
            analyzer.remove(request)
            analyzer.analyze()
            #expect(first.results.count == 199 && second.results.count == 200 && second.completions == 2)
            analyzer.removeAllRequests()
            analyzer.analyze()
            #expect(second.completions == 2)
        }
    }

    @Test func `an analysis runs on another thread, and can be cancelled`() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("sound-\(UUID().uuidString).wav")
        defer { try? FileManager.default.removeItem(at: url) }
        try SoundFixtures.wav(SoundFixtures.samples(rate: 16_000, seconds: 10), rate: 16_000).write(to: url)
        let analyzer = try SNAudioFileAnalyzer(url: url)
        let listener = Listener()
        try analyzer.add(SNClassifySoundRequest(mlModel: SoundFixtures.model()), withObserver: listener)
        #expect(await analyzer.analyze())
        #expect(listener.results.count == 1999 && listener.completions == 1)
        listener.heard = { analyzer.cancelAnalysis() }
        #expect(await !analyzer.analyze())
        #expect(listener.results.count < 2 * 1999 && listener.completions == 1)
        listener.heard = {}
        let isComplete = await withCheckedContinuation { continuation in
            analyzer.analyze(completionHandler: { continuation.resume(returning: $0) })
        }
        #expect(isComplete && listener.completions == 2)
    }

    @Test func `what cannot be analysed is an error with its code`() throws {
        func code(_ body: () throws -> Void) -> SNError.Code? {
            do {
                try body()
                return nil
            } catch { return (error as? SNError)?.code }
        }
        let missing = URL(fileURLWithPath: "/nowhere/sound.wav")
        #expect(code { _ = try SNAudioFileAnalyzer(url: missing) } == .invalidFile)
        try SoundFixtures.withFile(Data("no sound".utf8)) { url in
            #expect(code { _ = try SNAudioFileAnalyzer(url: url) } == .invalidFile)
        }
        #expect(code { _ = try SNClassifySoundRequest(classifierIdentifier: .version1) } == .operationFailed)
        var builder = NeuralNetworkBuilder()
        builder.input("x", .array([4]))
        builder.activation("y", .relu, "x")
        builder.output("y", .array([4]))
        let network = try builder.finished().model()
        #expect(code { _ = try SNClassifySoundRequest(mlModel: network) } == .invalidModel)
        final class Other: NSObject, SNRequest {}
        try SoundFixtures.withFile(SoundFixtures.wav([0, 0], rate: 8000)) { url in
            let analyzer = try SNAudioFileAnalyzer(url: url)
            #expect(code { try analyzer.add(Other(), withObserver: Listener()) } == .operationFailed)
        }
    }
}
