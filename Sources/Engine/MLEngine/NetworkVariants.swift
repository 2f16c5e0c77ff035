import MLFeatures
import MLFiles
import MLKernels
import MLLowering
import MLNumerics
import MLOperators
import MLSpecification
import Synchronization

/// The graphs of a neural network for arrays for which the network has to be lowered separately.
///
/// These are batches within arrays of the legacy mapping, and shapes that determine ranks inside the network.
final class NetworkVariants: Sendable {
    /// Returns the network's specification including its layers, which a compiled model decodes only then.
    typealias Specification = @Sendable () throws(ModelError) -> SpecModel

    private let specification: Specification
    private let catalogue: Catalogue
    private let inputs: [InputFeature]
    private let kernels = KernelTable.current
    /// Whether the network is read again for every set of extents, because ranks inside it depend on them.
    private let dependsOnExtents: Bool
    private let engines = Mutex(RecentCache<NeuralNetworkReader.InputShapes, GraphEngine>(limit: 8))

    init(
        _ specification: @escaping Specification,
        _ catalogue: Catalogue = .standard,
        of lowered: LoweredModel,
        dependsOnExtents: Bool
    ) {
        self.specification = specification
        self.catalogue = catalogue
        self.dependsOnExtents = dependsOnExtents
        inputs = lowered.inputs
    }

    /// The engine for these arrays, made when there is none yet; `nil` when the first reading of the network fits.
    func engine(for features: [String: FeatureData]) throws(ModelError) -> GraphEngine? {
        let shapes = try shapes(of: features)
        guard shapes != NeuralNetworkReader.InputShapes() else { return nil }
        if let known = engines.withLock({ $0.find(shapes) }) { return known }
        let network = try specification()
        let engine = try kernels.perform { () throws(ModelError) in
            let lowered = try NeuralNetworkReader.read(network, catalogue: catalogue, shapes: shapes)
            return try GraphEngine(lowered, interface: network.description_p)
        }
        return engines.withLock { $0.keep(engine, for: shapes) }
    }

    private func shapes(of features: [String: FeatureData]) throws(ModelError) -> NeuralNetworkReader.InputShapes {
        var shapes = NeuralNetworkReader.InputShapes()
        for input in inputs {
            guard case .array(let mapping) = input.form, case .tensor(let tensor)? = features[input.name] else {
                continue
            }
            let batch = try withErrorContext("input '\(input.name)'") { () throws(ModelError) in
                try mapping.batch(of: tensor.shape)
            }
            if batch != 1 { shapes.batches[input.name] = batch }
            if dependsOnExtents { shapes.extents[input.name] = tensor.shape }
        }
        return shapes
    }
}

extension GraphEngine {
    /// Makes the engine of a neural network.
    static func network(_ file: ModelFile, catalogue: Catalogue) throws(ModelError) -> GraphEngine {
        let specification = file.specification
        let (lowered, dependsOnExtents) = try NetworkVariants.first(specification, catalogue)
        // A file opened for prediction leaves its large weights in place; reading it for other shapes reads the whole
        // file.
        let source: @Sendable () throws(ModelError) -> SpecModel = { () throws(ModelError) in
            file.isForPrediction ? try file.whole().specification : specification
        }
        let variants = NetworkVariants(
            source,
            catalogue,
            of: lowered,
            dependsOnExtents: dependsOnExtents
        )
        return try GraphEngine(
            lowered,
            interface: specification.description_p,
            variants: variants,
            sources: ModelSources(file)
        )
    }
}

extension NetworkVariants {
    /// The first reading of a network.
    ///
    /// A network whose inner ranks depend on the shapes of arrays is read for the default shapes, and depends on
    /// extents.
    static func first(
        _ specification: SpecModel,
        _ catalogue: Catalogue
    ) throws(ModelError) -> (lowered: LoweredModel, dependsOnExtents: Bool) {
        do { return (try NeuralNetworkReader.read(specification, catalogue: catalogue), false) } catch {
            let defaults = specification.description_p.defaultExtents
            guard !defaults.extents.isEmpty,
                let fallback = try? NeuralNetworkReader.read(specification, catalogue: catalogue, shapes: defaults)
            else { throw error }
            return (fallback, true)
        }
    }
}

extension SpecModelDescription {
    /// The default extents of arrays with flexible shapes.
    fileprivate var defaultExtents: NeuralNetworkReader.InputShapes {
        var shapes = NeuralNetworkReader.InputShapes()
        for feature in input {
            guard case .multiArrayType(let array) = feature.type.type, array.flexibleShape.counts == nil else {
                continue
            }
            shapes.extents[feature.name] = array.shape.map { Int(clamping: $0) }
        }
        return shapes
    }
}
