import Foundation
import ImageIO
import MLEngine
import MLFiles
import MLImages
import MLNumerics

/// Writes the images among outputs as PNG files, each once, however often its path is requested.
final class PictureFiles {
    private enum Location {
        /// Files in a folder, "" for the working folder, with names that begin with a prefix.
        case folder(String, prefix: String)
        /// A single file.
        case file(String)
    }

    private let location: Location
    private let isList: Bool
    /// Whether a model has a single image output, whose name is then left out when the predictions have names.
    private let isSole: Bool
    private var number = 0
    private var current: [String: String] = [:]
    private var used: Set<String> = []

    /// Chooses the folder of the images.
    ///
    /// - Parameters:
    ///   - output: The file of the predictions: images of a table are written beside it; `nil` for the terminal, with
    ///     images in the working folder.
    ///   - source: The source of the predictions.
    /// - Throws: `Failure` when the folder cannot be created.
    init(beside output: String?, _ source: some AnswerSource) throws {
        isList = source.isList
        guard let output, let format = try? AnswerFormat(output) else {
            location = .folder("", prefix: "")
            isSole = false
            return
        }
        switch format {
        case .picture:
            location = .file(output)
            isSole = true
        case .pictures:
            location = .folder(FileAccess.withoutTrailingSlash(output) + "/", prefix: "")
            isSole = source.outputs.count == 1 && source.isList
            try failing { () throws(ModelError) in try FileAccess.makeFolder(output) }
        case .arrays:
            // The archive contains the pixels.
            location = .folder("", prefix: "")
            isSole = false
        case .csv, .json, .jsonLines:
            let name = URL(fileURLWithPath: output).deletingPathExtension().lastPathComponent
            let folder = FileAccess.folder(of: output)
            location = .folder(folder == "." ? "" : folder == "/" ? "/" : folder + "/", prefix: name)
            isSole = false
        }
    }

    /// Starts the next prediction.
    func next() {
        number += 1
        current = [:]
    }

    /// Writes an image unless it is already written.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - name: The name of the output.
    ///   - answer: The prediction that the image belongs to.
    /// - Returns: The path of the file.
    /// - Throws: `Failure` when the file cannot be written.
    func write(_ image: ImageBuffer, named name: String, of answer: Answer) throws -> String {
        if let path = current[name] { return path }
        let path = path(name, answer)
        let bytes = try failing { () throws(ModelError) in
            [UInt8](try ImageEncoder.png(image.bitmap, isOpaque: true))
        }
        try failing { () throws(ModelError) in try FileAccess.write(bytes, to: path) }
        current[name] = path
        return path
    }

    private func path(_ name: String, _ answer: Answer) -> String {
        guard case .folder(let folder, let prefix) = location else {
            if case .file(let path) = location { return path }
            return name
        }
        var parts = [prefix]
        if isList {
            if case .string(let key)? = answer.keys.first?.value {
                parts.append(URL(fileURLWithPath: key).deletingPathExtension().lastPathComponent)
            } else {
                parts.append("\(number)")
            }
        }
        if !isSole { parts.append(name.replacingOccurrences(of: "/", with: "_")) }
        let stem = parts.filter { !$0.isEmpty }.joined(separator: "-")
        var (path, turn) = (folder + stem + ".png", 2)
        while !used.insert(path).inserted {
            path = folder + "\(stem)-\(turn).png"
            turn += 1
        }
        return path
    }
}

/// Writes predictions that are images.
struct PictureAnswers: AnswerSink {
    let files: PictureFiles
    let names: [String]

    mutating func receive(_ answer: Answer) throws {
        for name in names {
            guard case .image(let image)? = answer.outputs[name] else {
                throw Failure("the output '\(name)' is not an image")
            }
            _ = try files.write(image, named: name, of: answer)
        }
    }

    mutating func finish() throws {}
}

extension ImageBuffer {
    /// The image in the form of files: grey, or opaque colours; half-precision numbers are rounded to 0 … 255.
    fileprivate var bitmap: Bitmap {
        let order: [Int]? =
            switch format {
            case .bgra8: [2, 1, 0, 3]
            case .rgba8: [0, 1, 2, 3]
            case .argb8: [1, 2, 3, 0]
            case .rgb8: [0, 1, 2]
            case .gray8, .gray16Float: nil
            }
        var result = Bitmap(width: width, height: height, layout: order == nil ? .gray : .rgba)
        for row in 0..<height {
            let line = address + row * bytesPerRow
            for column in 0..<width {
                let index = row * width + column
                if let order {
                    for (component, source) in order.enumerated() {
                        result.pixels[index * 4 + component] = line.load(
                            fromByteOffset: column * format.bytesPerPixel + source,
                            as: UInt8.self
                        )
                    }
                    if order.count == 3 { result.pixels[index * 4 + 3] = 255 }
                } else if format == .gray16Float {
                    let value = line.load(fromByteOffset: column * 2, as: Float16.self)
                    result.pixels[index] = value.isNaN ? 0 : UInt8(min(max(value.rounded(), 0), 255))
                } else {
                    result.pixels[index] = line.load(fromByteOffset: column, as: UInt8.self)
                }
            }
        }
        return result
    }
}
