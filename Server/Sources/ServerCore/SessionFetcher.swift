public import Foundation
import FoundationNetworking
import Synchronization

/// Fetches documents over the network, without following redirects, within 10 seconds.
public struct SessionFetcher: DocumentFetcher {
    /// Creates a fetcher.
    public init() {}

    private enum Problem: Error { case status, tooLarge, redirect, unreachable }

    /// Fetches a document by GET; throws unless the status is 200 and it has at most `limit` bytes.
    public func fetch(_ url: URL, limit: Int) async throws -> [UInt8] { try await send(URLRequest(url: url), limit) }

    /// Sends a form by POST and returns the answer; throws unless the status is 200 and it has at most `limit` bytes.
    public func post(_ url: URL, form: String, headers: [String: String], limit: Int) async throws -> [UInt8] {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(form.utf8)
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return try await send(request, limit)
    }

    private func send(_ request: URLRequest, _ limit: Int) async throws -> [UInt8] {
        let download = Download(limit: limit)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 10
        configuration.timeoutIntervalForResource = 10
        let session = URLSession(configuration: configuration, delegate: download, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                download.begin(continuation)
                session.dataTask(with: request).resume()
            }
        } onCancel: {
            session.invalidateAndCancel()
        }
    }

    private final class Download: NSObject, URLSessionDataDelegate, Sendable {
        private struct State {
            var bytes: [UInt8] = []
            var problem: Problem?
            var continuation: CheckedContinuation<[UInt8], any Error>?
        }

        private let limit: Int
        private let state = Mutex(State())

        init(limit: Int) { self.limit = limit }

        func begin(_ continuation: CheckedContinuation<[UInt8], any Error>) {
            state.withLock { $0.continuation = continuation }
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) {
            state.withLock { $0.problem = .redirect }
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
        ) {
            let isRight = (response as? HTTPURLResponse)?.statusCode == 200
            if !isRight { state.withLock { $0.problem = $0.problem ?? .status } }
            completionHandler(isRight ? .allow : .cancel)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let isTooLarge = state.withLock { state in
                guard state.bytes.count + data.count <= limit else {
                    state.problem = .tooLarge
                    return true
                }
                state.bytes += data
                return false
            }
            if isTooLarge { dataTask.cancel() }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let (continuation, result) = state.withLock {
                state -> (CheckedContinuation<[UInt8], any Error>?, Result<[UInt8], any Error>) in
                defer { state.continuation = nil }
                if let problem = state.problem { return (state.continuation, .failure(problem)) }
                return (state.continuation, error == nil ? .success(state.bytes) : .failure(Problem.unreachable))
            }
            continuation?.resume(with: result)
        }
    }
}
