import Combine
import Foundation

/// A subscriber's side of a `HistorySubject`.
private protocol HistoryFollower: AnyObject, Sendable { func deliver() }

/// A subject whose subscribers, late ones included, get all values that were ever sent.
///
/// A job may save its first checkpoint before its caller has subscribed.
///
/// `@unchecked Sendable`: the lock guards everything that changes.
final class HistorySubject<Output>: Publisher, @unchecked Sendable {
    typealias Failure = Never

    private let lock = NSRecursiveLock()
    private var history: [Output] = []
    private var isFinished = false
    private var followers: [ObjectIdentifier: any HistoryFollower] = [:]

    func send(_ value: Output) {
        let followers = lock.withLock {
            history.append(value)
            return Array(self.followers.values)
        }
        for follower in followers { follower.deliver() }
    }

    func finish() {
        let followers = lock.withLock {
            isFinished = true
            return Array(self.followers.values)
        }
        for follower in followers { follower.deliver() }
    }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
        let follower = HistorySubscription(self, subscriber)
        lock.withLock { followers[ObjectIdentifier(follower)] = follower }
        subscriber.receive(subscription: follower)
        follower.deliver()
    }

    /// One subscriber: its position in the history and its demand.
    ///
    /// `deliver` may be called by several threads; one of them passes the values on, in order.
    ///
    /// `@unchecked Sendable`: the lock of the subject guards everything that changes.
    private final class HistorySubscription<S: Subscriber>: Subscription, HistoryFollower, @unchecked Sendable
    where S.Input == Output, S.Failure == Never {
        private let source: HistorySubject
        private var subscriber: S?
        private var position = 0
        private var demand = Subscribers.Demand.none
        private var isDelivering = false

        init(_ source: HistorySubject, _ subscriber: S) {
            self.source = source
            self.subscriber = subscriber
        }

        func request(_ demand: Subscribers.Demand) {
            source.lock.withLock { self.demand += demand }
            deliver()
        }

        func cancel() {
            source.lock.withLock {
                subscriber = nil
                source.followers[ObjectIdentifier(self)] = nil
            }
        }

        private enum Step {
            case value(S, Output)
            case end(S)
            case nothing
        }

        private func next() -> Step {
            source.lock.withLock {
                guard let subscriber else { return .nothing }
                if position < source.history.count {
                    guard demand > 0 else { return .nothing }
                    if demand != .unlimited { demand -= 1 }
                    position += 1
                    return .value(subscriber, source.history[position - 1])
                }
                return source.isFinished ? .end(subscriber) : .nothing
            }
        }

        func deliver() {
            guard
                source.lock.withLock({
                    isDelivering
                        ? false
                        : {
                            isDelivering = true; return true
                        }()
                })
            else { return }
            while true {
                switch next() {
                case .value(let subscriber, let value):
                    let more = subscriber.receive(value)
                    source.lock.withLock { demand += more }
                    continue
                case .end(let subscriber):
                    cancel()
                    subscriber.receive(completion: .finished)
                case .nothing: break
                }
                // Other threads leave values that arrive in the meantime to this one.
                let isDone = source.lock.withLock {
                    let waiting =
                        subscriber != nil
                        && (position < source.history.count ? demand > 0 : source.isFinished)
                    if !waiting { isDelivering = false }
                    return !waiting
                }
                if isDone { return }
            }
        }
    }
}
