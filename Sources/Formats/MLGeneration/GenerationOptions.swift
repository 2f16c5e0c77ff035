package import MLNumerics

/// The options of the source of a model's class.
package struct GenerationOptions: Hashable, Sendable {
    /// The bundle in which the class looks up the compiled model.
    package enum BundleLookup: String, CaseIterable, Sendable {
        /// `Bundle(for:)`, as Apple's tool writes. On Linux that is the folder of the program.
        case ofClass = "class"
        /// `Bundle.module`: the resources of the package's target that the source is part of.
        case ofModule = "module"
    }

    /// Whether the types and their members are `public`.
    package var isPublic: Bool
    package var swift: SwiftLanguage
    package var bundle: BundleLookup

    package init(isPublic: Bool = false, swift: SwiftLanguage = .newest, bundle: BundleLookup = .ofClass) {
        self.isPublic = isPublic
        self.swift = swift
        self.bundle = bundle
    }
}

/// The version of the Swift language that a source is written in.
package struct SwiftLanguage: Hashable, Sendable {
    package static let newest = SwiftLanguage(major: 6)

    let major: Int

    private init(major: Int) { self.major = major }

    /// Reads the value of a build setting: `5`, `5.0`, `4.2`, `6.0`.
    /// - Throws: `.invalidInput` if the text is not a version, or the version has no such classes.
    package init(_ text: String) throws(ModelError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), parts.allSatisfy({ Self.isNumber($0) }), let major = Int(parts[0]),
            (4...6).contains(major)
        else {
            throw ModelError(
                .invalidInput,
                "The Swift version '\(text)' is not known; give 4, 4.2, 5 or 6, or leave it out for 6."
            )
        }
        self.major = major
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 3 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// From Swift 6 on, types of protocols are written with `any`, as an upcoming feature of the language demands.
    var existential: String { major >= 6 ? "any " : "" }

    /// Public interfaces name types of `CoreML`, which a module that imports internally by default must say.
    func importKeyword(isPublic: Bool) -> String { isPublic && major >= 6 ? "public import" : "import" }
}
