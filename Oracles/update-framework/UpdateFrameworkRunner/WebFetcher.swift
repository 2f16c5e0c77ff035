import Foundation
import FoundationNetworking
import Synchronization
import UpdateFramework

/// Fetches over HTTP and stops behind the limit.
struct WebFetcher: MetadataFetcher {
    private let base: String

    init(base: String) { self.base = base.hasSuffix("/") ? base : base + "/" }

    func fetch(_ path: String, limit: Int) async throws -> [UInt8]? {
        guard let url = URL(string: base + path) else { throw WebError(description: "\(base + path) is no URL") }
        return try await withCheckedThrowingContinuation { continuation in
            let download = CappedDownload(limit: limit, continuation)
            let session = URLSession(configuration: .ephemeral, delegate: download, delegateQueue: nil)
            session.dataTask(with: url).resume()
            session.finishTasksAndInvalidate()
        }
    }
}

struct WebError: Error, CustomStringConvertible { let description: String }

/// Collects a body up to a limit.
private final class CappedDownload: NSObject, URLSessionDataDelegate {
    private struct State {
        var bytes: [UInt8] = []
        var status: Int?
        var continuation: CheckedContinuation<[UInt8]?, any Error>?
    }

    private let limit: Int
    private let state: Mutex<State>

    init(limit: Int, _ continuation: CheckedContinuation<[UInt8]?, any Error>) {
        self.limit = limit
        state = Mutex(State(continuation: continuation))
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.status = (response as? HTTPURLResponse)?.statusCode }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isEnough = state.withLock { state in
            state.bytes += data.prefix(limit + 1 - state.bytes.count)
            return state.bytes.count > limit
        }
        if isEnough { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (result, continuation) = state.withLock { state in
            defer { state.continuation = nil }
            return (Self.result(state, error, limit), state.continuation)
        }
        continuation?.resume(with: result)
    }

    private static func result(_ state: State, _ error: (any Error)?, _ limit: Int) -> Result<[UInt8]?, any Error> {
        switch state.status {
        case 403, 404: return .success(nil)
        case 200 where error == nil || state.bytes.count > limit: return .success(state.bytes)
        case let status: return .failure(error ?? WebError(description: "status \(status ?? 0)"))
        }
    }
}
