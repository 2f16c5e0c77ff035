package import MLNumerics
import MLZipFiles

/// Several named arrays in NumPy's `.npz` form: a ZIP archive of `.npy` files.
package enum NumpyArchive {
    /// Reads every array, stored or deflated, by name.
    package static func read(_ bytes: [UInt8], name: String) throws(ModelError) -> [String: Tensor] {
        let archive = try ZipArchive(
            bytes,
            path: name,
            kind: "a NumPy archive",
            remedy: "write it again with numpy.savez"
        )
        var arrays: [String: Tensor] = [:]
        for file in archive.names {
            let key = file.hasSuffix(".npy") ? String(file.dropLast(4)) : file
            arrays[key] = try NumpyArray.read(
                archive.content(of: file, limit: .max),
                name: "\(name) › \(file)"
            )
        }
        return arrays
    }

    /// The archive of the given arrays, stored without compression, in the order of their names.
    package static func write(_ arrays: [String: Tensor]) throws(ModelError) -> [UInt8] {
        var files: [(name: String, content: [UInt8])] = []
        for (name, tensor) in arrays.sorted(by: { $0.key < $1.key }) {
            files.append(("\(name).npy", try NumpyArray.write(tensor)))
        }
        return try ZipArchive.stored(files)
    }
}
