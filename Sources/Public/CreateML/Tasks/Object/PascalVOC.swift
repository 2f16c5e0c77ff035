import Foundation
import ImageIO
import MLFiles

/// Reads an XML file of Pascal VOC: one picture and its objects, with the corners of boxes in pixels.
enum PascalVOC {
    /// - Parameters:
    ///   - bytes: The XML file.
    ///   - path: Its path, for errors, and whose name the picture may have.
    ///   - folder: The folder of the pictures.
    /// - Returns: The picture.
    /// - Throws: `MLCreateError.io` for a file that is damaged or has no `annotation`.
    static func picture(_ bytes: [UInt8], path: String, folder: URL) throws -> AnnotatedPicture {
        var reader = XMLReader(bytes)
        guard let root = reader.read(), root.name == "annotation" else {
            throw MLCreateError.io(reason: "\(path) is not an XML file of Pascal VOC: \(reader.reason)")
        }
        let name = root["filename"]?.text ?? ""
        var picture = AnnotatedPicture(path: file(named: name, path, folder), form: .corner)
        if let size = root["size"], let width = size["width"].flatMap({ Int($0.text) }),
            let height = size["height"].flatMap({ Int($0.text) }), width > 0, height > 0
        {
            picture.size = .init(width: width, height: height)
        }
        for (index, object) in root.children.filter({ $0.name == "object" }).enumerated() {
            let numbers = ["xmin", "ymin", "xmax", "ymax"].compactMap { side in
                object["bndbox"]?[side].flatMap { Double($0.text) }
            }
            guard let label = object["name"]?.text, !label.isEmpty, numbers.count == 4 else {
                picture.notes.append("object \(index) has no name, or no bndbox of four numbers")
                continue
            }
            picture.objects.append(
                .init(
                    label: label,
                    x: numbers[0],
                    y: numbers[1],
                    width: numbers[2] - numbers[0],
                    height: numbers[3] - numbers[1]
                )
            )
        }
        return picture
    }

    /// The picture that an XML file names, or else the one with the XML file's name.
    private static func file(named name: String, _ path: String, _ folder: URL) -> String {
        func exists(_ path: String) -> Bool { FileAccess.kind(of: path) == .file }
        let own = folder.appendingPathComponent(name).path
        if !name.isEmpty, exists(own) { return own }
        let stem = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        for suffix in ImageFile.fileExtensions.flatMap({ [$0, $0.uppercased()] }) {
            let candidate = folder.appendingPathComponent(stem + "." + suffix).path
            if exists(candidate) { return candidate }
        }
        return name.isEmpty ? folder.appendingPathComponent(stem).path : own
    }
}

/// Reads the elements and texts of XML; attributes, comments and declarations are skipped.
struct XMLReader {
    struct Element {
        var name: String
        /// The text between the tags, without the children's, and without white space around it.
        var text = ""
        var children: [Element] = []

        /// The first child of a name.
        subscript(name: String) -> Element? { children.first { $0.name == name } }
    }

    /// The reason for which `read` returned nothing.
    private(set) var reason = ""
    private let bytes: [UInt8]
    private var position = 0

    /// Elements may lie in each other this deep.
    private static let depthLimit = 64

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The outermost element; `nil` for bytes that are not XML.
    mutating func read() -> Element? {
        var open: [Element] = []
        var texts: [[UInt8]] = []
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else {
                let end = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
                if !texts.isEmpty { texts[texts.count - 1] += bytes[position..<end] }
                position = end
                continue
            }
            if skip("<!--", to: "-->") || skip("<?", to: "?>") { continue }
            if starts("<![CDATA[") {
                let start = position + 9
                guard skip("<![CDATA[", to: "]]>") else { return fail("a CDATA section has no end") }
                if !texts.isEmpty { texts[texts.count - 1] += bytes[start..<position - 3] }
                continue
            }
            if skip("<!", to: ">") { continue }
            guard let end = tagEnd() else { return fail("a tag has no end") }
            let tag = bytes[position + 1..<end]
            position = end + 1
            if tag.first == UInt8(ascii: "/") {
                guard var element = open.popLast(), let text = texts.popLast(),
                    element.name == Self.name(tag.dropFirst())
                else { return fail("the tag </\(Self.name(tag.dropFirst()))> ends no element") }
                element.text = Self.unescaped(text)
                guard !open.isEmpty else { return element }
                open[open.count - 1].children.append(element)
            } else {
                let element = Element(name: Self.name(tag))
                if tag.last == UInt8(ascii: "/") {
                    guard !open.isEmpty else { return element }
                    open[open.count - 1].children.append(element)
                    continue
                }
                guard open.count < Self.depthLimit else { return fail("it is nested too deep") }
                open.append(element)
                texts.append([])
            }
        }
        return fail(open.last.map { "the element '\($0.name)' has no end" } ?? "it has no element")
    }

    private mutating func fail(_ reason: String) -> Element? {
        self.reason = reason
        return nil
    }

    private func starts(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    /// Skips from one text to the end of another; returns whether both are there.
    private mutating func skip(_ start: String, to end: String) -> Bool {
        guard starts(start) else { return false }
        let mark = Array(end.utf8)
        var index = position + start.utf8.count
        while index + mark.count <= bytes.count {
            if bytes[index..<index + mark.count].elementsEqual(mark) {
                position = index + mark.count
                return true
            }
            index += 1
        }
        return false
    }

    /// The place of the `>` that ends the tag here, outside of quotes.
    private func tagEnd() -> Int? {
        var quote: UInt8?
        for index in position + 1..<bytes.count {
            let byte = bytes[index]
            if let mark = quote {
                if byte == mark { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index
            }
        }
        return nil
    }

    private static func name(_ tag: ArraySlice<UInt8>) -> String {
        String(decoding: tag.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }

    private static func unescaped(_ text: [UInt8]) -> String {
        var result = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        for (code, mark) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
            result = result.replacingOccurrences(of: code, with: mark)
        }
        return result
    }
}
