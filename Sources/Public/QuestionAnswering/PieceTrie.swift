/// The pieces of a vocabulary by their UTF-8 bytes: the longest piece at a place is found in one walk.
struct PieceTrie: Sendable {
    /// Children of nodes in an open hash table: node and byte, child; a child of 0 is an empty cell.
    private var keys: [UInt64]
    private var children: [UInt32]
    private var count = 0
    /// The identifier of the piece that ends at a node, or -1.
    private var ends: [Int32] = [-1]
    /// The node of "##", with which pieces begin that continue a word.
    private(set) var continuation: UInt32?

    init(_ pieces: [(bytes: [UInt8], id: Int32)]) {
        keys = [UInt64](repeating: 0, count: 1 << 10)
        children = [UInt32](repeating: 0, count: 1 << 10)
        for piece in pieces where !piece.bytes.isEmpty { insert(piece.bytes, piece.id) }
        continuation = child(0, 0x23).flatMap { child($0, 0x23) }
    }

    private static func hash(_ key: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }

    private func child(_ node: UInt32, _ byte: UInt8) -> UInt32? {
        let key = UInt64(node) << 8 | UInt64(byte)
        let mask = keys.count - 1
        var cell = Self.hash(key, mask)
        while children[cell] != 0 {
            if keys[cell] == key { return children[cell] }
            cell = (cell + 1) & mask
        }
        return nil
    }

    private mutating func insert(_ bytes: [UInt8], _ id: Int32) {
        var node: UInt32 = 0
        for byte in bytes {
            if let next = child(node, byte) {
                node = next
                continue
            }
            if 2 * (count + 1) > keys.count { grow() }
            let next = UInt32(ends.count)
            ends.append(-1)
            position(UInt64(node) << 8 | UInt64(byte), next)
            count += 1
            node = next
        }
        ends[Int(node)] = id
    }

    private mutating func position(_ key: UInt64, _ next: UInt32) {
        let mask = keys.count - 1
        var cell = Self.hash(key, mask)
        while children[cell] != 0 { cell = (cell + 1) & mask }
        keys[cell] = key
        children[cell] = next
    }

    private mutating func grow() {
        let old = zip(keys, children).filter { $0.1 != 0 }
        keys = [UInt64](repeating: 0, count: keys.count * 4)
        children = [UInt32](repeating: 0, count: keys.count)
        for (key, next) in old { position(key, next) }
    }

    /// The longest piece at `start`, from the root or, inside a word, from the continuation: its end and identifier.
    func longest(_ bytes: [UInt8], _ start: Int, _ end: Int, from root: UInt32) -> (end: Int, id: Int32)? {
        var found: (end: Int, id: Int32)?
        var node = root
        var position = start
        while position < end, let next = child(node, bytes[position]) {
            node = next
            position += 1
            if ends[Int(node)] >= 0 { found = (position, ends[Int(node)]) }
        }
        return found
    }
}
