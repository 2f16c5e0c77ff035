import Foundation

/// Formats the elements of a column as text.
struct CellFormatter {
    /// Whether cells are right-aligned, as those of numbers are.
    let isRightAligned: Bool
    private let text: (Int) -> String?

    init<T>(column: Column<T>, options: FormattingOptions) {
        let storage = column.storage
        func format<S>(_ type: S.Type, _ format: @escaping (S) -> String) -> ((Int) -> String?)? {
            (storage as? ColumnStorage<S>).map { storage in { row in storage[row].map(format) } }
        }
        let fractions = options.floatingPointFormatStyle
        let integers = options.integerFormatStyle
        isRightAligned = T.self is any BinaryInteger.Type || T.self is any BinaryFloatingPoint.Type
        text =
            format(Int.self) { integers.format($0) }
            ?? format(Double.self) { fractions.format($0) }
            ?? format(Float.self) { fractions.format(Double($0)) }
            ?? format(Date.self) { date in options.dateStyle?.format(date) ?? date.description }
            ?? format(Data.self) { "\($0.count) bytes" }
            ?? { row in
                guard let element = storage[row] else { return nil }
                if let integer = element as? any BinaryInteger, let value = Int(exactly: integer) {
                    return integers.format(value)
                }
                return "\(element)"
            }
    }

    /// Returns the element in one line of at most `width` characters; nil is the text of a missing one.
    func cell(_ row: Int, width: Int) -> String { shortened(text(row) ?? "nil", width) }
}

/// Returns the text in one line; a text longer than `width` is cut and ends in `…`.
func shortened(_ text: String, _ width: Int) -> String {
    // Long texts are not looked at to their end.
    var line = String(text.prefix(width + 1))
    if line.contains(where: \.isNewline) { line = String(line.map { $0.isNewline ? " " : $0 }) }
    return line.count > width ? line.prefix(Swift.max(width - 1, 0)) + "…" : line
}
