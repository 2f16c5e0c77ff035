import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import Testing

/// Networks opened for predictions leave their large weights in the file: the answers are those of networks read whole.
struct WeightPlacingTests {
    enum Form: CaseIterable { case float, float16, bits8, bits4 }

    /// A dense layer of 192 × 256 weights, whose place in the file the name's length moves.
    private func network(_ form: Form, name: String = "layer", isUpdatable: Bool = false) -> Network {
        var network = Network([[192]]) { layer in
            layer.name = name
            layer.innerProduct.inputChannels = 192
            layer.innerProduct.outputChannels = 256
            layer.innerProduct.hasBias_p = true
            layer.innerProduct.bias.floatValue = (0..<256).map { Float($0) / 32 }
            layer.isUpdatable = isUpdatable
            let count = 192 * 256
            switch form {
            case .float: layer.innerProduct.weights.floatValue = (0..<count).map { Float($0 % 19) - 9 }
            case .float16:
                layer.innerProduct.weights.float16Value = SpecBytes.field(
                    (0..<count).flatMap { index in
                        let bits = Float16(Float(index % 23) / 4 - 2).bitPattern
                        return [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
                    }
                )
            case .bits8, .bits4:
                let width = form == .bits8 ? 8 : 4
                layer.innerProduct.weights.rawValue = SpecBytes.field(
                    (0..<count * width / 8).map { UInt8(truncatingIfNeeded: $0 &* 37) }
                )
                layer.innerProduct.weights.quantization.numberOfBits = UInt64(width)
                layer.innerProduct.weights.quantization.linearQuantization.scale = [0.25]
                layer.innerProduct.weights.quantization.linearQuantization.bias = [-1]
            }
        }
        network.specification.isUpdatable = isUpdatable
        return network
    }

    private let input: [String: FeatureData] = ["x0": .tensor(ramp([192], 0.125))]

    private func values(_ engine: any ModelEngine) throws -> [Double] {
        guard case .tensor(let tensor)? = try engine.prediction(from: input)["y0"] else { return [] }
        return tensor.values
    }

    private func withFile<R>(_ specification: SpecModel, _ body: (String) throws -> R) throws -> R {
        let folder = try FileAccess.makeTemporaryFolder("placing")
        defer { try? FileAccess.remove(folder) }
        let path = folder + "/m.mlmodel"
        try ModelFile.writeModel(specification, to: path)
        return try body(path)
    }

    @Test(arguments: Form.allCases, ["a", "ab", "abc", "abcd"])
    func answersAreThoseOfTheWholeNetwork(form: Form, name: String) throws {
        let network = network(form, name: name)
        try withFile(network.specification) { path in
            let file = try ModelFile.open(path: path, for: .prediction)
            #expect(file.isForPrediction)
            #expect(try SpecificationReader.encode(file.specification).count < 2000)
            let engine = try EngineLoader.load(file)
            // A loaded model needs the file no more.
            try FileAccess.remove(path)
            #expect(try values(engine) == values(try network.engine()))
        }
    }

    @Test func theWholeNetworkIsStillThere() throws {
        let network = network(.float)
        try withFile(network.specification) { path in
            let file = try ModelFile.open(path: path, for: .prediction)
            #expect(try file.whole().specification == network.specification)
            #expect(try ModelFile.open(path: path).specification == network.specification)
        }
    }

    @Test func networksThatLearnAreReadWhole() throws {
        let network = network(.float, isUpdatable: true)
        try withFile(network.specification) { path in
            let file = try ModelFile.open(path: path, for: .prediction)
            #expect(!file.isForPrediction)
            #expect(file.specification == network.specification)
        }
    }

    /// Protobuf allows the values of one field in several pieces.
    @Test func valuesInPiecesAreReadWhole() throws {
        let network = network(.float)
        try withFile(network.specification) { path in
            let whole = try FileAccess.read(path)
            // A second, empty piece of field 1 behind the values: tag 0x0A, length 0; the lengths around it grow by 2.
            let grown = try #require(Self.addingEmptyPiece(to: whole))
            try FileAccess.write(grown, to: path)
            let file = try ModelFile.open(path: path, for: .prediction)
            #expect(!file.isForPrediction)
            #expect(try values(EngineLoader.load(file)) == values(network.engine()))
        }
    }

    /// The bytes with an empty piece of `floatValue` behind the first large one; lengths are varints of three bytes
    /// here.
    private static func addingEmptyPiece(to bytes: [UInt8]) -> [UInt8]? {
        var result = bytes
        var position = 0
        var end = bytes.count
        var lengths: [Int] = []
        while position < end {
            var tag: UInt64 = 0
            var shift: UInt64 = 0
            repeat {
                tag |= UInt64(bytes[position] & 0x7F) << shift
                shift += 7
                position += 1
            } while bytes[position - 1] & 0x80 != 0
            guard tag & 7 == 2 else {
                while bytes[position] & 0x80 != 0 { position += 1 }
                position += 1
                continue
            }
            let start = position
            var length = 0
            shift = 0
            repeat {
                length |= Int(bytes[position] & 0x7F) << Int(shift)
                shift += 7
                position += 1
            } while bytes[position - 1] & 0x80 != 0
            guard length > 1 << 14 else {
                position += length
                continue
            }
            guard position - start == 3 else { return nil }
            if length == 192 * 256 * 4 {
                result.insert(contentsOf: [0x0A, 0], at: position + length)
                for place in lengths {
                    var value =
                        Int(result[place] & 0x7F) | Int(result[place + 1] & 0x7F) << 7 | Int(result[place + 2]) << 14
                    value += 2
                    result[place] = UInt8(value & 0x7F) | 0x80
                    result[place + 1] = UInt8(value >> 7 & 0x7F) | 0x80
                    result[place + 2] = UInt8(value >> 14)
                }
                return result
            }
            lengths.append(start)
            end = position + length
        }
        return nil
    }

    @Test func damagedFilesGiveTheErrorsOfBefore() throws {
        let network = network(.float16)
        try withFile(network.specification) { path in
            let bytes = try FileAccess.read(path)
            var generator = SplitMix64(seed: 3)
            for _ in 0..<200 {
                var changed = bytes
                if generator.next() % 4 == 0 {
                    changed.removeLast(Int(generator.next() % UInt64(bytes.count)))
                } else {
                    changed[Int(generator.next() % 60)] = UInt8(truncatingIfNeeded: generator.next())
                }
                try FileAccess.write(changed, to: path)
                let placed = Result { try EngineLoader.load(ModelFile.open(path: path, for: .prediction)) }
                let whole = Result { try EngineLoader.load(ModelFile.open(path: path)) }
                switch (placed, whole) {
                case (.success, .success): break
                case (.failure(let a as ModelError), .failure(let b as ModelError)): #expect(a.code == b.code)
                default: Issue.record("\(placed) and \(whole)")
                }
            }
        }
    }
}
