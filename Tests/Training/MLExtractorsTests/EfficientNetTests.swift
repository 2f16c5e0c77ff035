import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import Testing

import MLExtractors

/// EfficientNet-Lite0 with random weights, beside a plain implementation of the original's formulas.
@Suite struct EfficientNetTests {
    /// A state dictionary of random tensors in the original's shapes, with activations of a moderate size.
    static let tensors: [String: Tensor] = {
        var source = SplitMix64(seed: 3)
        func random(_ shape: [Int], _ range: ClosedRange<Float>) -> Tensor {
            let count = shape.reduce(1, *)
            return Tensor((0..<count).map { _ in Float.random(in: range, using: &source) }, shape: shape)
        }
        var result: [String: Tensor] = [:]
        func add(_ convolution: String, _ normalization: String, _ shape: [Int]) {
            let width = (6 / Float(shape[1] * shape[2] * shape[3])).squareRoot()
            result[convolution + ".weight"] = random(shape, -width...width)
            result[normalization + ".weight"] = random([shape[0]], 0.8...1.4)
            result[normalization + ".bias"] = random([shape[0]], -0.2...0.4)
            result[normalization + ".running_mean"] = random([shape[0]], -0.2...0.2)
            result[normalization + ".running_var"] = random([shape[0]], 0.5...1.5)
        }
        add("_conv_stem", "_bn0", [32, 3, 3, 3])
        for (index, block) in EfficientNetLite0.blocks.enumerated() {
            let (name, wide) = ("_blocks.\(index).", block.inputs * block.expansion)
            if block.expansion > 1 { add(name + "_expand_conv", name + "_bn0", [wide, block.inputs, 1, 1]) }
            add(name + "_depthwise_conv", name + "_bn1", [wide, 1, block.kernel, block.kernel])
            add(name + "_project_conv", name + "_bn2", [block.outputs, wide, 1, 1])
        }
        add("_conv_head", "_bn1", [1280, 320, 1, 1])
        return result
    }()

    /// A picture of gradients and noise: [3][224 × 224], from 0 to 255.
    static let picture: [[UInt8]] = {
        var source = SplitMix64(seed: 5)
        return (0..<3).map { channel in
            (0..<224 * 224).map { place in
                let (row, column) = (place / 224, place % 224)
                let slope = column * (channel + 1) / 2 + row
                return UInt8((slope + Int(source.next() % 32)) % 256)
            }
        }
    }()

    /// Channels of height × width values.
    private struct Maps {
        var size: Int
        var channels: [[Float]]
    }

    private func convolved(_ x: Maps, _ convolution: String, _ norm: String, stride: Int, isDepthwise: Bool) -> Maps {
        let weights = Self.tensors[convolution + ".weight"]!
        let (kernel, outputs) = (weights.shape[2], weights.shape[0])
        let size = (x.size + stride - 1) / stride
        // TensorFlow's "same": what does not divide by two is added below and to the right.
        let before = max((size - 1) * stride + kernel - x.size, 0) / 2
        func parameter(_ name: String, _ index: Int) -> Float { Self.tensors[norm + name]!.floats[index] }
        let channels = (0..<outputs).map { output in
            var sums = [Float](repeating: 0, count: size * size)
            let inputs = isDepthwise ? output..<output + 1 : 0..<x.channels.count
            for (place, input) in inputs.enumerated() {
                let own = weights.floats + (output * weights.shape[1] + place) * kernel * kernel
                x.channels[input].withUnsafeBufferPointer { source in
                    for row in 0..<kernel {
                        for column in 0..<kernel {
                            let weight = own[row * kernel + column]
                            for y in 0..<size {
                                let from = y * stride + row - before
                                guard from >= 0, from < x.size else { continue }
                                for u in 0..<size {
                                    let at = u * stride + column - before
                                    if at >= 0, at < x.size {
                                        sums[y * size + u] += weight * source[from * x.size + at]
                                    }
                                }
                            }
                        }
                    }
                }
            }
            let factor = parameter(".weight", output) / (parameter(".running_var", output) + 1e-3).squareRoot()
            let (mean, bias) = (parameter(".running_mean", output), parameter(".bias", output))
            return sums.map { ($0 - mean) * factor + bias }
        }
        return Maps(size: size, channels: channels)
    }

    private func clipped(_ x: Maps) -> Maps {
        Maps(size: x.size, channels: x.channels.map { $0.map { min(max($0, 0), 6) } })
    }

    @Test func equalsThePlainNetwork() throws {
        let model = try EfficientNetLite0(Self.tensors).specification(.float32)
        let extractor = ExtractorModel(extractor: .efficientNetLite0, specification: model)
        let names = ["stem.relu6", "block1.expand.relu6", "block2.output", "features"]
        let engine = try EngineLoader.load(ModelFile(specification: extractor.specification(outputs: names)))
        let image = ImageBuffer(width: 224, height: 224, format: .rgb8)
        let pixels = image.address.assumingMemoryBound(to: UInt8.self)
        for place in 0..<224 * 224 {
            for channel in 0..<3 { pixels[3 * place + channel] = Self.picture[channel][place] }
        }
        let outputs = try engine.prediction(from: ["image": .image(image)])

        var x = Maps(size: 224, channels: Self.picture.map { $0.map { (Float($0) - 127) / 128 } })
        var expected: [String: [Float]] = [:]
        x = clipped(convolved(x, "_conv_stem", "_bn0", stride: 2, isDepthwise: false))
        expected["stem.relu6"] = x.channels.flatMap { $0 }
        for (index, block) in EfficientNetLite0.blocks.enumerated() {
            let (name, input) = ("_blocks.\(index).", x)
            if block.expansion > 1 {
                x = clipped(convolved(x, name + "_expand_conv", name + "_bn0", stride: 1, isDepthwise: false))
                if index == 1 { expected["block1.expand.relu6"] = x.channels.flatMap { $0 } }
            }
            x = clipped(
                convolved(x, name + "_depthwise_conv", name + "_bn1", stride: block.stride, isDepthwise: true)
            )
            x = convolved(x, name + "_project_conv", name + "_bn2", stride: 1, isDepthwise: false)
            if block.stride == 1, block.inputs == block.outputs {
                x.channels = zip(x.channels, input.channels).map { zip($0, $1).map { $0 + $1 } }
            }
            if index == 2 { expected["block2.output"] = x.channels.flatMap { $0 } }
        }
        x = clipped(convolved(x, "_conv_head", "_bn1", stride: 1, isDepthwise: false))
        #expect(x.size == 7)
        expected["features"] = x.channels.map { $0.reduce(0, +) / 49 }

        for name in names {
            guard case .tensor(let tensor)? = outputs[name] else {
                Issue.record("there is no output \(name)")
                continue
            }
            let values = Array(UnsafeBufferPointer(start: tensor.floats, count: tensor.count))
            let own = try #require(expected[name])
            #expect(values.count == own.count, "\(name)")
            #expect(own.contains { $0 > 0.1 }, "\(name) has no activations")
            let difference = zip(values, own).reduce(0) { max($0, abs($1.0 - $1.1)) }
            #expect(difference < 1e-3, "\(name) differs by \(difference)")
        }
    }

    @Test func storesWeightsInHalfThePrecision() throws {
        let network = try EfficientNetLite0(Self.tensors)
        let model = ExtractorModel(extractor: .efficientNetLite0, specification: try network.specification(.float16))
        let weights = model.weights()
        #expect(weights.count == network.convolutions.count)
        // Blocks without a sum name their projection by its result.
        for (name, convolution) in network.convolutions where !name.hasSuffix(".project") {
            let (weight, bias) = try #require(weights[name])
            #expect(weight.shape == convolution.shape)
            #expect(bias.floats[0] == convolution.bias[0])
            #expect(abs(weight.floats[0] - convolution.weights[0]) <= abs(convolution.weights[0]) * 0x1p-11)
        }
        let bytes = try SpecificationReader.encode(model.specification)
        #expect(bytes.count < 7_200_000)
    }

    @Test func namesTensorsThatDoNotFit() throws {
        var tensors = Self.tensors
        tensors["_blocks.3._bn1.bias"] = nil
        #expect(throws: ModelError.self) { try EfficientNetLite0(tensors) }
        do throws(ModelError) { _ = try EfficientNetLite0(tensors) } catch {
            #expect(error.description.contains("the tensor '_blocks.3._bn1.bias' is missing"))
        }
        tensors = Self.tensors
        tensors["_conv_head.weight"] = Tensor([Float](repeating: 0, count: 320), shape: [1, 320, 1, 1])
        do throws(ModelError) { _ = try EfficientNetLite0(tensors) } catch {
            #expect(
                error.description.contains("'_conv_head.weight' is fp32 [1, 320, 1, 1], not fp32 [1280, 320, 1, 1]")
            )
        }
        let model = ExtractorModel(
            extractor: .efficientNetLite0,
            specification: try EfficientNetLite0(Self.tensors).specification(.float16)
        )
        do throws(ModelError) { _ = try model.specification(outputs: ["block99.output"]) } catch {
            #expect(error.description.contains("no value 'block99.output'; it has stem, stem.relu6, block0.depthwise"))
        }
    }
}
