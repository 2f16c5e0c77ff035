import MLFiles
import MLNumerics
import MLSpecification
import Testing

/// Compiled folders as Apple's compiler writes them.
@Suite struct AppleCompiledFolderTests {
    /// `coremldata.bin`: number of the kind, versions, the way's name behind its length, 32 bytes, and `rest`.
    private func data(kind: UInt32, way: String = "spec", _ rest: [UInt8]) -> [UInt8] {
        func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
            withUnsafeBytes(of: value.littleEndian) { Array($0) }
        }
        return bytes(kind) + bytes(UInt64(1)) + bytes(UInt64(0)) + bytes(UInt64(0)) + bytes(UInt64(way.utf8.count))
            + Array(way.utf8) + bytes(Int32(1)) + [UInt8](repeating: 0, count: 28) + rest
    }

    @Test func specificationBehindTheHeaderIsRead() throws {
        try withTemporaryFolder { folder in
            let compiled = folder + "/linear.mlmodelc"
            try FileAccess.makeFolder(compiled)
            let bytes = data(kind: 300, try SpecificationReader.encode(Seeds.regressor))
            #expect(bytes[72...].elementsEqual(try SpecificationReader.encode(Seeds.regressor)))
            try FileAccess.write(bytes, to: compiled + "/coremldata.bin")
            for path in [compiled, compiled + "/"] {
                let file = try ModelFile.open(path: path)
                #expect(file.specification == Seeds.regressor)
                #expect(file.form == .compiled)
            }
        }
    }

    @Test func otherKindsAreNamed() throws {
        let cases: [(files: [String: String], part: String)] = [
            (
                ["metadata.json": #"[{"modelType": {"name": "MLModelType_neuralNetworkClassifier"}}]"#],
                "a model of the kind neuralNetworkClassifier"
            ),
            (["metadata.json": "[{", "model.mil": "program"], "an ML program"),
            (["model.espresso.net": "{}"], "a neural network"),
            (["model0": ""], "a pipeline"),
            ([:], "an unknown kind"),
        ]
        for (files, part) in cases {
            try withTemporaryFolder { folder in
                try FileAccess.write(data(kind: 500, way: "generic", [1, 2, 3]), to: folder + "/coremldata.bin")
                for (name, text) in files { try FileAccess.write(text, to: folder + "/" + name) }
                let error = try #require(throws: ModelError.self) { try ModelFile.open(path: folder) }
                #expect("\(error)".contains(part), "\(error)")
                #expect("\(error)".contains("open the .mlmodel or .mlpackage that it was made from"))
            }
        }
    }

    @Test func damagedFilesAreErrors() throws {
        let whole = data(kind: 300, try SpecificationReader.encode(Seeds.regressor))
        try withTemporaryFolder { folder in
            for count in 0..<whole.count {
                try FileAccess.write(Array(whole.prefix(count)), to: folder + "/coremldata.bin")
                // A cut behind a whole field leaves a model, which may lack its weights; nothing may trap.
                do {
                    #expect(try ModelFile.open(path: folder).specification != Seeds.regressor)
                } catch let error as ModelError {
                    #expect("\(error)".contains(folder))
                }
            }
            for place in 0..<whole.count {
                var bytes = whole
                bytes[place] ^= 0xFF
                try FileAccess.write(bytes, to: folder + "/coremldata.bin")
                do { _ = try ModelFile.open(path: folder) } catch is ModelError {}
            }
        }
    }
}
