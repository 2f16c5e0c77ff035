import Foundation
import ImageIO
import MLDetectionTraining
import MLFiles
import MLImages
import MLNumerics
import MLTrainingCore

/// A picture as a detector's training and evaluation use it.
struct ObjectPicture: Sendable {
    struct Object: Sendable, Hashable {
        var label: String
        var box: DetectionBox
    }

    /// The upright picture.
    var bitmap: Bitmap
    var objects: [Object]
    /// The objects that were left out, with the reasons.
    var notes: [String]

    /// The least side of a box, as a share of the picture's.
    private static let minimumSide = 1e-4

    /// Reads a picture and brings its boxes to fractions of the upright picture.
    /// - Throws: An error whose description says what is wrong with the file, or with what its annotations say of it.
    static func read(_ annotated: AnnotatedPicture) throws(ModelError) -> ObjectPicture {
        switch FileAccess.kind(of: annotated.path) {
        case .file: break
        case .folder: throw ModelError(.io, "it is a folder")
        default: throw ModelError(.io, "there is no such file")
        }
        let bytes = try FileAccess.read(annotated.path)
        guard !bytes.isEmpty else { throw ModelError(.malformed, "the file is empty") }
        let file = try ImageFile(Data(bytes))
        let stored = try file.bitmap()
        let bitmap = stored.upright(fromExifOrientation: file.exifOrientation)
        guard bitmap.width > 0, bitmap.height > 0 else { throw ModelError(.malformed, "the image has no pixels") }
        let frame = try Frame(annotated.size, stored, bitmap, file.exifOrientation)
        var result = ObjectPicture(bitmap: bitmap, objects: [], notes: annotated.notes)
        for object in annotated.objects {
            let numbers = [object.x, object.y, object.width, object.height]
            guard numbers.allSatisfy(\.isFinite), object.width > 0, object.height > 0 else {
                result.notes.append("the box of '\(object.label)' is empty")
                continue
            }
            let box = frame.upright(
                annotated.form.box(
                    x: object.x,
                    y: object.y,
                    width: object.width,
                    height: object.height,
                    in: frame.size
                )
            )
            let inside = box.intersection(.whole)
            guard inside.width > minimumSide, inside.height > minimumSide else {
                result.notes.append("the box of '\(object.label)' lies outside of the image")
                continue
            }
            result.objects.append(Object(label: object.label, box: inside))
        }
        return result
    }

    /// The picture that boxes are relative to.
    private struct Frame {
        var size: (width: Double, height: Double)
        /// The orientation of the stored picture, if boxes are relative to that; 1 if to the upright one.
        private var orientation: UInt32 = 1

        /// - Throws: If the annotations state a size of another shape than the picture's.
        init(
            _ stated: AnnotatedPicture.Size?,
            _ stored: Bitmap,
            _ upright: Bitmap,
            _ orientation: UInt32
        ) throws(ModelError) {
            guard let stated else {
                size = (Double(upright.width), Double(upright.height))
                return
            }
            size = (Double(stated.width), Double(stated.height))
            func fits(_ bitmap: Bitmap) -> Bool {
                let ratio = size.width / size.height * Double(bitmap.height) / Double(bitmap.width)
                return (0.97...1.03).contains(ratio)
            }
            if fits(upright) { return }
            guard fits(stored) else {
                throw ModelError(
                    .invalidInput,
                    "its annotations are of an image of \(stated.width) × \(stated.height) pixels, it has "
                        + "\(upright.width) × \(upright.height)"
                )
            }
            self.orientation = orientation
        }

        func upright(_ box: DetectionBox) -> DetectionBox {
            func turned(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
                switch orientation {
                case 2: (1 - x, y)
                case 3: (1 - x, 1 - y)
                case 4: (x, 1 - y)
                case 5: (y, x)
                case 6: (1 - y, x)
                case 7: (1 - y, 1 - x)
                case 8: (y, 1 - x)
                default: (x, y)
                }
            }
            let (first, second) = (turned(box.left, box.top), turned(box.right, box.bottom))
            return DetectionBox(
                left: min(first.x, second.x),
                top: min(first.y, second.y),
                right: max(first.x, second.x),
                bottom: max(first.y, second.y)
            )
        }
    }
}

/// The pictures of a training that have been read.
struct ObjectPictures {
    struct File: Sendable {
        var picture: AnnotatedPicture
        var isValidation: Bool
    }

    /// The outcome of reading a file.
    struct Result: Sendable {
        /// The picture in the size in which it is kept, as a JPEG file; empty for one that is left out.
        var content: [UInt8] = []
        var objects: [ObjectPicture.Object] = []
        var notes: [String] = []
        /// The reason for leaving the picture out; empty for one that is used.
        var reason = ""
    }

    private(set) var files: [File]
    private(set) var results: [Result] = []
    /// The labels, once all files are read: those of training pictures that could be.
    private(set) var labels: [String] = []

    /// The longer side of pictures that are kept, in pixels.
    private static let keptSide = 512.0

    init(_ files: [File]) { self.files = files }

    var isComplete: Bool { results.count == files.count }
    var readCount: Int { results.count }

    /// Reads a file; errors become the reason for leaving it out.
    static func read(_ file: File) -> Result {
        do throws(ModelError) {
            let picture = try ObjectPicture.read(file.picture)
            let bitmap = picture.bitmap
            let factor = min(1, keptSide / Double(max(bitmap.width, bitmap.height)))
            let kept =
                factor < 1
                ? bitmap.resampled(
                    width: max(Int((Double(bitmap.width) * factor).rounded()), 1),
                    height: max(Int((Double(bitmap.height) * factor).rounded()), 1)
                ) : bitmap
            let content = [UInt8](try ImageEncoder.jpeg(kept, quality: 0.95))
            return Result(content: content, objects: picture.objects, notes: picture.notes)
        } catch { return Result(notes: [], reason: ImageReader.reason(error)) }
    }

    /// The pixels of a kept picture.
    @Sendable static func bitmap(_ content: [UInt8]) throws(ModelError) -> Bitmap {
        try ImageFile(Data(content)).bitmap()
    }

    mutating func append(_ new: [Result]) { results += new }

    /// Finds the labels.
    /// - Throws: `MLCreateError` if no training picture that can be used has an object.
    mutating func finish() throws {
        let used = zip(files, results).filter { !$0.isValidation && $1.reason.isEmpty }
        labels = Set(used.flatMap { $1.objects.map(\.label) }).sorted()
        guard !labels.isEmpty else {
            let examples = skipped.prefix(3).map { "\($0.url.path): \($0.reason)" }.joined(separator: "; ")
            throw MLCreateError.generic(
                reason:
                    "of \(files.count) images \(skipped.count { !$0.isUsed }) cannot be used, and the others have no "
                    + "objects (\(examples)); repair them or add others"
            )
        }
    }

    /// The pictures to learn from, or those to validate with, with their paths.
    func examples(isValidation: Bool) -> [(path: String, example: DetectionExample)] {
        let indices = Dictionary(zip(labels, 0...)) { first, _ in first }
        return zip(files, results).compactMap { file, result in
            guard result.reason.isEmpty, file.isValidation == isValidation else { return nil }
            let objects = result.objects.compactMap { object in
                indices[object.label].map { DetectionObject(label: $0, box: object.box) }
            }
            return (file.picture.path, DetectionExample(file: result.content, objects: objects))
        }
    }

    /// The pictures that are left out, and those with objects that are.
    var skipped: [MLObjectDetector.SkippedImage] {
        let known = Set(labels)
        return zip(files, results).flatMap { file, result -> [MLObjectDetector.SkippedImage] in
            let url = URL(fileURLWithPath: file.picture.path)
            guard result.reason.isEmpty else { return [.init(url: url, reason: result.reason, isUsed: false)] }
            var notes = result.notes
            if isComplete, file.isValidation {
                notes += Set(result.objects.map(\.label)).subtracting(known).sorted().map {
                    "no training image has the label '\($0)'"
                }
            }
            return notes.map { .init(url: url, reason: $0, isUsed: true) }
        }
    }

    // MARK: Bytes

    func write(_ writer: inout CheckpointWriter, withPictures: Bool) throws {
        let list = String(decoding: try JSONEncoder.sorted.encode(files.map(\.picture)), as: UTF8.self)
        writer.write(list)
        writer.write(files.map { $0.isValidation ? UInt8(1) : 0 })
        writer.write(withPictures)
        if withPictures { writePictures(&writer) }
    }

    func writePictures(_ writer: inout CheckpointWriter) {
        writer.write(Int64(results.count))
        for result in results {
            writer.write(result.content)
            writer.write(result.reason)
            writer.write(result.notes)
            writer.write(result.objects.map(\.label))
            writer.write(result.objects.flatMap { [$0.box.left, $0.box.top, $0.box.right, $0.box.bottom] })
        }
    }

    init(_ reader: inout CheckpointReader) throws {
        let text = try reader.readString()
        let pictures: [AnnotatedPicture]
        do { pictures = try JSONDecoder().decode([AnnotatedPicture].self, from: Data(text.utf8)) } catch {
            throw reader.damaged("its annotations cannot be read")
        }
        let isValidation: [UInt8] = try reader.readArray()
        guard pictures.count == isValidation.count, !pictures.isEmpty else {
            throw reader.damaged("images are missing")
        }
        files = zip(pictures, isValidation).map { File(picture: $0, isValidation: $1 == 1) }
        if try reader.readBool() {
            try readPictures(&reader)
            guard isComplete else { throw reader.damaged("images are missing") }
        }
    }

    mutating func readPictures(_ reader: inout CheckpointReader) throws {
        let count = try reader.readInt(in: 0...files.count, "the number of images")
        var read: [Result] = []
        for _ in 0..<count {
            var result = Result(content: try reader.readArray(), reason: try reader.readString())
            result.notes = try reader.readStrings()
            let labels = try reader.readStrings()
            let numbers: [Double] = try reader.readArray()
            guard numbers.count == 4 * labels.count, numbers.allSatisfy({ (0...1).contains($0) }) else {
                throw reader.damaged("boxes are out of range")
            }
            for (index, label) in labels.enumerated() {
                let box = DetectionBox(
                    left: numbers[4 * index],
                    top: numbers[4 * index + 1],
                    right: numbers[4 * index + 2],
                    bottom: numbers[4 * index + 3]
                )
                result.objects.append(.init(label: label, box: box))
            }
            read.append(result)
        }
        results = read
        if isComplete { try finish() }
    }
}
