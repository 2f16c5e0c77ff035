import ArgumentParser
import MLFeatureFiles
import MLFiles
import MLNumerics
import MLSpecification

/// The file formats of predictions.
enum AnswerFormat {
    case csv, json, jsonLines, arrays, picture, pictures

    static let list =
        ".csv, .json, .jsonl (a JSON object per line), .npz (NumPy), .png (one image), "
        + "or a folder for images, whose name ends in '/'"

    /// - Throws: `ValidationError` for a file name without a known extension.
    init(_ path: String) throws {
        if path.hasSuffix("/") || FileAccess.kind(of: path) == .folder {
            self = .pictures
        } else if path.hasSuffix(".csv") {
            self = .csv
        } else if path.hasSuffix(".json") {
            self = .json
        } else if path.hasSuffix(".jsonl") {
            self = .jsonLines
        } else if path.hasSuffix(".npz") {
            self = .arrays
        } else if path.hasSuffix(".png") {
            self = .picture
        } else {
            throw ValidationError("--output takes a name that ends in \(Self.list); not '\(path)'")
        }
    }

    /// - Throws: When the format cannot represent the source's outputs, naming the output.
    func check(_ source: some AnswerSource, _ path: String) throws {
        func requirePictures(_ subject: String) throws {
            for output in source.outputs {
                if case .imageType? = output.type.type { continue }
                throw Failure(
                    "'\(path)': \(subject) does not hold the output '\(output.name)', \(output.typeText); write a .jsonl or "
                        + ".csv file, with images beside it"
                )
            }
            guard !source.outputs.isEmpty else { throw Failure("'\(path)': the model outputs no images") }
        }
        switch self {
        case .csv, .json, .jsonLines, .arrays: break
        case .pictures: try requirePictures("a folder of images")
        case .picture:
            try requirePictures("an image")
            guard source.outputs.count == 1 else {
                throw Failure(
                    "'\(path)': an image holds one of the outputs "
                        + "\(source.outputs.map { "'\($0.name)'" }.joined(separator: ", ")); "
                        + "name a folder for them, with a '/' at the end"
                )
            }
            guard !source.isList else {
                throw Failure(
                    "'\(path)': one image does not hold the output '\(source.outputs[0].name)' of several predictions; "
                        + "name a folder for them, with a '/' at the end"
                )
            }
        }
    }

    /// Creates the writer of `path`; starts the file, so that an impossible path is detected first.
    func sink(_ path: String, of source: some AnswerSource, _ pictures: PictureFiles) throws -> any AnswerSink {
        let names = source.outputs.map(\.name)
        switch self {
        case .csv: return TableAnswers(try Self.begin(path), names, pictures)
        case .json: return ObjectAnswers(try Self.begin(path), source.isList ? .list : .single, names, pictures)
        case .jsonLines: return ObjectAnswers(try Self.begin(path), .lines, names, pictures)
        case .arrays: return ArrayAnswers(try Self.begin(path), path, isList: source.isList, names)
        case .picture, .pictures: return PictureAnswers(files: pictures, names: names)
        }
    }

    private static func begin(_ path: String) throws -> NewFile {
        try failing { () throws(ModelError) in try NewFile(replacing: path) }
    }
}
