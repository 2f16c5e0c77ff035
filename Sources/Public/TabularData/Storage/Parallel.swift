import Dispatch
import Foundation

/// Runs work on all processors.
enum Parallel {
    static let width = ProcessInfo.processInfo.activeProcessorCount

    /// Calls `body` once for each number below `count`, on several threads when there is more than one.
    static func forEach(_ count: Int, _ body: (Int) -> Void) {
        if count <= 1 || width <= 1 {
            for index in 0..<count { body(index) }
            return
        }
        // Threads take the next number when they have finished one.
        withoutActuallyEscaping(body) { body in
            // Each call writes to a place of its own, for which the callers of this function provide.
            nonisolated(unsafe) let body = body
            DispatchQueue.concurrentPerform(iterations: count) { body($0) }
        }
    }

    /// Returns the results of `transform` for consecutive ranges that cover `0..<count`, in order.
    ///
    /// Ranges begin at multiples of 64 and have at least `minimum` numbers, which must be a multiple of 64, unless
    /// there is only one range.
    static func ranges<R>(_ count: Int, minimum: Int, _ transform: (Range<Int>) -> R) -> [R] {
        // Some more than threads, which may be busy elsewhere.
        let parts = Swift.max(Swift.min(count / minimum, width * 4), 1)
        let size = (count / parts + 63) / 64 * 64
        if parts == 1 || size == 0 { return [transform(0..<count)] }
        return map(Array(0..<(count + size - 1) / size)) { part in
            transform(part * size..<Swift.min((part + 1) * size, count))
        }
    }

    /// Returns the results of `transform`, in order, computed in parallel.
    static func map<T, R>(_ elements: [T], _ transform: (T) -> R) -> [R] {
        [R](unsafeUninitializedCapacity: elements.count) { buffer, filled in
            let results = buffer
            forEach(elements.count) { index in
                results.initializeElement(at: index, to: transform(elements[index]))
            }
            filled = elements.count
        }
    }
}
