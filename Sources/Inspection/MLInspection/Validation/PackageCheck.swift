import MLFiles
import MLNumerics

/// Checks the files of a package against its manifest.
enum PackageCheck {
    static func check(_ folder: String, _ list: inout FindingList) {
        guard FileAccess.kind(of: folder + "/" + PackageManifest.fileName) == .file else { return }
        let found = list.catching { () throws(ModelError) in
            do throws(ModelError) { return try ModelFile.manifest(ofPackage: folder) } catch {
                throw error.without(folder)
            }
        }
        guard let manifest = found else { return }
        let data = folder + "/" + PackageManifest.dataFolder
        if FileAccess.kind(of: data) != .folder {
            list.error("the folder is missing; copy the whole package again", at: PackageManifest.dataFolder)
            return
        }
        for item in manifest.items where FileAccess.kind(of: data + "/" + item.path) == nil {
            // The same message as when the package is opened, so that it is reported once.
            list.error(
                "The item \"\(item.name)\" is missing: nothing is at "
                    + "\(PackageManifest.dataFolder)/\(item.path); copy the whole package again.",
                at: PackageManifest.fileName,
                item.identifier
            )
        }
        var paths: [String: String] = [:]
        for item in manifest.items.sorted(by: { $0.identifier < $1.identifier }) {
            if let other = paths.updateValue(item.identifier, forKey: item.path) {
                list.warning(
                    "the path \"\(item.path)\" is that of \(other), too",
                    at: PackageManifest.fileName,
                    item.identifier
                )
            }
        }
        do throws(ModelError) {
            let root = try manifest.root()
            if FileAccess.kind(of: data + "/" + root.path) == .folder {
                list.error("the root model \"\(root.name)\" is a folder", at: PackageManifest.fileName, root.identifier)
            }
        } catch {
            list.inside(PackageManifest.fileName) { $0.error(error) }
        }
    }
}
