import Crypto
import MLArchive

/// Describes one file as the difference from another version of it.
struct FileDifference {
    /// The bytes to describe.
    let new: UnsafeRawBufferPointer
    /// The bytes that devices have, and the number of their file in the old archive's header.
    let old: UnsafeRawBufferPointer
    let file: Int

    /// The number of bytes of a part on which the ways to code it are tried.
    private static let sample = 32 << 10
    /// The least number of bytes whose differences are worth a description.
    private static let minimumDifference = 64

    /// A part of the new file that the old one also has.
    private struct Match {
        var range: Range<Int>
        /// The old position minus the new one.
        let shift: Int
    }

    /// A way to code a part.
    private struct Candidate {
        let kind: DeltaSegment.Kind
        let shift: Int
        /// The number of bytes of the part that it can code.
        let byteCount: Int
        /// The number of packed bytes per byte, in the sample.
        let cost: Double
    }

    /// Passes on the descriptions in order, each with its packed bytes.
    func segments(_ take: (DeltaSegment, [UInt8]) -> Void) {
        let matches = matches()
        var position = 0
        for (index, match) in matches.enumerated() {
            describe(position..<match.range.lowerBound, shifts(matches, around: index), take)
            take(
                DeltaSegment(
                    .copy,
                    file: file,
                    offset: match.range.lowerBound + match.shift,
                    byteCount: match.range.count
                ),
                []
            )
            position = match.range.upperBound
        }
        describe(position..<new.count, shifts(matches, around: matches.count), take)
    }

    // MARK: What both have

    private func matches() -> [Match] {
        let cut = ContentChunks()
        var locations: [[UInt8]: Int] = [:]
        var position = 0
        for length in cut.lengths(of: old) {
            locations[Self.hash(old[position..<position + length])] = position
            position += length
        }
        var matches: [Match] = []
        position = 0
        for length in cut.lengths(of: new) {
            let range = position..<position + length
            position = range.upperBound
            // A continuation of the previous match is merged into it.
            if let last = matches.last, last.range.upperBound == range.lowerBound, isSame(range, last.shift) {
                matches[matches.count - 1].range = last.range.lowerBound..<range.upperBound
            } else if let location = locations[Self.hash(new[range])] {
                matches.append(Match(range: range, shift: location - range.lowerBound))
            }
        }
        return matches
    }

    private func isSame(_ range: Range<Int>, _ shift: Int) -> Bool {
        let (start, end) = (range.lowerBound + shift, range.upperBound + shift)
        return start >= 0 && end <= old.count && new[range].elementsEqual(old[start..<end])
    }

    private static func hash(_ bytes: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        Array(SHA256.hash(data: UnsafeRawBufferPointer(rebasing: bytes)))
    }

    /// The likely positions of the old bytes of an unmatched part.
    ///
    /// They are the same position, the same distance from the end, and the shifts of neighbouring matches.
    private func shifts(_ matches: [Match], around index: Int) -> [Int] {
        var shifts = [0, old.count - new.count]
        if index > 0 { shifts.append(matches[index - 1].shift) }
        if index < matches.count { shifts.append(matches[index].shift) }
        return shifts.enumerated().filter { !shifts[..<$0.offset].contains($0.element) }.map(\.element)
    }

    // MARK: What has changed

    private func describe(_ range: Range<Int>, _ shifts: [Int], _ take: (DeltaSegment, [UInt8]) -> Void) {
        var position = range.lowerBound
        while position < range.upperBound {
            let part = position..<min(range.upperBound, position + DeltaSegment.maximumByteCount)
            let candidates = shifts.flatMap { differences(part, shift: $0) }
            let best = candidates.min { $0.cost < $1.cost }
            let literal = literal(part)
            let chosen = best.map { $0.cost < literal.cost ? $0 : literal } ?? literal
            let coded = part.lowerBound..<part.lowerBound + chosen.byteCount
            let packed = pack(coded, chosen.kind, chosen.shift, level: Packing.level)
            take(
                DeltaSegment(
                    chosen.kind,
                    file: chosen.kind == .bytes ? 0 : file,
                    offset: chosen.kind == .bytes ? 0 : coded.lowerBound + chosen.shift,
                    byteCount: coded.count,
                    packedByteCount: packed.count
                ),
                packed
            )
            position = coded.upperBound
        }
    }

    private func literal(_ part: Range<Int>) -> Candidate {
        Candidate(kind: .bytes, shift: 0, byteCount: part.count, cost: cost(part, .bytes, 0))
    }

    /// The ways to code a part as differences, for each type and each possible first byte of elements.
    private func differences(_ part: Range<Int>, shift: Int) -> [Candidate] {
        let byteCount = min(part.count, old.count - part.lowerBound - shift)
        guard part.lowerBound + shift >= 0, byteCount >= min(part.count, Self.minimumDifference) else { return [] }
        let usable = part.prefix(byteCount)
        return ElementType.allCases.flatMap { type in
            (0..<type.width).map { skipped in
                let kind = DeltaSegment.Kind.difference(type, skipped: skipped)
                return Candidate(kind: kind, shift: shift, byteCount: byteCount, cost: cost(usable, kind, shift))
            }
        }
    }

    /// The cost of a part, estimated from its middle.
    private func cost(_ part: Range<Int>, _ kind: DeltaSegment.Kind, _ shift: Int) -> Double {
        // Elements of every width begin there at the same byte.
        let middle = part.lowerBound + max(0, part.count - Self.sample) / 8 * 4
        let sample = middle..<min(part.upperBound, middle + Self.sample)
        return Double(pack(sample, kind, shift, level: Packing.quickLevel).count) / Double(sample.count)
    }

    private func pack(_ part: Range<Int>, _ kind: DeltaSegment.Kind, _ shift: Int, level: Int32) -> [UInt8] {
        let bytes = UnsafeRawBufferPointer(rebasing: new[part])
        guard case .difference(let type, let skipped) = kind else { return Packing.pack(bytes, level: level) }
        let before = UnsafeRawBufferPointer(rebasing: old[part.lowerBound + shift..<part.upperBound + shift])
        let elements = DeltaSegment.elements(type, skipped: skipped, of: part.count)
        var text = Array(bytes[..<elements.lowerBound]) + Array(bytes[elements.upperBound...])
        let start = text.count
        text += [UInt8](repeating: 0, count: elements.count)
        return text.withUnsafeMutableBytes { text in
            ElementDifference.write(
                type,
                of: UnsafeRawBufferPointer(rebasing: bytes[elements]),
                from: UnsafeRawBufferPointer(rebasing: before[elements]),
                to: UnsafeMutableRawBufferPointer(rebasing: text[start...])
            )
            return Packing.pack(UnsafeRawBufferPointer(text), level: level)
        }
    }
}
