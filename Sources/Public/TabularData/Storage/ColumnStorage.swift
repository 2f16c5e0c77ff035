/// The values of a column, with copy on write.
///
/// The element type decides the case: trivially copyable elements are `plain`, strings `text`, all others `boxed`.
///
/// Mutating functions move the buffer out of `self` (`consume`) and put it back, so that a buffer that nobody else
/// refers to is written in place. Borrowed memory is never written: the buffer is copied first.
///
/// `@unchecked Sendable`: buffers are written by the holder of the sole reference only.
@usableFromInline
enum ColumnStorage<Element>: @unchecked Sendable {
    case plain(PlainBuffer<Element>)
    /// Only for strings.
    case text(TextBuffer)
    case boxed(BoxedBuffer<Element>)

    @inlinable
    init(capacity: Int) {
        if _isPOD(Element.self) {
            self = .plain(PlainBuffer(capacity: capacity))
        } else if Element.self == String.self {
            self = .text(TextBuffer(capacity: capacity))
        } else {
            self = .boxed(BoxedBuffer(capacity: capacity))
        }
    }

    /// The buffer of trivially copyable elements; nil for others.
    @inlinable var plain: PlainBuffer<Element>? {
        if case .plain(let buffer) = self { buffer } else { nil }
    }

    /// The buffer of strings; nil for other elements.
    @inlinable var text: TextBuffer? {
        if case .text(let buffer) = self { buffer } else { nil }
    }

    /// The buffer of elements that are neither trivially copyable nor strings; nil for those.
    @inlinable var boxed: BoxedBuffer<Element>? {
        if case .boxed(let buffer) = self { buffer } else { nil }
    }

    // The case is `text` only when elements are strings.

    @inlinable static func element(_ string: String?) -> Element? { unsafeBitCast(string, to: Element?.self) }

    @inlinable static func string(_ element: Element?) -> String? { unsafeBitCast(element, to: String?.self) }

    @inlinable var count: Int {
        switch self {
        case .plain(let buffer): buffer.count
        case .text(let buffer): buffer.count
        case .boxed(let buffer): buffer.elements.count
        }
    }

    @usableFromInline var missing: Int {
        switch self {
        case .plain(let buffer): buffer.missing
        case .text(let buffer): buffer.missing
        case .boxed(let buffer): buffer.missing
        }
    }

    @inlinable
    func isMissing(_ index: Int) -> Bool {
        switch self {
        case .plain(let buffer): buffer.isMissing(index)
        case .text(let buffer): buffer.isMissing(index)
        case .boxed(let buffer): buffer.isMissing(index)
        }
    }

    @inlinable
    subscript(index: Int) -> Element? {
        switch self {
        case .plain(let buffer): buffer.element(index)
        case .text(let buffer): Self.element(buffer.element(index))
        case .boxed(let buffer): buffer.elements[index]
        }
    }

    @inlinable
    mutating func append(_ element: Element?) {
        switch consume self {
        case .plain(var buffer):
            if buffer.isBorrowed || !isKnownUniquelyReferenced(&buffer) { buffer = buffer.copy() }
            buffer.append(element)
            self = .plain(buffer)
        case .text(var buffer):
            if !isKnownUniquelyReferenced(&buffer) { buffer = buffer.copy() }
            buffer.append(Self.string(element))
            self = .text(buffer)
        case .boxed(var buffer):
            buffer.append(element)
            self = .boxed(buffer)
        }
    }

    @usableFromInline
    mutating func replace(_ index: Int, with element: Element?) {
        switch consume self {
        case .plain(var buffer):
            if buffer.isBorrowed || !isKnownUniquelyReferenced(&buffer) { buffer = buffer.copy() }
            buffer.replace(index, with: element)
            self = .plain(buffer)
        case .text(var buffer):
            if !isKnownUniquelyReferenced(&buffer) { buffer = buffer.copy() }
            buffer.replace(index, with: Self.string(element))
            self = .text(buffer)
        case .boxed(var buffer):
            buffer.replace(index, with: element)
            self = .boxed(buffer)
        }
    }

    mutating func remove(_ index: Int) {
        switch consume self {
        case .plain(var buffer):
            if buffer.isBorrowed || !isKnownUniquelyReferenced(&buffer) { buffer = buffer.copy() }
            buffer.remove(index)
            self = .plain(buffer)
        case .text(var buffer):
            if !isKnownUniquelyReferenced(&buffer) { buffer = buffer.copy() }
            buffer.remove(index)
            self = .text(buffer)
        case .boxed(var buffer):
            buffer.remove(index)
            self = .boxed(buffer)
        }
    }

    /// Appends the elements of `source` in `range`; the case is that of `self`, since the element type is.
    mutating func append(_ source: ColumnStorage, in range: Range<Int>) {
        switch consume self {
        case .plain(var buffer):
            if buffer.isBorrowed || !isKnownUniquelyReferenced(&buffer) { buffer = buffer.copy() }
            if case .plain(let other) = source { buffer.append(other, in: range) }
            self = .plain(buffer)
        case .text(var buffer):
            if !isKnownUniquelyReferenced(&buffer) { buffer = buffer.copy() }
            if case .text(let other) = source { buffer.append(other, in: range) }
            self = .text(buffer)
        case .boxed(var buffer):
            if case .boxed(let other) = source { buffer.append(other, in: range) }
            self = .boxed(buffer)
        }
    }

    mutating func appendMissing(_ amount: Int) {
        for _ in 0..<amount { append(nil) }
    }

    /// Returns the elements at `rows`; `missingRow` gives a missing element.
    func gathered(_ rows: Span<UInt32>) -> ColumnStorage {
        switch self {
        case .plain(let buffer): .plain(buffer.gathered(rows))
        case .text(let buffer): .text(buffer.gathered(rows))
        case .boxed(let buffer): .boxed(buffer.gathered(rows))
        }
    }

    func gathered(_ rows: Range<Int>) -> ColumnStorage {
        if rows == 0..<count { return self }
        var part = ColumnStorage(capacity: rows.count)
        part.append(self, in: rows)
        return part
    }

    /// Calls `body` with the memory of trivially copyable elements without missing ones, for writing.
    ///
    /// Returns nil, without calling `body`, for other columns.
    mutating func withMutableElements<R>(
        _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> R
    ) rethrows -> R? {
        switch consume self {
        case .plain(var buffer):
            guard buffer.missing == 0 else {
                self = .plain(buffer)
                return nil
            }
            if buffer.isBorrowed || !isKnownUniquelyReferenced(&buffer) { buffer = buffer.copy() }
            defer { self = .plain(buffer) }
            var elements = UnsafeMutableBufferPointer(start: buffer.values, count: buffer.count)
            return try body(&elements)
        case let other:
            self = other
            return nil
        }
    }

    /// Whether both share their memory.
    func isSame(as other: ColumnStorage) -> Bool {
        switch (self, other) {
        case (.plain(let a), .plain(let b)): a === b
        case (.text(let a), .text(let b)): a === b
        case (.boxed(let a), .boxed(let b)): a.isSame(as: b)
        default: false
        }
    }
}
