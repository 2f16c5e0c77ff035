package import MLNumerics
import Synchronization

/// Collects errors from parallel work; the error of the lowest row is reported.
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

    /// Throws the error of the lowest row, naming the row when there are several.
    package func check(_ count: Int) throws(ModelError) {
        guard let (row, error) = first.withLock({ $0 }) else { return }
        throw count > 1 ? error.at("row \(row)") : error
    }
}
