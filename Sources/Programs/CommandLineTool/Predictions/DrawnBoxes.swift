import CoreML
import Foundation
import ImageIO
import MLDetectionTraining
import MLEngine
import MLFiles
import MLImages
import MLNumerics
import MLSpecification

/// Draws the objects that a detector finds on the pictures that it is given.
struct DrawnBoxes: AnswerSink {
    private let output: String
    private let isList: Bool
    private let labels: [String]
    private let names: (confidence: String, coordinates: String)
    private var used: Set<String> = []

    /// - Parameters:
    ///   - output: A .png or .jpg file, or for several pictures a folder.
    ///   - isList: Whether there are several pictures.
    ///   - model: The model.
    /// - Throws: `Failure` if the model is not a detector, or the name does not fit.
    init(_ output: String, isList: Bool, _ model: SpecModel) throws {
        let description = MLModelDescription(model)
        guard let labels = description.detectorLabels, !labels.isEmpty, let names = description.detectorOutputs else {
            throw Failure(
                "--draw is for detectors, which end in non-maximum suppression with labels; this model does not"
            )
        }
        self.labels = labels
        self.names = names
        self.output = output
        let isFolder = output.hasSuffix("/") || FileAccess.kind(of: output) == .folder
        self.isList = isFolder
        guard isFolder || !isList else {
            throw Failure(
                "--draw '\(output)' is one image, but there are several; name a folder with a '/' at the end"
            )
        }
        if isFolder {
            try failing { () throws(ModelError) in try FileAccess.makeFolder(FileAccess.withoutTrailingSlash(output)) }
        } else if ![".png", ".jpg", ".jpeg"].contains(where: output.hasSuffix) {
            throw Failure("--draw takes a name that ends in .png or .jpg, or a folder; not '\(output)'")
        }
    }

    mutating func receive(_ answer: Answer) throws {
        guard case .string(let file)? = answer.keys.first?.value,
            case .tensor(let confidence)? = answer.outputs[names.confidence],
            case .tensor(let coordinates)? = answer.outputs[names.coordinates]
        else { throw Failure("--draw applies to image files; name them after the model") }
        let (votes, locations) = (confidence.values, coordinates.values)
        var marks: [BoxDrawing.Mark] = []
        for index in 0..<min(votes.count / labels.count, locations.count / 4) {
            let row = votes[index * labels.count..<(index + 1) * labels.count]
            guard let best = row.indices.max(by: { row[$0] < row[$1] }) else { continue }
            let label = best - row.startIndex
            let (x, y, width, height) = (
                locations[4 * index], locations[4 * index + 1], locations[4 * index + 2], locations[4 * index + 3]
            )
            marks.append(
                BoxDrawing.Mark(
                    box: DetectionBox(
                        left: x - width / 2,
                        top: y - height / 2,
                        right: x + width / 2,
                        bottom: y + height / 2
                    ),
                    text: "\(labels[label]) \(Int((row[best] * 100).rounded())) %",
                    colour: BoxDrawing.colour(ofLabel: label)
                )
            )
        }
        try failing { () throws(ModelError) in
            let image = try ImageFile(Data(FileAccess.read(file)))
            var drawing = BoxDrawing(on: try image.bitmap().upright(fromExifOrientation: image.exifOrientation))
            try drawing.draw(marks)
            let path = path(file)
            let data =
                path.hasSuffix(".png")
                ? try ImageEncoder.png(drawing.picture, isOpaque: true)
                : try ImageEncoder.jpeg(drawing.picture, quality: 0.92)
            try FileAccess.write([UInt8](data), to: path)
        }
    }

    mutating func finish() throws {}

    private mutating func path(_ file: String) -> String {
        guard isList else { return output }
        let stem = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
        let folder = FileAccess.withoutTrailingSlash(output) + "/"
        var (path, turn) = (folder + stem + ".png", 2)
        while !used.insert(path).inserted {
            path = folder + "\(stem)-\(turn).png"
            turn += 1
        }
        return path
    }
}
