import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import Testing

import MLExtractors

/// Networks that the tests write, with results that were computed by hand, and files that are damaged.
@Suite struct TFLiteTests {
    /// The outputs `out` of a network for a picture [height, width, 3].
    private func results(_ network: TFLiteNetwork, _ picture: [UInt8], width: Int, height: Int) throws -> [Float] {
        let model = try TFLiteConverter.specification(
            network.bytes,
            path: "test.tflite",
            interface: .init(outputs: ["out": "out"], scale: 1, offset: 0),
            precision: .float32
        )
        let engine = try EngineLoader.load(ModelFile(specification: model, path: "test"))
        let image = ImageBuffer(width: width, height: height, format: .rgba8)
        for pixel in 0..<width * height {
            for component in 0..<3 {
                image.address.storeBytes(
                    of: picture[3 * pixel + component],
                    toByteOffset: 4 * pixel + component,
                    as: UInt8.self
                )
            }
            image.address.storeBytes(of: 255, toByteOffset: 4 * pixel + 3, as: UInt8.self)
        }
        guard case .tensor(let tensor)? = try engine.prediction(from: ["image": .image(image)])["out"] else {
            return []
        }
        return tensor.values.map { Float($0) }
    }

    private func message(_ bytes: [UInt8], outputs: [String: String] = ["out": "out"]) -> String {
        do throws(ModelError) {
            _ = try TFLiteConverter.specification(
                bytes,
                path: "test.tflite",
                interface: .init(outputs: outputs, scale: 1, offset: 0),
                precision: .float16
            )
            return "no error"
        } catch { return error.description }
    }

    /// Red of pixel i is i + 1, green 10 (i + 1), blue 100 for all.
    private func picture(_ count: Int) -> [UInt8] {
        var components: [UInt8] = []
        for number in 1...UInt8(count) { components += [number, 10 * number, 100] }
        return components
    }

    /// A network that keeps the red component of a picture of 4 × 4, before `body`.
    private func red(_ body: (inout TFLiteNetwork, Int32) -> Void) -> TFLiteNetwork {
        var network = TFLiteNetwork()
        let input = network.value("in", [1, 4, 4, 3])
        network.inputs = [input]
        let weights = network.floats([1, 1, 1, 3], [1, 0, 0])
        let bias = network.floats([1], [0])
        let red = network.add(
            3,
            [input, weights, bias],
            "red",
            [1, 4, 4, 1],
            [0: .int8(1), 1: .int32(1), 2: .int32(1)]
        )
        body(&network, red)
        return network
    }

    @Test func `Pictures keep their order of rows, columns and channels`() throws {
        var network = TFLiteNetwork()
        let input = network.value("in", [1, 2, 2, 3])
        network.inputs = [input]
        // Output channels: green + 0.5, red · 2, limited to 6.
        let weights = network.floats([2, 1, 1, 3], [0, 1, 0, 2, 0, 0])
        let bias = network.floats([2], [0.5, 0])
        let options: [Int: Flat] = [0: .int8(1), 1: .int32(1), 2: .int32(1)]
        network.outputs = [network.add(3, [input, weights, bias], "out", [1, 2, 2, 2], options)]
        #expect(try results(network, picture(4), width: 2, height: 2) == [10.5, 2, 20.5, 4, 30.5, 6, 40.5, 8])
    }

    @Test func `Odd padding lies below and to the right`() throws {
        let network = red { network, red in
            let ones = network.floats([1, 3, 3, 1], [Float](repeating: 1, count: 9))
            let options: [Int: Flat] = [0: .int8(0), 1: .int32(2), 2: .int32(2), 3: .int8(1)]
            network.outputs = [network.add(3, [red, ones], "out", [1, 2, 2, 1], options)]
        }
        let found = try results(network, picture(16), width: 4, height: 4)
        func at(_ row: Int, _ column: Int) -> Float { row < 4 && column < 4 ? Float(4 * row + column + 1) : 0 }
        var expected: [Float] = []
        for (row, column) in [(0, 0), (0, 2), (2, 0), (2, 2)] {
            var sum: Float = 0
            for place in 0..<9 { sum += at(row + place / 3, column + place % 3) }
            expected.append(sum)
        }
        #expect(found == expected)
    }

    @Test func `Zeros of their own operator are added before a convolution, or of channels`() throws {
        let network = red { network, red in
            let rows = network.integers([0, 0, 1, 1, 1, 1, 0, 0], shape: [4, 2])
            let wide = network.add(34, [red, rows], "wide", [1, 6, 6, 1])
            let ones = network.floats([1, 3, 3, 1], [Float](repeating: 1, count: 9))
            let options: [Int: Flat] = [0: .int8(1), 1: .int32(3), 2: .int32(3), 3: .int32(1)]
            let sums = network.add(4, [wide, ones], "sums", [1, 2, 2, 1], options)
            let channels = network.integers([0, 0, 0, 0, 0, 0, 0, 1], shape: [4, 2])
            network.outputs = [network.add(34, [sums, channels], "out", [1, 2, 2, 2])]
        }
        let found = try results(network, picture(16), width: 4, height: 4)
        func at(_ row: Int, _ column: Int) -> Float {
            (0..<4).contains(row) && (0..<4).contains(column) ? Float(4 * row + column + 1) : 0
        }
        var expected: [Float] = []
        for (row, column) in [(-1, -1), (-1, 2), (2, -1), (2, 2)] {
            var sum: Float = 0
            for place in 0..<9 { sum += at(row + place / 3, column + place % 3) }
            expected += [sum, 0]
        }
        #expect(found == expected)
    }

    @Test func `Sparse weights and weights in float16 are spread`() throws {
        var network = TFLiteNetwork()
        let input = network.value("in", [1, 2, 2, 3])
        network.inputs = [input]
        // Row 0 has its second column, row 1 its first and third.
        let dense = { (size: Int32) in Flat.table([0: .int8(0), 1: .int32(size)]) }
        let sparse = Flat.table([
            0: .int8(1), 2: .uint8(3), 3: .table([0: .bytes([0, 1, 3])]), 4: .uint8(2),
            5: .table([0: .uint16s([1, 0, 2])]),
        ])
        let sparsity = Flat.table([0: .ints([0, 1, 2, 3]), 2: .tables([dense(2), dense(1), dense(1), sparse])])
        let stored = network.constant([2, 1, 1, 3], type: 1, TFLiteNetwork.halves([0.5, 2, -1]), sparsity: sparsity)
        let spread = network.add(124, [stored], "spread", [2, 1, 1, 3], type: 1)
        let weights = network.add(6, [spread], "weights", [2, 1, 1, 3])
        let options: [Int: Flat] = [0: .int8(1), 1: .int32(1), 2: .int32(1)]
        network.outputs = [network.add(3, [input, weights], "out", [1, 2, 2, 2], options)]
        let found = try results(network, picture(4), width: 2, height: 2)
        // Half of the green; twice the red less the blue.
        #expect(found == [5, -98, 10, -96, 15, -94, 20, -92])
    }

    @Test func `Every other operator computes what TensorFlow states`() throws {
        let network = red { network, red in
            let slopes = network.floats([1, 1, 1], [-1])
            let shift = network.floats([1], [-8])
            let shifted = network.add(0, [red, shift], "shifted", [1, 4, 4, 1])
            let sloped = network.add(54, [shifted, slopes], "sloped", [1, 4, 4, 1])
            let window: [Int: Flat] = [0: .int8(1), 1: .int32(2), 2: .int32(2), 3: .int32(2), 4: .int32(2)]
            let most = network.add(17, [sloped], "most", [1, 2, 2, 1], window)
            let means = network.add(1, [sloped], "means", [1, 2, 2, 1], window)
            let both = network.add(2, [most, means], "both", [1, 2, 2, 2], [0: .int32(3)])
            let doubled = network.add(18, [both, both], "doubled", [1, 2, 2, 2])
            let limited = network.add(21, [doubled], "limited", [1, 2, 2, 2])
            let positive = network.add(19, [limited], "positive", [1, 2, 2, 2])
            let size = network.integers([4, 4])
            let large = network.add(23, [positive, size], "large", [1, 4, 4, 2], [3: .uint8(1)])
            let axes = network.integers([1, 2])
            let mean = network.add(40, [large, axes], "mean", [1, 2])
            let weights = network.floats([3, 2], [1, 0, 0, 1, 1, 1])
            let dense = network.add(9, [mean, weights], "dense", [1, 3])
            let shape = network.integers([1, 1, 1, 3])
            let again = network.add(22, [dense, shape], "again", [1, 1, 1, 3])
            network.outputs = [network.add(14, [again], "out", [1, 1, 1, 3])]
        }
        // |x − 8| of 1…16: the largest of the fields are 7, 5, 6, 8, their means 4.5, 2.5, 3.5, 5.5; squares are limited to 6.
        let found = try results(network, picture(16), width: 4, height: 4)
        let expected: [Float] = [0.997_527_4, 0.997_527_4, 0.999_993_9]
        #expect(found.count == 3 && zip(found, expected).allSatisfy { abs($0 - $1) < 1e-5 }, "\(found)")
    }

    @Test func `Channels become blocks of pixels`() throws {
        var network = TFLiteNetwork()
        let input = network.value("in", [1, 1, 1, 3])
        network.inputs = [input]
        let weights = network.floats([8, 1, 1, 3], (0..<24).map { $0 % 3 == 0 ? Float($0 / 3) : 0 })
        let options: [Int: Flat] = [0: .int8(1), 1: .int32(1), 2: .int32(1)]
        let deep = network.add(3, [input, weights], "deep", [1, 1, 1, 8], options)
        let wide = network.add(5, [deep], "wide", [1, 2, 2, 2], [0: .int32(2)])
        let shape = network.integers([1, 4, 2])
        network.outputs = [network.add(22, [wide, shape], "out", [1, 4, 2])]
        #expect(try results(network, [1, 0, 0], width: 1, height: 1) == (0..<8).map { Float($0) })
    }

    @Test func `What is not converted is named`() {
        func after(_ code: Int32, _ options: [Int: Flat]? = nil) -> String {
            message(red { $0.outputs = [$0.add(code, [$1], "out", [1, 4, 4, 1], options)] }.bytes)
        }
        #expect(after(25).contains("the operator 25"))
        #expect(after(32).contains("of the app's own"))
        #expect(after(3).contains("options"))
        #expect(after(0).contains("has no input 1"))
        #expect(message(red { $0.outputs = [$1] }.bytes).contains("it has no output 'out'; it has red"))
        let fused = red { network, red in
            let options: [Int: Flat] = [0: .int8(4)]
            network.outputs = [network.add(0, [red, red], "out", [1, 4, 4, 1], options)]
        }
        #expect(message(fused.bytes).contains("fused activation 4"))
        #expect(message(Array("PK".utf8)).contains("TFL3"))
        #expect(message([]).contains("TFL3"))
        #expect(message(Flat.table([0: .uint32(3)]).buffer()).contains("no graph"))
        var two = TFLiteNetwork()
        two.inputs = [two.value("a", [1, 4, 4, 3]), two.value("b", [1, 4, 4, 3])]
        #expect(message(two.bytes).contains("one image in colour"))
    }

    /// Files that are cut off or changed anywhere are errors or networks, never a crash.
    @Test func `Damaged files are harmless`() {
        let whole = red { network, red in
            let sparse = Flat.table([
                0: .int8(1), 2: .uint8(1), 3: .table([0: .ints([0, 1])]), 4: .uint8(1), 5: .table([0: .ints([0])]),
            ])
            let dense = Flat.table([0: .int8(0), 1: .int32(1)])
            let sparsity = Flat.table([0: .ints([0, 1, 2, 3]), 2: .tables([dense, dense, dense, sparse])])
            let stored = network.constant([1, 1, 1, 1], type: 1, TFLiteNetwork.halves([1]), sparsity: sparsity)
            let weights = network.add(124, [stored], "weights", [1, 1, 1, 1])
            let options: [Int: Flat] = [0: .int8(1), 1: .int32(1), 2: .int32(1), 3: .int32(1)]
            let same = network.add(4, [red, weights], "same", [1, 4, 4, 1], options)
            let shape = network.integers([1, 16])
            network.outputs = [network.add(22, [same, shape], "out", [1, 16])]
        }.bytes
        #expect(message(whole) == "no error")
        for length in 0..<whole.count { #expect(message(Array(whole[..<length])) != "") }
        var source = SplitMix64(seed: 11)
        for _ in 0..<4000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &source) {
                let place = Int.random(in: 0..<bytes.count, using: &source)
                bytes[place] =
                    [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &source)].randomElement(using: &source)
                    ?? 0
            }
            #expect(message(bytes) != "")
        }
    }
}
