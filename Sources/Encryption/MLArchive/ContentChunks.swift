import Crypto

/// Where files are divided into pieces: at places that their contents choose, so that bytes that are inserted or removed
/// change the pieces around them alone.
///
/// A boundary follows a byte where the top bits of a *gear* hash of the 64 bytes up to it are zeros: eighteen of them until
/// a piece is as long as wanted on average, fourteen afterwards (FastCDC's normalized chunking).
/// Documentation/Formats/mlarchive.md, with vectors.
package struct ContentChunks: Sendable {
    /// The fewest bytes of a piece, but for the last one of a file; what pieces have on average; and the most.
    package let least: Int
    package let average: Int
    package let most: Int
    /// How far the hash is shifted, so that the bits that count remain.
    private let strictShift: UInt64
    private let looseShift: UInt64

    /// The bytes that a hash depends on.
    private static let window = 64
    /// What pieces have on average in archives of up to 2 GiB.
    private static let usualAverage = 64 << 10
    private static let mostDoublings = 4

    /// - Parameter doublings: how often sizes are twice those of archives of up to 2 GiB, from 0 to 4.
    package init(doublings: Int = 0) {
        precondition(0...Self.mostDoublings ~= doublings)
        average = Self.usualAverage << doublings
        least = average / 4
        most = average * 4
        strictShift = UInt64(64 - (18 + doublings))
        looseShift = UInt64(64 - (14 + doublings))
    }

    /// The sizes for an archive of `byteCount` bytes: its header has room for some 40,000 pieces.
    package init(archiveOf byteCount: Int) {
        var doublings = 0
        while doublings < Self.mostDoublings, byteCount >> doublings > 2 << 30 { doublings += 1 }
        self.init(doublings: doublings)
    }

    /// The first eight bytes, little endian, of the SHA-256 of `mlarchive gear`, a zero and the byte.
    private static let gear: [UInt64] = (UInt8.min...UInt8.max).map { byte in
        SHA256.hash(data: Array("mlarchive gear\0".utf8) + [byte]).prefix(8).reversed().reduce(0) {
            $0 << 8 | UInt64($1)
        }
    }

    /// The lengths of the pieces of a file, in their order.
    package func lengths(of bytes: UnsafeRawBufferPointer) -> [Int] {
        var (lengths, start) = ([Int](), 0)
        Self.gear.withUnsafeBufferPointer { gear in
            while start < bytes.count {
                let length = self.length(of: UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(most)), gear)
                lengths.append(length)
                start += length
            }
        }
        return lengths
    }

    /// The length of the piece that `bytes` begin with, which are no more than the most that a piece has.
    private func length(of bytes: UnsafeRawBufferPointer, _ gear: UnsafeBufferPointer<UInt64>) -> Int {
        guard bytes.count > least else { return bytes.count }
        var hash: UInt64 = 0
        for index in least - Self.window..<least { hash = hash << 1 &+ gear[Int(bytes[index])] }
        // `hash` is that of the bytes up to `length`.
        var length = least
        let middle = min(average, bytes.count)
        while length < middle {
            if hash >> strictShift == 0 { return length }
            hash = hash << 1 &+ gear[Int(bytes[length])]
            length += 1
        }
        while length < bytes.count {
            if hash >> looseShift == 0 { return length }
            hash = hash << 1 &+ gear[Int(bytes[length])]
            length += 1
        }
        return bytes.count
    }
}
