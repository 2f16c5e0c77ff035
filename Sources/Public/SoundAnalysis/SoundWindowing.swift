import CoreML
import CoreMedia
import MLAudio

/// A request that is being answered: the samples that its next windows need.
///
/// `@unchecked Sendable`: one analysis at a time uses it; request and observer are the app's, which hands them over.
final class SoundWindowing: @unchecked Sendable {
    let request: any SNRequest
    let observer: any SNResultsObserving
    private let classifier: SNClassifySoundRequest
    private let size: Int
    private let hop: Int
    private var samples: [Float] = []
    /// The number in the stream, at 16 kHz, of the first of `samples`.
    private var position = 0
    /// The start of the stream, in seconds.
    private var origin = CMTime.zero
    private var hasAnswered = false
    private(set) var isDone = false

    /// - Throws: `SNError.operationFailed` for requests of other kinds.
    init(_ request: any SNRequest, _ observer: any SNResultsObserving) throws {
        guard let classifier = request as? SNClassifySoundRequest else {
            throw SNError(.operationFailed, "\(type(of: request)) is not known here; use SNClassifySoundRequest.")
        }
        (self.request, self.observer, self.classifier) = (request, observer, classifier)
        size = classifier.windowSize
        hop = max(1, Int((Double(size) * (1 - classifier.overlapFactor)).rounded()))
    }

    /// Starts another sound from its beginning, also after the end of one before.
    func begin() {
        isDone = false
        restart(at: .zero)
    }

    /// Restarts the windows at a time; samples before it that filled no window are dropped.
    func restart(at time: CMTime) {
        samples = []
        (position, origin, hasAnswered) = (0, time, false)
    }

    /// Takes the next samples at 16 kHz, and answers the windows that are complete.
    func append(_ new: [Float]) {
        guard !isDone else { return }
        samples += new
        var start = 0
        while start + size <= samples.count, !isDone {
            answer(Array(samples[start..<start + size]), position + start)
            start += hop
        }
        let used = min(start, samples.count)
        samples.removeFirst(used)
        position += used
    }

    /// Ends the stream: a sound that is shorter than a window is answered with silence after it.
    func finish() {
        guard !isDone else { return }
        if !hasAnswered, !samples.isEmpty {
            answer(samples + [Float](repeating: 0, count: max(size - samples.count, 0)), position)
        }
        guard !isDone else { return }
        isDone = true
        observer.requestDidComplete(request)
    }

    /// Ends the request with an error.
    func fail(_ error: any Error) {
        guard !isDone else { return }
        isDone = true
        observer.request(request, didFailWithError: error)
    }

    private func answer(_ window: [Float], _ start: Int) {
        hasAnswered = true
        do {
            let classes = try classifier.classifications(window)
            let time = origin + CMTime(value: Int64(start), timescale: SNClassifySoundRequest.rate)
            let length = CMTime(value: Int64(size), timescale: SNClassifySoundRequest.rate)
            let result = SNClassificationResult(
                classifications: classes,
                timeRange: CMTimeRange(start: time, duration: length)
            )
            observer.request(request, didProduce: result)
        } catch { fail(error) }
    }
}

/// The requests of an analyzer.
struct SoundRequests: Sendable {
    private(set) var all: [SoundWindowing] = []

    /// - Throws: `SNError.operationFailed` for a request of another kind, or one that was added before.
    mutating func add(_ request: any SNRequest, _ observer: any SNResultsObserving) throws {
        guard !all.contains(where: { $0.request === request }) else {
            throw SNError(.operationFailed, "The request was added before; remove it first.")
        }
        all.append(try SoundWindowing(request, observer))
    }

    mutating func remove(_ request: any SNRequest) { all.removeAll { $0.request === request } }
    mutating func removeAll() { all.removeAll() }
}
