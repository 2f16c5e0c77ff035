import Dispatch
import Foundation

// The rules of this interface.  An object crosses as an opaque handle that `coreml_release` gives up.  A text crosses
// as UTF-8 that the receiver owns and `coreml_free` gives up; a text that is passed in stays the caller's.  A function
// that can fail takes `failure` last: on failure it stores a message there and returns `nil` or `false`.

/// Where a failing function leaves its message.
public typealias Failure = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// A handle that owns `object` until `coreml_release`.
func handle(_ object: AnyObject) -> UnsafeMutableRawPointer { Unmanaged.passRetained(object).toOpaque() }

/// The object of a handle that was made from a `T`.
func object<T: AnyObject>(_ handle: UnsafeMutableRawPointer, as type: T.Type = T.self) -> T {
    Unmanaged<AnyObject>.fromOpaque(handle).takeUnretainedValue() as! T
}

/// A copy of `string` that the caller of the C function owns.
func text(_ string: String) -> UnsafeMutablePointer<CChar>? { strdup(string) }

/// `value` as JSON text that the caller of the C function owns.
func json(_ value: some Encodable) throws -> UnsafeMutablePointer<CChar>? {
    text(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
}

/// The result of `body`; its error goes to `failure`.
func reporting<R>(_ failure: Failure, _ body: () throws -> R?) -> R? {
    do {
        return try body()
    } catch {
        failure.pointee = text(error.localizedDescription)
        return nil
    }
}

/// The result of an asynchronous call, for a caller that has none but this thread to wait on.
func awaiting<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
    let answer = Answer<R>()
    let done = DispatchSemaphore(value: 0)
    Task {
        do { answer.result = .success(try await body()) } catch { answer.result = .failure(error) }
        done.signal()
    }
    done.wait()
    guard let result = answer.result else { preconditionFailure("the task signalled without an answer") }
    return try result.get()
}

/// `@unchecked Sendable`: written before the semaphore is signalled, read after.
private final class Answer<R: Sendable>: @unchecked Sendable {
    var result: Result<R, any Error>?
}

/// Gives up a handle.
@c(coreml_release)
public func release(_ handle: UnsafeMutableRawPointer) { Unmanaged<AnyObject>.fromOpaque(handle).release() }

/// Gives up a text.
@c(coreml_free)
public func free(_ text: UnsafeMutablePointer<CChar>?) { Foundation.free(text) }
