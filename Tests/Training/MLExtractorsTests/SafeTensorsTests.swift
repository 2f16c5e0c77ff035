import MLExtractors
import MLNumerics
import Testing

@Suite struct SafeTensorsTests {
    /// A file of a description and bytes.
    static func file(_ description: String, _ bytes: [UInt8]) -> [UInt8] {
        PyTorchFiles.little(description.utf8.count, 8) + Array(description.utf8) + bytes
    }

    /// A file of float32 tensors.
    static func file(_ tensors: [(name: String, shape: [Int], values: [Float])]) -> [UInt8] {
        var (entries, bytes): ([String], [UInt8]) = ([#""__metadata__":{"format":"pt"}"#], [])
        for tensor in tensors {
            let end = bytes.count + 4 * tensor.values.count
            entries.append(
                #""\#(tensor.name)":{"dtype":"F32","shape":\#(tensor.shape),"data_offsets":[\#(bytes.count),\#(end)]}"#
            )
            bytes += PyTorchFiles.bytes(tensor.values)
        }
        return file("{" + entries.joined(separator: ",") + "}", bytes)
    }

    @Test func readsTensors() throws {
        let bytes = Self.file([("a", [2, 3], [1, 2, 3, 4, 5, 6]), ("b.c", [], [-0.5]), ("none", [0, 4], [])])
        #expect(SafeTensors.hasSignature(bytes))
        let tensors = try SafeTensors.read(bytes, path: "x.safetensors")
        #expect(tensors.keys.sorted() == ["a", "b.c", "none"])
        #expect(tensors["a"]?.shape == [2, 3] && tensors["a"]?.values == [1, 2, 3, 4, 5, 6])
        #expect(tensors["b.c"]?.shape == [] && tensors["b.c"]?.values == [-0.5])
        #expect(tensors["none"]?.count == 0)
        let half = Self.file(#"{"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}"#, [0, 0x3C, 0, 0xC0])
        #expect(try SafeTensors.read(half, path: "x")["h"]?.values == [1, -2])
    }

    @Test(arguments: [
        ("", "its description is not a JSON object"),
        (#"[]"#, "its description is not a JSON object"),
        (#"{"a":1}"#, "the type of the tensor 'a'"),
        (#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}"#, "the place of the tensor 'a'"),
        (#"{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}"#, "the shape of the tensor 'a'"),
        (#"{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}"#, "the shape"),
        (#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}"#, "the place"),
        (#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#, "do not follow"),
        (#"{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#, "are missing"),
        (#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, "bytes follow"),
        (#"{"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}"#, "BF16"),
        (#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"#, "The JSON is broken"),
    ])
    func refusesDamagedFiles(description: String, part: String) {
        let error = #expect(throws: ModelError.self) {
            try SafeTensors.read(Self.file(description, [UInt8](repeating: 0, count: 8)), path: "x")
        }
        if !description.isEmpty { #expect(error?.description.contains(part) == true, "\(String(describing: error))") }
    }

    /// Every file that is cut off, and those with a byte changed, end in an error or in tensors.
    @Test func neverTraps() throws {
        let bytes = Self.file([("a", [2], [1, 2]), ("b", [1], [3])])
        for count in bytes.indices {
            #expect(throws: ModelError.self) { try SafeTensors.read(Array(bytes[..<count]), path: "x") }
        }
        for place in bytes.indices {
            for value: UInt8 in [0, 0x22, 0x39, 0x7F, 0xFF] {
                var changed = bytes
                changed[place] = value
                _ = try? SafeTensors.read(changed, path: "x")
            }
        }
    }
}
