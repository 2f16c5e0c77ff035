import ArgumentParser
import MLArchive
import MLEncryption
import MLFiles
import MLNumerics

/// The keys of `coreml sign` and `coreml verify`.
enum ModelSigning {
    static func key(_ path: String) throws(ModelError) -> ModelSigningKey {
        try withErrorContext(path) { () throws(ModelError) in try ModelSigningKey(pem: KeyText.read(path)) }
    }

    static func publicKey(_ path: String) throws(ModelError) -> ModelSigningKey.Public {
        try withErrorContext(path) { () throws(ModelError) in try ModelSigningKey.Public(pem: KeyText.read(path)) }
    }
}

/// `coreml sign`: signs the files of a model according to OpenSSF Model Signing.
struct Sign: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign the files of a model, so that model_signing and coreml verify can check them.",
        discussion: """
            The signature is a Sigstore bundle (OpenSSF Model Signing 1.0) that lists the SHA-256 of every file.  The key is one of \
            P-256, P-384 or P-521 in PEM form.  Git's files and the signature itself are not included.

            Examples:
              coreml key create --kind model-signing -o release.pem
              coreml sign Flowers.mlpackage --key release.pem -o Flowers.sig
              coreml verify Flowers.mlpackage --signature Flowers.sig \\
                --public-key release.pub.pem
              model_signing verify key Flowers.mlpackage --signature Flowers.sig \\
                --public_key release.pub.pem
            """
    )

    @Argument(help: "A model: a file or a folder of any kind.")
    var model: String
    @Option(help: ArgumentHelp("The private key.", valueName: "pem"))
    var key: String
    @Option(name: [.short, .long], help: "The file to write the signature to.")
    var output = ModelSignature.fileName

    func run() throws {
        try failing { () throws(ModelError) in
            let key = try ModelSigning.key(key)
            let manifest = try ModelManifest(of: model, signature: output)
            try FileAccess.write(try ModelSignature.text(of: manifest, signedBy: key), to: output)
            print("\(output)\n  \(manifest.resources.count) files signed by \(key.publicKey.hint)")
        }
    }
}

/// `coreml verify`: checks the files of a model against their signature.
struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a model's files against a signature of coreml sign or model_signing.",
        discussion: """
            Files that were changed, added or removed are listed.  The signature is model.sig in the model by default.

            Examples:
              coreml verify Flowers.mlpackage --signature Flowers.sig \\
                --public-key release.pub.pem
              coreml verify Flowers.mlarchive --public-key release.pub.pem

            Exit status: 0 the model matches the signature, 1 it does not, 64 wrong usage.
            """
    )

    @Argument(help: "A model: a file or a folder of any kind, or a .mlarchive file.")
    var model: String
    @Option(help: "The signature, by default model.sig in the model.")
    var signature: String?
    @Option(help: ArgumentHelp("The public key of the required signer.", valueName: "public pem"))
    var publicKey: String

    func run() throws {
        try failing { () throws(ModelError) in
            let key = try ModelSigning.publicKey(publicKey)
            let location = signature ?? FileAccess.withoutTrailingSlash(model) + "/" + ModelSignature.fileName
            let text = try signature == nil ? ownSignature(location) : FileAccess.read(location)
            let signature = try withErrorContext(location) { () throws(ModelError) in try ModelSignature(text, by: key)
            }
            try signature.check(model, signature: location)
            print("\(model): \(signature.manifest.resources.count) files, signed by \(key.hint)")
        }
    }

    /// The signature in a model's folder, or in the archive.
    private func ownSignature(_ location: String) throws(ModelError) -> [UInt8] {
        switch FileAccess.kind(of: model) {
        case .folder? where FileAccess.kind(of: location) == .file: return try FileAccess.read(location)
        case .file?:
            let archive = try ModelArchive(model)
            let file = archive.header.files.first { $0.path == ModelSignature.fileName }
            if let file, file.byteCount <= ModelSignature.maximumByteCount { return try archive.stored(file).bytes() }
        default: break
        }
        throw ModelError(
            .invalidInput,
            "There is no \(ModelSignature.fileName) in the model; name the signature with --signature.",
            at: model
        )
    }
}
