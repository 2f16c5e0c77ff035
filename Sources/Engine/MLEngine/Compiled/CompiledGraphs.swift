import MLFiles
import MLKernels
import MLLowering
import MLNumerics
import MLSpecification

/// The graphs of a model and their constants, as a compiled file holds them.
struct CompiledGraphs {
    /// The stage and function that a graph computes.
    struct Key: Hashable, Sendable {
        let stagePath: String
        /// The name of the function; empty for neural networks.
        let function: String
    }

    /// A graph in the form in which it is written.
    struct Entry: Hashable, Sendable {
        /// Whether every input has one shape and the graph went through all portable passes, or only through those
        /// without shapes.
        let isBound: Bool
        /// Whether ranks inside the network depend on the extents of its inputs; see `NetworkVariants`.
        let dependsOnExtents: Bool
        let model: [UInt8]
    }

    let entries: [Key: Entry]
    let constants: [Tensor]

    init(entries: [Key: Entry], constants: [Tensor]) {
        self.entries = entries
        self.constants = constants
    }

    /// Reads the graphs of a compiled model.
    ///
    /// - Parameters:
    ///   - compiled: The compiled model.
    ///   - weights: The weight files of the model.
    ///   - isPacked: Whether packed weights for this machine exist, so that a weight file used for nothing else need
    ///     not be opened; one of an encrypted model would have to be decrypted.
    /// - Throws: `ModelError` when a file is damaged or cannot be read.
    init(_ compiled: CompiledModel, _ weights: WeightFiles, isPacked: Bool) throws(ModelError) {
        let sections = compiled.sections
        var reader = BinaryReader(try sections.bytes(CompiledModel.Section.graphs))
        var names: [String] = []
        for _ in 0..<(try reader.count()) { names.append(try reader.text()) }
        let leavesFiles = isPacked && compiled.path == nil
        let range = try sections.range(CompiledModel.Section.constants)
        var constants: [Tensor] = []
        for _ in 0..<(try reader.count()) {
            let record = try ConstantRecord(from: &reader)
            let tensor = try record.tensor(section: sections.storage, constants: range, earlier: constants) {
                (file, isPacked) throws(ModelError) in
                guard names.indices.contains(file) else {
                    throw BinaryReader.malformed("there is no weight file \(file)")
                }
                return isPacked && leavesFiles ? nil : try weights.file(names[file])
            }
            constants.append(tensor)
        }
        var entries: [Key: Entry] = [:]
        for _ in 0..<(try reader.count()) {
            let key = Key(stagePath: try reader.text(), function: try reader.text())
            let flags = try reader.byte()
            entries[key] = Entry(isBound: flags & 1 != 0, dependsOnExtents: flags & 2 != 0, model: try reader.block())
        }
        self.entries = entries
        self.constants = constants
    }

    /// Whether packed weights replace some constants.
    var lacksConstants: Bool { constants.contains { $0.storage.isAbsent } }

    /// Makes the engine of a neural network or of a function of an ML program.
    ///
    /// `file` is the model or the stage of a pipeline; the engine checks that `sources` are still complete.
    func engine(
        _ file: ModelFile,
        functionName: String?,
        sources: ModelSources?
    ) throws(ModelError) -> GraphEngine {
        let key = Key(file, functionName: functionName)
        guard let entry = entries[key] else {
            let names = entries.keys.filter { $0.stagePath == key.stagePath }.map(\.function).sorted()
            throw ModelError(
                .invalidInput,
                "the model has no function '\(key.function)'; it has '\(names.joined(separator: "', '"))'"
            )
        }
        let lowered = try LoweredModel(decoding: entry.model) { (number) throws(ModelError) in
            guard constants.indices.contains(number) else {
                throw BinaryReader.malformed("there is no constant \(number)")
            }
            return constants[number]
        }
        var variants: NetworkVariants?
        if lowered.language == .neuralNetwork {
            variants = NetworkVariants(
                { () throws(ModelError) in try file.whole().specification },
                of: lowered,
                dependsOnExtents: entry.dependsOnExtents
            )
        }
        return try GraphEngine(
            lowered,
            interface: file.specification.description_p.interface(of: functionName),
            variants: variants,
            sources: sources,
            preparation: entry.isBound ? .optimized : .prepared
        )
    }
}

extension CompiledGraphs.Key {
    /// Makes the key of a model or stage; `functionName` is `nil` for the default function.
    init(_ file: ModelFile, functionName: String?) {
        stagePath = file.stagePath
        guard case .mlProgram? = file.specification.type else {
            function = ""
            return
        }
        let declared = file.specification.description_p.interface(of: functionName).defaultFunctionName
        function = functionName ?? (declared.isEmpty ? "main" : declared)
    }
}
