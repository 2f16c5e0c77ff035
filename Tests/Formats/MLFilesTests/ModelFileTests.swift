import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf
import Testing

@Suite struct ModelFileTests {
    @Test(arguments: [Seeds.regressor, Seeds.network, Seeds.program])
    func modelFileComesBackEqual(_ model: SpecModel) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/m.mlmodel"
            try ModelFile.writeModel(model, to: path)
            let file = try ModelFile.open(path: path)
            #expect(file.specification == model)
            #expect(file.form == .model)
            try ModelFile.reserialize(path: path, to: folder + "/n.mlmodel")
            #expect(try FileAccess.read(path) == FileAccess.read(folder + "/n.mlmodel"))
            #expect(try FileAccess.names(in: folder) == ["m.mlmodel", "n.mlmodel"])
        }
    }

    @Test func unknownFieldsAndValuesAreKept() throws {
        let bytes = try SpecificationReader.encode(Seeds.network) + [0xC2, 0xB5, 0x03, 2, 1, 2, 0xC8, 0xB5, 0x03, 9]
        #expect(try SpecificationReader.encode(SpecificationReader.decode(bytes)) == bytes)
        var array = SpecArrayFeatureType()
        array.dataType = .UNRECOGNIZED(77)
        var model = Seeds.network
        model.description_p.input = [Seeds.feature("x", .multiArrayType(array))]
        #expect(try SpecificationReader.decode(SpecificationReader.encode(model)) == model)
    }

    @Test func packageComesBackEqualWithItsWeights() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/p.mlpackage"
            let weights = try Seeds.weightFile()
            try ModelFile.writePackage(Seeds.program, weights: ["weight.bin": .bytes([0])], to: path)
            try ModelFile.writePackage(Seeds.program, weights: ["weight.bin": .bytes(weights)], to: path + "/")
            try ModelFile.reserialize(path: path, to: folder + "/q.mlpackage")
            for name in ["p", "q"] {
                let file = try ModelFile.open(path: folder + "/\(name).mlpackage")
                #expect(file.specification == Seeds.program)
                #expect(file.unlistedItems == [])
                let blob = try file.blob(fileName: "@model_path/weights/weight.bin", offset: 64)
                #expect(try blob.tensor(shape: [4]).values == [1, 2, 3, 4])
                let stored = folder + "/\(name).mlpackage/Data/com.apple.CoreML/weights/weight.bin"
                #expect(try FileAccess.read(stored) == weights)
            }
        }
    }

    @Test func anyAuthorAndNameAreFound() throws {
        try withTemporaryFolder { folder in
            let package = folder + "/other.mlpackage"
            try FileAccess.makeFolder(package + "/Data/org.example/deep")
            try FileAccess.makeFolder(package + "/Data/org.weights/weights")
            try ModelFile.writeModel(Seeds.program, to: package + "/Data/org.example/deep/net.mlmodel")
            try FileAccess.write(try Seeds.weightFile(), to: package + "/Data/org.weights/weights/weight.bin")
            try FileAccess.write("?", to: package + "/Data/org.example/notes.txt")
            try FileAccess.write("?", to: package + "/Data/stray")
            let items = [
                ("A", "net.mlmodel", "org.example/deep/net.mlmodel"), ("B", "weights", "org.weights/weights"),
            ].map { PackageManifest.Item(identifier: $0.0, name: $0.1, author: "", description: "", path: $0.2) }
            let manifest = PackageManifest(items: items, rootIdentifier: "A")
            try FileAccess.write(manifest.json, to: package + "/Manifest.json")
            let file = try ModelFile.open(path: package)
            #expect(file.unlistedItems == ["org.example/notes.txt", "stray"])
            let blob = try file.blob(fileName: "@model_path/weights/weight.bin", offset: 64)
            #expect(blob.elementCount == 4)

            try FileAccess.remove(package + "/Data/org.weights")
            let message = failure { _ = try ModelFile.open(path: package) }
            #expect(message.contains("\"weights\" is missing") && message.contains("org.weights/weights"))
        }
    }

    @Test func memoryModelFindsItsBlobs() throws {
        let bytes = try SpecificationReader.encode(Seeds.program)
        let weights = try Seeds.weightFile()
        for name in ["@model_path/weights/weight.bin", "weights/weight.bin", "weight.bin"] {
            let file = try ModelFile(specification: bytes, blobs: [name: weights])
            #expect(try file.blob(fileName: "@model_path/weights/weight.bin", offset: 64).elementCount == 4)
        }
        let bare = try ModelFile(specification: bytes)
        let message = failure { _ = try bare.blob(fileName: "@model_path/weights/weight.bin", offset: 64) }
        #expect(message.contains("came without weight files"))
    }

    @Test func constantsAreRead() throws {
        let file = ModelFile(specification: SpecModel(), blobs: ["weight.bin": try Seeds.weightFile()])
        func value(_ type: MILDataType, _ shape: [UInt64], _ tensor: MILTensorValue.OneOf_Value?) -> MILValue {
            var value = MILValue()
            value.type = Seeds.tensorType(type, shape)
            value.immediateValue.tensor.value = tensor
            return value
        }
        let cases: [(MILValue, [Double])] = [
            (value(.float32, [2], .floats(.with { $0.values = [1.5, -2] })), [1.5, -2]),
            (value(.float64, [1], .doubles(.with { $0.values = [1e300] })), [1e300]),
            (value(.int32, [], .ints(.with { $0.values = [-7] })), [-7]),
            (value(.int8, [2], .ints(.with { $0.values = [-7, 7] })), [-7, 7]),
            (value(.int64, [1], .longInts(.with { $0.values = [1 << 40] })), [1_099_511_627_776]),
            (value(.bool, [2], .bools(.with { $0.values = [true, false] })), [1, 0]),
            (value(.float16, [2], .bytes(.with { $0.values = SpecBytes.field([0, 0x3C, 0, 0xC0]) })), [1, -2]),
            (value(.uint4, [3], .bytes(.with { $0.values = SpecBytes.field([0x21, 0x03]) })), [1, 2, 3]),
            (value(.float32, [0], nil), []),
        ]
        for (value, expected) in cases { #expect(try file.tensor(of: value).values == expected) }
        #expect(try file.tensor(of: Seeds.text("abc")).strings == ["abc"])
        let wrong: [MILValue] = [
            value(.float32, [3], .floats(.with { $0.values = [1] })),
            value(.float16, [2], .bytes(.with { $0.values = SpecBytes.field([0]) })),
            value(.bfloat16, [1], .bytes(.with { $0.values = SpecBytes.field([0, 0]) })),
            value(.float32, [1 << 40, 1 << 40], nil), value(.float32, [.max], nil), value(.string, [1], .ints(.init())),
        ]
        for value in wrong { #expect(throws: ModelError.self) { try file.tensor(of: value) } }
    }

    @Test func brokenBytesAreNamed() throws {
        let whole = try SpecificationReader.encode(Seeds.network)
        let text = failure { _ = try ModelFile(specification: Array(whole.dropLast(40)), path: "net.mlmodel") }
        #expect(text.contains("net.mlmodel › neuralNetwork") && text.contains("bytes, but"))

        let claim: [UInt8] = [0x08, 1, 0xA2, 0x1F, 0x80, 0x80, 0x80, 0x80, 0x08] + [UInt8](repeating: 0, count: 900)
        #expect(
            failure { _ = try ModelFile(specification: claim) }.contains("claims 2147483648 bytes, but 900 are left")
        )

        var deep: [UInt8] = []
        for _ in 0..<60 {
            let pipeline = lengthDelimited(1, deep)
            deep = lengthDelimited(202, pipeline)
        }
        #expect(failure { _ = try ModelFile(specification: deep) }.contains("nested deeper than 100"))

        #expect(failure { _ = try ModelFile(specification: []) }.contains("specification version is 0"))
        #expect(failure { _ = try ModelFile(specification: [8, 99]) }.contains("newest known here is 10"))
        #expect(failure { _ = try ModelFile(specification: [8, 1]) }.contains("no model of a known kind"))
        #expect(failure { _ = try ModelFile.open(path: "nowhere.mlmodel") }.contains("no such file"))
        #expect(failure { _ = try ModelFile.open(path: "/dev/null") }.contains("neither a file"))
    }

    private func lengthDelimited(_ field: UInt64, _ body: [UInt8]) -> [UInt8] {
        varint(field << 3 | 2) + varint(UInt64(body.count)) + body
    }

    private func varint(_ value: UInt64) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
    }
}
