import MLFiles
import MLNumerics

/// The files of a package, and whether they are those that the manifest lists.
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
            // The same words as where the package is opened, so that they are said once.
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
