import MLFiles
import MLKernels
import MLNumerics

/// Loads the graphs of a compiled model on this machine.
///
/// Packed weights come from the compiled file or this user's cache, or are made now and stored in the cache.
struct CompiledLoading {
    let graphs: CompiledGraphs
    private let library: PackedLibrary
    /// The cache for weights packed now; `nil` when there are none, or nothing may be cached.
    private let cache: PackedCache?

    /// Opens a compiled model; `nil` when it has to be read from its specification.
    ///
    /// That is so when packed weights for this machine are missing and the constants to pack them from cannot be
    /// obtained under the numbers of the compiled file.
    init?(_ file: ModelFile, _ compiled: CompiledModel) throws(ModelError) {
        let instructionSet = "\(KernelTable.current)"
        let isNative = Backend.current == .native
        let isPacked = isNative && compiled.sections.has(CompiledModel.Section.packedIndex(instructionSet))
        let written = try CompiledGraphs(compiled, file.weights, isPacked: isPacked)
        guard isNative else {
            guard !written.lacksConstants else { return nil }
            (graphs, library, cache) = (written, PackedLibrary(), nil)
            return
        }
        let cache = PackedCache(for: compiled, instructionSet: instructionSet)
        if isPacked {
            library = try PackedLibrary(compiled.sections, instructionSet: instructionSet)
            (graphs, self.cache) = (written, nil)
        } else if let kept = cache?.library() {
            library = kept
            (graphs, self.cache) = (written, nil)
        } else {
            library = PackedLibrary()
            self.cache = cache
            if written.lacksConstants {
                guard let read = try CompiledModelWriter.graphs(of: file.whole()), read.entries == written.entries,
                    read.constants.count == written.constants.count
                else { return nil }
                graphs = read
            } else {
                graphs = written
            }
        }
        library.providePackedWeights(for: graphs.constants)
    }

    /// Makes the engine of a graph of the compiled model.
    func engine(_ file: ModelFile, functionName: String?) throws(ModelError) -> GraphEngine {
        let sources = ModelSources(file, others: library.storage.map { [$0] } ?? [])
        return try graphs.engine(file, functionName: functionName, sources: sources)
    }

    /// Stores the weights that had to be packed, for the next time.
    func finish() { cache?.keep(library) }
}
