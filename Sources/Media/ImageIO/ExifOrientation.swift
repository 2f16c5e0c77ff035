import Foundation

/// Finds the orientation in an image file's Exif data.
///
/// Every read is bounds-checked; damaged data yields 1.
struct ExifOrientation {
    /// The orientation, 1…8.
    private(set) var value: UInt32 = 1
    private let bytes: [UInt8]

    /// Reads a JPEG file, whose Exif data precedes the pixels.
    init(inJPEG data: Data) { self.init(data.prefix(1 << 20)) { $0.jpegPart() } }

    /// Reads a PNG file, whose Exif data may follow the pixels.
    init(inPNG data: Data) { self.init(data) { $0.pngPart() } }

    /// Reads a WebP file, whose Exif data may follow the pixels.
    init(inWebP data: Data) { self.init(data) { $0.webpPart() } }

    private init(_ data: Data, _ part: (Self) -> Range<Int>?) {
        bytes = [UInt8](data)
        if let part = part(self), let found = orientation(in: part) { value = found }
    }

    private func jpegPart() -> Range<Int>? {
        var position = 2
        while position + 4 <= bytes.count, bytes[position] == 0xFF {
            let marker = bytes[position + 1]
            if marker == 0xFF {
                position += 1
                continue
            }
            if marker == 0xDA || marker == 0xD9 { return nil }
            let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
            let end = position + 2 + length
            guard length >= 2, end <= bytes.count else { return nil }
            let start = position + 4
            if marker == 0xE1, end - start > 6, bytes[start..<start + 6].elementsEqual([0x45, 0x78, 0x69, 0x66, 0, 0]) {
                return start + 6..<end
            }
            position = end
        }
        return nil
    }

    private func pngPart() -> Range<Int>? {
        var position = 8
        while let length = number(at: position, bytes: 4, bigEndian: true), position + 12 + length <= bytes.count {
            let start = position + 8
            if bytes[position + 4..<start].elementsEqual("eXIf".utf8) { return start..<start + length }
            position = start + length + 4
        }
        return nil
    }

    private func webpPart() -> Range<Int>? {
        var position = 12
        while let length = number(at: position + 4, bytes: 4, bigEndian: false), position + 8 + length <= bytes.count {
            var start = position + 8
            let end = start + length
            if bytes[position..<position + 4].elementsEqual("EXIF".utf8) {
                if bytes[start..<end].starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) { start += 6 }
                return start..<end
            }
            position = end + length % 2
        }
        return nil
    }

    /// The orientation in the first directory of a TIFF structure.
    private func orientation(in part: Range<Int>) -> UInt32? {
        guard part.count >= 8 else { return nil }
        let start = part.lowerBound
        let bigEndian: Bool
        switch (bytes[start], bytes[start + 1]) {
        case (0x4D, 0x4D): bigEndian = true
        case (0x49, 0x49): bigEndian = false
        default: return nil
        }
        guard number(at: start + 2, bytes: 2, bigEndian: bigEndian) == 42,
            let offset = number(at: start + 4, bytes: 4, bigEndian: bigEndian),
            let entries = number(at: start + offset, bytes: 2, bigEndian: bigEndian)
        else { return nil }
        for index in 0..<entries {
            let entry = start + offset + 2 + 12 * index
            guard entry + 12 <= part.upperBound else { return nil }
            if number(at: entry, bytes: 2, bigEndian: bigEndian) == 0x0112 {
                let found = number(at: entry + 8, bytes: 2, bigEndian: bigEndian) ?? 1
                return (1...8).contains(found) ? UInt32(found) : nil
            }
        }
        return nil
    }

    private func number(at position: Int, bytes count: Int, bigEndian: Bool) -> Int? {
        guard position >= 0, position + count <= bytes.count else { return nil }
        var result = 0
        for index in 0..<count {
            result = result << 8 | Int(bytes[position + (bigEndian ? index : count - 1 - index)])
        }
        return result
    }
}
