import ArgumentParser
import Foundation
import MLEncryption
import MLNumerics
import MLPackaging

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Upload the Core ML model of a Hugging Face folder, an MLflow model or an OCI artifact on disk.",
        discussion: """
            Takes a Hugging Face folder with a model and a card (README.md), an MLflow model with the flavour coreml, or a \
            folder in the OCI image layout of oras and ModelPack. With --collection the model becomes a release with the \
            folder's description as its note; the release then has only this model.

            Examples:
              coreml deploy import ./flower-classifier --team acme \\
                --encrypt Flowers.mlmodelkey
              coreml deploy import ./mlruns/0/8f…/artifacts/model --team acme
              coreml deploy import ./layout --team acme --app shop \\
                --collection FlowerModels --model FlowerClassifier
            """
    )

    @Argument(help: "The folder of the model: from Hugging Face or MLflow, or an OCI image layout.") var folder: String
    @OptionGroup var team: TeamOptions
    @Option(help: "The path of the model in the folder, if there are several.") var path: String?
    @Option(help: "The key file to encrypt the model with (coreml deploy key).") var encrypt: String?
    @Option(help: "The identifier of the app that the release is for.") var app: String?
    @Option(help: "The identifier of the collection that the release is for.") var collection: String?
    @Option(help: "The model's name in the collection; the model's own name by default.") var model: String?
    @OptionGroup var server: ServerOptions

    private struct ReleaseBody: Encodable {
        struct Model: Encodable { let archive: String }

        let models: [String: Model]
        let note: String?
    }

    private struct CreateResponse: Decodable { let number: Int }

    func validate() throws {
        guard (app == nil) == (collection == nil) else {
            throw ValidationError("a release takes --app and --collection")
        }
    }

    func run() throws {
        let client = try server.client()
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("import-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: scratch.appendingPathComponent("unpacked"),
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(at: scratch) }
        let root = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        let found = try FoundModel.find(in: root, path, scratch: scratch.path + "/unpacked")
        let data = try client.uploadFile(archive(found, in: scratch.path), team: team.team, kind: "archives")
        if let app, let collection {
            try release(found, data, to: "apps/\(app)/collections/\(collection)/releases", client)
        } else {
            try server.show(data, as: StoredFile.self) {
                print("\(found.kind): \(found.name)\n\($0.sha256)\t\($0.byteCount) bytes")
            }
        }
    }

    /// Packs the model into an archive, encrypted if there is a key.
    /// - Returns: The archive's path.
    private func archive(_ found: FoundModel, in scratch: String) throws -> String {
        let archive = scratch + "/\(found.name).mlarchive"
        do throws(ModelError) {
            let key = try encrypt.map { (path) throws(ModelError) in try KeyFiles.read(path) }
            try ArchivePackaging.archive(found.path, to: archive, key: key, signer: nil)
        } catch { throw Failure("\(error)") }
        return archive
    }

    /// Makes a release of the uploaded archive.
    private func release(_ found: FoundModel, _ upload: Data, to path: String, _ client: ServerClient) throws {
        let stored = try ServerClient.decode(StoredFile.self, upload)
        let body = ReleaseBody(models: [model ?? found.name: .init(archive: stored.sha256)], note: found.note)
        try server.show(try client.post(path, body), as: CreateResponse.self) {
            print("\(found.kind): \(found.name)\nrelease \($0.number)\t\(stored.sha256)")
        }
    }
}
