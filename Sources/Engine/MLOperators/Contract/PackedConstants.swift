package import MLKernels
package import MLNumerics
import Synchronization
import MLGraph

/// Identifies the packed form of a constant among those of one storage.
package struct PackedKey: Hashable, Sendable {
    package let byteOffset: Int
    package let shape: [Int]
    /// The scalar type of the constant, the packing and everything else that determines it, including the instruction
    /// set.
    package let form: String

    package init(byteOffset: Int, shape: [Int], form: String) {
        self.byteOffset = byteOffset
        self.shape = shape
        self.form = form
    }
}

/// Stores packed forms of the constants of one storage from run to run.
package protocol PackedArchive: AnyObject, Sendable {
    /// The stored packed form, lent; `nil` when there is none.
    func stored(_ key: PackedKey) -> AlignedMemory?
    /// Is notified of a form that had to be computed.
    func didPack(_ key: PackedKey, _ memory: AlignedMemory)
}

/// Packed forms of constant weights.
///
/// Plans with the same weights share them; they live as long as they are used.
package enum PackedConstants {
    private struct Key: Hashable, Sendable {
        let storage: ObjectIdentifier
        let key: PackedKey
    }

    private struct Entry {
        weak var storage: TensorStorage?
        weak var packed: (any AnyObject & Sendable)?
    }

    private struct RegisteredArchive {
        weak var storage: TensorStorage?
        let archive: any PackedArchive
    }

    private struct Table {
        var entries: [Key: Entry] = [:]
        var pruningCount = 64
        var archives: [ObjectIdentifier: RegisteredArchive] = [:]

        func archive(of storage: TensorStorage) -> (any PackedArchive)? {
            guard let registered = archives[ObjectIdentifier(storage)], registered.storage === storage else {
                return nil
            }
            return registered.archive
        }
    }

    private static let table = Mutex(Table())

    /// Uses an archive for packed forms of constants in `storage`, as long as the storage lives.
    package static func keep(_ storage: TensorStorage, in archive: any PackedArchive) {
        table.withLock { table in
            table.archives = table.archives.filter { $0.value.storage != nil }
            table.archives[ObjectIdentifier(storage)] = RegisteredArchive(storage: storage, archive: archive)
        }
    }

    /// The packed form of `tensor`: one in use, a stored one, or a new one; `nil` when none is stored of a tensor whose
    /// elements are absent.
    ///
    /// - Parameters:
    ///   - tensor: The constant.
    ///   - form: Identifies the packing and all its parameters except the tensor.
    ///   - stored: Takes over the memory of a stored packed form; returns `nil` when it is invalid.
    ///   - make: Packs the tensor.
    /// - Returns: The packed form, or `nil`.
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
            archive?.didPack(packedKey, packed.memory)
            tensor.releasePages()
            return packed
        }
    }

    /// A value derived from `tensor`, shared by its users at the same time.
    ///
    /// - Parameters:
    ///   - tensor: The constant.
    ///   - form: Identifies the derivation and all its parameters except the tensor.
    ///   - make: Computes the value; returns `nil` when there is none.
    /// - Returns: The value that is in use for this tensor and form, or else the one from `make`.
    static func shared<Derived: AnyObject & Sendable>(
        _ tensor: Tensor,
        form: String,
        make: () -> Derived?
    ) -> Derived? {
        let known = "\(tensor.scalarType.rawValue) \(form)"
        let key = PackedKey(byteOffset: tensor.byteOffset, shape: tensor.shape, form: known)
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

/// A constant matrix packed for the micro-kernels, shared between plans.
func packedMatrix(_ tensor: Tensor, terms: Int, columns: Int, layout: PackedWeights.Layout) -> PackedWeights? {
    // By name: printing a case looks for its name at run time.
    let order = layout == .columnsByTerms ? "columnsByTerms" : "termsByColumns"
    let form = "matrix \(terms) \(columns) \(order) \(KernelTable.current)"
    return PackedConstants.packed(tensor, form: form) { memory in
        PackedWeights(
            stored: memory,
            isHalf: tensor.scalarType == .float16,
            terms: terms,
            columns: columns,
            layout: layout
        )
    } make: {
        let rowByteCount = tensor.scalarType.byteCount(of: layout == .columnsByTerms ? terms : columns)
        let tables = decodableTables(tensor, rows: layout == .columnsByTerms ? columns : terms)
        if tables == nil, tensor.storage.deferredContents != nil {
            // Computed as a whole, and only once.
            return tensor.storage.withTransientBytes(from: tensor.byteOffset, count: tensor.byteCount) { bytes in
                PackedWeights(
                    isHalf: tensor.scalarType == .float16,
                    terms: terms,
                    columns: columns,
                    layout: layout
                ) { rows, body in body(bytes + rows.lowerBound * rowByteCount) }
            }
        }
        return PackedWeights(
            isHalf: tensor.scalarType == .float16,
            terms: terms,
            columns: columns,
            layout: layout
        ) { rows, body in
            if let tables {
                let decoded = tables.decodedRows(rows)
                return withExtendedLifetime(decoded) { body(decoded.address) }
            }
            let bytes = rows.lowerBound * rowByteCount..<rows.upperBound * rowByteCount
            tensor.storage.withTransientBytes(from: tensor.byteOffset + bytes.lowerBound, count: bytes.count, body)
            tensor.releasePages(bytes)
        }
    }
}

/// The codes and tables of a matrix with this number of rows, which can be decoded in pieces; `nil` for other constants.
private func decodableTables(_ tensor: Tensor, rows: Int) -> CompressedMatrix? {
    guard let matrix = CompressedMatrix(tensor), matrix.decodesRows, matrix.rows == rows,
        matrix.parameters.scalarType == tensor.scalarType
    else { return nil }
    return matrix
}
