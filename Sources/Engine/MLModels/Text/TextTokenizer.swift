import CTextSegmentation
package import MLNumerics
import Synchronization

/// Divides texts into words or sentences by the rules of a language: Unicode Standard Annex #29 and ICU's dictionaries.
///
/// Training and prediction both divide texts here, so a model sees at run time what it was trained on. Any number of
/// threads may use one tokenizer.
package final class TextTokenizer: Sendable {
    package enum Unit: Sendable { case words, sentences }

    /// The kind of a segment.
    package enum Kind: UInt32, Sendable {
        case space = 0
        case mark = 1
        case emoji = 2
        case number = 3
        case letters = 4

        /// Whether the segment is a word of the text.
        package var isWord: Bool { rawValue >= Kind.emoji.rawValue }
    }

    /// A piece of the text between two boundaries; segments are contiguous.
    package struct Segment: Sendable, Equatable {
        /// The position in bytes of the text's UTF-8.
        package let range: Range<Int>
        package let kind: Kind
    }

    /// An ICU iterator, which only one thread may use at a time: it is taken out of the pool meanwhile.
    ///
    /// `@unchecked Sendable`: it is taken out of the pool for that time.
    private struct Iterator: @unchecked Sendable {
        static let segmentCount = 64
        let address: OpaquePointer
        let segments: UnsafeMutablePointer<cts_segment>

        func close() {
            cts_close(address)
            segments.deallocate()
        }
    }

    /// The BCP 47 tag of the language; "" for none in particular.
    package let language: String
    package let unit: Unit
    private let idle: Mutex<[Iterator]>

    /// - Throws: `.invalidInput` for text that is not a language tag, `.unsupported` when ICU has no rules.
    package init(_ unit: Unit = .words, language: String = "") throws(ModelError) {
        guard language.utf8.count <= 100, language.utf8.allSatisfy(Self.isTagByte) else {
            throw ModelError(
                .invalidInput,
                "\"\(language)\" is not a language: give a BCP 47 tag such as \"en\" or \"zh-Hans\""
            )
        }
        self.language = language
        self.unit = unit
        idle = Mutex([try Self.open(unit, language)])
    }

    deinit { idle.withLock { $0.forEach { $0.close() } } }

    private static func isTagByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func open(_ unit: Unit, _ language: String) throws(ModelError) -> Iterator {
        var reason: UnsafePointer<CChar>?
        guard let address = cts_open(unit == .words ? CTS_WORDS : CTS_SENTENCES, language, &reason) else {
            let name = reason.map { String(cString: $0) } ?? "no reason"
            throw ModelError(
                .unsupported,
                "ICU has no boundaries of \(unit) for the language \"\(language)\" (\(name)); install libicu72"
            )
        }
        return Iterator(address: address, segments: .allocate(capacity: Iterator.segmentCount))
    }

    /// Calls `body` for every segment of a text, in order.
    ///
    /// - Parameters:
    ///   - utf8: The text; its memory must not change meanwhile.
    ///   - body: Called with each segment.
    /// - Throws: `.invalidInput` when the text is too long, and errors that `body` throws.
    package func forEachSegment(
        of utf8: UnsafeBufferPointer<UInt8>,
        _ body: (Segment) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard let start = utf8.baseAddress, utf8.count > 0 else { return }
        let iterator: Iterator
        if let kept = idle.withLock({ $0.popLast() }) {
            iterator = kept
        } else {
            iterator = try Self.open(unit, language)
        }
        defer { idle.withLock { $0.append(iterator) } }
        let begins = start.withMemoryRebound(to: CChar.self, capacity: utf8.count) { text in
            cts_begin(iterator.address, text, utf8.count)
        }
        guard begins != 0 else {
            throw ModelError(.invalidInput, "a text of \(utf8.count) bytes is too long; divide it at paragraphs")
        }
        while true {
            let count = cts_next(iterator.address, iterator.segments, Iterator.segmentCount)
            guard count > 0 else { return }
            for index in 0..<count {
                let segment = iterator.segments[index]
                let kind = Kind(rawValue: segment.kind) ?? .mark
                try body(Segment(range: Int(segment.start)..<Int(segment.end), kind: kind))
            }
        }
    }

    /// The segments of a text.
    package func segments(of text: String) throws(ModelError) -> [Segment] {
        var result: [Segment] = []
        try text.withBytes { (utf8) throws(ModelError) in
            try forEachSegment(of: utf8) { (segment) throws(ModelError) in result.append(segment) }
        }
        return result
    }
}

/// The canonical spelling of words in features: canonically composed, optionally in lower case.
struct WordSpelling {
    private let language: String
    /// Whether the language's lower case of ASCII letters differs from ASCII's.
    private let hasSpecialASCIICase: Bool
    private(set) var bytes: [UInt8] = []

    init(language: String) {
        self.language = language
        let code = language.split(separator: "-").first?.lowercased() ?? ""
        hasSpecialASCIICase = code == "tr" || code == "az" || code == "lt"
    }

    /// Writes the canonical spelling of a word to `bytes`.
    mutating func canonicalize(_ word: UnsafeBufferPointer<UInt8>, lower: Bool) {
        bytes.removeAll(keepingCapacity: true)
        var isASCII = true
        for byte in word {
            isASCII = isASCII && byte < 0x80
            let isCapital = lower && byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            bytes.append(isCapital ? byte + 32 : byte)
        }
        if isASCII && !(lower && hasSpecialASCIICase) { return }
        var capacity = word.count * 3 + 16
        while true {
            let length = compose(word, lower: lower, capacity: capacity)
            // ICU fails only when memory runs out; the word is then unchanged.
            guard length >= 0 else {
                bytes = Array(word)
                return
            }
            if length <= capacity { return }
            capacity = length
        }
    }

    private mutating func compose(_ word: UnsafeBufferPointer<UInt8>, lower: Bool, capacity: Int) -> Int {
        var length = 0
        bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            length = word.withMemoryRebound(to: CChar.self) { word in
                buffer.withMemoryRebound(to: CChar.self) { buffer in
                    cts_compose(word.baseAddress, word.count, lower ? 1 : 0, language, buffer.baseAddress, capacity)
                }
            }
            count = length >= 0 && length <= capacity ? length : 0
        }
        return length
    }
}

extension String {
    /// Gives `body` access to the text's UTF-8.
    package func withBytes<R, E: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R) throws(E) -> R {
        var text = self
        var result: Result<R, E>?
        text.withUTF8 { utf8 in
            do throws(E) { result = .success(try body(utf8)) } catch { result = .failure(error) }
        }
        switch result {
        case .success(let value)?: return value
        case .failure(let error)?: throw error
        case nil: preconditionFailure("withUTF8 calls its body")
        }
    }
}
