import CTabular
import Foundation

/// A column in Arrow's layout, in memory of its own.
final class ArrowNode {
    let format: String
    let name: String
    let count: Int
    let missing: Int
    /// Memory allocated by `malloc`; the validity bits first, nil when no element is missing.
    private var buffers: [UnsafeMutableRawPointer?]
    let children: [ArrowNode]

    init(_ format: String, _ name: String, _ count: Int, _ missing: Int, children: [ArrowNode] = []) {
        (self.format, self.name, self.count, self.missing) = (format, name, count, missing)
        self.children = children
        buffers = []
    }

    deinit { for buffer in buffers { free(buffer) } }

    /// Adds a buffer of `bytes` zero bytes and returns it.
    @discardableResult
    func add(_ bytes: Int) -> UnsafeMutableRawPointer {
        guard let memory = calloc(max(bytes, 8), 1) else { fatalError("TabularData: no memory for \(bytes) bytes") }
        buffers.append(memory)
        return memory
    }

    /// Adds the validity bits of a column.
    func addValidity(_ isMissing: (Int) -> Bool) {
        guard missing > 0 else { return buffers.append(nil) }
        let bits = add((count + 7) / 8).assumingMemoryBound(to: UInt8.self)
        for row in 0..<count where !isMissing(row) { bits[row >> 3] |= 1 << UInt8(row & 7) }
    }

    // MARK: C structures

    /// The addresses of a structure's children, each allocated alone so that it can be moved out of its parent.
    private static func addresses<T>(_ count: Int, _ empty: T) -> UnsafeMutablePointer<UnsafeMutablePointer<T>?> {
        let list = UnsafeMutablePointer<UnsafeMutablePointer<T>?>.allocate(capacity: max(count, 1))
        for index in 0..<count {
            let position = UnsafeMutablePointer<T>.allocate(capacity: 1)
            position.initialize(to: empty)
            (list + index).initialize(to: position)
        }
        return list
    }

    /// Describes the column at `schema`, whose receiver releases it.
    func describe(_ schema: UnsafeMutablePointer<ArrowSchema>) {
        let list = Self.addresses(children.count, ArrowSchema())
        for (index, child) in children.enumerated() { if let position = list[index] { child.describe(position) } }
        schema.pointee = ArrowSchema()
        schema.pointee.format = UnsafePointer(strdup(format))
        schema.pointee.name = UnsafePointer(strdup(name))
        // Elements may be missing.
        schema.pointee.flags = 2
        schema.pointee.n_children = Int64(children.count)
        schema.pointee.children = list
        schema.pointee.release = { schema in
            guard let schema else { return }
            for index in 0..<Int(schema.pointee.n_children) {
                guard let child = schema.pointee.children[index] else { continue }
                if let release = child.pointee.release { release(child) }
                child.deallocate()
            }
            schema.pointee.children.deallocate()
            free(UnsafeMutablePointer(mutating: schema.pointee.format))
            free(UnsafeMutablePointer(mutating: schema.pointee.name))
            schema.pointee.release = nil
        }
    }

    /// Gives the column's memory at `array`, whose receiver releases it; the memory lives until then.
    func give(_ array: UnsafeMutablePointer<ArrowArray>) {
        let list = Self.addresses(children.count, ArrowArray())
        for (index, child) in children.enumerated() { if let position = list[index] { child.give(position) } }
        let positions = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: max(buffers.count, 1))
        for (index, buffer) in buffers.enumerated() {
            (positions + index).initialize(to: buffer.map { UnsafeRawPointer($0) })
        }
        array.pointee = ArrowArray()
        array.pointee.length = Int64(count)
        array.pointee.null_count = Int64(missing)
        array.pointee.n_buffers = Int64(buffers.count)
        array.pointee.buffers = positions
        array.pointee.n_children = Int64(children.count)
        array.pointee.children = list
        array.pointee.private_data = Unmanaged.passRetained(self).toOpaque()
        array.pointee.release = { array in
            guard let array else { return }
            for index in 0..<Int(array.pointee.n_children) {
                guard let child = array.pointee.children[index] else { continue }
                if let release = child.pointee.release { release(child) }
                child.deallocate()
            }
            array.pointee.children.deallocate()
            array.pointee.buffers.deallocate()
            if let node = array.pointee.private_data { Unmanaged<ArrowNode>.fromOpaque(node).release() }
            array.pointee.release = nil
        }
    }
}

extension ArrowNode {
    /// A column in Arrow's layout.
    /// - Throws: `ArrowError` for elements that have no form there, naming the column.
    convenience init(_ column: AnyColumn) throws(ArrowError) {
        let erased = column.erased
        if let column = erased.typed(Double.self)?.column {
            self.init(numbers: column, "g")
        } else if let column = erased.typed(Float.self)?.column {
            self.init(numbers: column, "f")
        } else if let column = erased.typed(Int.self)?.column {
            self.init(numbers: column, "l")
        } else if let column = erased.typed(Bool.self)?.column {
            self.init(booleans: column)
        } else if let column = erased.typed(String.self)?.column {
            self.init(texts: column)
        } else if let column = erased.typed([String].self)?.column {
            self.init(lists: column) { ArrowNode(texts: $0) }
        } else if let column = erased.typed([Double].self)?.column {
            self.init(lists: column) { ArrowNode(numbers: $0, "g") }
        } else if let column = erased.typed([Int].self)?.column {
            self.init(lists: column) { ArrowNode(numbers: $0, "l") }
        } else {
            throw .column(
                column.name,
                "holds elements of type \(typeName(column.wrappedElementType)), which are not given as Arrow data"
            )
        }
    }

    private convenience init<T: BitwiseCopyable>(numbers column: Column<T>, _ format: String) {
        self.init(format, column.name, column.count, column.missingCount)
        addValidity(column.storage.isMissing)
        let memory = add(column.count * MemoryLayout<T>.stride)
        if let plain = column.storage.plain { memcpy(memory, plain.values, column.count * MemoryLayout<T>.stride) }
    }

    private convenience init(booleans column: Column<Bool>) {
        self.init("b", column.name, column.count, column.missingCount)
        addValidity(column.storage.isMissing)
        let bits = add((column.count + 7) / 8).assumingMemoryBound(to: UInt8.self)
        for row in 0..<column.count where column.storage[row] == true { bits[row >> 3] |= 1 << UInt8(row & 7) }
    }

    private convenience init(texts column: Column<String>) {
        self.init("U", column.name, column.count, column.missingCount)
        addValidity(column.storage.isMissing)
        let offsets = add((column.count + 1) * 8).assumingMemoryBound(to: Int64.self)
        guard let buffer = column.storage.text else { preconditionFailure("strings are stored as text") }
        for row in 0..<column.count {
            let count = buffer.isMissing(row) ? 0 : buffer.withBytes(row) { $0.count }
            offsets[row + 1] = offsets[row] + Int64(count)
        }
        let bytes = add(Int(offsets[column.count]))
        for row in 0..<column.count where !buffer.isMissing(row) {
            buffer.withBytes(row) { source in
                if let start = source.baseAddress { memcpy(bytes + Int(offsets[row]), start, source.count) }
            }
        }
    }

    private convenience init<T>(lists column: Column<[T]>, _ child: (Column<T>) -> ArrowNode) {
        var elements = Column<T>(name: "item", capacity: column.count)
        var ends = [Int64]()
        ends.reserveCapacity(column.count)
        for row in 0..<column.count {
            for element in column.storage[row] ?? [] { elements.append(element) }
            ends.append(Int64(elements.count))
        }
        self.init("+L", column.name, column.count, column.missingCount, children: [child(elements)])
        addValidity(column.storage.isMissing)
        let offsets = add((column.count + 1) * 8).assumingMemoryBound(to: Int64.self)
        for (row, end) in ends.enumerated() { offsets[row + 1] = end }
    }
}
