import Foundation
import Testing

/// The README's Swift is what the target `ReadMeSnippets` compiles, with warnings as errors.
@Suite struct ReadMeTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The lines that are not empty, with single spaces between words and no indentation.
    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
    }

    @Test func snippetsAreCompiled() throws {
        let program = Self.lines(try Self.text("Tests/ReadMeSnippets/Classify.swift"))
        let parts = Self.lines(try Self.text("Tests/ReadMeSnippets/Parts.swift")).joined(separator: "\n")
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
}
