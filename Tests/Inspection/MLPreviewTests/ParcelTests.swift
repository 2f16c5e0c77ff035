import MLFeatures
import MLFiles
import MLNumerics
import MLPreview
import Testing

@Suite("Values between page and server")
struct ParcelTests {
    @Test func `blobs come back as they went, in places that numbers can be read from`() throws {
        var builder = Parcel.Builder()
        let parts: [[UInt8]] = [[1, 2, 3], [], Array(0...20), [9]]
        let list = parts.map { JSONValue.object(builder.add($0)) }
        let bytes = try builder.bytes(.object([.init("parts", .array(list)), .init("name", .string("é"))]))
        let parcel = try Parcel(bytes)
        #expect(parcel.json["name"] == .string("é"))
        guard case .array(let named)? = parcel.json["parts"] else { throw ModelError(.malformed, "no list") }
        for (value, part) in zip(named, parts) {
            #expect(Array(try parcel.blob(value)) == part)
            guard case .integer(let offset)? = value["offset"] else { throw ModelError(.malformed, "no offset") }
            #expect(offset % 8 == 0)
        }
    }

    @Test(arguments: [-1, 0, 1, 25, 1 << 40, Int64.max])
    func `bytes that are not there are refused`(_ number: Int64) throws {
        var builder = Parcel.Builder()
        _ = builder.add([UInt8](repeating: 7, count: 24))
        let bytes = try builder.bytes(.object([]))
        let parcel = try Parcel(bytes)
        for json in [
            JSONValue.object([.init("offset", .integer(number)), .init("length", .integer(25))]),
            .object([.init("offset", .integer(24)), .init("length", .integer(number == 0 ? 1 : number))]),
            .object([.init("length", .integer(1))]), .null,
        ] { #expect(throws: ModelError.self) { _ = try parcel.blob(json) } }
    }

    @Test func `no bytes bring the reader down`() throws {
        var builder = Parcel.Builder()
        let blob = builder.add([1, 2, 3, 4])
        let seed = try builder.bytes(.object([.init("a", .object(blob))]))
        for location in seed.indices {
            for value in [0, 1, 127, 128, 255] as [UInt8] {
                var bytes = seed
                bytes[location] = value
                if let parcel = try? Parcel(bytes), let json = parcel.json["a"] { _ = try? parcel.blob(json) }
            }
            _ = try? Parcel(Array(seed[..<location]))
        }
    }

    @Test func `answers keep their order; half precision becomes single, small integers 32 bits`() throws {
        var answer = AnswerParcel()
        let outputs: [String: FeatureData] = [
            "half": .tensor(Tensor(values: [1.5, -2], scalarType: .float16, shape: [2])),
            "flags": .tensor(Tensor(values: [1, 0, 1], scalarType: .uint8, shape: [3])),
            "shares": .dictionary(.strings(["b": 0.25, "a": 0.25, "c": 0.5])), "big": .int64(.max),
        ]
        let json = answer.outputs(outputs, in: ["shares", "half"])
        let parcel = try Parcel(try answer.builder.bytes(.object([.init("outputs", json)])))
        guard case .array(let list)? = parcel.json["outputs"] else { throw ModelError(.malformed, "no list") }
        #expect(list.map { $0["name"]?.string } == ["shares", "half", "big", "flags"])
        #expect(
            list[0]["value"] == .array([["c", 0.5], ["a", 0.25], ["b", 0.25]].map(Self.pair))
        )
        #expect(list[1]["form"] == .string("fp32"))
        let numbers = Array(try parcel.blob(list[1])).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        #expect(numbers == [1.5, -2])
        #expect(list[2]["value"] == .string("9223372036854775807"))
        #expect(list[3]["form"] == .string("int32"))
    }

    private static func pair(_ values: [any Sendable]) -> JSONValue {
        .array(values.map { ($0 as? String).map(JSONValue.string) ?? .number($0 as? Double ?? .nan) })
    }

    @Test func `pictures become red, green, blue and alpha`() throws {
        let image = ImageBuffer(width: 2, height: 1, format: .bgra8)
        for (location, value) in ([10, 20, 30, 40, 1, 2, 3, 4] as [UInt8]).enumerated() {
            image.address.storeBytes(of: value, toByteOffset: location, as: UInt8.self)
        }
        var answer = AnswerParcel()
        let json = answer.outputs(["picture": .image(image)], in: [])
        let parcel = try Parcel(try answer.builder.bytes(json))
        guard case .array(let list) = parcel.json else { throw ModelError(.malformed, "no list") }
        #expect(Array(try parcel.blob(list[0])) == [30, 20, 10, 255, 3, 2, 1, 255])
    }
}
