import CLanguageModel
import Foundation

/// The model that tells languages apart: scripts and, for languages that share a script, a linear classifier of the
/// n-grams of their words.
///
/// The format of the data and their making are described in Documentation/LanguageRecognizer.md.
struct LanguageModel: Sendable {
    /// The languages that share a script, and their classifier.
    struct Group: Sendable {
        let languages: [NLLanguage]
        /// The length of the longest n-grams.
        let maximumLength: Int
        /// Whether words have a blank before and after them and are features as a whole; not in scripts that do not
        /// separate words.
        let hasWords: Bool
        /// The number of elements of a feature's vector.
        let width: Int
        /// The score of each language without any feature.
        let bias: [Float]
        /// The classifier's matrix: `width` rows of one weight per language.
        let weights: [Float]
        /// A hash table with open addressing: a feature's key + 1, or 0 for a free slot.
        let keys: [UInt32]
        /// The feature in each slot of `keys`.
        let features: [UInt32]
        /// The vectors of the features, `width` values each.
        let vectors: [Int8]
        /// The factor of each feature's vector.
        let scales: [Float]

        /// The index of the feature with a key; `nil` when the model does not know it.
        func feature(_ key: UInt32) -> Int? {
            let mask = keys.count - 1
            var slot = Int(key) & mask
            while keys[slot] != 0 {
                if keys[slot] == key + 1 { return Int(features[slot]) }
                slot = (slot + 1) & mask
            }
            return nil
        }
    }

    enum Languages: Sendable {
        case one(NLLanguage)
        case several(Group)
    }

    struct Script: Sendable {
        /// The weight of a letter of this script relative to a letter of an alphabet.
        let weight: Double
        let languages: Languages
    }

    let scripts: [Script]
    /// The number of languages that the model tells apart.
    let languageCount: Int
    /// The first and last code points of the scripts' ranges, in order, and the script of each range.
    let starts: [UInt32]
    let ends: [UInt32]
    let owners: [Int]

    static let shared: LanguageModel = {
        var length = 0
        guard let text = clm_model(&length) else { preconditionFailure("the program has no model of languages") }
        guard let bytes = Data(base64Encoded: Data(bytes: text, count: length)) else {
            preconditionFailure("the model of languages is not base64")
        }
        var reader = Reader(bytes: [UInt8](bytes))
        return LanguageModel(&reader)
    }()

    /// The script that a code point is a letter or mark of; `nil` when the model does not know one.
    func script(_ scalar: UInt32) -> Int? {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= scalar { low = middle + 1 } else { high = middle }
        }
        return low > 0 && scalar <= ends[low - 1] ? owners[low - 1] : nil
    }
}

// MARK: - Reading

extension LanguageModel {
    /// Reads numbers of the model's data, little-endian.
    fileprivate struct Reader {
        let bytes: [UInt8]
        var position = 0

        mutating func byte() -> UInt8 {
            position += 1
            return bytes[position - 1]
        }

        mutating func integer(_ size: Int) -> UInt32 {
            (0..<size).reduce(0) { $0 | UInt32(byte()) << (8 * UInt32($1)) }
        }

        mutating func float() -> Float { Float(bitPattern: integer(4)) }

        mutating func string() -> String {
            let count = Int(byte())
            position += count
            return String(decoding: bytes[(position - count)..<position], as: UTF8.self)
        }

        /// Reads a number of seven bits a byte, the lowest first; the highest bit tells that more bytes follow.
        mutating func variable() -> UInt32 {
            var (result, shift): (UInt32, UInt32) = (0, 0)
            while true {
                let next = byte()
                result |= UInt32(next & 0x7F) << shift
                if next < 0x80 { return result }
                shift += 7
            }
        }
    }

    fileprivate init(_ reader: inout Reader) {
        let form = reader.integer(4)
        precondition(form == 0x3152_4C4E, "the model of languages has another form than this program")
        var scripts: [Script] = []
        var ranges: [(start: UInt32, end: UInt32, script: Int)] = []
        var all: Set<NLLanguage> = []
        for index in 0..<Int(reader.byte()) {
            let weight = Double(reader.byte())
            for _ in 0..<reader.byte() { ranges.append((reader.integer(3), reader.integer(3), index)) }
            let languages = (0..<reader.byte()).map { _ in NLLanguage(reader.string()) }
            all.formUnion(languages)
            scripts.append(
                Script(
                    weight: weight,
                    languages: languages.count == 1 ? .one(languages[0]) : .several(Group(languages, &reader))
                )
            )
        }
        ranges.sort { $0.start < $1.start }
        (self.scripts, languageCount) = (scripts, all.count)
        starts = ranges.map(\.start)
        ends = ranges.map(\.end)
        owners = ranges.map(\.script)
    }
}

extension LanguageModel.Group {
    fileprivate init(_ languages: [NLLanguage], _ reader: inout LanguageModel.Reader) {
        self.languages = languages
        maximumLength = Int(reader.byte())
        hasWords = reader.byte() != 0
        let width = Int(reader.byte())
        self.width = width
        bias = languages.map { _ in reader.float() }
        weights = (0..<(width * languages.count)).map { _ in reader.float() }
        let count = Int(reader.integer(4))
        var capacity = 2
        while capacity < 2 * count { capacity *= 2 }
        var keys = [UInt32](repeating: 0, count: capacity)
        var features = [UInt32](repeating: 0, count: capacity)
        var key: UInt32 = 0
        for feature in 0..<count {
            key += reader.variable()
            var slot = Int(key) & (capacity - 1)
            while keys[slot] != 0 { slot = (slot + 1) & (capacity - 1) }
            keys[slot] = key + 1
            features[slot] = UInt32(feature)
        }
        (self.keys, self.features) = (keys, features)
        // Scales are powers of two in steps of an eighth of the exponent.
        scales = (0..<count).map { _ in Float(exp2((Double(reader.byte()) - 128) / 8)) }
        // Two values a byte, the lower half first, stored with an offset of 8; each vector begins with a new byte.
        var vectors: [Int8] = []
        vectors.reserveCapacity(count * width)
        for _ in 0..<count {
            for column in stride(from: 0, to: width, by: 2) {
                let pair = reader.byte()
                vectors.append(Int8(pair & 0xF) - 8)
                if column + 1 < width { vectors.append(Int8(pair >> 4) - 8) }
            }
        }
        self.vectors = vectors
    }
}
