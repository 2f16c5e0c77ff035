import Foundation

/// A version of a model on the disk.
package struct ModelLocation: Hashable, Sendable {
    package let name: String
    package let version: String
    let path: String
}

/// The contents of a folder of models.
package struct ModelListing {
    package var found: [ModelLocation] = []
    /// The problems found, as messages.
    package var problems: [String] = []
    /// Names and versions whose folders hold no model or several, as while one is being replaced.
    package var unclear: Set<[String]> = []
}

/// The source that models are loaded from.
package enum ModelSource: Sendable {
    /// A model under a name, as its version 1.
    case model(name: String, path: String)
    /// A folder of models: `NAME/VERSION/MODEL` as Triton lays them out, or `NAME.mlpackage`, `.mlmodel`, `.mlmodelc`.
    case folder(path: String)

    private static let extensions: Set<String> = ["mlpackage", "mlmodel", "mlmodelc"]

    /// The source that an argument names: a model, `NAME=MODEL`, or a folder of models.
    package init(argument: String) throws {
        var (name, path) = (nil as String?, argument)
        if !FileManager.default.fileExists(atPath: argument), let equals = argument.firstIndex(of: "=") {
            (name, path) = (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
        }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ServingError(400, "\(path) does not exist.")
        }
        let url = URL(fileURLWithPath: path)
        if Self.extensions.contains(url.pathExtension) {
            let name = name ?? url.deletingPathExtension().lastPathComponent
            guard Self.isName(name) else { throw Self.invalidName(name) }
            self = .model(name: name, path: url.path)
        } else if isFolder.boolValue, name == nil {
            self = .folder(path: url.path)
        } else {
            throw ServingError(
                400,
                "\(path) is not a model: give a .mlpackage, .mlmodel or .mlmodelc, or a folder of them."
            )
        }
    }

    private static func invalidName(_ name: String) -> ServingError {
        ServingError(400, "\"\(name)\" cannot be a model's name: it must hold no slash and not begin with a point.")
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.contains("/") && name.utf8.count <= 255
    }

    /// The models that are there now.
    ///
    /// Folders whose names are not versions, and versions without exactly one model, are skipped with a reason.
    package func models() -> ModelListing {
        var listing = ModelListing()
        switch self {
        case .model(let name, let path): listing.found = [ModelLocation(name: name, version: "1", path: path)]
        case .folder(let folder):
            for entry in Self.entries(folder) {
                let url = URL(fileURLWithPath: folder).appendingPathComponent(entry)
                if Self.extensions.contains(url.pathExtension) {
                    let name = url.deletingPathExtension().lastPathComponent
                    if Self.isName(name) {
                        listing.found.append(ModelLocation(name: name, version: "1", path: url.path))
                    }
                } else {
                    Self.addVersions(of: entry, in: url, to: &listing)
                }
            }
        }
        return listing
    }

    private static func entries(_ path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { isName($0) }.sorted()
    }

    private static func addVersions(of name: String, in folder: URL, to listing: inout ModelListing) {
        for version in entries(folder.path) {
            guard let number = Int(version), number > 0, String(number) == version else { continue }
            let place = folder.appendingPathComponent(version)
            let models = entries(place.path).filter { extensions.contains(URL(fileURLWithPath: $0).pathExtension) }
            if models.count == 1 {
                let path = place.appendingPathComponent(models[0]).path
                listing.found.append(ModelLocation(name: name, version: version, path: path))
            } else {
                listing.problems.append("\(place.path) must hold one model; it holds \(models.count).")
                listing.unclear.insert([name, version])
            }
        }
    }
}

/// The attributes that tell a model's files from those that replaced them: names, lengths, times and file numbers.
struct ModelFingerprint: Hashable {
    private var files: [String: [Int]] = [:]

    /// The fingerprint of a model; `nil` while files vanish.
    init?(path: String) {
        guard add(path, "") else { return nil }
        guard let walker = FileManager.default.enumerator(atPath: path) else { return }
        for case let name as String in walker {
            guard add(path + "/" + name, name) else { return nil }
        }
    }

    private mutating func add(_ path: String, _ name: String) -> Bool {
        // The attributes of a link are those of its target.
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return false }
        let time = (facts[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
        let numbers = [FileAttributeKey.size, .systemFileNumber].map { (facts[$0] as? NSNumber)?.intValue ?? 0 }
        files[name] = numbers + [Int(truncatingIfNeeded: time.bitPattern)]
        return true
    }
}
