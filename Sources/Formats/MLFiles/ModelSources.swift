package import MLNumerics

/// The mapped files that a model predicts from.
package struct ModelSources: Sendable {
    private let weights: WeightFiles
    private let storages: [TensorStorage]

    /// - Parameter others: what is read besides the model's own files, such as weights in a cache.
    package init(_ file: ModelFile, others: [TensorStorage] = []) {
        weights = file.weights
        storages = [file.compiled?.sections.storage, file.source?.storage].compactMap { $0 } + others
    }

    /// Costs nothing as long as no file was shortened.
    /// - Throws: `ModelError.io` when one of these files was cut short while it was used, so that what was read from it
    ///   is not what it held.
    package func checkWhole() throws(ModelError) {
        guard TensorStorage.someFileWasShortened else { return }
        for storage in storages { try storage.checkWhole() }
        for (_, file) in try weights.openedFiles() { try file.storage.checkWhole() }
    }
}
