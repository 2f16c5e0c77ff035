import ArgumentParser
import MLFiles
import MLNumerics
import MLSpecification

/// The options that build systems pass to a model compiler, with the names of Apple's.
struct BuildOptions: ParsableArguments {
    @Option(help: "The system that the app is for: macos, ios, maccatalyst, tvos, watchos or visionos.")
    var platform: Platform?
    @Option(
        help: ArgumentHelp(
            "The oldest version of that system that the app runs on; a model that needs a newer one is an error.",
            valueName: "version"
        )
    )
    var deploymentTarget: String?
    @Option(help: "The container of the compiled model: bundle-resources is the only one.")
    var container: Container?
    @Option(help: ArgumentHelp("Accepted for build systems and ignored: no SDK is needed.", valueName: "folder"))
    var sdkroot: String?
    @Option(
        help: ArgumentHelp("With yes, print the paths that would be written and write nothing.", valueName: "yes|no")
    )
    var dryRun: DryRun = .no
    @Flag(help: "Accepted for build systems and ignored: messages have no categories.")
    var printDiagnosticCategories = false

    enum Container: String, ExpressibleByArgument, CaseIterable {
        case bundleResources = "bundle-resources"
    }

    enum DryRun: String, ExpressibleByArgument, CaseIterable {
        case yes
        case no
    }

    func validate() throws {
        guard let deploymentTarget else { return }
        guard platform != nil else {
            throw ValidationError(
                "--deployment-target \(deploymentTarget) requires --platform, the system of that version"
            )
        }
        guard SystemVersion(deploymentTarget) != nil else {
            throw ValidationError("'\(deploymentTarget)' is not a version of a system, such as 17.0")
        }
    }

    /// Throws when the oldest system that the app runs on does not open the model.
    func check(_ file: ModelFile) throws(ModelError) {
        guard let platform, let text = deploymentTarget, let target = SystemVersion(text) else { return }
        let version = file.specification.specificationVersion
        guard let systems = SpecificationVersion.systems(version) else { return }
        let needed = platform.version(systems)
        guard let minimum = SystemVersion(needed), target < minimum else { return }
        throw ModelError(
            .invalidInput,
            "The model has specification version \(version), which needs \(platform.name) \(needed); the deployment target "
                + "is \(platform.name) \(text). Raise the target, or convert the model for \(platform.name) \(text).",
            at: file.path
        )
    }
}

/// A system that models are compiled for.
enum Platform: String, ExpressibleByArgument, CaseIterable {
    case macos
    case ios
    case maccatalyst
    case tvos
    case watchos
    case visionos
    /// visionOS in build systems.
    case xros

    var name: String {
        switch self {
        case .macos: "macOS"
        case .ios: "iOS"
        case .maccatalyst: "Mac Catalyst"
        case .tvos: "tvOS"
        case .watchos: "watchOS"
        case .visionos, .xros: "visionOS"
        }
    }

    func version(_ systems: SpecificationVersion.Systems) -> String {
        switch self {
        case .macos: systems.macOS
        // Catalyst apps state the iOS that they come from.
        case .ios, .maccatalyst: systems.iOS
        case .tvos: systems.tvOS
        case .watchos: systems.watchOS
        case .visionos, .xros: systems.visionOS ?? "1.0"
        }
    }
}

/// A version of a system: up to three numbers.
struct SystemVersion: Comparable {
    private let parts: [Int]

    init?(_ text: String) {
        let texts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = texts.compactMap { text in
            text.utf8.allSatisfy { (0x30...0x39).contains($0) } && text.utf8.count <= 6 ? Int(text) : nil
        }
        guard (1...3).contains(texts.count), numbers.count == texts.count else { return nil }
        parts = numbers + [Int](repeating: 0, count: 3 - numbers.count)
    }

    static func < (a: Self, b: Self) -> Bool { a.parts.lexicographicallyPrecedes(b.parts) }
}
