import MLFiles
import MLGeneration
import MLSpecification
import Testing

/// Models whose texts try to become code.
struct HostileModelTests {
    private static let pieces = [
        "\"", "\\", "\\(", ")", "\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}", "\u{B}", "\u{C}", "\u{0}", "*/",
        "/*",
        "//", "\"\"\"", "#\"", "\"#", "`", "}", "{", ";", "fatalError()", "\u{202E}", "\u{2066}", "\u{200B}",
        "\u{FEFF}",
        "\u{301}", "\u{1F469}\u{200D}\u{1F52C}", "a", "1", " ", "\t", "ß", "\u{E000}", "\u{10FFFF}", "#if", "\u{1B}[0m",
        "class", "_", "$0", "\\u{22}",
    ]

    private static func text(_ generator: inout SystemRandomNumberGenerator, upTo most: Int = 8) -> String {
        (0..<Int.random(in: 0...most, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
            .joined()
    }

    /// A feature of a kind that follows from its place, so that two models differ in texts only.
    private static func feature(_ index: Int, _ name: String, _ description: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = description
        feature.type.isOptional = index % 3 == 2
        switch index % 6 {
        case 0: feature.type.doubleType = SpecDoubleFeatureType()
        case 1: feature.type.stringType = SpecStringFeatureType()
        case 2:
            feature.type.imageType.width = 2
            feature.type.imageType.height = 2
            feature.type.imageType.colorSpace = .rgb
        case 3:
            feature.type.multiArrayType.dataType = .float32
            feature.type.multiArrayType.shape = [2]
        case 4: feature.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
        default: feature.type.sequenceType.int64Type = SpecInt64FeatureType()
        }
        return feature
    }

    private static func model(_ texts: () -> String, names: (Int) -> String) -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 9
        model.isUpdatable = true
        model.identity = SpecIdentity()
        func features(_ places: Range<Int>) -> [SpecFeatureDescription] {
            places.map { feature($0, names($0), texts()) }
        }
        model.description_p.input = features(0..<7)
        model.description_p.output = features(7..<13)
        model.description_p.trainingInput = features(13..<19)
        var state = SpecFeatureDescription()
        state.name = names(19)
        state.shortDescription = texts()
        state.type.stateType.arrayType.dataType = .float16
        model.description_p.state = [state]
        model.description_p.metadata.shortDescription = texts()
        model.description_p.metadata.author = texts()
        model.description_p.metadata.license = texts()
        model.description_p.metadata.versionString = texts()
        return model
    }

    private static func tokens(_ model: SpecModel, named name: String) throws -> [SwiftToken] {
        let source = try ClassGenerator.source(of: ModelFile(specification: model), named: name)
        return try SwiftLexer.tokens(source)
    }

    @Test func noTextLeavesItsPlace() throws {
        let harmless = try Self.tokens(Self.model({ "A text." }, names: { "f\($0)" }), named: "Model")
        var generator = SystemRandomNumberGenerator()
        for round in 0..<150 {
            // The place keeps names apart.
            var names = (0..<20).map { "\(Self.text(&generator)) place \($0)" }
            names[round % 20] = Self.text(&generator)
            let name = Self.text(&generator)
            let model = Self.model({ Self.text(&generator, upTo: 30) }, names: { names[$0] })
            let found = try Self.tokens(model, named: name)
            try #require(found.map(\.form) == harmless.map(\.form), "\(names) in \(name)")
            let texts = Set(found.compactMap { if case .text(let text) = $0 { text } else { nil } })
            for name in names { #expect(texts.contains(name)) }
        }
    }

    @Test func onlyVisibleCharactersAreWritten() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            let text = Self.text(&generator, upTo: 60)
            let model = Self.model({ text }, names: { "\(text)\($0)" })
            let source = try ClassGenerator.source(of: ModelFile(specification: model), named: text)
            for scalar in source.unicodeScalars where scalar != "\n" && ![0x200C, 0x200D].contains(scalar.value) {
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                    Issue.record("U+\(String(scalar.value, radix: 16)) of \(text.debugDescription)")
                default: break
                }
            }
        }
    }

    @Test func longTextsAreCut() throws {
        let long = String(repeating: "long ", count: 100_000)
        let model = Self.model({ long }, names: { "f\($0)" })
        let source = try ClassGenerator.source(of: ModelFile(specification: model), named: "Model")
        #expect(source.utf8.count < 500_000)
        #expect(source.contains("long …"))
    }
}
