package import MLFeatures
import MLFiles
import MLKernels
import MLModels
package import MLNumerics
package import MLSpecification
import Synchronization

/// Runs programs in which the rank of some value depends on an extent that the interface leaves open.
///
/// The program is read again for each set of input shapes.
package final class PerShapeEngine: ModelEngine {
    package let interface: SpecModelDescription
    private let file: ModelFile
    private let functionName: String?
    private let kernels = KernelTable.current
    private let engines = Mutex(RecentCache<[String: [Int]], GraphEngine>(limit: 8))

    init(_ file: ModelFile, functionName: String?) {
        self.file = file
        self.functionName = functionName
        interface = file.specification.description_p.interface(of: functionName)
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        var shapes: [String: [Int]] = [:]
        for case (let name, .tensor(let tensor)) in inputs { shapes[name] = tensor.shape }
        return try engine(for: shapes).prediction(from: inputs, backings: backings, state: state)
    }

    package func results(of examples: [[String: FeatureData]]) -> [Result<[String: FeatureData], ModelError>] {
        ParallelExamples.results(of: examples.indices) { (index) throws(ModelError) in
            try prediction(from: examples[index])
        }
    }

    /// The engine for these shapes, made when there is none yet.
    private func engine(for shapes: [String: [Int]]) throws(ModelError) -> GraphEngine {
        if let known = engines.withLock({ $0.find(shapes) }) { return known }
        let engine = try kernels.perform { () throws(ModelError) in
            try EngineLoader.programEngine(file.fixed(to: shapes), functionName: functionName)
        }
        return engines.withLock { $0.keep(engine, for: shapes) }
    }
}
