import CTabular
import Foundation

/// A string in 16 bytes: its length and either its bytes (at most 12), or its first four and a place in an arena.
struct TextView: BitwiseCopyable, Sendable {
    /// Length | bytes 0..<4 << 32.
    var head: UInt64
    /// Bytes 4..<12, or offset | arena << 40.
    var tail: UInt64

    static let maximumInlineLength = 12
    static let maximumLength = Int(UInt32.max)
    static let arenaCapacity = 1 << 40
    static let maximumArenaCount = 1 << 24

    var count: Int { Int(truncatingIfNeeded: head & 0xFFFF_FFFF) }
    var isShort: Bool { head & 0xFFFF_FFFF <= 12 }
    var offset: Int { Int(truncatingIfNeeded: tail & 0xFF_FFFF_FFFF) }
    var arena: Int { Int(truncatingIfNeeded: tail >> 40) }

    init(head: UInt64, tail: UInt64) {
        self.head = head
        self.tail = tail
    }

    init(short bytes: UnsafeBufferPointer<UInt8>) {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutablePointer(to: &words) { memory in
            if let base = bytes.baseAddress { memcpy(UnsafeMutableRawPointer(memory) + 4, base, bytes.count) }
        }
        head = words.0.littleEndian | UInt64(bytes.count)
        tail = words.1.littleEndian
    }

    /// The view of a string of `count` bytes, more than 12, that begin at `start`.
    init(long start: UnsafePointer<UInt8>, count: Int, offset: Int, arena: Int) {
        var prefix: UInt32 = 0
        memcpy(&prefix, start, 4)
        head = UInt64(count) | UInt64(prefix.littleEndian) << 32
        tail = UInt64(offset) | UInt64(arena) << 40
    }
}

/// The bytes of long strings; it grows while a single buffer owns it and never changes afterwards.
///
/// `@unchecked Sendable`: appended to by its sole owner only; bytes that are there never change.
final class TextArena: @unchecked Sendable {
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var count: Int
    private var capacity: Int
    /// The owner of borrowed memory; nil for memory of the arena's own.
    private let owner: AnyObject?

    init(capacity: Int) {
        guard let memory = malloc(Swift.max(capacity, 1)) else {
            fatalError("TabularData: no memory for \(capacity) bytes of text")
        }
        bytes = memory.assumingMemoryBound(to: UInt8.self)
        count = 0
        self.capacity = capacity
        owner = nil
    }

    /// Makes an arena of another owner's memory, which never changes and to which nothing is appended.
    init(borrowing bytes: UnsafePointer<UInt8>, count: Int, of owner: AnyObject) {
        self.bytes = UnsafeMutablePointer(mutating: bytes)
        self.count = count
        capacity = count
        self.owner = owner
    }

    /// Takes ownership of memory allocated by `malloc`.
    init(adopting bytes: UnsafeMutablePointer<UInt8>, count: Int) {
        self.bytes = bytes
        self.count = count
        capacity = count
        owner = nil
    }

    deinit { if owner == nil { free(bytes) } }

    /// Appends `length` bytes and returns their offset.
    func append(_ source: UnsafePointer<UInt8>, _ length: Int) -> Int {
        if count + length > capacity {
            capacity = Swift.max(capacity * 2, count + length, 256)
            guard let memory = realloc(bytes, capacity) else {
                fatalError("TabularData: no memory for \(capacity) bytes of text")
            }
            bytes = memory.assumingMemoryBound(to: UInt8.self)
        }
        memcpy(bytes + count, source, length)
        count += length
        return count - length
    }
}

/// The addresses of a buffer's strings.
struct TextRows {
    let views: UnsafePointer<TextView>
    /// The validity bits; nil means that no string is missing.
    let validity: UnsafePointer<UInt64>?
    let arenas: UnsafeBufferPointer<UnsafePointer<UInt8>>

    @inline(__always)
    func isMissing(_ row: Int) -> Bool {
        guard let validity else { return false }
        return validity[row &>> 6] &>> UInt64(truncatingIfNeeded: row & 63) & 1 == 0
    }

    /// Returns the bytes of a string longer than 12 bytes.
    @inline(__always)
    func long(_ view: TextView) -> UnsafePointer<UInt8> { arenas[view.arena] + view.offset }
}

/// A buffer of strings in UTF-8, without an object for each.
///
/// `@unchecked Sendable`: written only by the holder of the sole reference, or by a builder that nobody else sees yet.
@usableFromInline
final class TextBuffer: @unchecked Sendable {
    let views: PlainBuffer<TextView>
    private(set) var arenas: [TextArena]
    /// Whether no other buffer shares the last arena.
    private var ownsLastArena: Bool

    @usableFromInline
    init(capacity: Int) {
        views = PlainBuffer(capacity: capacity)
        arenas = []
        ownsLastArena = false
    }

    init(views: PlainBuffer<TextView>, arenas: [TextArena]) {
        self.views = views
        self.arenas = arenas
        ownsLastArena = false
    }

    @usableFromInline var count: Int { views.count }
    @usableFromInline var missing: Int { views.missing }
    @usableFromInline func isMissing(_ index: Int) -> Bool { views.isMissing(index) }

    /// Calls `body` with the UTF-8 bytes of a string that is not missing.
    @inline(__always)
    func withBytes<R, E: Error>(
        _ index: Int,
        _ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let position = views.values + index
        let view = position.pointee
        if view.isShort {
            #if _endian(little)
                let bytes = UnsafeRawPointer(position).assumingMemoryBound(to: UInt8.self) + 4
                return try body(UnsafeBufferPointer(start: bytes, count: view.count))
            #else
                #error("TabularData keeps short strings in the bytes of little-endian words.")
            #endif
        }
        return try body(UnsafeBufferPointer(start: arenas[view.arena].bytes + view.offset, count: view.count))
    }

    @usableFromInline
    func element(_ index: Int) -> String? {
        if views.isMissing(index) { return nil }
        return withBytes(index) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with the addresses of all strings, for loops over many of them.
    @inline(__always)
    func withRows<R>(_ body: (TextRows) -> R) -> R {
        let arenas = self.arenas.map { UnsafePointer($0.bytes) }
        defer { withExtendedLifetime(self) {} }
        return arenas.withUnsafeBufferPointer { arenas in
            body(
                TextRows(
                    views: UnsafePointer(views.values),
                    validity: views.missing > 0 ? views.validity.map { UnsafePointer($0) } : nil,
                    arenas: arenas
                )
            )
        }
    }

    private func view(_ string: String) -> TextView {
        var string = string
        return string.withUTF8 { view($0) }
    }

    private func view(_ bytes: UnsafeBufferPointer<UInt8>) -> TextView {
        guard bytes.count > TextView.maximumInlineLength, let start = bytes.baseAddress else {
            return TextView(short: bytes)
        }
        require(bytes.count <= TextView.maximumLength, "TabularData: a string in a column is longer than 4 GiB")
        if !ownsLastArena || arenas[arenas.count - 1].count + bytes.count > TextView.arenaCapacity {
            require(arenas.count < TextView.maximumArenaCount, "TabularData: a column was joined from too many parts")
            arenas.append(TextArena(capacity: 4096))
            ownsLastArena = true
        }
        let offset = arenas[arenas.count - 1].append(start, bytes.count)
        return TextView(long: start, count: bytes.count, offset: offset, arena: arenas.count - 1)
    }

    @usableFromInline func append(_ element: String?) { views.append(element.map(view)) }

    func append(_ bytes: UnsafeBufferPointer<UInt8>) { views.append(view(bytes)) }

    @usableFromInline func replace(_ index: Int, with element: String?) {
        views.replace(index, with: element.map(view))
    }

    func remove(_ index: Int) { views.remove(index) }

    func append(_ other: TextBuffer, in range: Range<Int>) {
        let first = views.count
        let shift = arenas.count
        if range.count < 16 || shift + other.arenas.count > TextView.maximumArenaCount {
            for index in range {
                if other.views.isMissing(index) { views.appendMissing() } else { other.withBytes(index, append) }
            }
            return
        }
        views.append(other.views, in: range)
        if other === self { return }
        arenas += other.arenas
        other.ownsLastArena = false
        ownsLastArena = false
        for index in first..<views.count where !views.values[index].isShort {
            views.values[index].tail += UInt64(shift) << 40
        }
    }

    @usableFromInline
    func copy() -> TextBuffer {
        ownsLastArena = false
        return TextBuffer(views: views.copy(), arenas: arenas)
    }

    func gathered(_ rows: Span<UInt32>) -> TextBuffer {
        let chosen = views.gathered(rows)
        ownsLastArena = false
        // Few rows of many do not keep the bytes of all.
        guard rows.count < count / 16, !arenas.isEmpty else { return TextBuffer(views: chosen, arenas: arenas) }
        let arena = TextArena(capacity: 4096)
        for index in 0..<chosen.count {
            let view = chosen.values[index]
            if view.isShort { continue }
            let start = arenas[view.arena].bytes + view.offset
            chosen.values[index].tail = UInt64(arena.append(start, view.count))
        }
        return TextBuffer(views: chosen, arenas: [arena])
    }
}
