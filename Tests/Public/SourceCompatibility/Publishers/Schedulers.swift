// Publishers on Dispatch's and Foundation's schedulers, as apps write them: compiles on Apple's platforms, too.
import Combine
import Foundation

func subscriptions(to numbers: AnyPublisher<Int, Never>) -> [AnyCancellable] {
    [
        numbers.receive(on: DispatchQueue.main).sink { print($0) },
        numbers.receive(on: RunLoop.main).sink { print($0) },
        numbers.subscribe(on: DispatchQueue.global()).sink { print($0) },
        numbers.delay(for: .seconds(1), scheduler: DispatchQueue.main).sink { print($0) },
        numbers.debounce(for: .milliseconds(300), scheduler: RunLoop.main).sink { print($0) },
        numbers.debounce(for: 0.3, scheduler: DispatchQueue.main).sink { print($0) },
        numbers.throttle(for: .seconds(1), scheduler: OperationQueue.main, latest: true).sink { print($0) },
        NotificationCenter.default.publisher(for: Notification.Name("changed")).sink { _ in },
    ]
}
