import Dispatch
import Foundation

/// Runs work on all processors.
enum Parallel {
    static let width = ProcessInfo.processInfo.activeProcessorCount

    /// Calls `body` once for each number, on several threads when there is more than one.
    static func forEach(_ count: Int, _ body: (Int) -> Void) {
        if count <= 1 || width <= 1 {
            for index in 0..<count { body(index) }
            return
        }
        // Threads take the next number when they have finished one.
        withoutActuallyEscaping(body) { body in
            nonisolated(unsafe) let body = body
            DispatchQueue.concurrentPerform(iterations: count) { body($0) }
        }
    }

    /// The results of `transform`, in order.
    static func map<T, R>(_ elements: [T], _ transform: (T) -> R) -> [R] {
        [R](unsafeUninitializedCapacity: elements.count) { buffer, filled in
            let base = buffer.baseAddress
            forEach(elements.count) { index in
                (base! + index).initialize(to: transform(elements[index]))
            }
            filled = elements.count
        }
    }
}
