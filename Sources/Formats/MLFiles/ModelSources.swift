package import MLNumerics

/// The mapped files that a model predicts from.
package struct ModelSources: Sendable {
    private let weights: WeightFiles
    private let storages: [TensorStorage]

    /// Collects the mapped files of a model and `others`, such as weights in a cache.
    package init(_ file: ModelFile, others: [TensorStorage] = []) {
        weights = file.weights
        storages = [file.compiled?.sections.storage, file.source?.storage].compactMap { $0 } + others
    }

    /// Checks that no file was truncated while it was in use; costs nothing when none was.
    ///
    /// It throws `ModelError.io` otherwise, as the bytes read may not be those of the file.
    package func checkWhole() throws(ModelError) {
        guard TensorStorage.someFileWasTruncated else { return }
        for storage in storages { try storage.checkWhole() }
        for (_, file) in try weights.openedFiles() { try file.storage.checkWhole() }
    }
}
