import Foundation
import MLFiles
import MLNumerics

/// Reads files of annotations: Create ML's JSON, COCO's JSON, CSV tables, and Pascal VOC's XML.
struct AnnotationFile {
    /// The folder that names of pictures are relative to.
    let folder: URL
    /// The form of boxes in files that do not fix it.
    let form: BoxForm

    private static let byteLimit = 1 << 30

    /// Reads a file, or a folder of Pascal VOC's files, by its contents.
    /// - Throws: `MLCreateError.io` for a file that is none of them or is damaged.
    func pictures(at url: URL) throws -> [AnnotatedPicture] {
        if LabeledFolders.isFolder(url) { return try pascalVOC(inFolder: url) }
        let bytes = try MLCreateError.translating { () throws -> [UInt8] in
            guard FileAccess.byteCount(of: url.path) ?? 0 <= Self.byteLimit else {
                throw MLCreateError.io(reason: "\(url.path) is larger than \(Self.byteLimit) bytes")
            }
            return try FileAccess.read(url.path)
        }
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        switch first {
        case UInt8(ascii: "["), UInt8(ascii: "{"): return try json(bytes, url)
        case UInt8(ascii: "<"): return [try PascalVOC.picture(bytes, path: url.path, folder: folder)]
        case nil: throw MLCreateError.io(reason: "\(url.path) is empty; annotations are JSON, CSV or XML")
        default: return try table(bytes, url)
        }
    }

    /// The annotations in a folder of pictures: its only `.json` or `.csv` file, or else its `.xml` files.
    static func inFolder(_ folder: URL, form: BoxForm) throws -> [AnnotatedPicture] {
        let files = try LabeledFolders.contents(of: folder).filter { !LabeledFolders.isFolder($0) }
        let reader = AnnotationFile(folder: folder, form: form)
        let tables = files.filter { ["json", "csv"].contains($0.pathExtension.lowercased()) }
        if tables.count == 1 { return try reader.pictures(at: tables[0]) }
        guard tables.isEmpty else {
            let names = tables.map(\.lastPathComponent).joined(separator: ", ")
            throw MLCreateError.io(
                reason: "\(folder.path) holds \(tables.count) files of annotations (\(names)); name the one to use"
            )
        }
        guard files.contains(where: { $0.pathExtension.lowercased() == "xml" }) else {
            throw MLCreateError.io(
                reason:
                    "\(folder.path) holds no annotations; put a .json or .csv file, or Pascal VOC's .xml files into it"
            )
        }
        return try reader.pascalVOC(inFolder: folder)
    }

    private func pascalVOC(inFolder url: URL) throws -> [AnnotatedPicture] {
        let files = try LabeledFolders.contents(of: url).filter { $0.pathExtension.lowercased() == "xml" }
        guard !files.isEmpty else { throw MLCreateError.io(reason: "\(url.path) holds no .xml files of Pascal VOC") }
        return try files.map { file in
            let bytes = try MLCreateError.translating { try FileAccess.read(file.path) }
            return try PascalVOC.picture(bytes, path: file.path, folder: folder)
        }
    }

    /// The path of a picture's name.
    func path(_ name: String) -> String { LabeledFolders.path(name, in: folder) }

    // MARK: JSON

    private func json(_ bytes: [UInt8], _ url: URL) throws -> [AnnotatedPicture] {
        let root: Any
        do { root = try JSONSerialization.jsonObject(with: Data(bytes)) } catch {
            throw MLCreateError.io(reason: "\(url.path) is not JSON: \(error.localizedDescription)")
        }
        if let list = root as? [Any] { return try list.enumerated().map { try createML($1, $0, url) } }
        guard let object = root as? [String: Any], object["images"] != nil, object["annotations"] != nil else {
            throw MLCreateError.io(
                reason: "\(url.path) is neither a list of images, as in Create ML, nor an object with 'images', "
                    + "'annotations' and 'categories', as in COCO"
            )
        }
        return try coco(object, url)
    }

    /// An element of Create ML's list: a picture's name and its annotations.
    private func createML(_ element: Any, _ index: Int, _ url: URL) throws -> AnnotatedPicture {
        guard let object = element as? [String: Any],
            let name = (object["image"] ?? object["imagefilename"] ?? object["filename"]) as? String
        else {
            throw MLCreateError.io(reason: "\(url.path): element \(index) does not name its 'image'")
        }
        var picture = AnnotatedPicture(path: path(name), form: form)
        ObjectCells.add(object["annotations"] ?? object["annotation"] ?? [Any](), to: &picture)
        return picture
    }

    private func coco(_ root: [String: Any], _ url: URL) throws -> [AnnotatedPicture] {
        func list(_ name: String) throws -> [[String: Any]] {
            guard let list = root[name] as? [[String: Any]] else {
                throw MLCreateError.io(reason: "\(url.path): '\(name)' is not a list of objects, as COCO has it")
            }
            return list
        }
        func identity(_ value: Any?) -> String? { value.flatMap { $0 is NSNull ? nil : "\($0)" } }
        var names: [String: String] = [:]
        for category in try list("categories") {
            if let id = identity(category["id"]), let name = category["name"] as? String { names[id] = name }
        }
        var result: [AnnotatedPicture] = []
        var positions: [String: Int] = [:]
        for (index, image) in try list("images").enumerated() {
            guard let id = identity(image["id"]), let name = image["file_name"] as? String else {
                throw MLCreateError.io(reason: "\(url.path): image \(index) has no 'id' or no 'file_name'")
            }
            var picture = AnnotatedPicture(path: path(name), form: .corner)
            if let width = image["width"] as? Int, let height = image["height"] as? Int, width > 0, height > 0 {
                picture.size = .init(width: width, height: height)
            }
            positions[id] = result.count
            result.append(picture)
        }
        for (index, annotation) in try list("annotations").enumerated() {
            guard let position = identity(annotation["image_id"]).flatMap({ positions[$0] }) else {
                throw MLCreateError.io(reason: "\(url.path): annotation \(index) is of an image that is not listed")
            }
            let numbers = (annotation["bbox"] as? [Any])?.compactMap { ObjectCells.number($0) } ?? []
            if (annotation["iscrowd"] as? Int) ?? 0 != 0 {
                result[position].notes.append("annotation \(index) is a crowd")
            } else if let label = identity(annotation["category_id"]).flatMap({ names[$0] }), numbers.count == 4 {
                result[position].objects.append(
                    .init(label: label, x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
                )
            } else {
                result[position].notes.append("annotation \(index) has no known category, or no box of four numbers")
            }
        }
        return result
    }
}
