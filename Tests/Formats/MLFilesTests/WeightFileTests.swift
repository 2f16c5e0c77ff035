import MLFiles
import MLNumerics
import MLSpecification
import Testing

@Suite struct WeightFileTests {
    /// Every type that a weight file holds, with a number of elements that leaves bits unused where it can.
    @Test func everyTypeComesBack() throws {
        let types = BlobDataType.allCases.compactMap(\.scalarType)
        #expect(types.count == 14)
        let tensors = types.map { type in
            Tensor(values: [1, 0, 1, 1, 0].map { type == .int4 ? -$0 : $0 }, scalarType: type, shape: [5])
        }
        let file = try WeightFile(TensorStorage(copying: try Seeds.weightFile(tensors)), path: "weight.bin")
        #expect(file.blobCount == tensors.count)
        for (offset, tensor) in zip(try file.blobOffsets(), tensors) {
            let blob = try file.blob(at: offset)
            #expect(blob.byteOffset % 64 == 0)
            #expect(blob.elementCount == 5)
            let back = try blob.tensor(shape: [5])
            #expect(back.scalarType == tensor.scalarType && back.values == tensor.values)
            #expect(back.storage === file.storage)
        }
    }

    @Test func typesThatTensorsDoNotHoldAreRefusedByName() throws {
        try withTemporaryFolder { folder in
            let writer = try WeightFileWriter(path: folder + "/w")
            for type in [BlobDataType.bfloat16, .float8E4M3FN, .float8E5M2] {
                let bytes = [UInt8](repeating: 0, count: type.bitWidth / 8)
                let offset = try writer.append(type, elementCount: 1, bytes.span.bytes)
                #expect(offset % 64 == 0)
            }
            try writer.finish()
            let file = try WeightFile(path: folder + "/w")
            for (offset, name) in zip(try file.blobOffsets(), ["bf16", "fp8e4m3fn", "fp8e5m2"]) {
                #expect(failure { _ = try file.blob(at: offset).tensor(shape: [1]) }.contains(name))
            }
        }
    }

    /// Offsets, sizes and marks that lie give an error that names file, blob and field.
    @Test func liesAreNamed() throws {
        let good = try Seeds.weightFile()
        func message(at offset: UInt64 = 64, _ change: (inout [UInt8]) -> Void) -> String {
            var bytes = good
            change(&bytes)
            return failure {
                _ = try WeightFile(TensorStorage(copying: bytes), path: "weight.bin").blob(at: offset).tensor(shape: [
                    2, 2,
                ])
            }
        }
        #expect(message { _ in } == "")
        let cases: [(String, (inout [UInt8]) -> Void)] = [
            ("weight.bin › header", { $0.removeLast($0.count - 63) }), ("header.version", { $0[4] = 9 }),
            ("magic", { $0[64] = 0 }), ("dataType", { $0[68] = 77 }), ("sizeInBytes", { $0[79] = 0xFF }),
            ("sizeInBytes", { $0[87] = 0xFF }), ("sizeInBytes", { $0[80] = 0xFF }),
            ("not a whole number", { $0[72] = 15 }), ("takes 4 elements", { $0[72] = 12 }),
            ("sizeInBytes", { $0.removeLast() }),
        ]
        for (expected, change) in cases { #expect(message(change).contains(expected)) }
        var bytes = try Seeds.weightFile([Tensor(values: [1, 2, 3], scalarType: .uint4, shape: [3])])
        bytes[88] = 9
        let file = try WeightFile(TensorStorage(copying: bytes), path: "weight.bin")
        #expect(failure { _ = try file.blob(at: 64) }.contains("paddingInBits"))
        for offset: UInt64 in [0, 1, 65, 128, 192, 1 << 40, .max] {
            #expect(message(at: offset) { _ in } != "")
        }
    }

    /// The field that later became `paddingInBits` was uninitialised memory, as the bytes behind it still are; they say
    /// something about elements of less than a byte alone.
    @Test(arguments: BlobDataType.allCases.filter { $0.bitWidth >= 8 && $0.scalarType != nil })
    func bytesWithoutMeaningMayHoldAnything(_ type: BlobDataType) throws {
        let scalarType = try #require(type.scalarType)
        let tensor = Tensor(values: [1, 2, 3], scalarType: scalarType, shape: [3])
        let good = try Seeds.weightFile([tensor])
        for garbage: UInt8 in [1, 7, 8, 0x7F, 0xFF] {
            var bytes = good
            for place in [8..<64, 88..<128].joined() { bytes[place] = garbage }
            let file = try WeightFile(TensorStorage(copying: bytes), path: "weight.bin")
            let blob = try file.blob(at: try #require(try file.blobOffsets().first))
            #expect(try blob.elementCount == 3 && blob.tensor(shape: [3]).values == tensor.values)
        }
    }

    @Test func namesThatLeaveTheModelAreRefused() {
        let file = ModelFile(specification: SpecModel())
        for name in ["@model_path/../secret", "/etc/passwd", "", "@model_path/", "a/../../b"] {
            #expect(failure { _ = try file.blob(fileName: name, offset: 64) }.contains("leads out of the model"))
        }
    }
}
