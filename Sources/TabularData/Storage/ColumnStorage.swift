/// The values of a column, copied when they are written to and shared.
@usableFromInline
struct ColumnStorage<Element>: @unchecked Sendable {
    // Unchecked: buffers are written by the holder of the sole reference only.

    /// Exactly one of the two is there.
    @usableFromInline var plain: PlainBuffer<Element>?
    @usableFromInline var other: OpaqueBuffer<Element>?

    @inlinable
    init(plain: PlainBuffer<Element>) {
        self.plain = plain
        other = nil
    }

    @usableFromInline
    init(other: OpaqueBuffer<Element>) {
        plain = nil
        self.other = other
    }

    @inlinable
    init(capacity: Int) {
        if _isPOD(Element.self) {
            self.init(plain: PlainBuffer(capacity: capacity))
        } else {
            self.init(opaqueCapacity: capacity)
        }
    }

    @usableFromInline
    init(opaqueCapacity capacity: Int) {
        if Element.self == String.self, let text = TextBuffer(capacity: capacity) as? OpaqueBuffer<Element> {
            self.init(other: text)
        } else {
            var elements = ContiguousArray<Element?>()
            elements.reserveCapacity(capacity)
            self.init(other: BoxedBuffer(elements, missing: 0))
        }
    }

    @inlinable var count: Int { if let plain { plain.count } else { other!.count } }
    @usableFromInline var missing: Int { if let plain { plain.missing } else { other!.missing } }

    @inlinable
    func isMissing(_ index: Int) -> Bool {
        if let plain { plain.isMissing(index) } else { other!.isMissing(index) }
    }

    @inlinable
    subscript(index: Int) -> Element? {
        if let plain { plain.element(index) } else { other!.element(index) }
    }

    @inlinable
    mutating func makeUnique() {
        if plain != nil {
            if !isKnownUniquelyReferenced(&plain) { copyStorage() }
        } else if !isKnownUniquelyReferenced(&other) {
            copyStorage()
        }
    }

    @usableFromInline
    mutating func copyStorage() {
        if let plain { self.plain = plain.copy() } else { other = other!.copy() }
    }

    @inlinable
    mutating func append(_ element: Element?) {
        makeUnique()
        if let plain { plain.append(element) } else { other!.append(element) }
    }

    @usableFromInline
    mutating func replace(_ index: Int, with element: Element?) {
        makeUnique()
        if let plain { plain.replace(index, with: element) } else { other!.replace(index, with: element) }
    }

    mutating func remove(_ index: Int) {
        makeUnique()
        if let plain { plain.remove(index) } else { other!.remove(index) }
    }

    mutating func append(_ source: ColumnStorage, in range: Range<Int>) {
        makeUnique()
        if let plain { plain.append(source.plain!, in: range) } else { other!.append(source.other!, in: range) }
    }

    mutating func appendMissing(_ amount: Int) {
        makeUnique()
        for _ in 0..<amount { if let plain { plain.appendMissing() } else { other!.append(nil) } }
    }

    func gathered(_ rows: UnsafeBufferPointer<UInt32>) -> ColumnStorage {
        if let plain { return ColumnStorage(plain: plain.gathered(rows)) }
        return ColumnStorage(other: other!.gathered(rows))
    }

    func gathered(_ rows: Range<Int>) -> ColumnStorage {
        if rows == 0..<count { return self }
        if let plain {
            let part = PlainBuffer<Element>(capacity: rows.count)
            part.append(plain, in: rows)
            return ColumnStorage(plain: part)
        }
        var part = ColumnStorage(opaqueCapacity: rows.count)
        part.append(self, in: rows)
        return part
    }

    /// The strings, when these are strings.
    var text: TextBuffer? { other as? TextBuffer }
}
