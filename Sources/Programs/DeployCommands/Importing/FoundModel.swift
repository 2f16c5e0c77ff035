import Foundation

/// A Core ML model found in a folder of another tool, with the folder's description of it.
struct FoundModel {
    /// A `.mlmodel` file, or a `.mlpackage` or `.mlmodelc` folder.
    let path: String
    /// The kind of folder, as text: `Hugging Face folder`, `MLflow model`, `OCI image layout`.
    let kind: String
    /// The folder's description of the model; `nil` without one.
    let note: String?

    static let endings = [".mlpackage", ".mlmodelc", ".mlmodel"]

    /// The name of the model's file, without its extension.
    var name: String {
        let name = URL(fileURLWithPath: path).lastPathComponent
        let ending = Self.endings.first(where: name.hasSuffix) ?? ""
        return String(name.dropLast(ending.count))
    }

    /// Finds the only model of a folder.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - wanted: The path of the model in the folder, when there are several; `nil` otherwise.
    ///   - scratch: A folder for files that have to be unpacked.
    /// - Returns: The model.
    /// - Throws: `Failure` when there is no such model, or there are several.
    static func find(in folder: String, _ wanted: String?, scratch: String) throws -> FoundModel {
        func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder + "/" + name) }
        guard has("") else { throw Failure("There is no folder \(folder).") }
        if has("oci-layout") {
            let layout = try ImageLayout(folder)
            try layout.unpack(to: scratch)
            return FoundModel(
                path: try only(scratch, wanted),
                kind: "OCI image layout",
                note: layout.note
            )
        }
        if has("MLmodel") {
            let description = try MLflowModel(folder + "/MLmodel")
            let path = try description.data.map { try inside(folder, $0) } ?? only(folder, wanted)
            return FoundModel(path: path, kind: "MLflow model", note: description.note)
        }
        let card = try? String(contentsOfFile: folder + "/README.md", encoding: .utf8)
        return FoundModel(path: try only(folder, wanted), kind: "folder", note: card.flatMap(ModelCard.note))
    }

    // MARK: Searching

    private static let deepest = 6
    private static let maximumFileCount = 20_000

    /// The only model in a folder, or the one at a path in it.
    private static func only(_ folder: String, _ wanted: String?) throws -> String {
        if let wanted { return try inside(folder, wanted) }
        var found: [String] = []
        var seen = 0
        try search(folder, "", 0, &found, &seen)
        guard let first = found.first, found.count == 1 else {
            let names = found.sorted().prefix(10).joined(separator: ", ")
            throw Failure(
                found.isEmpty
                    ? "There is no Core ML model (.mlpackage, .mlmodel, .mlmodelc) in \(folder)."
                    : "There are several models: choose one with --path: \(names)."
            )
        }
        return folder + "/" + first
    }

    private static func search(
        _ folder: String,
        _ prefix: String,
        _ depth: Int,
        _ found: inout [String],
        _ seen: inout Int
    ) throws {
        guard depth <= deepest else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/" + prefix)
        where !name.hasPrefix(".") {
            seen += 1
            guard seen <= maximumFileCount else { throw Failure("\(folder) has more than \(maximumFileCount) files.") }
            let path = prefix.isEmpty ? name : prefix + "/" + name
            if endings.contains(where: name.hasSuffix) {
                found.append(path)
            } else if isFolder(folder + "/" + path) {
                try search(folder, path, depth + 1, &found, &seen)
            }
        }
    }

    /// Whether a path is a folder and not a link to one.
    private static func isFolder(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.type] as? FileAttributeType == .typeDirectory
    }

    /// Resolves a path that an untrusted file names; it must stay within the folder.
    private static func inside(_ folder: String, _ path: String) throws -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard !path.hasPrefix("/"), !parts.contains(".."), !path.contains("\0") else {
            throw Failure("\"\(path)\" leads out of the folder.")
        }
        let whole = folder + "/" + path
        guard FileManager.default.fileExists(atPath: whole) else { throw Failure("There is no \(path) in \(folder).") }
        let real = URL(fileURLWithPath: whole).resolvingSymlinksInPath().path
        let root = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        guard real.hasPrefix(root + "/") else { throw Failure("\"\(path)\" leads out of the folder.") }
        guard endings.contains(where: path.hasSuffix) else { throw Failure("\(path) is not a Core ML model.") }
        return whole
    }
}

/// A model card: `README.md` with YAML between lines of three hyphens.
enum ModelCard {
    private static let maximumNoteLength = 12_000
    private static let facts = [
        "license", "pipeline_tag", "library_name", "base_model", "language", "tags", "datasets",
    ]

    /// The text of a card for the note of a release.
    static func note(_ text: String) -> String? {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var head: [String] = []
        if lines.first == "---", let end = lines.dropFirst().firstIndex(of: "---") {
            head = frontMatter(Array(lines[1..<end]))
            lines = Array(lines[(end + 1)...])
        }
        let body = lines.joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
        let whole = (head + (head.isEmpty ? [] : [""]) + [body]).joined(separator: "\n")
        let plain = whole.unicodeScalars.filter { $0.value >= 0x20 || $0 == "\n" }
        let note = String(String.UnicodeScalarView(plain)).trimmingCharacters(in: .whitespacesAndNewlines)
        return note.isEmpty ? nil : String(note.prefix(maximumNoteLength))
    }

    /// The facts of interest, one to a line; lists are joined by commas.
    private static func frontMatter(_ lines: [String]) -> [String] {
        var values: [String: [String]] = [:]
        var name = ""
        for line in lines {
            if line.hasPrefix("- ") || line.hasPrefix("  - ") {
                values[name, default: []].append(line.trimmingCharacters(in: CharacterSet(charactersIn: " -\"'")))
            } else if let colon = line.firstIndex(of: ":"), !line.hasPrefix(" ") {
                name = String(line[..<colon])
                let value = line[line.index(after: colon)...].trimmingCharacters(
                    in: CharacterSet(charactersIn: " \"'[]")
                )
                if !value.isEmpty { values[name] = [value] }
            }
        }
        return facts.compactMap { fact in values[fact].map { "\(fact): \($0.joined(separator: ", "))" } }
    }
}

/// The file `MLmodel` in which MLflow describes a model, with the fields that the flavor `coreml` needs.
struct MLflowModel {
    /// The path of the model in the folder; `nil` when the file does not state it.
    let data: String?
    let note: String?

    init(_ path: String) throws {
        guard let data = FileManager.default.contents(atPath: path), data.count <= 1 << 20 else {
            throw Failure("\(path) cannot be read.")
        }
        var sections: [String] = []
        var values: [String: String] = [:]
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            let text = line.trimmingCharacters(in: .whitespaces)
            guard !text.hasPrefix("#"), !text.hasPrefix("-"), let colon = text.firstIndex(of: ":") else { continue }
            // Each level is indented by two spaces, as MLflow writes it.
            let depth = line.prefix { $0 == " " }.count / 2
            sections = Array(sections.prefix(depth)) + [String(text[..<colon])]
            let value = text[text.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " '\""))
            values[sections.joined(separator: ".")] = value
        }
        guard values.keys.contains(where: { $0 == "flavors.coreml" || $0.hasPrefix("flavors.coreml.") }) else {
            let flavours = values.keys.filter { $0.hasPrefix("flavors.") }.map { $0.split(separator: ".")[1] }
            throw Failure(
                "The MLflow model has no flavour coreml, but \(Set(flavours).sorted().joined(separator: ", ")): convert it first."
            )
        }
        self.data = ["data", "model_path", "path"].lazy.compactMap { values["flavors.coreml." + $0] }.first {
            !$0.isEmpty
        }
        let facts = ["run_id", "model_uuid", "utc_time_created", "mlflow_version"].compactMap { name in
            values[name].flatMap { $0.isEmpty ? nil : "\(name): \($0)" }
        }
        note = facts.isEmpty ? nil : (["Imported from MLflow"] + facts).joined(separator: "\n")
    }
}
