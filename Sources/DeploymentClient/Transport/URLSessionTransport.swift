package import Foundation
package import FoundationNetworking
import Synchronization

/// The system's URLSession, with bounds: answers that are too long, and those that arrive too slowly, end with an error.
package final class URLSessionTransport: NSObject, Transport, URLSessionDataDelegate {
    /// How long a transfer may go on with next to nothing arriving.
    package struct Patience: Sendable {
        /// Seconds between two looks.
        package var interval = 30.0
        /// What must have arrived from one look to the next.
        package var byteCount = 1024

        package init() {}
    }

    private struct Transfer {
        var answer: HTTPURLResponse?
        var body: [UInt8] = []
        var bodyAtLastLook = 0
        let limit: Int
        let continuation: CheckedContinuation<Result<TransportAnswer, DeploymentError>, Never>
    }

    private struct State {
        var transfers: [Int: Transfer] = [:]
        var failures: [Int: DeploymentError] = [:]
    }

    private let state = Mutex(State())
    private let session = Mutex<URLSession?>(nil)
    private let patience: Patience

    package init(patience: Patience = Patience()) {
        self.patience = patience
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = patience.interval
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        session.withLock { $0 = URLSession(configuration: configuration, delegate: self, delegateQueue: nil) }
    }

    /// Ends all transfers; the transport cannot be used afterwards.
    package func invalidate() {
        session.withLock { session in
            session?.invalidateAndCancel()
            session = nil
        }
    }

    package func send(_ request: TransportRequest) async throws(DeploymentError) -> TransportAnswer {
        var message = URLRequest(url: request.url)
        message.httpMethod = request.method
        message.httpBody = request.body.map { Data($0) }
        message.cachePolicy = .reloadIgnoringLocalCacheData
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        guard let task = session.withLock({ $0?.dataTask(with: message) }) else {
            throw DeploymentError(.cancelled, request.url.absoluteString, "The client was shut down.")
        }
        let watch = Task { [patience] in
            while !Task.isCancelled {
                try await Task.sleep(for: .seconds(patience.interval))
                look(after: task)
            }
        }
        defer { watch.cancel() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.transfers[task.taskIdentifier] = Transfer(limit: request.limit, continuation: continuation)
                }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    /// Ends a transfer that has all but stopped.
    private func look(after task: URLSessionTask) {
        let (identifier, patience) = (task.taskIdentifier, patience)
        let isTooSlow = state.withLock { state in
            guard var transfer = state.transfers[identifier], transfer.answer != nil else { return false }
            let arrived = transfer.body.count - transfer.bodyAtLastLook
            transfer.bodyAtLastLook = transfer.body.count
            state.transfers[identifier] = transfer
            guard arrived < patience.byteCount else { return false }
            let message = "Fewer than \(patience.byteCount) bytes arrived in \(Int(patience.interval)) seconds."
            state.failures[identifier] = DeploymentError(.offline, "", message)
            return true
        }
        if isTooSlow { task.cancel() }
    }

    // MARK: URLSession

    package func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.transfers[dataTask.taskIdentifier]?.answer = response as? HTTPURLResponse }
        completionHandler(.allow)
    }

    package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let identifier = dataTask.taskIdentifier
        let isTooLong = state.withLock { state in
            guard let transfer = state.transfers[identifier] else { return false }
            guard data.count <= transfer.limit - transfer.body.count else {
                let message = "The server sends more than the \(transfer.limit) bytes that this can have."
                state.failures[identifier] = DeploymentError(.damaged, "", message)
                return true
            }
            state.transfers[identifier]?.body += data
            return false
        }
        if isTooLong { dataTask.cancel() }
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let identifier = task.taskIdentifier
        let (transfer, failure) = state.withLock { state in
            (state.transfers.removeValue(forKey: identifier), state.failures.removeValue(forKey: identifier))
        }
        guard let transfer else { return }
        let address = task.originalRequest?.url?.absoluteString ?? ""
        if let failure {
            transfer.continuation.resume(returning: .failure(DeploymentError(failure.code, address, failure.message)))
        } else if let error {
            let isCancelled = (error as? URLError)?.code == .cancelled
            let message =
                isCancelled
                ? "The transfer was cancelled." : "The server cannot be reached: \(error.localizedDescription)"
            transfer.continuation.resume(
                returning: .failure(DeploymentError(isCancelled ? .cancelled : .offline, address, message))
            )
        } else if let answer = transfer.answer {
            var headers: [String: String] = [:]
            for (name, value) in answer.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
            transfer.continuation.resume(
                returning: .success(TransportAnswer(status: answer.statusCode, headers: headers, body: transfer.body))
            )
        } else {
            transfer.continuation.resume(
                returning: .failure(DeploymentError(.offline, address, "The server gave no answer."))
            )
        }
    }
}
