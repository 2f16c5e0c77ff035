import Crypto
import MLArchive
import MLDelta
import MLEncryption
import MLFiles
import MLNumerics
import Testing

/// Numbers that follow from a seed.
struct Numbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    /// A number of the normal distribution, but for its far tails.
    mutating func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + Double(next() >> 11) / 0x1p53 } }
}

/// Models as folders with some weights.
enum SampleModel {
    static func bytes<Element: BitwiseCopyable>(_ elements: [Element]) -> [UInt8] {
        elements.withUnsafeBytes { Array($0) }
    }

    static func noise(_ count: Int, _ seed: UInt64) -> [UInt8] {
        var numbers = Numbers(seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: numbers.next() >> 32) }
    }

    /// Weights of a normal distribution with the deviation 0.03, and these after each moved by a 1000th of that.
    static func retrained(_ count: Int) -> (before: [Double], after: [Double]) {
        var numbers = Numbers(7)
        let before = (0..<count).map { _ in 0.03 * numbers.normal() }
        return (before, before.map { $0 + 0.03 * 1e-3 * numbers.normal() })
    }

    /// Writes a compiled folder.
    static func write(_ files: [String: [UInt8]], to folder: String) throws {
        for (path, bytes) in files {
            let place = folder + "/" + path
            try FileAccess.makeFolder(FileAccess.folder(of: place))
            try FileAccess.write(bytes, to: place)
        }
    }
}

@Suite struct DeltaTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = try FileAccess.makeTemporaryFolder("delta")
        defer { try? FileAccess.remove(folder) }
        try body(folder)
    }

    /// An archive of files, encrypted with a key or not.
    private func model(
        _ files: [String: [UInt8]],
        _ name: String,
        _ folder: String,
        key: ModelKey? = nil
    ) throws -> DeltaWriter.Model {
        let clear = folder + "/\(name).mlmodelc"
        try SampleModel.write(files, to: clear)
        let path = folder + "/\(name).mlarchive"
        guard let key else {
            try ArchiveWriter.write(clear, to: path, model: .init(name: "M"))
            let archive = try ModelArchive(path)
            return DeltaWriter.Model(archive, contents: archive.contents)
        }
        let sealed = folder + "/\(name)-sealed"
        try FileAccess.makeFolder(sealed)
        let contentKey = try FolderEncryption.encrypt(clear, into: sealed, with: key)
        try ArchiveWriter.write(sealed, to: path, model: .init(name: "M"), contentKey: contentKey)
        return DeltaWriter.Model(try ModelArchive(path), contents: PlainFolder(clear), contentKey: contentKey)
    }

    /// The reconstruction from a delta on a device with the old model.
    private func apply(_ delta: String, _ old: DeltaWriter.Model, _ new: DeltaWriter.Model, to path: String) throws {
        try DeltaFile(delta).apply(
            to: (old.archive.header, old.contents),
            contentKey: new.contentKey,
            path: path
        )
    }

    private func symmetricKey() throws -> ModelKey {
        try ModelKey.make(.aes, team: "Acme", created: Dates.now, notAfter: nil, server: nil)
    }

    // MARK: Elements

    @Test(arguments: ElementType.allCases)
    func differencesAreUndone(_ type: ElementType) throws {
        let special: [UInt8] = [0, 0, 0, 0x80, 0, 0, 0x80, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0xFC, 0, 0x7C]
        for (old, new) in [
            (SampleModel.noise(4096, 1), SampleModel.noise(4096, 2)), (special, Array(special.reversed())),
            ([], []), (special, special),
        ] {
            var (planes, back) = (new, new.map { ~$0 })
            old.withUnsafeBytes { before in
                new.withUnsafeBytes { after in
                    planes.withUnsafeMutableBytes { ElementDifference.write(type, of: after, from: before, to: $0) }
                }
                planes.withUnsafeBytes { planes in
                    back.withUnsafeMutableBytes { ElementDifference.read(type, planes, from: before, into: $0) }
                }
            }
            #expect(back == new)
            #expect(old != new || planes.allSatisfy { $0 == 0 })
        }
    }

    @Test func neighboursDifferByLittleAlsoAcrossZero() {
        func planes(_ old: Float, _ new: Float) -> [UInt8] {
            var result = [UInt8](repeating: 0, count: 4)
            withUnsafeBytes(of: old) { before in
                withUnsafeBytes(of: new) { after in
                    result.withUnsafeMutableBytes { ElementDifference.write(.float32, of: after, from: before, to: $0) }
                }
            }
            return result
        }
        #expect(planes(1, Float(1).nextUp) == [0, 0, 0, 2])
        #expect(planes(1, Float(1).nextDown) == [0, 0, 0, 1])
        #expect(planes(-1, Float(-1).nextUp) == [0, 0, 0, 2])
        #expect(planes(0, -0.0) == [0, 0, 0, 1])
        #expect(planes(-Float.leastNonzeroMagnitude, Float.leastNonzeroMagnitude) == [0, 0, 0, 6])
    }

    // MARK: Archives

    private static let changes: [(String, @Sendable ([UInt8]) -> [UInt8])] = [
        ("nothing", { $0 }), ("a byte", { $0.prefix(1000) + [$0[1000] ^ 1] + $0.dropFirst(1001) }),
        ("the end", { $0.dropLast(30_000) + SampleModel.noise(30_000, 5) }),
        ("something inserted", { $0.prefix(400_001) + SampleModel.noise(12_345, 6) + $0.dropFirst(400_001) }),
        ("something removed", { Array($0.prefix(300_000) + $0.dropFirst(377_777)) }),
        ("all", { SampleModel.noise($0.count, 9) }), ("all moved by one", { $0.map { $0 &+ 1 } }),
        ("nothing left", { _ in [] }), ("shorter", { Array($0.prefix(77)) }),
        ("longer", { $0 + SampleModel.noise(3_000_000, 8) }),
        (
            "moved and inserted",
            { Array($0.prefix(400_000).map { $0 &+ 1 } + [1, 2, 3] + $0.dropFirst(400_000).map { $0 &- 1 }) }
        ),
    ]

    @Test(arguments: [false, true])
    func whatADeltaMakesIsTheArchive(_ isEncrypted: Bool) throws {
        let weights = SampleModel.noise(1_500_000, 3)
        for (name, change) in Self.changes {
            try withFolder { folder in
                let key = isEncrypted ? try symmetricKey() : nil
                let before: [String: [UInt8]] = [
                    "weights/weight.bin": weights, "model.mil": Array("program(1)".utf8), "gone": [1, 2, 3],
                ]
                let after: [String: [UInt8]] = [
                    "weights/weight.bin": change(weights), "model.mil": Array("program(1.1)".utf8), "empty": [],
                    "added/file": SampleModel.noise(5000, 4),
                ]
                let old = try model(before, "old", folder, key: key)
                let new = try model(after, "new", folder, key: key)
                let path = folder + "/x.mldelta"
                let outcome = try DeltaWriter.write(from: old, to: new, path: path, share: .infinity)
                #expect(outcome.isWritten)
                #expect(outcome.byteCount == FileAccess.byteCount(of: path))
                try apply(path, old, new, to: folder + "/made")
                #expect(
                    try FileAccess.read(folder + "/made") == FileAccess.read(new.archive.path),
                    "\(name)"
                )
                if isEncrypted, name == "nothing" { #expect(outcome.byteCount < 30_000) }
            }
        }
    }

    @Test func deltasBetweenEncryptedAndClearModels() throws {
        let weights = SampleModel.noise(200_000, 3)
        for (first, second) in [(true, false), (false, true)] {
            try withFolder { folder in
                let key = try symmetricKey()
                let old = try model(["w": weights], "old", folder, key: first ? key : nil)
                let new = try model(["w": weights.map { $0 &+ 1 }], "new", folder, key: second ? key : nil)
                let path = folder + "/x.mldelta"
                _ = try DeltaWriter.write(from: old, to: new, path: path)
                try apply(path, old, new, to: folder + "/made")
                #expect(try FileAccess.read(folder + "/made") == FileAccess.read(new.archive.path))
            }
        }
    }

    @Test func aDeltaThatIsNotWorthItIsNotWritten() throws {
        try withFolder { folder in
            let old = try model(["w": SampleModel.noise(500_000, 1)], "old", folder)
            let new = try model(["w": SampleModel.noise(500_000, 2)], "new", folder)
            let outcome = try DeltaWriter.write(from: old, to: new, path: folder + "/x.mldelta")
            #expect(!outcome.isWritten && outcome.planByteCount > 500_000)
            #expect(FileAccess.kind(of: folder + "/x.mldelta") == nil)
        }
    }

    @Test func retrainsCostWhatTheyShould() throws {
        let (before, after) = SampleModel.retrained(1_000_000)
        func int8(_ weights: [Double]) -> [UInt8] {
            weights.map { UInt8(bitPattern: Int8(max(-127, min(127, ($0 / 0.18 * 127).rounded())))) }
        }
        let cases: [(String, [UInt8], [UInt8], Double)] = [
            ("float32", SampleModel.bytes(before.map(Float.init)), SampleModel.bytes(after.map(Float.init)), 0.53),
            ("int8", int8(before), int8(after), 0.08),
        ]
        let half = (before.map(Self.float16), after.map(Self.float16))
        for (name, old, new, most) in cases
            + [("float16", SampleModel.bytes(half.0), SampleModel.bytes(half.1), 0.25)]
        {
            try withFolder { folder in
                let old = try model(["weights/weight.bin": old], "old", folder)
                let new = try model(["weights/weight.bin": new], "new", folder)
                let outcome = try DeltaWriter.write(from: old, to: new, path: folder + "/x.mldelta")
                let share = Double(outcome.byteCount) / Double(try #require(FileAccess.byteCount(of: new.archive.path)))
                print("\(name) moved by a 1000th: \(share)")
                #expect(share < most && outcome.isWritten)
            }
        }
    }

    /// The bits of the nearest number of 16 bits, of normal numbers.
    private static func float16(_ value: Double) -> UInt16 {
        let bits = Float(value).bitPattern
        let sign = UInt16(truncatingIfNeeded: bits >> 16) & 0x8000
        let exponent = Int(bits >> 23 & 0xFF) - 127 + 15
        guard exponent > 0 else { return sign }
        return sign | UInt16(((UInt32(exponent) << 23 | bits & 0x7F_FFFF) + 0x1000) >> 13)
    }

    // MARK: Hostile ones

    @Test func anOldModelThatIsNotTheOneGivesNothing() throws {
        try withFolder { folder in
            let weights = SampleModel.noise(300_000, 3)
            let old = try model(["w": weights], "old", folder)
            let new = try model(["w": weights.map { $0 &+ 1 }], "new", folder)
            let other = try model(["w": weights.map { $0 &+ 2 }], "other", folder)
            let short = try model(["w": [1]], "short", folder)
            let path = folder + "/x.mldelta"
            _ = try DeltaWriter.write(from: old, to: new, path: path)
            for wrong in [other, short] {
                #expect(throws: ModelError.self) { try apply(path, wrong, new, to: folder + "/made") }
                #expect(FileAccess.kind(of: folder + "/made") == nil)
            }
        }
    }

    @Test func noBitOfAnEncryptedModelLiesInTheClear() throws {
        try withFolder { folder in
            let key = try symmetricKey()
            let text = Array("a secret that is easy to find in a file".utf8)
            let old = try model(["w": [1]], "old", folder, key: key)
            let new = try model(["w": text], "new", folder, key: key)
            let path = folder + "/x.mldelta"
            _ = try DeltaWriter.write(from: old, to: new, path: path, share: .infinity)
            let bytes = String(decoding: try FileAccess.read(path), as: UTF8.self)
            #expect(!bytes.contains("secret"))
            #expect(throws: ModelError.self) {
                try DeltaFile(path).apply(
                    to: (old.archive.header, old.contents),
                    contentKey: nil,
                    path: folder + "/made"
                )
            }
            #expect(throws: ModelError.self) {
                try DeltaFile(path).apply(
                    to: (old.archive.header, old.contents),
                    contentKey: old.contentKey,
                    path: folder + "/made"
                )
            }
        }
    }

    /// A delta is damaged in 10,000 ways, with a header whose hash is right: nothing but the archive ever comes of it.
    @Test func damagedDeltasMakeTheArchiveOrNothing() throws {
        try withFolder { folder in
            let weights = SampleModel.noise(4_000, 3)
            let old = try model(["a": weights, "b": Array(weights.reversed())], "old", folder)
            let new = try model(["a": weights.map { $0 &+ 1 }, "b": weights, "c": [1]], "new", folder)
            let path = folder + "/x.mldelta"
            _ = try DeltaWriter.write(from: old, to: new, path: path, share: .infinity)
            let right = try FileAccess.read(path)
            let wanted = try FileAccess.read(new.archive.path)
            let headerEnd = 48 + right[8..<12].reversed().reduce(0) { $0 << 8 | Int($1) }
            var (numbers, made) = (Numbers(11), 0)
            for round in 0..<10_000 {
                var changed = right
                switch round % 4 {
                case 0: changed.removeLast(.random(in: 1...changed.count, using: &numbers))
                case 1:
                    changed[.random(in: changed.indices, using: &numbers)] ^=
                        1 << UInt8.random(in: 0..<8, using: &numbers)
                case 2:
                    let place = Int.random(in: headerEnd..<changed.count - 8, using: &numbers)
                    for offset in 0..<8 { changed[place + offset] = numbers.next() % 3 == 0 ? 0xFF : 0 }
                default:
                    let places = (0..<2).map { _ in Int.random(in: headerEnd..<changed.count, using: &numbers) }
                    changed.removeSubrange(places.min()!..<places.max()!)
                }
                if changed.count >= headerEnd {
                    changed.replaceSubrange(16..<48, with: Array(SHA256.hash(data: changed[48..<headerEnd])))
                }
                try FileAccess.write(changed, to: path)
                do {
                    try apply(path, old, new, to: folder + "/made")
                    made += 1
                    #expect(try FileAccess.read(folder + "/made") == wanted)
                    try FileAccess.remove(folder + "/made")
                } catch {
                    #expect(error is ModelError)
                    #expect(FileAccess.kind(of: folder + "/made") == nil)
                }
            }
            // Some bits say nothing of the archive, such as the date.
            #expect(made < 3_000)
        }
    }

    @Test func segmentsThatLeadElsewhereAreRefused() throws {
        func segment(_ bytes: [UInt8]) throws { _ = try DeltaSegment(bytes) }
        func description(_ head: [UInt8], file: [UInt8], offset: [UInt8], count: [UInt8], packed: [UInt8]) -> [UInt8] {
            func padded(_ bytes: [UInt8], _ size: Int) -> [UInt8] {
                bytes + [UInt8](repeating: 0, count: size - bytes.count)
            }
            return head + padded(file, 4) + padded(offset, 8) + padded(count, 8) + padded(packed, 4)
        }
        try segment(description([0, 0, 0, 0], file: [], offset: [1], count: [1], packed: []))
        let wrong: [[UInt8]] = [
            description([3, 0, 0, 0], file: [], offset: [], count: [1], packed: []),
            description([0, 1, 0, 0], file: [], offset: [], count: [1], packed: []),
            description([0, 0, 0, 1], file: [], offset: [], count: [1], packed: []),
            description([0, 0, 0, 0], file: [], offset: [], count: [], packed: []),
            description([0, 0, 0, 0], file: [], offset: [], count: [1], packed: [1]),
            description([0, 0, 0, 0], file: [], offset: [UInt8](repeating: 0xFF, count: 8), count: [1], packed: []),
            description([0, 0, 0, 0], file: [], offset: [], count: [UInt8](repeating: 0xFF, count: 8), packed: []),
            description([1, 0, 0, 0], file: [1], offset: [], count: [1], packed: [9]),
            description([1, 0, 0, 0], file: [], offset: [], count: [1, 0, 0x40], packed: [9]),
            description([1, 0, 0, 0], file: [], offset: [], count: [1], packed: [0xFF, 0xFF, 0xFF, 0xFF]),
            description([2, 5, 0, 0], file: [], offset: [], count: [4], packed: [9]),
            description([2, 2, 2, 0], file: [], offset: [], count: [4], packed: [9]),
            description([2, 0, 0, 0], file: [], offset: [], count: [4], packed: [9]),
        ]
        for bytes in wrong { #expect(throws: ModelError.self, "\(bytes)") { try segment(bytes) } }
    }
}
