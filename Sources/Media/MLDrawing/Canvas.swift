import CDrawing
package import MLNumerics

/// A white page to draw lines, areas and text on, which is written as a file.
///
/// Coordinates have their origin at the top left. Text may be in any script and direction, in the machine's fonts;
/// characters without a glyph are drawn as boxes.
package final class Canvas {
    /// The file formats.
    package enum Form: Sendable {
        /// Two pixels per unit.
        case png
        case svg
        case pdf
    }

    package enum Alignment: Sendable {
        case left, centre, right
    }

    /// The place where a text that is too long is truncated.
    package enum Ellipsis: Sendable {
        case end, middle
    }

    package struct Point: Hashable, Sendable {
        package var x: Double
        package var y: Double

        package init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
    }

    private let page: OpaquePointer

    package init(width: Double, height: Double, form: Form) throws(ModelError) {
        let form: cdr_form =
            switch form {
            case .png: CDR_PNG
            case .svg: CDR_SVG
            case .pdf: CDR_PDF
            }
        if let problem = cdr_problem() {
            throw ModelError(.io, "nothing can be drawn: \(String(cString: problem))")
        }
        guard let page = cdr_open(form, width, height, 2) else {
            throw ModelError(.io, "no memory for a page of \(width) × \(height)")
        }
        self.page = page
    }

    deinit { cdr_close(page) }

    /// Finishes the page and returns the bytes of its file.
    package func bytes() throws(ModelError) -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        if let reason = cdr_finish(page, &bytes, &count) {
            throw ModelError(.io, "the page cannot be drawn: \(String(cString: reason))")
        }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    // MARK: Areas and lines

    package func fill(x: Double, y: Double, width: Double, height: Double, _ colour: Colour) {
        cdr_fill_rectangle(page, x, y, width, height, colour.shade)
    }

    /// Draws a polyline with round ends and joins.
    package func stroke(_ points: [Point], width: Double, _ colour: Colour) {
        stroke([points], width: width, colour)
    }

    /// Draws polylines as one figure: where they cross, a translucent colour is applied once.
    package func stroke(_ lines: [[Point]], width: Double, _ colour: Colour) {
        cdr_stroke(page, Self.flat(lines.joined()), lines.map(\.count), lines.count, width, colour.shade)
    }

    /// Draws discs; translucent ones show through each other.
    package func dot(_ points: [Point], width: Double, _ colour: Colour) {
        for point in points { stroke([point], width: width, colour) }
    }

    private static func flat(_ points: some Sequence<Point>) -> [Double] { points.flatMap { [$0.x, $0.y] } }

    // MARK: Text

    /// Draws a line of text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - x: The horizontal position that `alignment` refers to.
    ///   - y: The baseline.
    ///   - size: The font size in pixels.
    ///   - colour: The colour of the text.
    ///   - alignment: The alignment of the text at its position.
    ///   - width: The available width; longer text is truncated with an ellipsis.
    ///   - ellipsis: The place of the ellipsis in truncated text.
    ///   - isBold: Whether to use the bold font.
    ///   - isUpright: Whether the text runs from the bottom to the top, with its baseline at `x`.
    package func write(
        _ text: String,
        x: Double,
        y: Double,
        size: Double = 12,
        _ colour: Colour = .black,
        alignment: Alignment = .left,
        width: Double = .infinity,
        ellipsis: Ellipsis = .end,
        isBold: Bool = false,
        isUpright: Bool = false
    ) {
        let part: Double =
            switch alignment {
            case .left: 0
            case .centre: 0.5
            case .right: 1
            }
        Self.with(text, size, isBold, width, ellipsis == .middle ? CDR_IN_MIDDLE : CDR_AT_END) {
            cdr_write(page, $0, x, y, part, isUpright ? 1 : 0, colour.shade)
        }
    }

    /// The width of a line of text.
    package func width(_ text: String, size: Double, isBold: Bool = false) -> Double {
        Self.with(text, size, isBold, .infinity, CDR_NEVER) { cdr_measure(page, $0).width }
    }

    /// The number of a text's characters that none of the machine's fonts has.
    package func missingCount(_ text: String) -> Int {
        Self.with(text, 12, false, .infinity, CDR_NEVER) { cdr_measure(page, $0).missing }
    }

    private static func with<Result>(
        _ text: String,
        _ size: Double,
        _ isBold: Bool,
        _ limit: Double,
        _ ellipsis: cdr_ellipsis,
        _ body: (UnsafePointer<cdr_text>) -> Result
    ) -> Result {
        var displayed = oneLine(text)
        return displayed.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                var text = cdr_text(
                    text: characters.baseAddress,
                    length: characters.count,
                    size: size,
                    limit: limit,
                    ellipsis: ellipsis,
                    is_bold: isBold ? 1 : 0
                )
                return body(&text)
            }
        }
    }

    /// The maximum number of characters in a line: more than a page has room for.
    private static let maximumCharacterCount = 1000

    /// The text with spaces for control characters and line breaks, and the replacement character for noncharacters.
    ///
    /// Text longer than any line loses its middle.
    package static func oneLine(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var scalars = Array(text.unicodeScalars.prefix(maximumCharacterCount + 1))
        if scalars.count > maximumCharacterCount {
            let half = maximumCharacterCount / 2
            scalars = scalars.prefix(half) + ["…"] + text.unicodeScalars.suffix(half)
        }
        for scalar in scalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: result.append(" ")
            // cairo does not accept noncharacters as Unicode.
            case _ where scalar.properties.isNoncharacterCodePoint: result.append("\u{FFFD}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
