/// Values that lie in another form than plain memory: strings in an arena, or boxed values of any type.
@usableFromInline
class OpaqueBuffer<Element>: @unchecked Sendable {
    // Unchecked: written only by the holder of the sole reference.

    init() {}

    @usableFromInline var count: Int { fatalError("abstract") }
    @usableFromInline var missing: Int { fatalError("abstract") }
    @usableFromInline func element(_ index: Int) -> Element? { fatalError("abstract") }
    @usableFromInline func isMissing(_ index: Int) -> Bool { fatalError("abstract") }
    @usableFromInline func append(_ element: Element?) { fatalError("abstract") }
    @usableFromInline func replace(_ index: Int, with element: Element?) { fatalError("abstract") }
    func remove(_ index: Int) { fatalError("abstract") }
    func append(_ other: OpaqueBuffer, in range: Range<Int>) { fatalError("abstract") }
    @usableFromInline func copy() -> OpaqueBuffer { fatalError("abstract") }
    func gathered(_ rows: UnsafeBufferPointer<UInt32>) -> OpaqueBuffer { fatalError("abstract") }
}

/// Values of any type.
final class BoxedBuffer<Element>: OpaqueBuffer<Element>, @unchecked Sendable {
    var elements: ContiguousArray<Element?>
    private var absent: Int

    init(_ elements: ContiguousArray<Element?>, missing: Int) {
        self.elements = elements
        absent = missing
    }

    override var count: Int { elements.count }
    override var missing: Int { absent }
    override func element(_ index: Int) -> Element? { elements[index] }
    override func isMissing(_ index: Int) -> Bool {
        if case .none = elements[index] { true } else { false }
    }

    override func append(_ element: Element?) {
        elements.append(element)
        if case .none = element { absent += 1 }
    }

    override func replace(_ index: Int, with element: Element?) {
        if isMissing(index) { absent -= 1 }
        elements[index] = element
        if isMissing(index) { absent += 1 }
    }

    override func remove(_ index: Int) {
        if isMissing(index) { absent -= 1 }
        elements.remove(at: index)
    }

    override func append(_ other: OpaqueBuffer<Element>, in range: Range<Int>) {
        for index in range { append(other.element(index)) }
    }

    override func copy() -> OpaqueBuffer<Element> { BoxedBuffer(elements, missing: absent) }

    override func gathered(_ rows: UnsafeBufferPointer<UInt32>) -> OpaqueBuffer<Element> {
        var result = ContiguousArray<Element?>()
        result.reserveCapacity(rows.count)
        var absent = 0
        for row in rows {
            if row == missingRow {
                result.append(nil)
                absent += 1
            } else {
                result.append(elements[Int(row)])
                if isMissing(Int(row)) { absent += 1 }
            }
        }
        return BoxedBuffer(result, missing: absent)
    }
}
