/// Lines of a Swift source.
struct SourceWriter {
    private(set) var lines: [String] = []
    private var depth = 0

    var text: String { lines.joined(separator: "\n") + "\n" }

    mutating func add(_ line: String) {
        lines.append(line.isEmpty ? "" : String(repeating: "    ", count: depth) + line)
    }

    mutating func add(_ lines: [String]) { for line in lines { add(line) } }

    /// An empty line, unless one is there or a block has just begun.
    mutating func space() {
        guard let last = lines.last, !last.isEmpty, !last.hasSuffix("{") else { return }
        lines.append("")
    }

    /// Writes `header`, the lines of `body` indented, and the closing brace.
    ///
    /// - Parameters:
    ///   - header: The text before the opening brace.
    ///   - entry: The text after the opening brace, such as a closure's parameters.
    ///   - body: Writes the lines between the braces.
    mutating func block(_ header: String, entry: String = "", _ body: (inout SourceWriter) -> Void) {
        add(header + " {" + (entry.isEmpty ? "" : " " + entry))
        depth += 1
        body(&self)
        depth -= 1
        while lines.last?.isEmpty == true { lines.removeLast() }
        add("}")
    }

    /// Lines that hold only where `Float16` exists, when `isNeeded`.
    mutating func guarded(float16 isNeeded: Bool, _ body: (inout SourceWriter) -> Void) {
        guard isNeeded else { return body(&self) }
        lines.append("    #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))")
        body(&self)
        while lines.last?.isEmpty == true { lines.removeLast() }
        lines.append("    #endif")
    }

    private static let width = 116

    /// `header(items)tail`, on one line or with a line for each item.
    mutating func call(_ header: String, _ items: [String], _ tail: String = "") {
        call(header, items, open: "(", close: ")" + tail)
    }

    /// The same with other brackets.
    mutating func call(_ header: String, _ items: [String], open: String, close: String) {
        let line = header + open + items.joined(separator: ", ") + close
        guard line.count + 4 * depth > Self.width, !items.isEmpty else { return add(line) }
        add(header + open)
        for (index, item) in items.enumerated() { add("    " + item + (index + 1 < items.count ? "," : "")) }
        add(close)
    }

    /// A function or initialiser, its parameters on one line or each on its own.
    mutating func function(
        _ header: String,
        _ parameters: [String],
        _ tail: String,
        _ body: (inout SourceWriter) -> Void
    ) {
        call(header, parameters, tail + " {")
        depth += 1
        body(&self)
        depth -= 1
        add("}")
    }
}
