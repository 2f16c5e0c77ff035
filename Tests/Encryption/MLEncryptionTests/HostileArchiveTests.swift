import Crypto
import Glibc
import MLArchive
import MLEncryption
import MLFiles
import MLNumerics
import Testing

/// Archives made to harm: each is refused, fast, and nothing is written anywhere.
@Suite(.serialized) struct HostileArchiveTests {
    /// A file of a header: what it says, whether it is true or not.
    private struct Entry {
        var path: String
        var size = "0"
        var offset = "0"
        var chunks = "[]"
        var hash = Hexadecimal.text(SHA256.hash(data: [UInt8]()))

        var json: String {
            let name = JSONValue.quoted(path)
            return #"{"chunks":\#(chunks),"offset":\#(offset),"path":\#(name),"sha256":"\#(hash)","size":\#(size)}"#
        }
    }

    private func header(_ files: String) -> [UInt8] {
        Array(
            (#"{"compression":"none","created":"2026-11-23T08:00:00Z","files":[\#(files)],"format":1,"#
                + #""model":{"name":"M"},"tool":"t","type":"mlarchive"}"#).utf8
        )
    }

    private func archive(_ header: [UInt8], length: Int? = nil, payload: [UInt8] = []) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var bytes = Array("MLARCH1\n".utf8) + number(length ?? header.count) + number(0) + SHA256.hash(data: header)
        bytes += header
        bytes += [UInt8](repeating: 0, count: (bytes.count + 4095) / 4096 * 4096 - bytes.count)
        return bytes + payload
    }

    /// Tries to list, verify and extract an archive, which must fail, and leave nothing behind.
    private func refuse(_ bytes: [UInt8], _ what: String) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/A.mlarchive"
            try FileAccess.write(bytes, to: path)
            #expect(throws: ModelError.self, "\(what)") {
                let archive = try ModelArchive(path)
                try archive.verify()
                try archive.extract(to: folder + "/out/M.mlmodelc")
            }
            #expect(try FileAccess.names(in: folder) == ["A.mlarchive"], "\(what)")
        }
    }

    @Test func theHarmlessOneIsAccepted() throws {
        try withTemporaryFolder { folder in
            let files = [Entry(path: "a/b"), Entry(path: "a/c"), Entry(path: "é")].map(\.json).joined(separator: ",")
            try FileAccess.write(archive(header(files)), to: folder + "/A.mlarchive")
            let archive = try ModelArchive(folder + "/A.mlarchive")
            try archive.verify()
            try archive.extract(to: folder + "/out")
            #expect(try FolderListing.files(in: folder + "/out") == ["a/b", "a/c", "é"])
        }
    }

    static let paths: [String] =
        [
            "../x", "..", ".", "", "/", "/x", "//x", "/etc/passwd", "../../x", "../../../../../../etc/passwd", "a/../x",
            "a/../../x", "a/..", "a/.", "./x", "a/./b", "a//b", "a/", "a/b/", "/a/", "a/b/../../../x", "..\\x", "a\\b",
            "a\\..\\x", "\\x", "\\\\server\\share\\x", "C:\\x", "C:x", "C:/x", "c:", "file:x", "a:b", "x\u{0}",
            "x\u{0}.bin",
            "a/\u{0}/b", "x\n", "x\r\ny", "\u{1}x", "x\u{7F}", "\u{1B}[2J", "x.", "x ", "a./b", "a /b", "...", "a/...",
            ". .", ".. ", " ..", "con", "CON", "nul", "NUL.bin", "a/aux", "com1", "COM1.txt", "lpt9", "prn.x.y",
            "conin$",
            "e\u{301}", "A\u{30A}", "\u{212B}", "ﬁ\u{0}", "x/..\u{0}/y", "%2e%2e/..", "..%2fx/..", "~/..", "a/..;/../b",
        ]
        + [String(repeating: "x", count: 1025), Array(repeating: "a", count: 17).joined(separator: "/")]

    @Test func pathsThatLeadElsewhereAreRefused() throws {
        #expect(Self.paths.count >= 60)
        for path in Self.paths {
            try refuse(archive(header(Entry(path: path).json)), "path \(path.debugDescription)")
        }
    }

    @Test func twinsAreRefused() throws {
        let pairs = [
            ["a", "a"], ["a", "A"], ["Model.mil", "model.MIL"], ["a", "a/b"], ["a/b", "a"], ["A/b", "a"],
            ["a/B", "A/b"],
            ["straße", "STRASSE"], ["é", "É"], ["ǆ", "ǅ"], ["σ", "ς"], ["a/b/c", "A/B"],
        ]
        for pair in pairs {
            let files = pair.map { Entry(path: $0).json }.joined(separator: ",")
            try refuse(archive(header(files)), "\(pair)")
        }
    }

    @Test func sizesThatDoNotAddUpAreRefused() throws {
        let hash = Hexadecimal.text(SHA256.hash(data: [UInt8](repeating: 0, count: 4096)))
        func chunk(_ size: String) -> String { #"[{"sha256":"\#(hash)","size":\#(size)}]"# }
        let numbers = [
            "-1", "1.5", "1e3", "01", "+1", "9007199254740992", "9223372036854775807", "18446744073709551616",
            "99999999999999999999999999", "null", "\"4096\"", "true", "", " 1", "0x10",
        ]
        let payload = [UInt8](repeating: 0, count: 8192)
        for number in numbers {
            try refuse(archive(header(Entry(path: "a", size: number).json), payload: payload), "size \(number)")
            try refuse(archive(header(Entry(path: "a", offset: number).json), payload: payload), "offset \(number)")
            let piece = Entry(path: "a", size: "4096", chunks: chunk(number)).json
            try refuse(archive(header(piece), payload: payload), "piece \(number)")
        }
        // A million to one: the header claims what is not there.
        for size in ["4096000000", "1125899906842624", "9007199254740991"] {
            try refuse(archive(header(Entry(path: "a", size: size).json)), "claims \(size) bytes")
            try refuse(
                archive(header(Entry(path: "a", size: size, chunks: chunk(size)).json)),
                "piece of \(size) bytes"
            )
        }
    }

    @Test func filesThatOverlapAreRefused() throws {
        let hash = Hexadecimal.text(SHA256.hash(data: [UInt8](repeating: 0, count: 4096)))
        let chunks = #"[{"sha256":"\#(hash)","size":4096}]"#
        let payload = [UInt8](repeating: 0, count: 16_384)
        for offset in [0, 1, 2048, 4095, 4097, 8192, 12_288] {
            let files = [
                Entry(path: "a", size: "4096", chunks: chunks, hash: hash),
                Entry(path: "b", size: "4096", offset: "\(offset)", chunks: chunks, hash: hash),
            ].map(\.json).joined(separator: ",")
            try refuse(archive(header(files), payload: payload), "second file at \(offset)")
        }
    }

    /// The cost of refusing is measured by Reliability/hostile-archives, in a process of its own.
    @Test func headersThatClaimTooMuchAreRefused() throws {
        try refuse(archive(header(""), length: 0xFFFF_FFFF), "header of 4 GiB")
        try refuse(archive(header(""), length: (4 << 20) + 1), "header longer than allowed")
        // As large as a header may be, and right by its hash: what such texts can do to a parser.
        let largest = (4 << 20) - 300
        let file = Entry(path: "a").json
        let many = Array(repeating: file, count: largest / (file.utf8.count + 1)).joined(separator: ",")
        try refuse(archive(header(many)), "files by the ten thousand")
        try refuse(archive(header(String(repeating: "[", count: largest))), "nesting")
        try refuse(archive(header(String(repeating: "{}", count: largest / 2))), "objects")
        try refuse(archive(header(Entry(path: String(repeating: "x", count: largest - 300)).json)), "a long path")
        try refuse(
            archive(
                header(Entry(path: "a", chunks: "[" + String(repeating: "0,", count: largest / 2 - 300) + "0]").json)
            ),
            "pieces that are none"
        )
        let chunk = #"{"sha256":"\#(String(repeating: "0", count: 64))","size":0}"#
        let chunks = Array(repeating: chunk, count: (largest - 300) / (chunk.utf8.count + 1)).joined(separator: ",")
        try refuse(archive(header(Entry(path: "a", chunks: "[\(chunks)]").json)), "empty pieces by the ten thousand")
        let names = (0..<(largest / 150)).map { Entry(path: "f\($0)").json }.joined(separator: ",")
        try refuse(archive(header(names)), "files with names of their own")
    }

    @Test func everyByteOfTheHeaderCounts() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/A.mlarchive"
            let whole = archive(header([Entry(path: "a"), Entry(path: "b/c")].map(\.json).joined(separator: ",")))
            let end = 48 + header([Entry(path: "a"), Entry(path: "b/c")].map(\.json).joined(separator: ",")).count
            for index in 0..<end {
                for bit in 0..<8 {
                    var changed = whole
                    changed[index] ^= 1 << bit
                    try FileAccess.write(changed, to: path)
                    #expect(throws: ModelError.self, "bit \(bit) of byte \(index)") { try ModelArchive(path).verify() }
                }
            }
            for count in 0..<whole.count {
                try FileAccess.write(Array(whole.prefix(count)), to: path)
                if count < end { #expect(throws: ModelError.self, "\(count) bytes") { try ModelArchive(path) } }
            }
        }
    }

    /// Headers whose hash is right and whose text is damaged, by the ten thousand: errors, never a crash.
    @Test func damagedHeadersAreErrors() throws {
        let files = [Entry(path: "a"), Entry(path: "b/c")].map(\.json).joined(separator: ",")
        let text = header(files)
        var generator = SplitMix64(seed: 3)
        try withTemporaryFolder { folder in
            let path = folder + "/A.mlarchive"
            for turn in 0..<10_000 {
                var changed = text
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let place = Int.random(in: 0..<changed.count, using: &generator)
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: changed[place] = UInt8.random(in: .min ... .max, using: &generator)
                    case 1: changed.removeSubrange(place..<min(place + 9, changed.count - 1))
                    case 2: changed.insert(contentsOf: text[..<min(place, 60)], at: place)
                    default: changed.insert(contentsOf: "9999999999".utf8, at: place)
                    }
                }
                try FileAccess.write(archive(changed), to: path)
                do { try ModelArchive(path).verify() } catch { #expect(error is ModelError, "\(turn)") }
            }
        }
    }

    @Test func linksAreNotPacked() throws {
        try withTemporaryFolder { folder in
            try FileAccess.makeFolder(folder + "/M.mlmodelc")
            symlink("/etc", folder + "/M.mlmodelc/loop")
            symlink(folder + "/nowhere", folder + "/M.mlmodelc/broken")
            mkfifo(folder + "/M.mlmodelc/pipe", 0o600)
            #expect(throws: ModelError.self) {
                try ArchiveWriter.write(folder + "/M.mlmodelc", to: folder + "/A.mlarchive", model: .init(name: "M"))
            }
            #expect(FileAccess.kind(of: folder + "/A.mlarchive") == nil)
        }
    }
}
