import MLFiles
import MLGeneration
import MLNumerics
import MLSpecification
import Testing

struct GeneratorTests {
    private static func model(_ inputs: [SpecFeatureDescription], version: Int32 = 4) -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = version
        model.identity = SpecIdentity()
        model.description_p.input = inputs
        return model
    }

    private static func number(_ name: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.doubleType = SpecDoubleFeatureType()
        return feature
    }

    private static func source(
        _ model: SpecModel,
        named name: String = "Model",
        options: GenerationOptions = GenerationOptions()
    ) throws(ModelError) -> String {
        try ClassGenerator.source(of: ModelFile(specification: model), named: name, options: options)
    }

    /// The properties of the input, in order.
    private static func properties(_ names: [String]) throws -> [String] {
        try source(model(names.map(number))).components("    var ", until: ": Double")
    }

    @Test(arguments: [
        ("Class", "Class_"), ("var", "var_"), ("in", "in_"), ("Any", "Any_"), ("count", "count"), ("type", "type"),
        ("a-b", "a_b"), ("a.b c", "a_b_c"), ("1st", "_1st"), ("", "__"), ("-", "__"), ("_", "__"), ("größe", "größe"),
        ("大きさ", "大きさ"), ("😀", "😀"), ("⌚", "__"), ("a\u{200B}b", "a_b"), ("x\u{202E}", "x_"),
        ("featureNames", "featureNames_"), ("MLFeatureValue", "MLFeatureValue_"), ("String", "String"),
        ("ModelInput", "ModelInput_"), ("$0", "_0"), ("\u{301}x", "_\u{301}x"),
    ])
    func namesBecomeIdentifiers(name: String, identifier: String) throws {
        #expect(try Self.properties([name]) == [identifier])
    }

    @Test func namesThatMeetAreKeptApart() throws {
        #expect(try Self.properties(["a-b", "a_b", "a b"]) == ["a_b_", "a_b", "a_b__"])
        #expect(try Self.properties(["class", "class_"]) == ["class__", "class_"])
        #expect(try Self.properties(["😀", "-", "_", ""]) == ["😀", "__", "___", "____"])
    }

    @Test(arguments: [
        ("Flowers", "Flowers"), ("thenlper-gte-small", "thenlper_gte_small"), ("3D", "_3D"), ("String", "String_"),
        ("Swift", "Swift_"), ("class", "class_"), ("Type", "Type_"), ("", "__"),
        ("MobileNetV2.int8", "MobileNetV2_int8"),
    ])
    func filesBecomeClasses(file: String, name: String) throws {
        #expect(SwiftIdentifier.className(file) == name)
        let source = try Self.source(Self.model([]), named: file)
        #expect(source.contains("\nclass \(name): @unchecked Sendable {"))
        #expect(source.contains("forResource: \"\(file)\", withExtension: \"mlmodelc\""))
    }

    @Test func availabilityFollowsTheVersion() throws {
        let old = try Self.source(Self.model([], version: 1))
        #expect(
            old.contains("@available(macOS 10.13, iOS 11.0, tvOS 11.0, watchOS 4.0, visionOS 1.0, *)\nclass Model:")
        )
        #expect(
            old.contains(
                "    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)\n    class func load"
            )
        )
        let new = try Self.source(Self.model([], version: 9))
        #expect(
            new.contains("@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)\nclass Model:")
        )
        #expect(!new.contains("    @available"))
    }

    @Test func theBundleIsChosen() throws {
        let text = try Self.source(Self.model([]), options: GenerationOptions(bundle: .ofModule))
        #expect(text.contains("Bundle.module.url(") && !text.contains("Bundle(for:"))
    }

    @Test func olderSwiftHasNoNewerWords() throws {
        let model = Self.model([Self.number("x")])
        for version in ["4", "4.2", "5", "5.0", "5.10.1"] {
            let options = GenerationOptions(isPublic: true, swift: try SwiftLanguage(version))
            let source = try Self.source(model, options: options)
            #expect(source.contains("\nimport CoreML\n") && !source.contains("any "))
        }
        let options = GenerationOptions(isPublic: true, swift: try SwiftLanguage("6.0"))
        #expect(try Self.source(model, options: options).contains("\npublic import CoreML\n"))
        for version in ["", "3", "7", "5.", "five", "5.0.0.0", "-5", "６"] {
            #expect(throws: ModelError.self, "\(version)") { try SwiftLanguage(version) }
        }
    }

    @Test func weightsHaveNoPartInIt() throws {
        var model = Self.model([Self.number("x")])
        let source = try Self.source(model)
        model.type = nil
        model.scaler.scaleValue = [2]
        #expect(try Self.source(model) == source)
    }

    @Test func interfacesThatCannotBeWrittenAreErrors() {
        func message(_ inputs: [SpecFeatureDescription]) -> String {
            do throws(ModelError) {
                return try Self.source(Self.model(inputs))
            } catch {
                return "\(error)"
            }
        }
        #expect(message([Self.number("x"), Self.number("x")]).contains("inputs: Two features are called 'x'"))
        var untyped = SpecFeatureDescription()
        untyped.name = "x"
        #expect(message([untyped]).contains("x: The feature has no type"))
        var state = untyped
        state.type.stateType.arrayType.dataType = .float16
        #expect(message([state]).contains("A state is listed among the inputs"))
        var array = untyped
        array.type.multiArrayType.shape = [1]
        #expect(message([array]).contains("no type that is known (0)"))
    }
}

extension String {
    /// The words between each `start` and the next `end`; up to the first class's end.
    fileprivate func components(_ start: String, until end: String) -> [String] {
        split(separator: "\n").compactMap { line in
            guard line.hasPrefix(start), line.hasSuffix(end) else { return nil }
            return String(line.dropFirst(start.count).dropLast(end.count))
        }
    }
}
