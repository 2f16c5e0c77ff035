package import MLKernels
package import MLNumerics
import Synchronization

/// Names the packed form of a constant among those of one storage.
package struct PackedKey: Hashable, Sendable {
    package let byteOffset: Int
    package let shape: [Int]
    /// The scalar type of the constant, the packing and everything but the constant that decides it, the instruction
    /// set among it.
    package let form: String

    package init(byteOffset: Int, shape: [Int], form: String) {
        self.byteOffset = byteOffset
        self.shape = shape
        self.form = form
    }
}

/// Where packed forms of the constants of one storage are kept from run to run.
package protocol PackedArchive: AnyObject, Sendable {
    /// The packed form, lent; `nil` when it is not kept.
    func stored(_ key: PackedKey) -> AlignedMemory?
    /// Is told of a form that had to be made.
    func made(_ key: PackedKey, _ memory: AlignedMemory)
}

/// Packed forms of constant weights.  Plans of the same weights share them; they live as long as somebody uses them.
package enum PackedConstants {
    private struct Key: Hashable, Sendable {
        let storage: ObjectIdentifier
        let key: PackedKey
    }

    private struct Entry {
        weak var storage: TensorStorage?
        weak var packed: (any AnyObject & Sendable)?
    }

    private struct Shelf {
        weak var storage: TensorStorage?
        let archive: any PackedArchive
    }

    private struct Table {
        var entries: [Key: Entry] = [:]
        var pruningCount = 64
        var shelves: [ObjectIdentifier: Shelf] = [:]

        func archive(of storage: TensorStorage) -> (any PackedArchive)? {
            guard let shelf = shelves[ObjectIdentifier(storage)], shelf.storage === storage else { return nil }
            return shelf.archive
        }
    }

    private static let table = Mutex(Table())

    /// Looks for packed forms of constants in `storage` in an archive first, as long as the storage lives.
    package static func keep(_ storage: TensorStorage, in archive: any PackedArchive) {
        table.withLock { table in
            table.shelves = table.shelves.filter { $0.value.storage != nil }
            table.shelves[ObjectIdentifier(storage)] = Shelf(storage: storage, archive: archive)
        }
    }

    /// The packed form of `tensor`: the one that somebody has, the one that is kept, or one made now; `nil` when none is
    /// kept of a tensor whose elements are absent.
    ///
    /// - Parameters:
    ///   - form: names the packing and everything but the tensor that decides it.
    ///   - stored: takes over memory that an archive lends; `nil` when it is not what it says.
    static func packed<Packed: PackedForm>(
        _ tensor: Tensor,
        form: String,
        stored: (AlignedMemory) -> Packed?,
        make: () -> Packed
    ) -> Packed? {
        let packedKey = PackedKey(
            byteOffset: tensor.byteOffset,
            shape: tensor.shape,
            form: "\(tensor.scalarType.milName) \(form)"
        )
        return shared(tensor, packedKey) { archive in
            if let memory = archive?.stored(packedKey), let packed = stored(memory) { return packed }
            guard !tensor.storage.isAbsent else { return nil }
            let packed = make()
            archive?.made(packedKey, packed.memory)
            tensor.letGo()
            return packed
        }
    }

    /// What is derived from `tensor`, shared by those who use it at the same time.
    ///
    /// - Parameter form: names the derivation and everything but the tensor that decides it.
    static func shared<Derived: AnyObject & Sendable>(
        _ tensor: Tensor,
        form: String,
        make: () -> Derived?
    ) -> Derived? {
        let key = PackedKey(byteOffset: tensor.byteOffset, shape: tensor.shape, form: "\(tensor.scalarType) \(form)")
        return shared(tensor, key) { _ in make() }
    }

    private static func shared<Derived: AnyObject & Sendable>(
        _ tensor: Tensor,
        _ packedKey: PackedKey,
        make: ((any PackedArchive)?) -> Derived?
    ) -> Derived? {
        let key = Key(storage: ObjectIdentifier(tensor.storage), key: packedKey)
        let (known, archive) = table.withLock { table -> ((any AnyObject & Sendable)?, (any PackedArchive)?) in
            let archive = table.archive(of: tensor.storage)
            guard let entry = table.entries[key], entry.storage === tensor.storage else { return (nil, archive) }
            return (entry.packed, archive)
        }
        if let known = known as? Derived { return known }
        guard let packed = make(archive) else { return nil }
        table.withLock { table in
            table.entries[key] = Entry(storage: tensor.storage, packed: packed)
            if table.entries.count > table.pruningCount {
                table.entries = table.entries.filter { $0.value.storage != nil && $0.value.packed != nil }
                table.pruningCount = Swift.max(64, 2 * table.entries.count)
            }
        }
        return packed
    }
}
