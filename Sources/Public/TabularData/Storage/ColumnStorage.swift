/// The values of a column, with copy on write.
///
/// `@unchecked Sendable`: buffers are written by the holder of the sole reference only.
@usableFromInline
struct ColumnStorage<Element>: @unchecked Sendable {
    // Exactly one of the three is not nil.
    @usableFromInline var plain: PlainBuffer<Element>?
    /// Only for strings.
    @usableFromInline var text: TextBuffer?
    @usableFromInline var boxed: BoxedBuffer<Element>?

    @inlinable
    init(plain: PlainBuffer<Element>) {
        self.plain = plain
        text = nil
        boxed = nil
    }

    @inlinable
    init(boxed: BoxedBuffer<Element>) {
        plain = nil
        text = nil
        self.boxed = boxed
    }

    @usableFromInline
    init(text: TextBuffer) where Element == String {
        plain = nil
        self.text = text
        boxed = nil
    }

    @inlinable
    init(capacity: Int) {
        plain = nil
        text = nil
        boxed = nil
        if _isPOD(Element.self) {
            plain = PlainBuffer(capacity: capacity)
        } else if Element.self == String.self {
            text = TextBuffer(capacity: capacity)
        } else {
            boxed = BoxedBuffer(capacity: capacity)
        }
    }

    // `text` is not nil only when elements are strings.

    @inlinable static func element(_ string: String?) -> Element? { unsafeBitCast(string, to: Element?.self) }

    @inlinable static func string(_ element: Element?) -> String? { unsafeBitCast(element, to: String?.self) }

    @inlinable var count: Int {
        if let plain { plain.count } else if let text { text.count } else { boxed!.elements.count }
    }

    @usableFromInline var missing: Int {
        if let plain { plain.missing } else if let text { text.missing } else { boxed!.missing }
    }

    @inlinable
    func isMissing(_ index: Int) -> Bool {
        if let plain {
            plain.isMissing(index)
        } else if let text {
            text.isMissing(index)
        } else {
            boxed!.isMissing(index)
        }
    }

    @inlinable
    subscript(index: Int) -> Element? {
        if let plain {
            plain.element(index)
        } else if let text {
            Self.element(text.element(index))
        } else {
            boxed!.elements[index]
        }
    }

    @inlinable
    mutating func makeUnique() {
        if plain != nil {
            if !isKnownUniquelyReferenced(&plain) { copyStorage() }
        } else if text != nil, !isKnownUniquelyReferenced(&text) {
            copyStorage()
        }
    }

    @usableFromInline
    mutating func copyStorage() {
        plain = plain?.copy()
        text = text?.copy()
    }

    @inlinable
    mutating func append(_ element: Element?) {
        makeUnique()
        if let plain {
            plain.append(element)
        } else if let text {
            text.append(Self.string(element))
        } else {
            boxed!.append(element)
        }
    }

    @usableFromInline
    mutating func replace(_ index: Int, with element: Element?) {
        makeUnique()
        if let plain {
            plain.replace(index, with: element)
        } else if let text {
            text.replace(index, with: Self.string(element))
        } else {
            boxed!.replace(index, with: element)
        }
    }

    mutating func remove(_ index: Int) {
        makeUnique()
        if let plain { plain.remove(index) } else if let text { text.remove(index) } else { boxed!.remove(index) }
    }

    mutating func append(_ source: ColumnStorage, in range: Range<Int>) {
        makeUnique()
        if let plain {
            plain.append(source.plain!, in: range)
        } else if let text {
            text.append(source.text!, in: range)
        } else {
            boxed!.append(source.boxed!, in: range)
        }
    }

    mutating func appendMissing(_ amount: Int) {
        makeUnique()
        for _ in 0..<amount { append(nil) }
    }

    func gathered(_ rows: UnsafeBufferPointer<UInt32>) -> ColumnStorage {
        var result = self
        result.plain = plain?.gathered(rows)
        result.text = text?.gathered(rows)
        result.boxed = boxed?.gathered(rows)
        return result
    }

    func gathered(_ rows: Range<Int>) -> ColumnStorage {
        if rows == 0..<count { return self }
        var part = ColumnStorage(capacity: rows.count)
        part.append(self, in: rows)
        return part
    }

    /// Whether both share their memory.
    func isSame(as other: ColumnStorage) -> Bool {
        plain === other.plain && text === other.text && (boxed == nil || boxed!.isSame(as: other.boxed!))
    }
}
