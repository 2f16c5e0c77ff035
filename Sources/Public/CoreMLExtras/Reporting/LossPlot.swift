/// A curve of numbers, such as the loss of each epoch, drawn as text for a terminal.
///
/// ```
/// 1.93 ┤█
/// 1.45 ┤█▂
///      ┤██▃
/// 0.02 ┤███▆▄▂▁▁
///       1      8
/// ```
public struct LossPlot: Sendable {
    /// The numbers to draw, from left to right.
    public var values: [Double]

    /// Creates a plot of `values`.
    public init(_ values: [Double] = []) { self.values = values }

    /// Appends a number at the right end.
    public mutating func append(_ value: Double) { values.append(value) }

    /// Returns the plot as lines of text; empty when no number is above 0.
    ///
    /// Numbers that are not finite count as 0.
    ///
    /// - Parameters:
    ///   - height: The number of lines of the curve.
    ///   - width: The greatest number of columns; more values share columns, which show their mean.
    /// - Returns: Lines separated by line feeds.
    public func text(height: Int = 8, width: Int = 60) -> String {
        let displayed = columns(max(width, 1)).map { $0.isFinite ? $0 : 0 }
        let rows = max(height, 1)
        guard let top = displayed.max(), top > 0 else { return "" }
        let labels = (0..<rows).map { row in Self.number(top * Double(rows - row) / Double(rows)) }
        let margin = labels.map(\.count).max() ?? 0
        var lines: [String] = []
        for row in 0..<rows {
            // Eighths of this line that each column fills.
            let bars = displayed.map { value in
                let eighths = Int((value / top * Double(rows * 8)).rounded()) - (rows - 1 - row) * 8
                return eighths <= 0 ? (row == rows - 1 ? "▁" : " ") : Self.blocks[min(eighths, 8) - 1]
            }
            let label = String(repeating: " ", count: margin - labels[row].count) + labels[row]
            lines.append(Self.trimmed(label + " ┤" + bars.joined()))
        }
        let last = "\(values.count)"
        let gap = max(displayed.count - 1 - last.count, 1)
        let axis = displayed.count > 1 ? "1" + String(repeating: " ", count: gap) + last : "1"
        lines.append(String(repeating: " ", count: margin + 2) + axis)
        return lines.joined(separator: "\n")
    }

    private static let blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    private func columns(_ width: Int) -> [Double] {
        guard values.count > width else { return values }
        return (0..<width).map { column in
            let part = values[column * values.count / width..<(column + 1) * values.count / width]
            return part.reduce(0, +) / Double(part.count)
        }
    }

    private static func trimmed(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }

    /// Returns a number with three significant digits.
    private static func number(_ value: Double) -> String {
        var places = 0
        var scaled = value
        while scaled < 100, places < 6 {
            scaled *= 10
            places += 1
        }
        let digits = "\(Int(scaled.rounded()))"
        guard places > 0 else { return digits }
        let padded = String(repeating: "0", count: max(places + 1 - digits.count, 0)) + digits
        return padded.dropLast(places) + "." + padded.suffix(places)
    }
}
