import CoreML
import Foundation
import MLEngine
import MLNumerics

/// A record of eight words, in memory of the caller, that carries a value in or out without calls for its parts.
///
/// `kind` says what the other words mean; `Python/swift_coreml/slots.py` has the same table.
struct Slot {
    /// The kind of a slot's contents, and the fields that each kind uses: a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, number = 7.
    enum Kind: Int {
        /// No value.
        case absent = 0
        /// f: the integer.
        case integer = 1
        /// number.
        case number = 2
        /// a: UTF-8; b: bytes.
        case text = 3
        /// a: pixels; b: width; c: layout (`PixelOrder`); d: height; e: bytes in a row.
        case image = 4
        /// a: elements, row-major; b: rank; c: raw value of `MLMultiArrayDataType`; d: extents.
        case array = 5
        /// Numbers by strings. a: numbers; b: count; d: ends of the keys in e: UTF-8.
        case textScores = 6
        /// Strings. b: count; d: ends of the strings in e: UTF-8.
        case texts = 7
        /// Numbers by integers. a: numbers; b: count; d: keys.
        case integerScores = 8
        /// a: integers of 64 bits; b: count.
        case integers = 9
        /// A picture's file in memory. a: bytes; b: count.
        case encodedImage = 10
        /// A column of slots, one for each example. a: the first.
        case slotColumn = 20
        /// A column of doubles. a: numbers.
        case numberColumn = 21
        /// A column of integers of 64 bits. a: integers.
        case integerColumn = 22
        /// A column of strings. d: ends of the strings in e: UTF-8.
        case textColumn = 23
        /// A column of arrays, as `array` with the examples as the first axis.
        case arrayColumn = 25
        /// Scores by strings. a: numbers, example by example; b: labels; d: ends of the labels in e: UTF-8.
        case textScoreColumn = 26
        /// Scores by integers. a: numbers, example by example; b: labels; d: the labels.
        case integerScoreColumn = 28
    }

    static let byteCount = 64
    /// The greatest rank of arrays that come out.
    static let maximumRank = 32

    private let words: UnsafeMutablePointer<Int>

    /// The slot number `index` of an array.
    init(_ slots: UnsafeMutableRawPointer, _ index: Int = 0) {
        words = (slots + index * Self.byteCount).assumingMemoryBound(to: Int.self)
    }

    var kind: Kind? { Kind(rawValue: words[0]) }
    var rawKind: Int { words[0] }

    subscript(word: Int) -> Int {
        get { words[word] }
        nonmutating set { words[word] = newValue }
    }

    /// The address in a word.
    func address(_ word: Int) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: words[word]) }

    func setAddress(_ word: Int, _ address: UnsafeMutableRawPointer?) { words[word] = Int(bitPattern: address) }

    func setKind(_ kind: Kind) { words[0] = kind.rawValue }

    var number: Double {
        get { Double(bitPattern: UInt64(bitPattern: Int64(words[7]))) }
        nonmutating set { words[7] = Int(Int64(bitPattern: newValue.bitPattern)) }
    }
}

/// The layouts of images that slots pass.
enum PixelOrder: Int {
    case bgra8 = 0
    case gray8 = 1
    case grayFloat16 = 2
    case rgb8 = 3
    case rgba8 = 4
    case argb8 = 5

    init(_ format: ImageBuffer.PixelFormat) {
        switch format {
        case .bgra8: self = .bgra8
        case .gray8: self = .gray8
        case .gray16Float: self = .grayFloat16
        case .rgb8: self = .rgb8
        case .rgba8: self = .rgba8
        case .argb8: self = .argb8
        }
    }

    var format: ImageBuffer.PixelFormat {
        switch self {
        case .bgra8: .bgra8
        case .gray8: .gray8
        case .grayFloat16: .gray16Float
        case .rgb8: .rgb8
        case .rgba8: .rgba8
        case .argb8: .argb8
        }
    }
}
