import CoreML
import Foundation

/// Makes an asset from a compiled model's folder.
///
/// Returns a handle, or `nil` after storing a message in `failure`.
@c(coreml_asset_from_path)
public func asset(_ path: UnsafePointer<CChar>, _ failure: Failure) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(try MLModelAsset(url: URL(fileURLWithPath: String(cString: path)))) }
}

/// Makes an asset from a specification in memory and its `count` weight files.
///
/// `names` is a JSON list of the weight files' names; `files` and `byteCounts` hold their bytes and sizes. All data are
/// copied. Returns a handle, or `nil` after storing a message in `failure`.
@c(coreml_asset_from_memory)
public func asset(
    _ specification: UnsafeRawPointer,
    _ byteCount: Int,
    _ names: UnsafePointer<CChar>,
    _ files: UnsafePointer<UnsafeRawPointer>,
    _ byteCounts: UnsafePointer<Int>,
    _ count: Int,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        let names = try JSONDecoder().decode([String].self, from: Data(String(cString: names).utf8))
        var mapping: [URL: Data] = [:]
        for (index, name) in names.prefix(count).enumerated() {
            guard let url = URL(string: name) else { throw BorderError.feature(name) }
            mapping[url] = Data(bytes: files[index], count: byteCounts[index])
        }
        let data = Data(bytes: specification, count: byteCount)
        return handle(
            try mapping.isEmpty
                ? MLModelAsset(specification: data) : MLModelAsset(specification: data, blobMapping: mapping)
        )
    }
}

/// Loads a model from an asset; the other parameters are those of `coreml_model_load`.
@c(coreml_asset_load)
public func loadAsset(
    _ asset: UnsafeMutableRawPointer,
    _ computeUnits: UnsafePointer<CChar>,
    _ functionName: UnsafePointer<CChar>,
    _ hints: UnsafePointer<CChar>,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        let asset = object(asset, as: MLModelAsset.self)
        // This thread waits until the task is done.
        nonisolated(unsafe) let configuration = try configuration(computeUnits, functionName, hints)
        return handle(try awaiting { try await MLModel.load(asset: asset, configuration: configuration) })
    }
}
