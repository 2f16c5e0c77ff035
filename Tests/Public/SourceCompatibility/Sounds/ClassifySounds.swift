// Source in the style of an app that names the sounds of a file, and of a microphone.

import AVFAudio
import CoreML
import SoundAnalysis

/// Prints the most probable class of each window.
final class ResultsObserver: NSObject, SNResultsObserving {
    func request(_ request: any SNRequest, didProduce result: any SNResult) {
        guard let result = result as? SNClassificationResult, let best = result.classifications.first else { return }
        let seconds = String(format: "%.2f", result.timeRange.start.seconds)
        print("\(seconds) s: \(best.identifier), \(Int(best.confidence * 100)) %")
    }

    func request(_ request: any SNRequest, didFailWithError error: any Error) {
        print("The analysis failed: \(error.localizedDescription)")
    }

    func requestDidComplete(_ request: any SNRequest) { print("The analysis is complete.") }
}

func classifySounds(in file: URL, with model: MLModel) async throws {
    let request = try SNClassifySoundRequest(mlModel: model)
    request.overlapFactor = 0.75
    let analyzer = try SNAudioFileAnalyzer(url: file)
    try analyzer.add(request, withObserver: ResultsObserver())
    _ = await analyzer.analyze()
}

/// Analyses what a microphone records.
final class Microphone {
    private let analyzer: SNAudioStreamAnalyzer
    private let analysisQueue = DispatchQueue(label: "com.example.AnalysisQueue")

    init(format: AVAudioFormat, model: MLModel) throws {
        analyzer = SNAudioStreamAnalyzer(format: format)
        let request = try SNClassifySoundRequest(mlModel: model)
        request.windowDuration = CMTimeMakeWithSeconds(1.5, preferredTimescale: 48_000)
        try analyzer.add(request, withObserver: ResultsObserver())
    }

    func analyze(_ buffer: AVAudioPCMBuffer, at frame: AVAudioFramePosition) {
        analysisQueue.sync { analyzer.analyze(buffer, atAudioFramePosition: frame) }
    }

    func stop() { analysisQueue.sync { analyzer.completeAnalysis() } }
}
