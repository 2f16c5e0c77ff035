import Dispatch
import Foundation
import MLKernels

/// What `body` gives while no other test switches the instruction set: sums of each differ in their last bits.
func withFixedInstructionSet<R>(_ body: @escaping () async throws -> R) async throws -> R {
    let body = Handed(value: body)
    let result: Handed<R> = try await withCheckedThrowingContinuation { continuation in
        // The turn belongs to a thread, which tasks do not keep.
        Thread.detachNewThread {
            InstructionSet.held {
                let end = DispatchSemaphore(value: 0)
                Task {
                    do {
                        continuation.resume(returning: Handed(value: try await body.value()))
                    } catch {
                        continuation.resume(throwing: error)
                    }
                    end.signal()
                }
                end.wait()
            }
        }
    }
    return result.value
}

/// `@unchecked Sendable`: who hands it over does not use it until it comes back.
private struct Handed<Value>: @unchecked Sendable {
    let value: Value
}
