import MLFiles
import MLSpecification

/// On which of Apple's systems something is there, as attributes of declarations.
struct Availability {
    private let version: Int32
    private let isOnWatches: Bool

    init(_ model: SpecModel, needs version: Int32) {
        self.version = max(model.specificationVersion, version)
        isOnWatches = !Self.usesImageFeatureExtractor(model)
    }

    /// Those of a class: from the systems that open the model.
    var ofType: [String] { attributes(version) + (isOnWatches ? [] : ["@available(watchOS, unavailable)"]) }

    /// Those of a member that came with the systems of specification version `needed`; none where the class is not older.
    func member(since needed: Int32) -> [String] { needed > version ? attributes(needed) : [] }

    private func attributes(_ version: Int32) -> [String] {
        guard let systems = SpecificationVersion.systems(version) else { return [] }
        var names = ["macOS \(systems.macOS)", "iOS \(systems.iOS)", "tvOS \(systems.tvOS)"]
        if isOnWatches { names.append("watchOS \(systems.watchOS)") }
        names.append("visionOS \(systems.visionOS ?? "1.0")")
        return ["@available(\(names.joined(separator: ", ")), *)"]
    }

    /// Whether a part of the model is the extractor of image features that belongs to the system, which watches do
    /// not have.
    private static func usesImageFeatureExtractor(_ model: SpecModel) -> Bool {
        if case .visionFeaturePrint? = model.type { return true }
        return model.stages.contains(where: usesImageFeatureExtractor)
    }
}
