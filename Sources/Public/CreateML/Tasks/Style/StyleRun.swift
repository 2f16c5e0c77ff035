import Foundation
import ImageIO
import MLFiles
import MLImages
import MLNumerics
import MLSpecification
import MLStyleTraining
import MLTrainingCore

/// The choices that a style transfer's product keeps.
struct StyleOptions: Codable, Hashable, Sendable {
    var settings: StyleTrainingSettings
    var extractor: MLStyleTransfer.FeatureExtractorType
    var skipped: [SkippedPicture]
}

/// The training of a style transfer; a step is an iteration of its trainer.
///
/// Pictures are kept with the session, so that it can be resumed without their files. The network that measures style
/// stays where it is; its fingerprint shows whether it was changed in between.
struct StyleRun: TrainingRun {
    static let taskName = "MLStyleTransfer"

    private var options: StyleOptions
    private let style: StyleImage
    private let contents: [StyleImage]
    /// The picture whose drawing shows the progress.
    private let shown: StyleImage
    private let loss: LossNetwork
    let fingerprint: UInt64
    private var trainer: StyleTrainer

    /// The largest side of the picture that shows the progress.
    private static let pictureSide = 512

    /// - Throws: `MLCreateError` for settings out of range, and when the network that measures style cannot be used.
    init(_ pictures: StylePictures, shown: StyleImage?, options: StyleOptions) throws {
        let loss = try options.extractor.network()
        try self.init(
            options,
            pictures.style,
            pictures.contents,
            shown ?? pictures.contents[0],
            loss
        )
    }

    private init(
        _ options: StyleOptions,
        _ style: StyleImage,
        _ contents: [StyleImage],
        _ shown: StyleImage,
        _ loss: LossNetwork
    ) throws {
        self.options = options
        self.style = style
        self.contents = contents
        self.shown = shown
        self.loss = loss
        var sum = Fingerprint(.wideProduct)
        for picture in [style] + contents { sum.add(picture.bytes) }
        sum.add(loss.fingerprint)
        fingerprint = sum.value
        trainer = try MLCreateError.translating {
            try StyleTrainer(style: style, contents: contents, loss: loss, settings: options.settings)
        }
    }

    var parameters: [SessionParameter] {
        [
            SessionParameter("algorithm", options.settings.isLite ? "cnnLite" : "cnn"),
            SessionParameter("textelDensity", options.settings.density),
            SessionParameter("styleStrength", options.settings.strength),
            SessionParameter("medium", options.settings.isForVideo ? "video" : "image"),
        ]
    }

    var phase: MLPhase { .training }
    var iteration: Int { trainer.iteration }
    var plan: [PlannedPhase] { [PlannedPhase(.training, options.settings.iterations)] }
    var isFinished: Bool { trainer.isFinished }

    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double] {
        try cancellation.check()
        return try MLCreateError.translating {
            let report = try trainer.step()
            var metrics: [MLProgress.Metric: Double] = [.loss: report.loss]
            if let loss = report.contentLoss { metrics[.contentLoss] = loss }
            if let loss = report.styleLoss { metrics[.styleLoss] = loss }
            return metrics
        }
    }

    /// The picture that shows the progress, drawn by the network as it is now.
    func stylizedPicture() throws -> [UInt8]? {
        try MLCreateError.translating {
            let drawing = StyleDrawing(network: options.settings.network, parameters: trainer.parameters)
            return [UInt8](try ImageEncoder.png(try drawing.drawn(shown).bitmap, isOpaque: true))
        }
    }

    mutating func takeLimits(of other: StyleRun) {
        options.settings.iterations = other.options.settings.iterations
        trainer.limit(iterations: options.settings.iterations)
    }

    mutating func finish() throws -> MLStyleTransfer {
        try MLCreateError.translating {
            var model = options.settings.network.specification(parameters: trainer.parameters).marked
            for (key, value) in options.extractor.notices {
                model.description_p.metadata.userDefined[key] = value
            }
            return MLStyleTransfer(try TaskModel(model), options)
        }
    }

    // MARK: Bytes

    private static let version = 1

    func encodedData() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(Int64(Self.version))
        writer.write(String(decoding: try JSONEncoder.sorted.encode(options), as: UTF8.self))
        writer.write(loss.fingerprint)
        for picture in [style, shown] { Self.write(picture, &writer) }
        writer.write(Int64(contents.count))
        for picture in contents { Self.write(picture, &writer) }
        return writer.bytes
    }

    private static func write(_ picture: StyleImage, _ writer: inout CheckpointWriter) {
        writer.write(Int64(picture.width))
        writer.write(Int64(picture.height))
        writer.write(picture.bytes)
    }

    init(data: [UInt8]) throws {
        var reader = CheckpointReader(data, "the session's training data")
        guard try reader.readInteger(Int64.self) == Self.version else { throw reader.damaged("its version is unknown") }
        let text = try reader.readString()
        let options: StyleOptions
        do { options = try JSONDecoder().decode(StyleOptions.self, from: Data(text.utf8)) } catch {
            throw reader.damaged("its options cannot be read")
        }
        func picture(_ reader: inout CheckpointReader) throws -> StyleImage {
            let width = try reader.readInt(in: 1...StyleImage.maximumSide, "a width")
            let height = try reader.readInt(in: 1...StyleImage.maximumSide, "a height")
            let bytes: [UInt8] = try reader.readArray()
            do { return try StyleImage(width: width, height: height, bytes: bytes) } catch {
                throw reader.damaged("an image has \(bytes.count) bytes")
            }
        }
        let fingerprint: UInt64 = try reader.readInteger()
        let (style, shown) = (try picture(&reader), try picture(&reader))
        var contents: [StyleImage] = []
        for _ in 0..<(try reader.readInt(in: 1...1 << 24, "the number of images")) {
            contents.append(try picture(&reader))
        }
        try reader.finish()
        let loss = try options.extractor.network()
        guard loss.fingerprint == fingerprint else {
            throw MLCreateError.io(
                reason:
                    "the network that measures style (\(options.extractor)) is not the one that the session was begun "
                    + "with; put that one back, or begin again in another session directory"
            )
        }
        try self.init(options, style, contents, shown, loss)
    }

    func encodedState() throws -> [UInt8] { trainer.state }

    mutating func restore(state: [UInt8]) throws { try MLCreateError.translating { try trainer.restore(state) } }

    /// The picture that shows the progress: in its proportions, at most 512 pixels a side.
    static func shownPicture(_ file: URL) throws -> StyleImage {
        let bitmap = try StylePictures.bitmap(file)
        let factor = min(1, Double(pictureSide) / Double(max(bitmap.width, bitmap.height)))
        return StyleImage(
            bitmap.resampled(
                width: max(16, Int((Double(bitmap.width) * factor).rounded())),
                height: max(16, Int((Double(bitmap.height) * factor).rounded()))
            )
        )
    }
}
