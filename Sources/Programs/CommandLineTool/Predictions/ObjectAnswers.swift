import Foundation
import MLEngine
import MLFiles
import MLNumerics

/// Writes predictions as JSON objects, to a file or the terminal.
struct ObjectAnswers: AnswerSink {
    enum Form {
        /// One object.
        case single
        /// A list of objects.
        case list
        /// One object per line.
        case lines
    }

    private let form: Form
    private let names: [String]
    private let pictures: PictureFiles
    private let file: NewFile?
    /// The output for the terminal, in pieces: a program that reads it gets all or nothing.
    private var printed: [[UInt8]] = []
    private var count = 0

    /// Creates a writer of objects.
    ///
    /// - Parameters:
    ///   - file: The output file; `nil` for the terminal.
    ///   - form: The form of the objects.
    ///   - names: The outputs in their order.
    ///   - pictures: Writes images as files of their own.
    init(_ file: NewFile?, _ form: Form, _ names: [String], _ pictures: PictureFiles) {
        (self.file, self.form, self.names, self.pictures) = (file, form, names, pictures)
    }

    mutating func receive(_ answer: Answer) throws {
        let object = try AnswerText.object(answer, names, pictures, isRelative: file != nil)
        if case .list = form { try add(count == 0 ? "[" : file == nil ? "," : ",\n") }
        try add(object)
        if case .lines = form { try add("\n") }
        count += 1
    }

    mutating func finish() throws {
        switch form {
        case .single: try add("\n")
        case .list: try add(count == 0 ? "[]\n" : "]\n")
        case .lines: break
        }
        if let file { return try failing { () throws(ModelError) in try file.finish() } }
        // Earlier output comes first.
        fflush(nil)
        for piece in printed { try FileHandle.standardOutput.write(contentsOf: Data(piece)) }
    }

    private mutating func add(_ text: String) throws {
        if let file { try file.add(text) } else { printed.append(Array(text.utf8)) }
    }

    /// Adds an object's JSON piece by piece: the elements of large arrays use more memory than anything else here.
    private mutating func add(_ object: [String: Any]) throws {
        let pieces = Pieces()
        let writer = JSONWriter { [file] (bytes) throws(ModelError) in
            if let file { try file.append(bytes) } else { pieces.list.append(bytes) }
        }
        do {
            try JSONFeature.write(object, writer)
            try writer.finish()
        } catch let error as ModelError { throw Failure("\(error)") }
        printed += pieces.list
    }

    private final class Pieces { var list: [[UInt8]] = [] }
}

/// Writes predictions as the rows of a CSV table.
///
/// Arrays, dictionaries and sequences are JSON, in the form in which the command line accepts them as inputs; arrays of
/// one element are numbers, missing numbers empty cells, images the paths of their files.
struct TableAnswers: AnswerSink {
    private let file: NewFile
    private let names: [String]
    private let pictures: PictureFiles
    private var header: [String]?
    private var count = 0

    init(_ file: NewFile, _ names: [String], _ pictures: PictureFiles) {
        (self.file, self.names, self.pictures) = (file, names, pictures)
    }

    mutating func receive(_ answer: Answer) throws {
        let members = answer.members(names)
        let header = try header ?? begin(members.map(\.name))
        let cells = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
        if let name = members.first(where: { !header.contains($0.name) })?.name {
            throw Failure(
                "row \(count) has the output '\(name)', which the rows before do not have; write a .jsonl file"
            )
        }
        let line = try header.map { name in
            try cells[name].map { Self.quoted(try AnswerText.cell($0, name, answer, pictures)) } ?? ""
        }
        try file.add(line.joined(separator: ",") + "\n")
        count += 1
    }

    mutating func finish() throws {
        if header == nil { _ = try begin(names) }
        try failing { () throws(ModelError) in try file.finish() }
    }

    private mutating func begin(_ header: [String]) throws -> [String] {
        self.header = header
        try file.add(header.map(Self.quoted).joined(separator: ",") + "\n")
        return header
    }

    private static func quoted(_ cell: String) -> String {
        guard cell.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return cell }
        return "\"" + cell.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }
}

/// Converts predictions and their parts to text for programs.
enum AnswerText {
    /// An object for `JSONFeature`.
    ///
    /// - Parameters:
    ///   - answer: The prediction.
    ///   - names: The outputs in their order.
    ///   - pictures: Writes images as files of their own.
    ///   - isRelative: Whether paths of images are relative to their folder.
    /// - Returns: The values by output name.
    /// - Throws: `Failure` when an image cannot be written.
    static func object(
        _ answer: Answer,
        _ names: [String],
        _ pictures: PictureFiles,
        isRelative: Bool
    ) throws -> [String: Any] {
        var object: [String: Any] = [:]
        for (name, value) in answer.members(names) {
            guard case .image(let image) = value else {
                object[name] = JSONFeature.json(value)
                continue
            }
            let path = try pictures.write(image, named: name, of: answer)
            object[name] =
                ["path": isRelative ? FileAccess.name(of: path) : path, "width": image.width, "height": image.height]
                as [String: Any]
        }
        return object
    }

    /// The table cell of a value.
    static func cell(
        _ value: FeatureData,
        _ name: String,
        _ answer: Answer,
        _ pictures: PictureFiles
    ) throws -> String {
        switch value {
        case .string(let text): return text
        case .int64(let number): return "\(number)"
        case .double(let number): return number.isNaN ? "" : "\(number)"
        case .image(let image): return FileAccess.name(of: try pictures.write(image, named: name, of: answer))
        case .tensor(let tensor) where tensor.count == 1 && tensor.scalarType != .string:
            return tensor.values[0].isNaN ? "" : "\(tensor.values[0])"
        case .tensor, .dictionary, .sequence: return try JSONFeature.text(JSONFeature.json(value))
        }
    }
}

extension NewFile {
    fileprivate func add(_ text: String) throws {
        try failing { () throws(ModelError) in try append(Array(text.utf8)) }
    }
}
