import CoreML
import Foundation
import MLFiles
import MLSpecification

/// The model of a task: the trained one, which can be written, or another one that the caller put in its place.
struct TaskModel: Sendable {
    /// The trained model as it is written, but for the caller's metadata.
    let file: ModelFile
    private let trained: TrainedModel
    /// The model in place of the trained one; `nil` if there is none.
    private(set) var replacement: MLModel?

    var specification: SpecModel { file.specification }

    /// - Parameters:
    ///   - specification: The trained model.
    ///   - isLoaded: Whether to load the model now; otherwise it is loaded on first use and must be sound.
    /// - Throws: The error of loading the model.
    init(_ specification: SpecModel, isLoaded: Bool = true) throws {
        try self.init(ModelFile(specification: specification, path: "the trained model"), isLoaded: isLoaded)
    }

    /// The same for a model that may have weight files.
    init(_ file: ModelFile, isLoaded: Bool = true) throws {
        self.file = file
        trained = TrainedModel(file)
        if isLoaded { _ = try trained.get() }
    }

    /// Loads the trained model once.
    ///
    /// `@unchecked Sendable`: the lock guards the model.
    private final class TrainedModel: @unchecked Sendable {
        private let lock = NSLock()
        private let file: ModelFile
        private var model: MLModel?

        init(_ file: ModelFile) { self.file = file }

        func get() throws -> MLModel {
            try lock.withLock {
                if let model { return model }
                let new = try MLModel(file, configuration: MLModelConfiguration())
                model = new
                return new
            }
        }

        func isModel(_ other: MLModel) -> Bool { lock.withLock { model === other } }
    }

    /// The model for the caller, who may put another one in its place.
    var model: MLModel {
        get {
            if let replacement { return replacement }
            do { return try trained.get() } catch {
                preconditionFailure("a trained model could not be loaded: \(error)")
            }
        }
        set { replacement = trained.isModel(newValue) ? nil : newValue }
    }

    /// Throws if the model was replaced by another one, which a method cannot use.
    ///
    /// - Parameter reason: The requirement of the method, and an alternative.
    /// - Throws: `MLCreateError.generic` with `reason`.
    func checkNotReplaced(_ reason: String) throws {
        guard replacement == nil else {
            throw MLCreateError.generic(reason: "the model was replaced by another one; \(reason)")
        }
    }

    /// Writes the trained model to a file or package, with the metadata of the specification if `metadata` is `nil`.
    /// - Throws: `MLCreateError.generic` if the model was replaced, otherwise the errors of `ModelFile.writeTrained(to:)`.
    func write(to url: URL, _ metadata: MLModelMetadata?) throws { try write(path: url.path, metadata) }

    /// Writes the trained model to a path, in which a leading tilde is expanded; see `write(to:_:)`.
    func write(toFile path: String, _ metadata: MLModelMetadata?) throws {
        try write(path: path.expandingTilde, metadata)
    }

    private func write(path: String, _ metadata: MLModelMetadata?) throws {
        try checkNotReplaced("that one is in its own file already; train anew to write")
        var model = specification
        if let metadata { model.apply(metadata) }
        try file.replacing(model).writeTrained(to: path)
    }
}

extension SpecModel {
    /// The model, loaded.
    func loaded() throws -> MLModel {
        try MLModel(ModelFile(specification: self, path: "the trained model"), configuration: MLModelConfiguration())
    }

    /// The model with default metadata and the mark of this package.
    var marked: SpecModel {
        var model = self
        model.apply(MLModelMetadata())
        model.description_p.metadata.userDefined["com.apple.createml.version"] = "swift-coreml"
        return model
    }
}

extension String {
    /// The path; a leading tilde is the user's home folder, as in every method that takes a path.
    var expandingTilde: String { hasPrefix("~") ? (self as NSString).expandingTildeInPath : self }
}
