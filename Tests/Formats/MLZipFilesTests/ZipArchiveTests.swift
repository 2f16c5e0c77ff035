import MLNumerics
import Testing

import MLZipFiles

@Suite struct ZipArchiveTests {
    /// Written by Python's `zipfile`: `p/a.txt` with the bytes 1, 2, 3, `p/ö.txt` with 300 zeros, deflated, `p/b.txt`, empty.
    private static let python = bytes(
        "504b0304140000000000000021001d80bc55030000000300000007000000702f612e747874010203504b0304140000080800"
            + "00002100d28f34b5070000002c01000008000000702fc3b62e74787463601805c40200504b03041400000000000000210000"
            + "000000000000000000000007000000702f622e747874504b01021403140000000000000021001d80bc550300000003000000"
            + "070000000000000000000000800100000000702f612e747874504b0102140314000008080000002100d28f34b5070000002c"
            + "010000080000000000000000000000800128000000702fc3b62e747874504b01021403140000000000000021000000000000"
            + "00000000000000070000000000000000000000800155000000702f622e747874504b05060000000003000300a00000007a00"
            + "00000000"
    )

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private func message(_ bytes: [UInt8], reading names: [String] = ["p/a.txt", "p/b.txt", "p/ö.txt"]) -> String {
        do throws(ModelError) {
            let archive = try ZipArchive(bytes, path: "p.whl")
            for name in names { _ = try archive.content(of: name, limit: 300) }
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    @Test func readsStoredAndDeflatedFiles() throws {
        #expect(ZipArchive.hasSignature(Self.python))
        let archive = try ZipArchive(Self.python, path: "p.whl")
        #expect(archive.names == ["p/a.txt", "p/b.txt", "p/ö.txt"])
        #expect(try archive.content(of: "p/a.txt", limit: 3) == [1, 2, 3])
        #expect(try archive.content(of: "p/b.txt", limit: 0) == [])
        #expect(try archive.content(of: "p/ö.txt", limit: 300) == [UInt8](repeating: 0, count: 300))
    }

    @Test func readsItsOwnFiles() throws {
        let files: [(name: String, content: [UInt8])] = [("x/ö", [1, 2, 3]), ("a", []), ("b", Array(0...255))]
        let bytes = try ZipArchive.stored(files)
        let archive = try ZipArchive(bytes, path: "own.zip")
        #expect(archive.names == ["a", "b", "x/ö"])
        for (name, content) in files { #expect(try archive.content(of: name, limit: 256) == content) }
        #expect(try ZipArchive.stored(files) == bytes)
        #expect(try ZipArchive(ZipArchive.stored([]), path: "none.zip").names == [])
    }

    @Test func namesWhatItRefuses() throws {
        #expect(message(Self.python, reading: ["p/c.txt"]).contains("no file 'p/c.txt'"))
        #expect(throws: ModelError.self) { try ZipArchive(Self.python, path: "").content(of: "p/a.txt", limit: 2) }
        #expect(message([1, 2, 3]).contains("not a ZIP archive"))
        #expect(message(try ZipArchive.stored([("a", []), ("a", [])])).contains("two files named 'a'"))
        func changed(_ place: Int, _ value: UInt8) -> [UInt8] {
            var bytes = Self.python
            bytes[place] = value
            return bytes
        }
        // The content of the first file, and in its entry of the directory the flags, the method and the size.
        #expect(message(changed(30 + 7, 9)).contains("CRC-32"))
        let directory = try #require(Self.python.indices.first { Self.python[$0...].starts(with: [0x50, 0x4B, 1, 2]) })
        #expect(message(changed(directory + 8, 1)).contains("encrypted"))
        #expect(message(changed(directory + 10, 12)).contains("compression 12"))
        var large = Self.python
        large.replaceSubrange(directory + 24..<directory + 28, with: [255, 255, 255, 255])
        #expect(message(large).contains("ZIP64"))
    }

    /// Damaged and truncated archives are errors or give the files' content; nothing traps.
    @Test func damageIsFound() {
        for length in 0..<Self.python.count { #expect(message(Array(Self.python[..<length])) != "accepted") }
        var random = SplitMix64(seed: 11)
        for place in Self.python.indices {
            for _ in 0..<4 {
                var damaged = Self.python
                damaged[place] = UInt8(truncatingIfNeeded: random.next())
                guard let archive = try? ZipArchive(damaged, path: "p.whl"),
                    let content = try? archive.content(of: "p/a.txt", limit: 300)
                else { continue }
                #expect(content == [1, 2, 3])
            }
        }
    }
}
