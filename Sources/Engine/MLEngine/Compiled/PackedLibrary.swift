import MLFiles
import MLKernels
import MLNumerics
import MLOperators
import Synchronization

/// The packed weights of a compiled model for one instruction set, from a file or made on this machine.
final class PackedLibrary: Sendable {
    /// The key of a packed form: the number of its constant and the form.
    struct Key: Hashable, Sendable {
        let constant: Int
        /// The shape that the constant had when it was packed.
        let shape: [Int]
        let form: String
    }

    /// The packed weights of the constants in one storage.
    private final class StorageArchive: PackedArchive {
        /// The numbers of the constants by the offsets of their first bytes.
        private let numbers: [Int: Int]
        private let library: PackedLibrary

        init(_ numbers: [Int: Int], _ library: PackedLibrary) {
            self.numbers = numbers
            self.library = library
        }

        func stored(_ key: PackedKey) -> AlignedMemory? { self.key(key).flatMap(library.stored) }
        func didPack(_ key: PackedKey, _ memory: AlignedMemory) {
            if let key = self.key(key) { library.didPack(key, memory) }
        }

        private func key(_ key: PackedKey) -> Key? {
            numbers[key.byteOffset].map { Key(constant: $0, shape: key.shape, form: key.form) }
        }
    }

    /// The storage of the weights; `nil` for those made on this machine.
    let storage: TensorStorage?
    private let regions: [Key: Range<Int>]
    private let recorded = Mutex<[Key: AlignedMemory]?>(nil)

    /// Makes an empty library that records the weights made until `write`.
    init() {
        storage = nil
        regions = [:]
        recorded.withLock { $0 = [:] }
    }

    /// Opens the weights that `sections` holds for an instruction set.
    init(_ sections: SectionFile, instructionSet: String) throws(ModelError) {
        let section = try sections.range(CompiledModel.Section.packed(instructionSet))
        var reader = BinaryReader(try sections.bytes(CompiledModel.Section.packedIndex(instructionSet)))
        var regions: [Key: Range<Int>] = [:]
        for _ in 0..<(try reader.count()) {
            let key = try Key(from: &reader)
            let (offset, count) = (try reader.unsigned(), try reader.unsigned())
            guard offset <= section.count, count <= section.count - offset else {
                throw BinaryReader.malformed("packed weights lie outside their section")
            }
            regions[key] = section.lowerBound + offset..<section.lowerBound + offset + count
        }
        self.regions = regions
        storage = sections.storage
    }

    /// Provides packed weights for these constants, whose numbers are their indices.
    ///
    /// Constants that share their first byte are all known by the number of the first one.
    func providePackedWeights(for constants: [Tensor]) {
        var numbers: [ObjectIdentifier: (storage: TensorStorage, byOffset: [Int: Int])] = [:]
        for (number, tensor) in constants.enumerated() where tensor.scalarType != .string {
            numbers[ObjectIdentifier(tensor.storage), default: (tensor.storage, [:])]
                .byOffset.merge([tensor.byteOffset: number]) { first, _ in first }
        }
        for (storage, byOffset) in numbers.values { PackedConstants.keep(storage, in: StorageArchive(byOffset, self)) }
    }

    /// The numbers of the constants with recorded weights.
    var recordedConstants: Set<Int> { recorded.withLock { Set(($0 ?? [:]).keys.map(\.constant)) } }

    private func stored(_ key: Key) -> AlignedMemory? {
        guard let storage, let region = regions[key] else { return nil }
        return AlignedMemory(
            borrowedFrom: storage,
            address: storage.address + region.lowerBound,
            byteCount: region.count
        )
    }

    private func didPack(_ key: Key, _ memory: AlignedMemory) {
        recorded.withLock { recorded in
            if recorded != nil, recorded?[key] == nil { recorded?[key] = memory }
        }
    }

    /// Writes the recorded weights and stops recording; returns false when there are none.
    func write(to writer: SectionFileWriter, instructionSet: String) throws(ModelError) -> Bool {
        let recorded = recorded.withLock { recorded in
            defer { recorded = nil }
            return recorded ?? [:]
        }
        guard !recorded.isEmpty else { return false }
        var entries: [(key: [UInt8], memory: AlignedMemory)] = []
        for (key, memory) in recorded {
            var bytes = BinaryWriter()
            key.write(to: &bytes)
            entries.append((bytes.bytes, memory))
        }
        entries.sort { $0.key.lexicographicallyPrecedes($1.key) }
        let name = CompiledModel.Section.packed(instructionSet)
        let offsets = try writer.add(name, partCount: entries.count) { (entry, append) throws(ModelError) in
            let memory = entries[entry].memory
            try append(UnsafeRawBufferPointer(start: memory.address, count: memory.byteCount).bytes)
        }
        var index = BinaryWriter()
        index.unsigned(entries.count)
        for (entry, offset) in zip(entries, offsets) {
            index.raw(entry.key)
            index.unsigned(offset)
            index.unsigned(entry.memory.byteCount)
        }
        try writer.add(CompiledModel.Section.packedIndex(instructionSet), index.bytes)
        return true
    }
}

extension PackedLibrary.Key {
    func write(to writer: inout BinaryWriter) {
        writer.unsigned(constant)
        writer.unsigned(shape.count)
        for extent in shape { writer.unsigned(extent) }
        writer.text(form)
    }

    init(from reader: inout BinaryReader) throws(ModelError) {
        constant = try reader.unsigned()
        var shape: [Int] = []
        for _ in 0..<(try reader.count()) { shape.append(try reader.unsigned()) }
        self.shape = shape
        form = try reader.text()
    }
}
