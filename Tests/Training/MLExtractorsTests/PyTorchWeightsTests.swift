import MLNumerics
import Testing

import MLExtractors

@Suite struct PyTorchWeightsTests {
    private let entries = [
        PyTorchFiles.Entry(name: "conv.weight", shape: [2, 3], values: [1, 2, 3, 4, 5, 6]),
        PyTorchFiles.Entry(name: "conv.bias", shape: [2], values: [-1, 0.5]),
        PyTorchFiles.Entry(name: "scale", shape: [], values: [7]),
    ]

    private func read(_ bytes: [UInt8]) throws(ModelError) -> [String: Tensor] {
        try PyTorchWeights.read(bytes, path: "weights.pth")
    }

    private func message(_ bytes: [UInt8]) -> String {
        do throws(ModelError) {
            _ = try read(bytes)
            return "no error"
        } catch { return error.description }
    }

    @Test(arguments: [true, false]) func readsBothForms(isArchive: Bool) throws {
        let tensors = try read(isArchive ? PyTorchFiles.archive(entries) : PyTorchFiles.sequence(entries))
        #expect(tensors.keys.sorted() == ["conv.bias", "conv.weight", "scale"])
        for entry in entries {
            let tensor = try #require(tensors[entry.name])
            #expect(tensor.shape == entry.shape)
            #expect(Array(UnsafeBufferPointer(start: tensor.floats, count: tensor.count)) == entry.values)
        }
    }

    /// Tensors that PyTorch transposed are stored in another order than theirs.
    @Test func readsStrides() throws {
        func values(_ shape: [Int], _ strides: [Int], offset: Int = 0) throws -> [Float] {
            let tensor = PyTorchFiles.tensor(
                PyTorchFiles.storage("0", 6),
                offset: offset,
                shape: shape,
                strides: strides
            )
            let file = PyTorchFiles.zip([
                ("a/data.pkl", PyTorchFiles.dictionary([("x", tensor)])),
                ("a/data/0", PyTorchFiles.bytes([1, 2, 3, 4, 5, 6])),
            ])
            let x = try #require(try read(file)["x"])
            #expect(x.shape == shape)
            return Array(UnsafeBufferPointer(start: x.floats, count: x.count))
        }
        #expect(try values([3, 2], [1, 3]) == [1, 4, 2, 5, 3, 6])
        #expect(try values([2, 1, 3], [1, 7, 2]) == [1, 3, 5, 2, 4, 6])
        #expect(try values([2], [2], offset: 3) == [4, 6])
        #expect(try values([0, 2], [2, 1]) == [])
    }

    /// A file that names a function, as one does that runs a command when Python opens it.
    @Test func refusesCode() {
        let call =
            PyTorchFiles.name("os", "system") + PyTorchFiles.tuple([PyTorchFiles.text("touch owned")]) + [0x52, 0x2E]
        #expect(message(PyTorchFiles.start + [0x80, 2] + call).contains("it names 'os.system'"))
        let archive = PyTorchFiles.zip([("a/data.pkl", [0x80, 2] + call)])
        #expect(message(archive).contains("it names 'os.system', which does not belong to tensors"))
        // Known names cannot be called as they are not meant to be either.
        let storage = PyTorchFiles.name("torch", "FloatStorage") + [0x29, 0x52, 0x2E]
        #expect(message(PyTorchFiles.start + [0x80, 2] + storage).contains("it calls the class of a storage"))
    }

    /// INST, OBJ, NEWOBJ, STACK_GLOBAL, EXT1, PERSID and the like, of which no dictionary of tensors has need.
    @Test(arguments: [0x69, 0x6F, 0x81, 0x93, 0x82, 0x50, 0x92, 0x8F, 0x95, 0x96, 0x97, 0x30, 0x32, 0x00, 0xFF])
    func refusesInstructions(code: UInt8) {
        #expect(
            message(PyTorchFiles.start + [0x80, 2, code, 0x2E]).contains("is not one that a dictionary of tensors")
        )
    }

    @Test func refusesTensorsOutsideTheirStorage() {
        func file(_ tensor: [UInt8]) -> [UInt8] {
            PyTorchFiles.zip([
                ("a/data.pkl", PyTorchFiles.dictionary([("x", tensor)])),
                ("a/data/0", PyTorchFiles.bytes([1, 2, 3, 4])),
            ])
        }
        let storage = PyTorchFiles.storage("0", 4)
        let huge = 1 << 30
        for (tensor, text) in [
            (PyTorchFiles.tensor(storage, shape: [5], strides: [1]), "lies outside its storage"),
            (PyTorchFiles.tensor(storage, offset: 3, shape: [2], strides: [1]), "lies outside its storage"),
            (PyTorchFiles.tensor(storage, offset: -1, shape: [2], strides: [1]), "a tensor's offset is -1"),
            (PyTorchFiles.tensor(storage, shape: [-2], strides: [1]), "not integers of 0 or more"),
            (PyTorchFiles.tensor(storage, shape: [huge, huge, huge], strides: [0, huge, 1]), "too large"),
            (PyTorchFiles.tensor(storage, shape: [2], strides: [huge]), "lies outside its storage"),
            (PyTorchFiles.tensor(storage, shape: [9], strides: [0]), "lies outside its storage"),
            (PyTorchFiles.tensor(storage, shape: [2, 2], strides: [1]), "its strides 1"),
            (
                PyTorchFiles.tensor(PyTorchFiles.storage("0", 5), shape: [5], strides: [1]),
                "lies outside its storage"
            ),
            (PyTorchFiles.tensor(PyTorchFiles.storage("9", 4), shape: [4], strides: [1]), "no file 'a/data/9'"),
            (PyTorchFiles.tensor(PyTorchFiles.storage("0", 4, type: "Evil"), shape: [4], strides: [1]), "'torch.Evil'"),
            (PyTorchFiles.number(3), "there are no tensors in it"),
        ] { #expect(message(file(tensor)).contains(text), "\(text): \(message(file(tensor)))") }
    }

    /// Nesting and cycles exhaust neither the stack nor the memory.
    @Test func survivesNesting() {
        let deep = [0x80, 2, 0x29] + [UInt8](repeating: 0x85, count: 200_000) + [0x2E]
        #expect(message(PyTorchFiles.start + deep).contains("no tensors"))
        // A dictionary that holds itself.
        let cycle = [0x80, 2, 0x7D, 0x71, 0] + PyTorchFiles.text("x") + [0x68, 0, 0x73, 0x2E] as [UInt8]
        #expect(message(PyTorchFiles.start + cycle).contains("no tensors"))
        let many = [0x80, 2] + [UInt8](repeating: 0x4E, count: PyTorchWeights.valueLimit + 1) + [0x2E]
        #expect(message(PyTorchFiles.start + many).contains("more than"))
    }

    /// Every file that is cut off is an error, and no change of a byte traps.
    @Test(arguments: [true, false]) func survivesDamage(isArchive: Bool) throws {
        let sound = isArchive ? PyTorchFiles.archive(entries) : PyTorchFiles.sequence(entries)
        for length in 0..<sound.count {
            #expect(throws: ModelError.self, "cut at \(length)") { try read(Array(sound[..<length])) }
        }
        var source = SplitMix64(seed: 7)
        var refused = 0
        for place in sound.indices {
            for _ in 0..<4 {
                var damaged = sound
                damaged[place] = UInt8(truncatingIfNeeded: source.next())
                if (try? read(damaged)) == nil { refused += 1 }
            }
        }
        #expect(refused > sound.count)
    }
}
