import Foundation
import Synchronization

/// Sends lost requests again: networks lose some, and a check needs a dozen.
package struct PersistentTransport: Transport {
    /// The largest number of times a request is sent.
    private static let maximumAttemptCount = 5
    /// Seconds before the second attempt; each later one waits twice as long.
    private static let firstDelay = 0.1
    /// The time after which a failed request is left to the next check.
    static let patience = Duration.seconds(20)

    private let base: any Transport

    package init(_ base: any Transport) { self.base = base }

    package func send(_ request: TransportRequest) async throws(DeploymentError) -> TransportAnswer {
        // A request that changes something on the server may have arrived although its answer did not.
        guard request.method == "GET" else { return try await base.send(request) }
        let start = ContinuousClock.now
        let watch = ReceiptTracker()
        let watched = watch.watching(request)
        var delay = Self.firstDelay
        for attempt in 1... {
            let isLast = attempt == Self.maximumAttemptCount || ContinuousClock.now - start > Self.patience
            do throws(DeploymentError) {
                let answer = try await base.send(watched)
                // A proxy whose server does not answer at the moment.
                guard [502, 504].contains(answer.status), !isLast else { return answer }
            } catch {
                let isTooLate = ContinuousClock.now - start > Self.patience
                guard error.code == .offline, !watch.hasReceived, !isLast, !isTooLate else { throw error }
            }
            do { try await Task.sleep(for: .seconds(delay * .random(in: 0.5..<1.5))) } catch {
                throw DeploymentError(.cancelled, request.url.absoluteString, "The transfer was cancelled.")
            }
            delay *= 2
        }
        preconditionFailure("the loop above ends")
    }
}

/// Records whether a part of an answer has been received: a repetition would deliver it twice.
private final class ReceiptTracker: Sendable {
    private let received = Atomic<Bool>(false)
    var hasReceived: Bool { received.load(ordering: .acquiring) }

    func watching(_ request: TransportRequest) -> TransportRequest {
        guard let receive = request.receive else { return request }
        var request = request
        request.receive = { [self] (part) throws(DeploymentError) in
            received.store(true, ordering: .releasing)
            try receive(part)
        }
        return request
    }
}
