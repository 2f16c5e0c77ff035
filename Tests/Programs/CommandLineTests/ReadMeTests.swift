import Foundation
import Testing

/// The Swift that pages and articles show is in sources that are built, most of them by the target `ReadMeSnippets`,
/// with warnings as errors.
@Suite struct ReadMeTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The lines that are not empty, with single spaces between words and no indentation.
    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
    }

    /// The Swift that a page shows.
    private static func snippets(_ path: String) throws -> [String] {
        try text(path).components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    /// The files below a folder whose name ends in `suffix`.
    private static func files(below folder: String, _ suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path).sorted()
            .filter { $0.hasSuffix(suffix) && !$0.contains(".build/") }.map { "\(folder)/\($0)" }
    }

    /// Everything that is built and may be shown. `scripts/checks/example-package` builds Examples/Flowers.
    private static func sources() throws -> [String] {
        try [
            "Tests/Public/ReadMeSnippets", "Tests/Public/SourceCompatibility", "Tests/Public/CreateMLTests/Articles",
            "Examples",
            "Sources/Engine/MLOperators/Activations",
            "Tests/Engine/MLOperatorsTests/Activations",
        ]
        .flatMap { try files(below: $0, ".swift") }.map { lines(try text($0)).joined(separator: "\n") }
    }

    /// The program is compiled here; `scripts/checks/readme-check` builds the package that contains it.
    @Test func theReadMesProgramIsCompiled() throws {
        let snippets = try Self.snippets("README.md")
        try #require(snippets.count == 2)
        #expect(snippets[0].hasPrefix("// swift-tools-version"))
        #expect(Self.lines(snippets[1]) == Self.lines(try Self.text("Tests/Public/ReadMeSnippets/First.swift")))
    }

    @Test(arguments: ["InSwift", "Training", "Questions"])
    func pagesAreCompiled(page: String) throws {
        let parts = try ["Parts", "Questions"].map { name in
            Self.lines(try Self.text("Tests/Public/ReadMeSnippets/\(name).swift")).joined(separator: "\n")
        }.joined(separator: "\n")
        let snippets = try Self.snippets("Documentation/\(page).md")
        #expect(!snippets.isEmpty)
        for snippet in snippets {
            let text = Self.lines(snippet).joined(separator: "\n")
            #expect(parts.contains(text), "ReadMeSnippets/Parts.swift lacks\n\(snippet)")
        }
    }

    @Test func articlesAreCompiled() throws {
        let sources = try Self.sources()
        let articles = try Self.files(below: "Sources", ".md").filter { $0.contains(".docc/") }
        #expect(articles.count >= 20)
        for article in articles {
            for snippet in try Self.snippets(article) {
                let text = Self.lines(snippet).joined(separator: "\n")
                #expect(sources.contains { $0.contains(text) }, "no source has what \(article) shows:\n\(snippet)")
            }
        }
    }

    /// Each module that clients import has a page that says what it is for.
    @Test func modulesHaveLandingPages() throws {
        for module in [
            "BackgroundTasks", "CoreGraphics", "CoreML", "CoreMLDeployment", "CoreMLEncryption", "CoreMLExtras",
            "CoreVideo", "CreateML", "ImageIO", "NaturalLanguage", "QuestionAnswering", "SoundAnalysis", "TabularData",
            "Vision",
        ] {
            let pages = try Self.files(below: "Sources", "/\(module)/\(module).docc/\(module).md")
            try #require(pages.count == 1, "\(module)")
            #expect(try Self.text(pages[0]).hasPrefix("# ``\(module)``\n"))
        }
    }
}
