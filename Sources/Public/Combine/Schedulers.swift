// OpenCombine gives `DispatchQueue`, `RunLoop` and `OperationQueue` their conformances to `Scheduler`, and `NotificationCenter`
// its publisher, only if no module `Combine` exists when it is compiled. This module exists then in every build but
// the first, for example in the one after an interrupted build. These overloads are chosen only where OpenCombine's are missing.
public import Foundation
public import OpenCombine
import OpenCombineDispatch
public import OpenCombineFoundation

/// Something of Dispatch's or Foundation's that publishers can be scheduled on.
public protocol SchedulerProvider {
    /// The type of OpenCombine's scheduler.
    associatedtype OCombine: Scheduler
    /// OpenCombine's scheduler.
    var ocombine: OCombine { get }
}

extension DispatchQueue: SchedulerProvider {}
extension RunLoop: SchedulerProvider {}
extension OperationQueue: SchedulerProvider {}

extension Publisher {
    /// Receives elements on a scheduler.
    @_disfavoredOverload
    public func receive<S: SchedulerProvider>(
        on scheduler: S,
        options: S.OCombine.SchedulerOptions? = nil
    ) -> Publishers.ReceiveOn<Self, S.OCombine> {
        receive(on: scheduler.ocombine, options: options)
    }

    /// Subscribes, cancels and requests on a scheduler.
    @_disfavoredOverload
    public func subscribe<S: SchedulerProvider>(
        on scheduler: S,
        options: S.OCombine.SchedulerOptions? = nil
    ) -> Publishers.SubscribeOn<Self, S.OCombine> {
        subscribe(on: scheduler.ocombine, options: options)
    }

    /// Delays elements and the completion.
    @_disfavoredOverload
    public func delay<S: SchedulerProvider>(
        for interval: S.OCombine.SchedulerTimeType.Stride,
        tolerance: S.OCombine.SchedulerTimeType.Stride? = nil,
        scheduler: S,
        options: S.OCombine.SchedulerOptions? = nil
    ) -> Publishers.Delay<Self, S.OCombine> {
        delay(for: interval, tolerance: tolerance, scheduler: scheduler.ocombine, options: options)
    }

    /// Publishes an element once none has followed it for some time.
    @_disfavoredOverload
    public func debounce<S: SchedulerProvider>(
        for dueTime: S.OCombine.SchedulerTimeType.Stride,
        scheduler: S,
        options: S.OCombine.SchedulerOptions? = nil
    ) -> Publishers.Debounce<Self, S.OCombine> {
        debounce(for: dueTime, scheduler: scheduler.ocombine, options: options)
    }

    /// Publishes the first or the latest element of each interval.
    @_disfavoredOverload
    public func throttle<S: SchedulerProvider>(
        for interval: S.OCombine.SchedulerTimeType.Stride,
        scheduler: S,
        latest: Bool
    ) -> Publishers.Throttle<Self, S.OCombine> {
        throttle(for: interval, scheduler: scheduler.ocombine, latest: latest)
    }
}

extension NotificationCenter {
    /// Publishes the notifications of a name.
    @_disfavoredOverload
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> OCombine.Publisher {
        ocombine.publisher(for: name, object: object)
    }
}
