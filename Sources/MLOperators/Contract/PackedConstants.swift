import MLNumerics
import Synchronization

/// Packed forms of constant weights.  Plans of the same weights share them; they live as long as somebody uses them.
enum PackedConstants {
    private struct Key: Hashable, Sendable {
        let storage: ObjectIdentifier
        let byteOffset: Int
        let shape: [Int]
        let form: String
    }

    private struct Entry {
        weak var storage: TensorStorage?
        weak var packed: (any AnyObject & Sendable)?
    }

    private struct Table {
        var entries: [Key: Entry] = [:]
        var pruningCount = 64
    }

    private static let table = Mutex(Table())

    /// The packed form of `tensor`, made by `make` when nobody has it.
    ///
    /// - Parameter form: names the packing and everything but the tensor that decides it.
    static func packed<Packed: AnyObject & Sendable>(_ tensor: Tensor, form: String, make: () -> Packed) -> Packed {
        let key = Key(
            storage: ObjectIdentifier(tensor.storage),
            byteOffset: tensor.byteOffset,
            shape: tensor.shape,
            form: "\(tensor.scalarType) \(form)"
        )
        let known = table.withLock { table -> (any AnyObject & Sendable)? in
            guard let entry = table.entries[key], entry.storage === tensor.storage else { return nil }
            return entry.packed
        }
        if let known = known as? Packed { return known }
        let packed = make()
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
