import CreateML
import Foundation
import Testing

/// Links to folders of labels, and to the folder that holds them, count as what they stand for.
struct LinkedFolderTests {
    @Test func linksAreFollowed() throws {
        let manager = FileManager.default
        let root = manager.temporaryDirectory.appendingPathComponent("links-\(UUID().uuidString)")
        defer { try? manager.removeItem(at: root) }
        for label in ["high", "low"] {
            let folder = root.appendingPathComponent("real/\(label)-files")
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(label.utf8).write(to: folder.appendingPathComponent("\(label).1.txt"))
            try manager.createDirectory(at: root.appendingPathComponent("links"), withIntermediateDirectories: true)
            try manager.createSymbolicLink(
                atPath: root.appendingPathComponent("links/\(label)").path,
                withDestinationPath: "../real/\(label)-files"
            )
        }
        let (links, whole) = (root.appendingPathComponent("links"), root.appendingPathComponent("whole"))
        try manager.createSymbolicLink(atPath: whole.path, withDestinationPath: "links")
        for url in [links, whole, URL(fileURLWithPath: whole.path, isDirectory: true)] {
            let sounds = try MLSoundClassifier.DataSource.labeledDirectories(at: url).labeledSounds()
            #expect(sounds.mapValues { $0.map(\.lastPathComponent) } == ["high": ["high.1.txt"], "low": ["low.1.txt"]])
            let texts = try MLTextClassifier.DataSource.labeledDirectories(at: url).labeledTexts()
            #expect(texts == ["high": ["high"], "low": ["low"]])
            let files = try MLSoundClassifier.DataSource.labeledFiles(at: url.appendingPathComponent("low"))
                .labeledSounds()
            #expect(files.keys.sorted() == ["low"])
        }
    }
}
