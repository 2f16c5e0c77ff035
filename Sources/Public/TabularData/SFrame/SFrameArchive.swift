import Foundation

/// The contents of the files that describe a frame, checked against each other.
struct SFrameArchive {
    struct Column {
        let name: String
        /// Turi Create's type number, which need not be known.
        let code: Int
        let segments: [Segment]
    }

    /// The rows of a column in one file, which may hold other columns as well.
    struct Segment {
        let file: URL
        /// The column's position in the file.
        let position: Int
        let rows: Int
    }

    private(set) var columns: [Column] = []
    let rows: Int

    /// Reads the description of the frame in a directory.
    ///
    /// - Parameter folder: The directory that holds `dir_archive.ini`.
    /// - Throws: `SFrameReadingError` when the description is missing, damaged or not supported.
    init(_ folder: URL) throws(SFrameReadingError) {
        let description = folder.appendingPathComponent("dir_archive.ini")
        guard FileManager.default.fileExists(atPath: description.path) else { throw .missingArchive }
        let archive = try Self.settings(description)
        let version = try archive.number("archive", "version", file: "dir_archive.ini")
        guard version == 1 else { throw .unsupportedArchive("its version is \(version), 1 is known") }
        guard let contents = archive.sections["metadata"]?["contents"] else {
            throw .badArchive("dir_archive.ini does not state the contents of the archive")
        }
        guard contents == "sframe" else {
            throw .unsupportedArchive("it contains '\(contents)', where an 'sframe' is expected")
        }
        let count = try archive.number("archive", "num_prefixes", file: "dir_archive.ini")
        let prefixes = try archive.list("prefixes", count: count, file: "dir_archive.ini")
        // The first two are the archive's own.
        guard prefixes.count > 2 else { throw .badArchive("dir_archive.ini names no frame") }

        let index = try Self.position(of: prefixes[2] + ".frame_idx", in: folder)
        let frame = try Self.settings(index)
        let file = index.lastPathComponent
        let layout = try frame.number("sframe", "version", file: file)
        guard layout == 0 else { throw .unsupportedLayout("the frame's version is \(layout), 0 is known") }
        rows = try frame.number("sframe", "nrows", file: file)
        guard rows <= RowSelection.maximumRowCount else {
            throw .unsupportedArchive("it has \(rows) rows; a data frame holds at most \(RowSelection.maximumRowCount)")
        }
        let columnCount = try frame.number("sframe", "num_columns", file: file)
        let names = try frame.list("column_names", count: columnCount, file: file)
        let files = try frame.list("column_files", count: columnCount, file: file)
        var known: Set<String> = []
        var indexes: [URL: SFrameColumnIndex] = [:]
        for (name, file) in zip(names, files) {
            guard known.insert(name).inserted else { throw .badArchive("two columns are called '\(name)'") }
            let (path, position) = Self.split(file)
            let url = try Self.position(of: path, in: index.deletingLastPathComponent())
            let described: SFrameColumnIndex
            if let read = indexes[url] {
                described = read
            } else {
                described = try SFrameColumnIndex(url)
                indexes[url] = described
            }
            let column = try described.column(named: name, position ?? 0)
            guard column.segments.reduce(0, { $0 + $1.rows }) == rows else {
                throw .badArchive("the column '\(name)' has a different number of rows than the frame's \(rows)")
            }
            columns.append(column)
        }
    }

    /// Returns the names in a directory that are not those of an archive's files.
    static func foreignFiles(in folder: URL) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        guard names.contains("dir_archive.ini") else { return names }
        let archive = try settings(folder.appendingPathComponent("dir_archive.ini"))
        let prefixes = archive.sections["prefixes"].map { Array($0.values) } ?? []
        return names.filter { name in !prefixes.contains { !$0.isEmpty && name.hasPrefix($0) } }
    }

    /// Splits a path from the number after its last colon.
    static func split(_ path: String) -> (path: String, position: Int?) {
        guard let colon = path.lastIndex(of: ":"), let position = Int(path[path.index(after: colon)...]), position >= 0
        else {
            return (path, nil)
        }
        return (String(path[..<colon]), position)
    }

    /// Returns the location of a file that is named in one of `folder`.
    static func position(of path: String, in folder: URL) throws(SFrameReadingError) -> URL {
        guard !path.contains("://") else {
            throw .unsupportedLayout("the data is at \(path); copy it into the directory (save the frame again)")
        }
        // Frames that were saved by reference name files of others.
        return path.hasPrefix("/") ? URL(fileURLWithPath: path) : folder.appendingPathComponent(path)
    }

    /// Maps a file into memory.
    ///
    /// - Parameter url: The file.
    /// - Returns: Its bytes.
    /// - Throws: `.badArchive` when there is no such file, or when it is not a regular one: a pipe would block the
    ///   reader.
    static func open(_ url: URL) throws(SFrameReadingError) -> MappedFile {
        var status = stat()
        guard stat(url.path, &status) == 0 else { throw .badArchive("the file \(url.path) is missing") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .badArchive("\(url.path) is not a plain file") }
        do { return try MappedFile(url) } catch {
            throw .badArchive("the file \(url.path) cannot be read: \(error.localizedDescription)")
        }
    }

    private static func settings(_ url: URL) throws(SFrameReadingError) -> SFrameSettings {
        let file = try open(url)
        defer { withExtendedLifetime(file) {} }
        return try SFrameSettings(file.bytes, file: url.lastPathComponent)
    }
}

/// A file that describes columns (`.sidx`): their types, and the number of their rows in each file.
struct SFrameColumnIndex {
    private let file: String
    private var columns: [(code: Int, segments: [SFrameArchive.Segment])] = []

    init(_ url: URL) throws(SFrameReadingError) {
        file = url.lastPathComponent
        let mapped = try SFrameArchive.open(url)
        defer { withExtendedLifetime(mapped) {} }
        let text: JSONValue
        do { text = try JSONParser.parse(mapped.bytes) } catch {
            // Versions before the second are written in another language, too.
            throw .unsupportedLayout("\(file) is not JSON, as descriptions of columns are in version 2 (\(error))")
        }
        guard let version = text["sarray"]?["version"]?.number else { throw .badArchive("\(file) has no version") }
        guard version == 2 else { throw .unsupportedLayout("\(file) is of version \(version), 2 is known") }
        guard let segments = text["sarray"]?["num_segments"]?.number else {
            throw .badArchive("\(file) does not state the number of segments")
        }
        let files = try list(text["segment_files"], count: segments, "segment_files").map {
            (value) throws(SFrameReadingError) in
            guard case .string(let path) = value else { throw .badArchive("a segment in \(file) has no file") }
            return path
        }
        guard case .array(let described)? = text["columns"] else { throw .badArchive("\(file) lists no columns") }
        for (position, column) in described.enumerated() {
            guard let code = column["metadata"]?["__type__"]?.number else {
                throw .badArchive("column \(position) in \(file) has no type")
            }
            let sizes = try list(column["segment_sizes"], count: segments, "segment_sizes")
            var own: [SFrameArchive.Segment] = []
            for (path, size) in zip(files, sizes) {
                guard let rows = size.number, rows <= RowSelection.maximumRowCount else {
                    throw .badArchive("a segment of column \(position) in \(file) has no size")
                }
                let (path, other) = SFrameArchive.split(path)
                let url = try SFrameArchive.position(of: path, in: url.deletingLastPathComponent())
                own.append(SFrameArchive.Segment(file: url, position: other ?? position, rows: rows))
            }
            columns.append((code, own))
        }
    }

    func column(named name: String, _ position: Int) throws(SFrameReadingError) -> SFrameArchive.Column {
        guard columns.indices.contains(position) else {
            throw .badArchive("the column '\(name)' is number \(position) in \(file), which has \(columns.count)")
        }
        return SFrameArchive.Column(name: name, code: columns[position].code, segments: columns[position].segments)
    }

    /// Returns the values of a list, or of an object whose keys count from 0.
    private func list(_ value: JSONValue?, count: Int, _ name: String) throws(SFrameReadingError) -> [JSONValue] {
        var found: [JSONValue?]
        switch value {
        case .array(let values)?: found = values
        case .object(let members)?:
            guard members.count == count else {
                throw .badArchive("'\(name)' in \(file) does not have \(count) entries")
            }
            found = Array(repeating: nil, count: count)
            for (key, value) in members {
                guard let position = Int(key), found.indices.contains(position) else {
                    throw .badArchive(
                        "'\(name)' in \(file) has an entry '\(key)', which is not one of \(count) indices"
                    )
                }
                found[position] = value
            }
        default:
            guard count == 0 else { throw .badArchive("\(file) has no '\(name)'") }
            found = []
        }
        let values = found.compactMap { $0 }
        guard values.count == count else { throw .badArchive("'\(name)' in \(file) does not have \(count) entries") }
        return values
    }
}

extension JSONValue {
    /// The value of an object's key.
    fileprivate subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key == key }?.value
    }

    /// A non-negative integer, which may be written as a string.
    fileprivate var number: Int? {
        switch self {
        case .integer(let number) where number >= 0: number
        case .string(let text): Int(text).flatMap { $0 >= 0 ? $0 : nil }
        default: nil
        }
    }
}
