import Dispatch
package import Foundation
package import FoundationNetworking
import Synchronization

/// The system's URLSession with limits: answers that are too long or arrive too slowly end with an error.
package final class URLSessionTransport: NSObject, Transport, URLSessionDataDelegate {
    /// The limits of slow transfers.
    package struct Timeouts: Sendable {
        /// Seconds between two checks of a transfer.
        package var interval = 30.0
        /// The least number of bytes that must arrive between two checks.
        package var byteCount = 1024

        package init() {}
    }

    private struct Transfer {
        var answer: TransportAnswer?
        var body: [UInt8] = []
        var received = 0
        var receivedAtLastCheck = 0
        let limit: Int
        let receive: TransportRequest.Receiver?
        let continuation: CheckedContinuation<Result<TransportAnswer, DeploymentError>, Never>
    }

    private struct State {
        var transfers: [Int: Transfer] = [:]
        var failures: [Int: DeploymentError] = [:]
    }

    private let state = Mutex(State())
    private let session = Mutex<URLSession?>(nil)
    private let patience: Timeouts

    package init(patience: Timeouts = Timeouts()) {
        self.patience = patience
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = patience.interval
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        session.withLock { $0 = URLSession(configuration: configuration, delegate: self, delegateQueue: CallerQueue()) }
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
        message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
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
                    state.transfers[task.taskIdentifier] = Transfer(
                        limit: request.limit,
                        receive: request.receive,
                        continuation: continuation
                    )
                }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    /// Ends a transfer that has almost stopped, in the body or in endless headers.
    private func look(after task: URLSessionTask) {
        let (identifier, patience) = (task.taskIdentifier, patience)
        let isTooSlow = state.withLock { state in
            guard var transfer = state.transfers[identifier] else { return false }
            let received = transfer.received - transfer.receivedAtLastCheck
            transfer.receivedAtLastCheck = transfer.received
            state.transfers[identifier] = transfer
            guard received < patience.byteCount else { return false }
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
        let answer = (response as? HTTPURLResponse).map { response in
            var headers: [String: String] = [:]
            for (name, value) in response.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
            return TransportAnswer(status: response.statusCode, headers: headers)
        }
        let identifier = dataTask.taskIdentifier
        // A few compressed bytes can stand for gigabytes, which arrive faster than they can be counted.
        let isPacked = answer.map { !["", "identity"].contains($0.headers["content-encoding"] ?? "") } ?? false
        state.withLock { state in
            state.transfers[identifier]?.answer = answer
            guard isPacked else { return }
            state.failures[identifier] = DeploymentError(
                .damaged,
                "",
                "The server compressed its answer, which was not requested."
            )
        }
        completionHandler(isPacked ? .cancel : .allow)
        if isPacked { cancel(dataTask) }
    }

    package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let identifier = dataTask.taskIdentifier
        let (receive, part) = state.withLock { state -> (TransportRequest.Receiver?, TransportRequest.Part?) in
            guard var transfer = state.transfers[identifier], state.failures[identifier] == nil else {
                return (nil, nil)
            }
            guard data.count <= transfer.limit - transfer.received else {
                let message = "The server sends more than the \(transfer.limit) bytes that are allowed here."
                state.failures[identifier] = DeploymentError(.damaged, "", message)
                return (nil, nil)
            }
            transfer.received += data.count
            let answer = transfer.answer ?? TransportAnswer(status: 0)
            let isTaken = answer.status == 206 && transfer.receive != nil
            if !isTaken { transfer.body += data }
            state.transfers[identifier] = transfer
            return (
                transfer.receive, isTaken ? TransportRequest.Part(headers: answer.headers, bytes: Array(data)) : nil
            )
        }
        if let receive, let part {
            do throws(DeploymentError) { try receive(part) } catch {
                state.withLock { $0.failures[identifier] = error }
            }
        }
        if state.withLock({ $0.failures[identifier] != nil }) { cancel(dataTask) }
    }

    /// Cancels a task from a callback for which its session waits.
    private func cancel(_ task: URLSessionTask) {
        let handle = TaskHandle(task: task)
        DispatchQueue.global().async { handle.task.cancel() }
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let identifier = task.taskIdentifier
        let (transfer, failure) = state.withLock { state in
            (state.transfers.removeValue(forKey: identifier), state.failures.removeValue(forKey: identifier))
        }
        guard let transfer else { return }
        transfer.continuation.resume(
            returning: Self.result(of: transfer, failure: failure, error: error, task.originalRequest?.url)
        )
    }

    /// The result of a transfer that has ended.
    private static func result(
        of transfer: Transfer,
        failure: DeploymentError?,
        error: (any Error)?,
        _ url: URL?
    ) -> Result<TransportAnswer, DeploymentError> {
        let address = url?.absoluteString ?? ""
        let reason =
            failure.map { DeploymentError($0.code, address, $0.message) } ?? error.map { Self.failure($0, address) }
        if let reason { return .failure(reason) }
        guard var answer = transfer.answer else {
            return .failure(DeploymentError(.offline, address, "The server gave no answer."))
        }
        answer.body = transfer.body
        return .success(answer)
    }

    private static func failure(_ error: any Error, _ address: String) -> DeploymentError {
        guard (error as? URLError)?.code != .cancelled else {
            return DeploymentError(.cancelled, address, "The transfer was cancelled.")
        }
        return DeploymentError(.offline, address, "The server cannot be reached: \(error.localizedDescription)")
    }
}

/// A task that another thread cancels.
///
/// `@unchecked Sendable`: any thread may cancel a task.
private struct TaskHandle: @unchecked Sendable {
    let task: URLSessionTask
}

/// Runs its operations on the caller's thread before it returns.
///
/// A session of this system passes its delegate every part of a body through a queue and continues to read: if a server
/// sends faster than parts are accepted, or compresses gigabytes to a few bytes, all of it would be in memory. Any
/// thread may use it: it has no state besides that of its class, which guards it.
///
/// `@unchecked Sendable`: it has no state besides that of `OperationQueue`, which any thread may use.
private final class CallerQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
