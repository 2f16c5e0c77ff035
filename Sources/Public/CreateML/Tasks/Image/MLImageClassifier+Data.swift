public import Foundation
import MLExtractors
import TabularData

extension MLImageClassifier {
    /// Labelled pictures for training and evaluation.
    ///
    /// Pictures that cannot be read are left out; `skippedImages` lists them.
    public enum DataSource: Sendable {
        /// The picture files of each label.
        case filesByLabel([String: [URL]])
        /// A folder with a folder of pictures for each label.
        case labeledDirectories(at: URL)
        /// A folder of pictures named like `label.1.jpg`.
        case labeledFiles(at: URL)

        /// Returns the files of each label.
        /// - Returns: The files by label.
        /// - Throws: `MLCreateError.io` if the folder cannot be read or has no files.
        public func labeledImages() throws -> [String: [URL]] {
            switch self {
            case .filesByLabel(let files): files
            case .labeledDirectories(let url): try LabeledFolders.directories(at: url)
            case .labeledFiles(let url): try LabeledFolders.files(at: url)
            }
        }

        /// Divides the files of each label at random by proportions.
        /// - Parameters:
        ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
        ///   - seed: The seed of the assignment; taken from the clock by default.
        /// - Returns: The files by label of each part.
        /// - Throws: `MLCreateError` for proportions out of range, and the errors of `labeledImages()`.
        public func stratifiedSplit(proportions: [Double], seed: Int = timestampSeed()) throws -> [[String: [URL]]] {
            var generator = SeededGenerator(seed: seed)
            return try stratifiedSplit(proportions: proportions, generator: &generator)
        }

        /// Divides the files of each label at random by proportions, using a given generator.
        /// - Parameters:
        ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
        ///   - generator: The source of random numbers.
        /// - Returns: The files by label of each part.
        /// - Throws: `MLCreateError` for proportions out of range, and the errors of `labeledImages()`.
        public func stratifiedSplit<RNG>(
            proportions: [Double],
            generator: inout RNG
        ) throws -> [[String: [URL]]] where RNG: RandomNumberGenerator {
            try LabeledFolders.split(labeledImages(), proportions, &generator)
        }

        /// The files and labels, by label and in their order.
        func files() throws -> [(label: String, path: String)] {
            let files = try labeledImages()
            return files.keys.sorted().flatMap { label in (files[label] ?? []).map { (label, $0.path) } }
        }
    }

    /// A model of your own that turns pictures into features.
    public struct CustomFeatureExtractor: Sendable {
        /// The model: a `.mlmodel`, `.mlpackage` or `.mlmodelc` with one picture of a fixed size as its input.
        ///
        /// With an ML program that keeps its weights in a file, the classifier is written as a `.mlpackage`.
        public var modelPath: URL
        /// The output with the features, an array of numbers; `nil` for the only one.
        public var outputName: String?
        /// Where the extractor comes from.
        enum Origin: Hashable {
            /// The model at `modelPath`.
            case file
            /// An installed extractor, which `modelPath` is the model of.
            case store(name: String)
            /// The training pictures; `modelPath` names no file.
            case pictures
        }

        var origin = Origin.file
        /// The number of the installed network's last blocks that are fine-tuned; `nil` for none.
        var fineTunedBlocks: Int?

        /// Creates an extractor; see the properties of the same names.
        public init(modelPath: URL, outputName: String? = nil) {
            self.modelPath = modelPath
            self.outputName = outputName
        }
    }

    /// The extractor of features from pictures.
    public enum FeatureExtractorType: Sendable {
        /// A model of your own.
        case custom(CustomFeatureExtractor)
        /// Apple's network is a part of its systems; here `efficientNetLite0` takes its place, whatever the revision.
        ///
        /// Where that is not installed, features are learned from the training pictures as with `learned`, and
        /// `MLImageClassifier.warnings` and the model's metadata say so.
        case scenePrint(revision: Int?)

        /// EfficientNet-Lite0, trained on ImageNet; an addition to Apple's API.
        ///
        /// Its weights are installed once: `coreml extractor install efficientnet-lite0`.
        public static var efficientNetLite0: FeatureExtractorType {
            let extractor = Extractor.efficientNetLite0
            let path = ExtractorStore.user.path(of: extractor)
            var custom = CustomFeatureExtractor(
                modelPath: URL(fileURLWithPath: path + "/model.mlmodel"),
                outputName: "features"
            )
            custom.origin = .store(name: extractor.name)
            return .custom(custom)
        }

        /// EfficientNet-Lite0 whose last blocks learn from the training pictures before features are extracted; an addition
        /// to Apple's API.
        ///
        /// Blocks count from the end of the network, 1 to 15, and the layers after them learn, too; windows of single channels
        /// keep their weights. Fine-tuning pays where there
        /// are hundreds of pictures that differ from photographs of everyday things, and costs minutes: see
        /// Documentation/Training.md for what to expect. It learns from the views that the augmentation options make.
        public static func efficientNetLite0(fineTunedBlocks: Int) -> FeatureExtractorType {
            guard case .custom(var custom) = efficientNetLite0 else { return efficientNetLite0 }
            custom.fineTunedBlocks = fineTunedBlocks
            return .custom(custom)
        }

        /// Features that are learned from the training pictures, without pretrained weights; an addition to Apple's API.
        ///
        /// Filters are found by clustering whitened patches of colour (Coates and Ng, 2012); features are the means of
        /// what exceeds a threshold in their results, in four fields of a picture and in all of it. Pictures are reduced to 64 × 64
        /// pixels, or to the size of most of them if that is less, at least 8 × 8. Glyphs, textures and scenes of a fixed
        /// camera can be told apart so; natural categories need a pretrained network.
        public static var learned: FeatureExtractorType {
            var custom = CustomFeatureExtractor(modelPath: URL(fileURLWithPath: "/dev/null"))
            custom.origin = .pictures
            return .custom(custom)
        }
    }

    /// Random changes of pictures that keep their class; each gives another example for each training picture.
    public struct ImageAugmentationOptions: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: Int

        /// Creates options from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Gaussian noise, with a standard deviation of 4 to 10 % of the range of a component.
        public static let noise = ImageAugmentationOptions(rawValue: 1)
        /// A Gaussian blur, with a standard deviation of 1 to 3 pixels where the picture is 224 pixels wide.
        public static let blur = ImageAugmentationOptions(rawValue: 2)
        /// The mirror image, left and right exchanged.
        ///
        /// Predictions then use the mean of the picture and its mirror image.
        public static let flip = ImageAugmentationOptions(rawValue: 4)
        /// A turn by up to 30 degrees to either side.
        public static let rotation = ImageAugmentationOptions(rawValue: 8)
        /// Colours multiplied by a factor between ½ and 2.
        public static let exposure = ImageAugmentationOptions(rawValue: 16)
        /// A part of 70 to 95 % of the width and height, from any place.
        public static let crop = ImageAugmentationOptions(rawValue: 32)

        /// The changes, in the order in which their examples follow a picture.
        var augmentations: [ImageAugmentation] {
            let all: [(ImageAugmentationOptions, ImageAugmentation)] = [
                (.flip, .flip), (.noise, .noise), (.blur, .blur), (.rotation, .rotation), (.exposure, .exposure),
                (.crop, .crop),
            ]
            return all.filter { contains($0.0) }.map(\.1)
        }
    }

    /// A file that was left out of training or an evaluation; an addition to Apple's API.
    public struct SkippedImage: Hashable, Sendable {
        /// The file.
        public var url: URL
        /// The label that it has in the data.
        public var label: String
        /// The reason: damaged, empty, too large, or the same picture with two labels.
        public var reason: String
    }

    /// A picture whose label was predicted wrongly; an addition to Apple's API.
    public struct MisclassifiedImage: Hashable, Sendable {
        /// The file.
        public var url: URL
        /// The label that it has in the data.
        public var label: String
        /// The label that was predicted.
        public var prediction: String
        /// The probability of the predicted label.
        public var confidence: Double
    }
}

extension MLImageClassifier.FeatureExtractorType: CustomStringConvertible, CustomDebugStringConvertible {
    /// The extractor's name.
    public var description: String {
        switch self {
        case .custom(let custom):
            switch custom.origin {
            case .file: "Custom model \(custom.modelPath.path)"
            case .store(let name):
                "Extractor \(name)\(custom.fineTunedBlocks.map { ", fine-tuned: \($0)" } ?? "")"
            case .pictures: "Features learned from the training pictures"
            }
        case .scenePrint(let revision): "Image feature print\(revision.map { " V\($0)" } ?? "") (EfficientNet-Lite0)"
        }
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
