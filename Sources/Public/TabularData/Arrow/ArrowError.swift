import Foundation

/// A table of the Arrow C data interface that cannot be read or given.
package struct ArrowError: Error, LocalizedError, CustomStringConvertible, Sendable {
    /// The problem, its place, and the remedy.
    package let description: String

    package var errorDescription: String? { description }

    init(_ description: String) { self.description = description }

    /// An error in a column.
    static func column(_ name: String, _ detail: String) -> ArrowError { ArrowError("the column '\(name)' \(detail)") }
}
