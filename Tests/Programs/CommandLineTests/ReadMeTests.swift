import Foundation
import Testing

/// The README's Swift is what the target `ReadMeSnippets` compiles, with warnings as errors.
@Suite struct ReadMeTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The lines that are not empty, with single spaces between words and no indentation.
    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
    }

    @Test func snippetsAreCompiled() throws {
        let program = Self.lines(try Self.text("Tests/Public/ReadMeSnippets/Classify.swift"))
        let parts = Self.lines(try Self.text("Tests/Public/ReadMeSnippets/Parts.swift")).joined(separator: "\n")
        let snippets = try Self.text("README.md").components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        #expect(snippets.count == 4)
        for snippet in snippets {
            let lines = Self.lines(snippet)
            if lines.first?.hasPrefix("import ") == true {
                #expect(lines == program)
            } else {
                #expect(parts.contains(lines.joined(separator: "\n")), "ReadMeSnippets/Parts.swift lacks\n\(snippet)")
            }
        }
    }

    /// The articles' Swift is in sources that are built: those of the target `ReadMeSnippets`, and the example package,
    /// which `scripts/example-package` builds.
    @Test func articlesAreCompiled() throws {
        let manager = FileManager.default
        var sources: [String] = []
        for folder in ["Tests/Public/ReadMeSnippets", "Examples/Flowers", "Examples/Flowers/Sources/FlowerGuide"] {
            let names = try manager.contentsOfDirectory(atPath: Self.root.appendingPathComponent(folder).path)
            for name in names where name.hasSuffix(".swift") {
                sources.append(Self.lines(try Self.text("\(folder)/\(name)")).joined(separator: "\n"))
            }
        }
        let catalogue = "Sources/Public/CoreML/CoreML.docc"
        let articles = try manager.contentsOfDirectory(atPath: Self.root.appendingPathComponent(catalogue).path)
            .filter { $0.hasSuffix(".md") }
        #expect(articles.count >= 3)
        for article in articles {
            let snippets = try Self.text("\(catalogue)/\(article)").components(separatedBy: "```swift\n").dropFirst()
                .map { $0.components(separatedBy: "```")[0] }
            for snippet in snippets {
                let text = Self.lines(snippet).joined(separator: "\n")
                #expect(sources.contains { $0.contains(text) }, "no source has what \(article) shows:\n\(snippet)")
            }
        }
    }
}
