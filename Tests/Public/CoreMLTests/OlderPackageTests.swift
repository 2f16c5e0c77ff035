import CoreML
import Foundation
import MLFiles
import MLSpecification
import Testing

/// Packages as writers made them since 2021: unused bytes hold whatever lay in memory.
@Suite struct OlderPackageTests {
    /// A weight file's blobs by type, with their bytes.
    private let blobs: [(type: BlobDataType, bytes: [UInt8])] = [
        // 1, 2, -3, 0.5 in float16, and in float32; int8, uint8, int32.
        (.float16, [0x00, 0x3C, 0x00, 0x40, 0x00, 0xC2, 0x00, 0x38]),
        (.float32, [0, 0, 0x80, 0x3F, 0, 0, 0, 0x40, 0, 0, 0x40, 0xC0, 0, 0, 0, 0x3F]),
        (.int8, [1, 2, 0xFD, 4]), (.uint8, [1, 2, 253, 4]), (.int32, [5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0]),
    ]

    /// The file, and where each blob's description is; bytes without a meaning hold `garbage`.
    private func weightFile(_ folder: String, garbage: (Int) -> UInt8) throws -> (bytes: [UInt8], offsets: [UInt64]) {
        let path = folder + "/weight.bin"
        let writer = try WeightFileWriter(path: path)
        let offsets = try blobs.map { blob in
            try blob.bytes.withUnsafeBytes {
                try writer.append(blob.type, elementCount: blob.bytes.count * 8 / blob.type.bitWidth, $0.bytes)
            }
        }
        try writer.finish()
        var bytes = try FileAccess.read(path)
        for place in 8..<64 { bytes[place] = garbage(place) }
        for (offset, blob) in zip(offsets.map(Int.init), blobs) {
            for place in offset + 24..<offset + 64 { bytes[place] = garbage(place) }
            let end = offset + 64 + blob.bytes.count
            for place in end..<max(end, min((end + 63) / 64 * 64, bytes.count)) { bytes[place] = garbage(place) }
        }
        return (bytes, offsets)
    }

    /// iOS 15 to iOS 26, whose operation sets need specification versions 6 to 10.
    @Test(arguments: ["ios15", "ios16", "ios17", "ios18", "ios26"], [UInt64(0), 0x5A5A, 0xFFFF_FFFF_FFFF_FFFF])
    func packagesOfEveryVersionPredict(_ opset: String, _ seed: UInt64) throws {
        let folder = try FileAccess.makeTemporaryFolder("older")
        defer { try? FileAccess.remove(folder) }
        var state = seed | 1
        let file = try weightFile(folder) { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return seed == .max ? 0xFF : UInt8(truncatingIfNeeded: state >> 56)
        }
        func value(_ type: String, _ blob: Int) -> String {
            "tensor<\(type), [4]>(BLOBFILE(path = string(\"@model_path/weights/weight.bin\"), "
                + "offset = uint64(\(file.offsets[blob]))))"
        }
        var lines = [
            "tensor<fp16, [4]> half = const()[val = \(value("fp16", 0))];",
            "tensor<fp32, [4]> single = const()[val = \(value("fp32", 1))];",
            "tensor<int32, [4]> whole = const()[val = \(value("int32", 4))];",
            "string wide = const()[val = string(\"fp32\")];",
            "tensor<fp32, [4]> a = cast(x = half, dtype = wide);",
            "tensor<fp32, [4]> b = cast(x = whole, dtype = wide);",
            "tensor<fp32, [4]> c = add(x = x, y = a);", "tensor<fp32, [4]> d = add(x = c, y = b);",
        ]
        var expected: [Double] = [10 + 1 + 5, 20 + 2 + 6, 30 - 3 + 7, 40 + 0.5 + 8]
        if opset == "ios16" || opset == "ios17" {
            // Weights of 8 bits, which came with iOS 16.
            lines += [
                "tensor<fp32, [4]> e = constexpr_affine_dequantize()[axis = int32(0), "
                    + "quantized_data = \(value("int8", 2)), scale = fp32(0.5), zero_point = int8(0)];",
                "tensor<fp32, [4]> f = constexpr_affine_dequantize()[axis = int32(0), "
                    + "quantized_data = \(value("uint8", 3)), scale = fp32(1), zero_point = uint8(0)];",
                "tensor<fp32, [4]> g = add(x = e, y = f);", "tensor<fp32, [4]> h = add(x = d, y = g);",
            ]
            for (index, sum) in [1.5, 3, 251.5, 6].enumerated() { expected[index] += sum }
        } else {
            lines.append("tensor<fp32, [4]> h = identity(x = d);")
        }
        lines.append("tensor<fp32, [4]> y = mul(x = h, y = single);")
        let text = "func main<\(opset)>(tensor<fp32, [4]> x) { \(lines.joined(separator: " ")) } -> (y);"
        var specification = SpecModel()
        specification.mlProgram = try MILParser.program(Array("program(1.0) { \(text) }".utf8))
        specification.description_p.input = [feature(("x", .float32, [4]))]
        specification.description_p.output = [feature(("y", .float32, [4]))]
        specification.specificationVersion = SpecificationVersion.minimum(specification)
        #expect((6...10).contains(specification.specificationVersion))
        let package = folder + "/Model.mlpackage"
        try ModelFile.writePackage(specification, weights: ["weight.bin": .bytes(file.bytes)], to: package)

        let compiled = try MLModel.compileModel(at: URL(fileURLWithPath: package))
        defer { try? FileManager.default.removeItem(at: compiled) }
        let input = try MLMultiArray([10, 20, 30, 40] as [Float])
        let answer = try MLModel(contentsOf: compiled).answer(["x": input])
        #expect(answer == zip(expected, [1, 2, -3, 0.5]).map { $0 * $1 })
    }
}
