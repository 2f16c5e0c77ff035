import Dispatch
import Foundation

// The rules of this interface. An object crosses as an opaque handle, which `coreml_release` releases. A returned text
// is UTF-8 that the caller owns and frees with `coreml_free`; a text that is passed in remains the caller's. A
// function that can fail takes `failure` last: on failure it stores a message there and returns `nil` or `false`.

/// The place where a function that fails stores its message, a text that the caller frees.
public typealias Failure = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// A handle that owns `object` until `coreml_release` is called.
package func handle(_ object: AnyObject) -> UnsafeMutableRawPointer { Unmanaged.passRetained(object).toOpaque() }

/// The object of a handle that was made from a `T`.
package func object<T: AnyObject>(_ handle: UnsafeMutableRawPointer, as type: T.Type = T.self) -> T {
    Unmanaged<AnyObject>.fromOpaque(handle).takeUnretainedValue() as! T
}

/// A copy of `string` that the caller of the C function owns.
package func text(_ string: String) -> UnsafeMutablePointer<CChar>? { strdup(string) }

/// `value` as JSON text that the caller of the C function owns.
package func json(_ value: some Encodable) throws -> UnsafeMutablePointer<CChar>? {
    text(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
}

/// Runs `body` and returns its result; an error's message goes to `failure`.
package func reporting<R>(_ failure: Failure, _ body: () throws -> R?) -> R? {
    do {
        return try body()
    } catch {
        failure.pointee = text(error.localizedDescription)
        return nil
    }
}

/// Runs an asynchronous call and blocks this thread until it has a result.
func awaiting<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
    let answer = Answer<R>()
    let done = DispatchSemaphore(value: 0)
    Task {
        do { answer.result = .success(try await body()) } catch { answer.result = .failure(error) }
        done.signal()
    }
    done.wait()
    guard let result = answer.result else { preconditionFailure("the task signalled without a result") }
    return try result.get()
}

/// `@unchecked Sendable`: written before the semaphore is signalled, read after.
private final class Answer<R: Sendable>: @unchecked Sendable {
    var result: Result<R, any Error>?
}

/// Releases a handle.
@c(coreml_release)
public func release(_ handle: UnsafeMutableRawPointer) { Unmanaged<AnyObject>.fromOpaque(handle).release() }

/// Frees a text.
@c(coreml_free)
public func free(_ text: UnsafeMutablePointer<CChar>?) { Foundation.free(text) }
