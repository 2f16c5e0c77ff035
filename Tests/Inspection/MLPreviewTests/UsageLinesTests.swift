import MLFiles
import MLPreview
import MLSpecification
import Testing

@Suite("Lines of code that do the same")
struct UsageLinesTests {
    @Test func `names and paths are quoted as each language wants it`() {
        let interface = Sketch.model([Sketch.text("it's \"odd\"\\")], [Sketch.number("y")]).description_p
        let lines = UsageLines(path: "/tmp/My model's.mlmodel", interface: interface, kind: .other)
        #expect(lines.swift.contains(#""it's \"odd\"\\": MLFeatureValue(string: "text")"#))
        #expect(lines.swift.contains(#"URL(fileURLWithPath: "/tmp/My model's.mlmodel")"#))
        #expect(lines.python.contains(#""it's \"odd\"\\": "text","#))
        #expect(lines.shell.contains(#"coreml predict '/tmp/My model'\''s.mlmodel'"#))
        #expect(lines.shell.contains(#"-i 'it'\''s "odd"\=text'"#))
    }

    @Test func `every type of input has a value, optional ones are left out`() {
        var optional = Sketch.number("maybe")
        optional.type.isOptional = true
        let inputs = [
            Sketch.picture("image"), Sketch.array("x", [1, 4]), Sketch.array("n", [3], .int32), Sketch.number("d"),
            Sketch.text("s"), Sketch.shares("m"), optional,
        ]
        let lines = UsageLines(
            path: "M.mlmodel",
            interface: Sketch.model(inputs, [Sketch.array("y", [2])]).description_p,
            kind: .other
        )
        #expect(lines.swift.contains("MLShapedArray<Float>(repeating: 0, shape: [1, 4])"))
        #expect(lines.swift.contains("MLShapedArray<Int32>(repeating: 0, shape: [3])"))
        #expect(lines.swift.contains(".imageConstraint!"))
        #expect(lines.python.contains("np.zeros((3,), dtype=np.int32)"))
        #expect(lines.python.contains(".resize((224, 224))"))
        #expect(lines.shell.contains("-i 'n=[0, 0, 0]'") && lines.shell.contains("-i x=array.npy"))
        for text in [lines.swift, lines.python, lines.shell] { #expect(!text.contains("maybe")) }
    }

    @Test func `the Swift lines are those that the tests compile`() throws {
        let inputs = [
            Sketch.picture("image"), Sketch.array("x", [1, 4]), Sketch.array("n", [3], .int32), Sketch.number("d"),
            Sketch.text("it's \"odd\""), Sketch.shares("m"),
        ]
        let outputs = [Sketch.array("y", [2]), Sketch.text("label"), Sketch.shares("p"), Sketch.picture("out")]
        let lines = UsageLines(
            path: "Everything.mlmodel",
            interface: Sketch.model(inputs, outputs).description_p,
            kind: .other
        )
        let bytes = try FileAccess.read("Tests/Public/ReadMeSnippets/PreviewLines.swift")
        let body = lines.swift.split(separator: "\n", omittingEmptySubsequences: false).drop {
            !$0.hasPrefix("let model")
        }
        .map { $0.isEmpty ? "" : "    \($0)" }.joined(separator: "\n")
        #expect(String(decoding: bytes, as: UTF8.self).hasSuffix("func previewLines() throws {\n\(body)}\n"))
    }

    @Test func `what the command has a word for is asked that way`() {
        func shell(_ index: Int) -> String {
            let (kind, model) = Sketch.kinds[index]
            return UsageLines(path: "M.mlmodel", interface: model.description_p, kind: kind).shell
        }
        #expect(shell(0) == "coreml predict M.mlmodel picture.jpg\n")
        #expect(shell(9) == "coreml predict M.mlmodel picture.jpg -o result.png\n")
        #expect(shell(11) == "coreml predict M.mlmodel --text 'Some text'\n")
    }
}
