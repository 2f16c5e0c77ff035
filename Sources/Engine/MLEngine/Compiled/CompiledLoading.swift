import MLFiles
import MLKernels
import MLNumerics

/// How the graphs of a compiled model are loaded on this machine: with packed weights from the compiled file, with those
/// from this user's cache, or with weights that are packed now, for the cache.
struct CompiledLoading {
    let graphs: CompiledGraphs
    private let library: PackedLibrary
    /// Takes what is packed now; `nil` when nothing is, or nothing may be kept.
    private let cache: PackedCache?

    /// `nil` when the model has to be read from its specification: weights for this machine are not there, and those that
    /// they would be packed from cannot be had under the numbers of the compiled file.
    init?(_ file: ModelFile, _ compiled: CompiledModel) throws(ModelError) {
        let instructionSet = "\(InstructionSet.current)"
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
        library.serve(graphs.constants)
    }

    /// The engine of a graph of the compiled model.
    func engine(_ file: ModelFile, functionName: String?) throws(ModelError) -> GraphEngine {
        let sources = ModelSources(file, others: library.storage.map { [$0] } ?? [])
        return try graphs.engine(file, functionName: functionName, sources: sources)
    }

    /// Keeps what had to be packed for the next time.
    func finish() { cache?.keep(library) }
}
