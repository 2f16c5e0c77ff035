public import CoreML
import CoreMedia
import Dispatch
import MLAudio
import Synchronization

/// Analyses a sound file: WAV, FLAC, Ogg, MP3, AIFF and what else libsndfile reads.
///
/// `@unchecked Sendable`: what can change is behind a lock; observers are called on the thread that analyses.
open class SNAudioFileAnalyzer: NSObject, @unchecked Sendable {
    private let path: String
    private let state = Mutex(State())

    private struct State {
        var requests = SoundRequests()
        var isCancelled = false
    }

    /// Opens a file.
    ///
    /// - Parameter url: The sound file.
    /// - Throws: `SNError.invalidFile` when it cannot be read as sound.
    public init(url: URL) throws {
        path = url.path
        do { _ = try SoundFile(path: url.path) } catch { throw SNError(.invalidFile, error.description) }
    }

    /// Adds a request, whose results an observer receives; the analyzer keeps both.
    ///
    /// - Parameters:
    ///   - request: A request; its properties are taken over now.
    ///   - observer: Receives the results.
    /// - Throws: `SNError.operationFailed` for a request of an unknown kind, or one that was added before.
    open func add(_ request: any SNRequest, withObserver observer: any SNResultsObserving) throws {
        nonisolated(unsafe) let (request, observer) = (request, observer)
        try state.withLock { try $0.requests.add(request, observer) }
    }

    /// Removes a request.
    open func remove(_ request: any SNRequest) {
        nonisolated(unsafe) let request = request
        state.withLock { $0.requests.remove(request) }
    }

    /// Removes all requests.
    open func removeAllRequests() { state.withLock { $0.requests.removeAll() } }

    /// Analyses the file, and returns at its end, or after `cancelAnalysis()`.
    ///
    /// Each window is answered; a file that is shorter than a window is followed by silence, and what remains after the
    /// last whole window of a longer one is not answered.
    open func analyze() { _ = run() }

    /// Analyses the file on another thread.
    ///
    /// - Parameter completionHandler: Called at the end, with whether the end of the file was reached.
    open func analyze(completionHandler: ((Bool) -> Void)?) {
        // Called once; Apple's declarations do not mark handlers as sendable.
        nonisolated(unsafe) let handler = completionHandler
        DispatchQueue.global(qos: .userInitiated).async {
            let isComplete = self.run()
            handler?(isComplete)
        }
    }

    /// Analyses the file on another thread.
    ///
    /// - Returns: Whether the end of the file was reached.
    open func analyze() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                analyze(completionHandler: { continuation.resume(returning: $0) })
            }
        } onCancel: {
            cancelAnalysis()
        }
    }

    /// Ends an analysis that is in progress, before its next part of the file.
    open func cancelAnalysis() { state.withLock { $0.isCancelled = true } }

    private func run() -> Bool {
        // Taken over: observers may add and remove requests meanwhile.
        let requests = state.withLock { state in
            state.isCancelled = false
            return state.requests.all
        }
        for request in requests { request.begin() }
        do {
            let file = try SoundFile(path: path)
            var resampler = Resampler(from: file.rate, to: Int(SNClassifySoundRequest.rate))
            while true {
                guard !state.withLock({ $0.isCancelled }) else { return false }
                let block = try file.next()
                var samples: [Float] = []
                if block.isEmpty { resampler.finish(to: &samples) } else { resampler.append(block, to: &samples) }
                for request in requests { request.append(samples) }
                if block.isEmpty { break }
            }
        } catch {
            let problem = SNError(.invalidFile, error.description)
            for request in requests { request.fail(problem) }
            return false
        }
        for request in requests { request.finish() }
        return true
    }
}
