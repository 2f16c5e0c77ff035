package import MLNumerics

/// The table of contents of a model package: `Manifest.json`, beside the folder `Data` with the items.
package struct PackageManifest: Sendable {
    package struct Item: Sendable {
        package var identifier: String
        package var name: String
        package var author: String
        package var description: String
        /// The item's path relative to `Data`.
        package var path: String

        package init(identifier: String, name: String, author: String, description: String, path: String) {
            self.identifier = identifier
            self.name = name
            self.author = author
            self.description = description
            self.path = path
        }
    }

    package static let fileName = "Manifest.json"
    package static let dataFolder = "Data"
    package static let formatVersion = "1.0.0"

    package var items: [Item]
    /// The identifier of the item that is the model; `nil` when the manifest names none.
    package var rootIdentifier: String?

    package init(items: [Item], rootIdentifier: String?) {
        self.items = items
        self.rootIdentifier = rootIdentifier
    }

    /// Parses the text of a manifest.
    package init(json bytes: [UInt8]) throws(ModelError) {
        let json = try JSONReader.read(bytes)
        guard case .object = json else { throw Self.malformed("the manifest is not an object", "Manifest") }
        guard let version = json["fileFormatVersion"]?.string else {
            throw Self.malformed("a text is expected", "fileFormatVersion")
        }
        guard version.split(separator: ".").first == "1" else {
            throw ModelError(
                .unsupported,
                "The package format \(version) is unknown (1.x is read here); save the package in format 1.0.0.",
                at: "fileFormatVersion"
            )
        }
        guard case .object(let entries)? = json["itemInfoEntries"] else {
            throw Self.malformed("an object is expected", "itemInfoEntries")
        }
        items = []
        for entry in entries {
            guard case .object = entry.value else { throw Self.malformed("an object is expected", entry.name) }
            guard let path = entry.value["path"]?.string else {
                throw Self.malformed("a text is expected", entry.name, "path")
            }
            guard Self.isInside(path) else {
                throw Self.malformed("\"\(path)\" leads out of the package", entry.name, "path")
            }
            items.append(
                Item(
                    identifier: entry.name,
                    name: entry.value["name"]?.string ?? FileAccess.name(of: path),
                    author: entry.value["author"]?.string ?? "",
                    description: entry.value["description"]?.string ?? "",
                    path: path
                )
            )
        }
        switch json["rootModelIdentifier"] {
        case .string(let identifier)?: rootIdentifier = identifier
        case nil: rootIdentifier = nil
        default: throw Self.malformed("a text is expected", "rootModelIdentifier")
        }
    }

    /// The item that is the model: the one that the manifest names, or the only one with a model file's name.
    package func root() throws(ModelError) -> Item {
        if let rootIdentifier {
            guard let item = items.first(where: { $0.identifier == rootIdentifier }) else {
                throw Self.malformed(
                    "the identifier \(rootIdentifier) is not among the \(items.count) items",
                    "rootModelIdentifier"
                )
            }
            return item
        }
        let candidates = items.filter { $0.path.hasSuffix(".mlmodel") }
        guard candidates.count == 1 else {
            throw Self.malformed(
                "the manifest names no root model and holds \(candidates.count) model files",
                "rootModelIdentifier"
            )
        }
        return candidates[0]
    }

    /// The text of the manifest, with items sorted by identifier.
    package var json: String {
        var members = [JSONValue.Member("fileFormatVersion", .string(Self.formatVersion))]
        let entries = items.sorted { $0.identifier < $1.identifier }.map { item in
            JSONValue.Member(
                item.identifier,
                .object([
                    .init("author", .string(item.author)),
                    .init("description", .string(item.description)),
                    .init("name", .string(item.name)),
                    .init("path", .string(item.path)),
                ])
            )
        }
        members.append(JSONValue.Member("itemInfoEntries", .object(entries)))
        if let rootIdentifier { members.append(JSONValue.Member("rootModelIdentifier", .string(rootIdentifier))) }
        return JSONValue.object(members).text
    }

    /// Makes a new identifier: a random UUID.
    package static func makeIdentifier() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += byte < 16 ? "0" : ""
            text += String(byte, radix: 16, uppercase: true)
        }
        return text
    }

    /// Whether a relative path stays below the folder that it starts from.
    static func isInside(_ path: String) -> Bool {
        !path.isEmpty && !path.hasPrefix("/") && !path.utf8.contains(0)
            && !path.split(separator: "/").contains("..")
    }

    private static func malformed(_ detail: String, _ fields: String...) -> ModelError {
        var error = ModelError(.malformed, "The manifest is broken: \(detail).  Save the package again.")
        error.trail = fields
        return error
    }
}
