import Synchronization

/// Storages by number, for messages that can carry a number but no reference.
///
/// The numbers keep nothing alive: the caller that hands out a number must retain the storage while it may be looked up.
package enum StorageRegistry {
    private struct Entry {
        weak var storage: TensorStorage?
    }

    private static let entries = Mutex<[UInt64: Entry]>([:])

    /// A number for `storage` that no file can guess.
    package static func number(for storage: TensorStorage) -> UInt64 {
        entries.withLock { entries in
            entries = entries.filter { $0.value.storage != nil }
            var number = UInt64.random(in: 1 ... .max)
            while entries[number] != nil { number = UInt64.random(in: 1 ... .max) }
            entries[number] = Entry(storage: storage)
            return number
        }
    }

    /// The storage of a number; `nil` when it has been released.
    package static func storage(_ number: UInt64) -> TensorStorage? { entries.withLock { $0[number]?.storage } }
}
