import MLFiles
import MLNumerics
import MLSpecification

/// Writes a package of `count` linear layers of `width` inputs and outputs, whose weights are random float32.
func makeModel(_ path: String, count: Int, width: Int) throws {
    let folder = try FileAccess.makeTemporaryFolder("encryption-runner")
    defer { try? FileAccess.remove(folder) }
    let writer = try WeightFileWriter(path: folder + "/weight.bin")
    var generator = SplitMix64(seed: 7)
    var text = "func main<CoreML8>(tensor<fp32, [1, \(width)]> x0) { "
    for layer in 0..<count {
        let weights = (0..<width * width).map { _ in Float(generator.next() >> 40) / 0x1p24 - 0.5 }
        let offset = try writer.append(Tensor(weights, shape: [width, width]))
        let type = "tensor<fp32, [\(width), \(width)]>"
        text += "\(type) w\(layer) = const()[name = string(\"w\(layer)\"), val = \(type)(BLOBFILE(path = "
        text += "string(\"@model_path/weights/weight.bin\"), offset = uint64(\(offset))))]; "
        text += "tensor<fp32, [1, \(width)]> x\(layer + 1) = linear(x = x\(layer), weight = w\(layer))"
        text += "[name = string(\"x\(layer + 1)\")]; "
    }
    try writer.finish()
    text += "} -> (x\(count));"
    var model = SpecModel()
    model.specificationVersion = 9
    model.mlProgram = try MILParser.program(Array("program(1.3) { \(text) }".utf8))
    func feature(_ name: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.multiArrayType.dataType = .float32
        feature.type.multiArrayType.shape = [1, Int64(width)]
        return feature
    }
    model.description_p.input = [feature("x0")]
    model.description_p.output = [feature("x\(count)")]
    try ModelFile.writePackage(model, weights: ["weight.bin": .path(folder + "/weight.bin")], to: path)
}
