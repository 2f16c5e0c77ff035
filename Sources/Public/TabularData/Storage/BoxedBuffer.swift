/// A buffer of values of any type.
@usableFromInline
struct BoxedBuffer<Element> {
    @usableFromInline private(set) var elements: ContiguousArray<Element?>
    private(set) var missing: Int

    @usableFromInline
    init(capacity: Int) {
        elements = []
        elements.reserveCapacity(capacity)
        missing = 0
    }

    @usableFromInline
    func isMissing(_ index: Int) -> Bool {
        if case .none = elements[index] { true } else { false }
    }

    @usableFromInline
    mutating func append(_ element: Element?) {
        elements.append(element)
        if case .none = element { missing += 1 }
    }

    mutating func replace(_ index: Int, with element: Element?) {
        if isMissing(index) { missing -= 1 }
        elements[index] = element
        if isMissing(index) { missing += 1 }
    }

    mutating func remove(_ index: Int) {
        if isMissing(index) { missing -= 1 }
        elements.remove(at: index)
    }

    mutating func append(_ other: BoxedBuffer, in range: Range<Int>) {
        for index in range { append(other.elements[index]) }
    }

    /// Returns the elements at `rows`; `missingRow` gives a missing element.
    func gathered(_ rows: Span<UInt32>) -> BoxedBuffer {
        var result = BoxedBuffer(capacity: rows.count)
        for position in rows.indices {
            result.append(rows[position] == missingRow ? nil : elements[Int(rows[position])])
        }
        return result
    }

    /// Whether both share their memory.
    func isSame(as other: BoxedBuffer) -> Bool {
        elements.span.isIdentical(to: other.elements.span)
    }
}
