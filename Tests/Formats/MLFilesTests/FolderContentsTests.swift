import MLFiles
import MLNumerics
import MLSpecification
import Testing

/// Compiled models whose files lie elsewhere than as files of a folder.
@Suite struct FolderContentsTests {
    /// Files in memory.
    private struct Files: FolderContents {
        var files: [String: [UInt8]]
        var isProtected: Bool

        func contents(of name: String) throws(ModelError) -> TensorStorage? {
            files[name].map { TensorStorage(copying: $0) }
        }

        func path(of name: String) -> String? { nil }
    }

    private func model(isProtected: Bool) throws -> ModelFile {
        let files = [
            "specification.bin": try SpecificationReader.encode(Seeds.regressor),
            "weights/weight.bin": [2, 0, 0, 0, 2, 0, 0, 0] + [UInt8](repeating: 0, count: 56),
        ]
        return try ModelFile.openCompiled(
            Files(files: files, isProtected: isProtected),
            in: "/models",
            named: "A.mlmodelc"
        )
    }

    @Test func specificationAndWeightsAreReadFromContents() throws {
        let file = try model(isProtected: false)
        #expect(file.specification == Seeds.regressor)
        #expect(file.form == .compiled)
        #expect(file.specificationPath == nil)
        #expect(try file.weights.file("@model_path/weights/weight.bin").blobCount == 2)
        #expect(try file.weights.path("@model_path/weights/weight.bin") == nil)
        let error = try #require(throws: ModelError.self) { try file.weights.file("@model_path/weights/other.bin") }
        #expect("\(error)".contains("other.bin"))
    }

    @Test func whatIsDerivedFromAProtectedModelIsProtected() throws {
        for isProtected in [true, false] {
            let file = try model(isProtected: isProtected)
            let derived = [
                file, file.stage(file.specification, named: "stage"), file.replacing(file.specification),
                file.fixed(to: [:]),
            ]
            for file in derived {
                #expect(file.isProtected == isProtected)
                if isProtected {
                    #expect(throws: ModelError.self) { try file.requireUnprotected("saving") }
                } else {
                    try file.requireUnprotected("saving")
                }
            }
            // A stage is read whole from the folder of its pipeline; what has another specification is not.
            #expect(derived.map { $0.contents != nil } == [true, true, false, false])
        }
    }

    @Test func contentsWithoutSpecificationAreAnError() throws {
        let error = try #require(throws: ModelError.self) {
            try ModelFile.openCompiled(Files(files: [:], isProtected: false), in: "/models", named: "A.mlmodelc")
        }
        #expect("\(error)".hasPrefix("A.mlmodelc: The compiled model has no specification.bin"))
    }
}
