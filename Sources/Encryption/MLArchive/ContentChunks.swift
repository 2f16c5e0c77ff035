import Crypto

/// The division of files into pieces at positions that depend on their contents.
///
/// Inserted or removed bytes change only the pieces around them. A boundary follows a byte where the top bits of a
/// *gear* hash of the 64 bytes up to it are zeros: eighteen of them until a piece has the average length, fourteen
/// afterwards (FastCDC's normalized chunking). Documentation/Formats/mlarchive.md has details and vectors.
package struct ContentChunks: Sendable {
    /// The least number of bytes of a piece, except for the last one of a file; the average; and the largest.
    package let minimumByteCount: Int
    package let average: Int
    package let maximumByteCount: Int
    /// The shift of the hash that leaves the bits to be tested.
    private let strictShift: UInt64
    private let looseShift: UInt64

    /// The number of bytes that a hash depends on.
    private static let window = 64
    /// The average length of pieces in archives of up to 2 GiB.
    private static let usualAverage = 64 << 10
    private static let maximumDoublingCount = 4

    /// Creates the sizes of archives of up to 2 GiB, doubled 0 to 4 times.
    package init(doublings: Int = 0) {
        precondition(0...Self.maximumDoublingCount ~= doublings)
        average = Self.usualAverage << doublings
        minimumByteCount = average / 4
        maximumByteCount = average * 4
        strictShift = UInt64(64 - (18 + doublings))
        looseShift = UInt64(64 - (14 + doublings))
    }

    /// Creates the sizes for an archive of `byteCount` bytes, whose header has room for some 40,000 pieces.
    package init(archiveOf byteCount: Int) {
        var doublings = 0
        while doublings < Self.maximumDoublingCount, byteCount >> doublings > 2 << 30 { doublings += 1 }
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
                let length = self.length(
                    of: UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(maximumByteCount)),
                    gear
                )
                lengths.append(length)
                start += length
            }
        }
        return lengths
    }

    /// The length of the first piece of `bytes`, which are at most as many as a piece can have.
    private func length(of bytes: UnsafeRawBufferPointer, _ gear: UnsafeBufferPointer<UInt64>) -> Int {
        guard bytes.count > minimumByteCount else { return bytes.count }
        var hash: UInt64 = 0
        for index in minimumByteCount - Self.window..<minimumByteCount { hash = hash << 1 &+ gear[Int(bytes[index])] }
        // `hash` is that of the bytes up to `length`.
        var length = minimumByteCount
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
