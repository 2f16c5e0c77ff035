import Foundation
import Testing

/// Folders with a folder of pictures for each label, in `coreml evaluate` and `coreml update`.
struct LabelledPictureCommandTests {
    private let folder: CommandFolder
    private let digits = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Fixtures/digits").path

    init() throws { folder = try CommandFolder() }

    /// The pictures of two digits in a folder of their own and of a third behind a link, under names that pictures of
    /// phones and scanners have.
    private func pictures() throws -> String {
        let names = ["a.png", "b.TIFF", "c.heic", "d.gif", "e.bmp", "f.jpeg"]
        for digit in [3, 5, 7] {
            for (index, name) in names.enumerated() {
                let picture = try Data(contentsOf: URL(fileURLWithPath: "\(digits)/held-out/\(digit)-\(index).png"))
                try folder.write(picture, digit == 7 ? "elsewhere/sevens/\(name)" : "pictures/\(digit)/\(name)")
            }
        }
        try folder.write("not a picture", "pictures/3/notes.txt")
        try folder.write("not a picture", "pictures/5/.hidden.png")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("pictures/7"),
            withDestinationPath: "../elsewhere/sevens"
        )
        return folder.path("pictures")
    }

    @Test func aFolderOfPicturesIsEvaluated() throws {
        let data = try pictures()
        let run = try coreml("evaluate", "\(digits)/Digits.mlmodel", data, "--json")
        #expect(run.status == 0, "\(run.errors)")
        let figures = try CommandFolder.last(run)
        #expect(figures["rows"] as? Int == 18)
        #expect(try #require((figures["scores"] as? [String: Double])?["accuracy"]) > 0.8)
        #expect(Set(["3", "5", "7"]).isSubset(of: figures["labels"] as? [String] ?? []))
        let text = try coreml("evaluate", "\(digits)/Digits.mlpackage", data)
        #expect(text.output.contains("pictures: 18") && text.output.contains("precision"), "\(text.errors)")

        // Through a link to the whole.
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "pictures")
        let again = try coreml("evaluate", "\(digits)/Digits.mlmodel", folder.path("link"), "--json")
        #expect(again.output == run.output.replacingOccurrences(of: data, with: folder.path("link")), "\(again.errors)")
    }

    @Test func updateTakesTheSameFolder() throws {
        let model = folder.path("Trainable.mlmodel")
        let edit = try coreml("edit", "\(digits)/Digits.mlmodel", "--updatable", "linear_1", "--output", model)
        #expect(edit.status == 0, "\(edit.errors)")
        let run = try coreml("update", model, try pictures(), "--json")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try CommandFolder.last(run)["examples"] as? Int == 18)
    }

    @Test func mistakesAreNamed() throws {
        let data = try pictures()
        try folder.write("none", "empty/3/notes.txt")
        try folder.write("no picture", "broken/3/a.png")
        let model = "\(digits)/Digits.mlmodel"
        let table = try folder.write("x,y\n1,2\n2,4\n3,6\n", "t.csv")
        let line = folder.path("Line.mlmodel")
        #expect(try coreml("train", "tabular", table, "--target", "y", "--algorithm", "linear", "-o", line).status == 0)
        try CommandFolder.expectFailures([
            (["evaluate", model, folder.path("empty")], 1, "holds no images"),
            (["evaluate", model, folder.path("broken")], 1, "broken/3/a.png"),
            (["evaluate", line, data], 1, "for models that take one image"),
        ])
    }
}
