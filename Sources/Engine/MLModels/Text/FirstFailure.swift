package import MLNumerics
import Synchronization

/// Collects errors of work that is shared out among threads; the one of the lowest row counts.
package final class FirstFailure: Sendable {
    private let first = Mutex<(row: Int, error: ModelError)?>(nil)

    package init() {}

    package func catching(_ row: Int, _ body: () throws(ModelError) -> Void) {
        do throws(ModelError) {
            try body()
        } catch {
            first.withLock { first in
                if first.map({ row < $0.row }) ?? true { first = (row, error) }
            }
        }
    }

    /// Throws the error of the lowest row, named when there are several rows.
    package func check(_ count: Int) throws(ModelError) {
        guard let (row, error) = first.withLock({ $0 }) else { return }
        throw count > 1 ? error.at("row \(row)") : error
    }
}
