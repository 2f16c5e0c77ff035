import Foundation
import MLExtractors
import MLFiles
import MLImages
import MLNumerics
import MLSpecification
import MLTrainingCore

/// Why features are learned from the training pictures.
enum FeatureLearningCause: String, Codable, Sendable {
    case request, missingExtractor
}

/// What readers of a model and of its training learn about features without pretrained weights.
package enum LearnedFeatures {
    /// What they are good for, and the command that installs a pretrained network.
    private static let advice =
        "natural categories (animals, foods, things in any place and pose) need pretrained features: "
        + Extractor.efficientNetLite0.command

    static func warning(_ cause: FeatureLearningCause) -> String {
        let reason =
            cause == .missingExtractor
            ? ", because the extractor '\(Extractor.efficientNetLite0.name)' is not installed" : ""
        return "the features are learned from the training pictures\(reason); \(advice)"
    }

    /// The warning before a training, if the extractor of `parameters` is not installed and features are learned instead;
    /// `nil` otherwise.
    package static func warning(before parameters: MLImageClassifier.ModelParameters) -> String? {
        ImageSettings(parameters).learned == .missingExtractor ? warning(.missingExtractor) : nil
    }

    /// The warning before a training, if the extractor of `parameters` is not installed and features are learned instead;
    /// `nil` otherwise.
    package static func warning(before parameters: MLObjectDetector.ModelParameters) -> String? {
        parameters.featureLearningCause == .missingExtractor ? warning(.missingExtractor) : nil
    }

    /// The metadata of a model with learned features.
    static func metadata(_ cause: FeatureLearningCause) -> [String: String] {
        ["featureExtractor": "learned", "featureExtractorNotice": warning(cause)]
    }
}

/// An extractor that was learned from the training pictures, or fine-tuned with them.
enum LearnedExtractor: Sendable {
    /// Filters without pretrained weights.
    case patches(PatchDictionary)
    /// A pretrained network whose last blocks have learned.
    case tuned(ExtractorModel)

    var specification: SpecModel {
        switch self {
        case .patches(let dictionary): dictionary.specification
        case .tuned(let model): model.specification
        }
    }

    /// The installed extractor that it was; `nil` for one without pretrained weights.
    var installed: Extractor? {
        switch self {
        case .patches: nil
        case .tuned(let model): model.extractor
        }
    }

    func write(_ writer: inout CheckpointWriter) throws {
        switch self {
        case .patches(let dictionary): dictionary.write(&writer)
        case .tuned(let model): writer.write(try SpecificationReader.encode(model.specification))
        }
    }

    /// - Throws: For bytes that `write` did not write with these settings; never traps.
    init(_ reader: inout CheckpointReader, _ settings: ImageSettings) throws {
        guard settings.tunedBlocks != nil, let name = settings.installed else {
            self = .patches(try PatchDictionary(&reader))
            return
        }
        let bytes: [UInt8] = try reader.readArray()
        self = .tuned(
            ExtractorModel(
                extractor: try .named(name, in: Extractor.ofImages),
                specification: try SpecificationReader.decode(bytes)
            )
        )
    }
}

extension ImageFiles {
    /// Learns filters from some of the training pictures, drawn at random by a fixed seed.
    ///
    /// - Throws: `MLCreateError.cancelled`, and `.generic` if no training picture can be read or all are plain.
    func dictionary(_ cancellation: JobCancellation) throws -> PatchDictionary {
        var source = SplitMix64(seed: 0x7069_6374_7572)
        var order = files.indices.filter { !files[$0].isValidation }
        order.shuffle(using: &source)
        var pictures: [Bitmap] = []
        var reason = ""
        let limit = PatchDictionary.pictureLimit
        for start in stride(from: 0, to: order.count, by: ImageRun.batch) where pictures.count < limit {
            try cancellation.check()
            let part = order[start..<min(start + ImageRun.batch, order.count)]
            let found = ImageReader.map(part.count) { index -> Swift.Result<Bitmap, ModelError> in
                let path = files[part[part.startIndex + index]].path
                do throws(ModelError) { return .success(Self.reduced(try ImageReader.read(path).bitmap)) } catch {
                    return .failure(error.at(path))
                }
            }
            for result in found where pictures.count < limit {
                switch result {
                case .success(let picture): pictures.append(picture)
                case .failure(let error): reason = "\(error)"
                }
            }
        }
        guard !pictures.isEmpty else {
            throw MLCreateError.generic(reason: "none of \(order.count) training images can be read (\(reason))")
        }
        return try PatchDictionary(pictures) { try cancellation.check() }
    }

    /// A picture that is not larger than the largest that are learned from.
    private static func reduced(_ picture: Bitmap) -> Bitmap {
        let limit = PatchDictionary.greatestSide
        guard min(picture.width, picture.height) > limit else { return picture }
        return picture.converted(to: .rgba).fitted(ImageFeatureEncoder.fitting, width: limit, height: limit)
    }
}
