import MLFiles
import MLGraph
import MLKernels
import MLLowering
package import MLNumerics
import MLOperators
import MLPasses
import MLRuntime
import MLSpecification

/// Writes the file of a compiled model that predictions load.
package struct CompiledModelWriter {
    private struct ConstantID: Hashable {
        let storage: ObjectIdentifier
        let byteOffset: Int
        let shape: [Int]
        let scalarType: ScalarType
    }

    private let weights: WeightFiles
    private var constants: [Tensor] = []
    private var numbers: [ConstantID: Int] = [:]
    /// The numbers of the constants that graphs use, not only other constants.
    private var used: Set<Int> = []
    /// The numbers of the constants that a constant is computed from.
    private var operands: [Int: [Int?]] = [:]
    private var entries: [(key: CompiledGraphs.Key, entry: CompiledGraphs.Entry)] = []

    /// Writes the compiled form of the model in a compiled folder that is otherwise complete.
    ///
    /// Updatable models get none, since they are loaded to be changed.
    ///
    /// - Parameters:
    ///   - folder: The compiled folder.
    ///   - origin: The names of the folder's other files that the graphs refer to or are made from.
    /// - Returns: The reason why the folder gets no compiled form; `nil` when it gets one, or the model has no graphs.
    /// - Throws: `ModelError` when a file cannot be read or written.
    package static func write(to folder: String, origin: [String]) throws(ModelError) -> String? {
        let file = try ModelFile.open(path: folder)
        guard !file.specification.isUpdatable else { return nil }
        var writer = CompiledModelWriter(weights: file.weights)
        // A model that this catalogue cannot lower to a graph (an app's custom layer, ranks that depend on an input)
        // is compiled without one; any error is reported when it is loaded.
        do throws(ModelError) { try writer.add(file) } catch { return error.description }
        guard !writer.entries.isEmpty else { return nil }
        let sections = try SectionFileWriter(folder + "/" + CompiledModel.fileName, version: CompiledModel.version)
        try sections.add(
            CompiledModel.Section.interface,
            try SpecificationReader.encode(file.specification.withoutGraphs)
        )
        var files: [(name: String, byteCount: Int)] = []
        for name in origin { files.append((name, FileAccess.byteCount(of: folder + "/" + name) ?? 0)) }
        try sections.add(CompiledModel.Section.origin, CompiledModel.origin(of: files))
        try writer.writeGraphs(file, to: sections)
        try sections.seal()
        return nil
    }

    /// The graphs of a model, numbered as `write` numbers them; `nil` when it has none.
    static func graphs(of file: ModelFile) throws(ModelError) -> CompiledGraphs? {
        var writer = CompiledModelWriter(weights: file.weights)
        try writer.add(file)
        return writer.entries.isEmpty ? nil : writer.graphs
    }

    private init(weights: WeightFiles) { self.weights = weights }

    private var graphs: CompiledGraphs {
        CompiledGraphs(
            entries: Dictionary(entries.map { ($0.key, $0.entry) }, uniquingKeysWith: { first, _ in first }),
            constants: constants
        )
    }

    /// Adds the graphs of a model and of the stages inside it.
    private mutating func add(_ file: ModelFile) throws(ModelError) {
        switch file.specification.type {
        case .mlProgram(let program)?:
            for name in program.functions.keys.sorted() {
                let lowered = try EngineLoader.lower(file, functionName: name)
                let key = CompiledGraphs.Key(stagePath: file.stagePath, function: name)
                try add(lowered, dependsOnExtents: false, as: key)
            }
        case .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?:
            let (lowered, dependsOnExtents) = try NetworkVariants.first(file.specification, .standard)
            let key = CompiledGraphs.Key(stagePath: file.stagePath, function: "")
            try add(lowered, dependsOnExtents: dependsOnExtents, as: key)
        default:
            for (index, stage) in file.specification.stages.enumerated() {
                try add(file.stage(stage, named: "stage \(index)", index: index))
            }
        }
    }

    private mutating func add(
        _ lowered: LoweredModel,
        dependsOnExtents: Bool,
        as key: CompiledGraphs.Key
    ) throws(ModelError) {
        var model = lowered
        model.graph = try PassPipeline.prepare(lowered.graph)
        let isBound = model.graph.inputs.allSatisfy { model.graph.type(of: $0).isBound }
        if isBound { model.graph = try PassPipeline.optimize(try model.graph.bound()) }
        for (location, id) in lowered.graph.inputs.enumerated() {
            for index in model.inputs.indices where lowered.inputs[index].value == id {
                model.inputs[index].value = model.graph.inputs[location]
            }
        }
        let bytes = try model.encoded { (tensor, _) throws(ModelError) in
            let number = number(of: tensor)
            used.insert(number)
            return number
        }
        let entry = CompiledGraphs.Entry(isBound: isBound, dependsOnExtents: dependsOnExtents, model: bytes)
        entries.append((key, entry))
    }

    private mutating func number(of tensor: Tensor) -> Int {
        let piece = ConstantID(
            storage: ObjectIdentifier(tensor.storage),
            byteOffset: tensor.byteOffset,
            shape: tensor.shape,
            scalarType: tensor.scalarType
        )
        if let known = numbers[piece] { return known }
        // The operands of a constant's computation come before it.
        let sources = tensor.byteOffset == 0 ? tensor.deferredResult?.operands.map { $0.map { number(of: $0) } } : nil
        operands[constants.count] = sources
        numbers[piece] = constants.count
        constants.append(tensor)
        return constants.count - 1
    }

    /// Packs the weights for this machine's kernels and writes the graphs, the packed weights and the other constants.
    ///
    /// Weights are packed for the default extents where extents are open.
    private func writeGraphs(_ file: ModelFile, to sections: SectionFileWriter) throws(ModelError) {
        let library = PackedLibrary()
        var unneeded: Set<Int> = []
        var engines: [GraphEngine] = []
        if Backend.current == .native {
            let graphs = graphs
            library.providePackedWeights(for: constants)
            engines = try Self.engines(file, graphs)
            unneeded = packedOnly(library.recordedConstants, engines)
            unneeded.formUnion(sourcesOnly(of: unneeded))
        }
        var locations: [(storage: ObjectIdentifier, byteOffset: Int)] = []
        var parts: [Tensor] = []
        var files: [(name: String, file: WeightFile)] = []
        for (name, opened) in try weights.openedFiles()
        where constants.contains(where: { $0.storage === opened.storage }) { files.append((name, opened)) }
        var records: [(tensor: Tensor, location: ConstantLocation, part: Int?)] = []
        for (number, tensor) in constants.enumerated() {
            if tensor.scalarType == .string {
                records.append((tensor, .strings(tensor.strings), nil))
            } else if let sources = operands[number], let deferred = tensor.deferredResult,
                deferred.resultTypes.count == 1, tensor.shape == deferred.resultTypes[0].shape.counts
            {
                func attributes(_ op: some Operator) throws(ModelError) -> ValueTree { try ValueTree(encoding: op) }
                let name = GraphEncoder.name(of: type(of: deferred.op))
                let tree = try attributes(deferred.op)
                records.append((tensor, .deferred(type: name, attributes: tree, operands: sources), nil))
            } else if let index = files.firstIndex(where: { $0.file.storage === tensor.storage }) {
                let isPacked = unneeded.contains(number)
                let location = ConstantLocation.weights(file: index, byteOffset: tensor.byteOffset, isPacked: isPacked)
                records.append((tensor, location, nil))
            } else if unneeded.contains(number) {
                records.append((tensor, .packedOnly, nil))
            } else {
                let location = (ObjectIdentifier(tensor.storage), tensor.byteOffset)
                var part = locations.firstIndex { $0 == location }
                if part == nil || parts[part ?? 0].byteCount < tensor.byteCount {
                    part = parts.count
                    locations.append(location)
                    parts.append(tensor)
                }
                records.append((tensor, .section(0), part))
            }
        }
        let offsets = try sections.add(CompiledModel.Section.constants, partCount: parts.count) {
            (part, append) throws(ModelError) in
            try parts[part].withBytes { (bytes) throws(ModelError) in try append(bytes.bytes) }
        }
        var writer = BinaryWriter()
        writer.unsigned(files.count)
        for (name, _) in files { writer.text(name) }
        writer.unsigned(records.count)
        for (tensor, location, part) in records {
            ConstantRecord(
                scalarType: tensor.scalarType,
                shape: tensor.shape,
                location: part.map { .section(offsets[$0]) } ?? location
            ).write(to: &writer)
        }
        writer.unsigned(entries.count)
        for (key, entry) in entries {
            writer.text(key.stagePath)
            writer.text(key.function)
            writer.byte((entry.isBound ? 1 : 0) | (entry.dependsOnExtents ? 2 : 0))
            writer.block(entry.model)
        }
        try sections.add(CompiledModel.Section.graphs, writer.bytes)
        _ = try library.write(to: sections, instructionSet: "\(KernelTable.current)")
        // Packed weights live as long as an engine uses them.
        withExtendedLifetime(engines) {}
    }

    /// The numbers of the constants that are there only for computing the constants `unneeded`.
    private func sourcesOnly(of unneeded: Set<Int>) -> Set<Int> {
        var users: [Int: Set<Int>] = [:]
        for (number, sources) in operands {
            for case let source? in sources { users[source, default: []].insert(number) }
        }
        // In the compiled file itself they are small and stay.
        return Set(users.filter { !used.contains($0.key) && $0.value.isSubset(of: unneeded) }.keys)
            .filter { number in
                (try? weights.openedFiles().contains { $0.1.storage === constants[number].storage }) ?? false
            }
    }

    /// The numbers of the constants that the engines use in packed form only, now and later.
    private func packedOnly(_ packed: Set<Int>, _ engines: [GraphEngine]) -> Set<Int> {
        guard entries.allSatisfy(\.entry.isBound), engines.allSatisfy({ $0.executable.isOnePlan }) else { return [] }
        struct ConstantSlice: Hashable {
            let storage: ObjectIdentifier
            let byteOffset: Int

            init(_ tensor: Tensor) {
                storage = ObjectIdentifier(tensor.storage)
                byteOffset = tensor.byteOffset
            }
        }
        let visited = Set(engines.flatMap(\.executable.plannedConstants).map(ConstantSlice.init))
        return packed.filter { !visited.contains(ConstantSlice(constants[$0])) }
    }

    private static func engines(_ file: ModelFile, _ graphs: CompiledGraphs) throws(ModelError) -> [GraphEngine] {
        var engines: [GraphEngine] = []
        switch file.specification.type {
        case .mlProgram(let program)?:
            for name in program.functions.keys.sorted() {
                engines.append(try graphs.engine(file, functionName: name, sources: nil))
            }
        case .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?:
            engines.append(try graphs.engine(file, functionName: nil, sources: nil))
        default:
            for (index, stage) in file.specification.stages.enumerated() {
                engines += try self.engines(file.stage(stage, named: "stage \(index)", index: index), graphs)
            }
            return engines
        }
        // Default extents need not fit the graph (coremltools writes 1 where it knows none). Nothing is packed for
        // them then, and a prediction with them fails.
        for engine in engines { try? engine.bindDefaultShapes() }
        return engines
    }
}
