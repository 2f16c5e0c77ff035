import Glibc
package import MLFeatures
import MLFiles
import MLKernels
import MLModels
import MLNumerics
import MLSpecification
import Synchronization

/// Models that other models refer to by file: found by search path, loaded once, and shared as long as they are used.
enum LinkedModels {
    private final class Reference: Sendable {
        // The weak reference is written once, when it is made.
        nonisolated(unsafe) weak var engine: SharedEngine?
        init(_ engine: SharedEngine) { self.engine = engine }
    }

    private static let loaded = Mutex<[String: Reference]>([:])

    /// The engine of the file at `path`; `load` is called unless the same file is loaded already with the same kernels.
    static func engine(
        at path: String,
        _ load: () throws(ModelError) -> any ModelEngine
    ) throws(ModelError) -> any ModelEngine {
        let key = "\(KernelTable.current)|" + identity(of: path)
        if let known = loaded.withLock({ $0[key]?.engine }) { return known }
        let created = SharedEngine(try load())
        return loaded.withLock { loaded in
            if let known = loaded[key]?.engine { return known }
            loaded = loaded.filter { $0.value.engine != nil }
            loaded[key] = Reference(created)
            return created
        }
    }

    /// The identity of a file: its resolved path and its time, so that a changed file is loaded again.
    private static func identity(of path: String) -> String {
        var status = stat()
        let specification = [
            path, path + "/" + ModelFile.compiledSpecificationName, path + "/" + PackageManifest.fileName,
        ]
        var parts = [resolvedPath(path)]
        for file in specification where stat(file, &status) == 0 {
            parts.append("\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec).\(status.st_size).\(status.st_ino)")
        }
        return parts.joined(separator: "|")
    }

    static func resolvedPath(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Finds a linked model.
    ///
    /// - Parameters:
    ///   - name: The file name of the model.
    ///   - searchPath: Folders separated by colons, relative to `folder` or absolute; empty for `folder` itself.
    ///     `$BUNDLE_MAIN` is the folder of the main executable.
    ///   - folder: The folder of the file with the link; `nil` for models in memory.
    /// - Returns: The path of the model.
    /// - Throws: `ModelError`: `io` when it is not found, `invalidInput` for a relative folder with a model in memory,
    ///   `unsupported` for `$BUNDLE_IDENTIFIER`.
    static func find(_ name: String, searchPath: String, from folder: String?) throws(ModelError) -> String {
        var tried: [String] = []
        for entry in searchPath.split(separator: ":", omittingEmptySubsequences: false) {
            var location = entry.isEmpty ? "." : String(entry)
            if location.hasPrefix("$BUNDLE_MAIN") {
                location = executableFolder + location.dropFirst("$BUNDLE_MAIN".count)
            } else if location.hasPrefix("$BUNDLE_IDENTIFIER") {
                throw ModelError(
                    .unsupported,
                    "the search path holds '\(location)', but there are no bundles with identifiers here; "
                        + "give a folder in the parameter linkedModelSearchPath"
                )
            }
            if !location.hasPrefix("/") {
                guard let folder else {
                    throw ModelError(
                        .invalidInput,
                        "the search path '\(location)' is relative, but the model was loaded from memory; "
                            + "give an absolute one in the parameter linkedModelSearchPath"
                    )
                }
                location = folder + "/" + location
            }
            let path = location + "/" + name
            if FileAccess.kind(of: path) != nil { return path }
            tried.append(path)
        }
        throw ModelError(
            .io,
            "the linked model '\(name)' was not found; looked for \(tried.joined(separator: ", "))"
        )
    }

    private static var executableFolder: String {
        FileAccess.folder(of: resolvedPath("/proc/self/exe"))
    }
}

/// An engine shared by several models.
final class SharedEngine: ModelEngine, AppCalling {
    private let engine: any ModelEngine
    let interface: SpecModelDescription

    init(_ engine: any ModelEngine) {
        self.engine = engine
        interface = engine.interface
    }

    var prefersBatches: Bool { engine.prefersBatches }
    var callsApp: Bool { (engine as? any AppCalling)?.callsApp == true }

    func makeState() -> ModelState { engine.makeState() }

    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        try engine.prediction(from: inputs, backings: backings, state: state)
    }

    func predictions(from batch: FeatureBatch) throws(ModelError) -> FeatureBatch {
        try engine.predictions(from: batch)
    }

    func results(of examples: [[String: FeatureData]]) -> [Result<[String: FeatureData], ModelError>] {
        engine.results(of: examples)
    }
}

extension ModelEngine {
    /// The linked models that the engine holds.
    package var sharedModels: Set<ObjectIdentifier> {
        if let shared = self as? SharedEngine { return [ObjectIdentifier(shared)] }
        guard let pipeline = self as? Pipeline else { return [] }
        return pipeline.stages.reduce(into: []) { $0.formUnion($1.engine.sharedModels) }
    }
}
