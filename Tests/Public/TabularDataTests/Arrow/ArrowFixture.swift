import CTabular
import Foundation
import TabularData

/// A column as another library would give it, in memory of its own, whose counts and pointers a test may falsify.
final class ArrowFixture {
    var format: String
    var name: String
    var length: Int64
    var missing: Int64 = 0
    var offset: Int64 = 0
    var buffers: [[UInt8]?]
    var children: [ArrowFixture] = []
    var dictionary: ArrowFixture?
    /// The number of children that the array states; those it has by default.
    var statedChildren: Int64?

    init(_ format: String, _ name: String, _ length: Int, _ buffers: [[UInt8]?]) {
        (self.format, self.name, self.length, self.buffers) = (format, name, Int64(length), buffers)
    }

    /// The bytes of numbers.
    static func bytes<T>(_ values: [T]) -> [UInt8] { values.withUnsafeBytes { Array($0) } }

    /// Bits from the lowest.
    static func bits(_ values: [Bool]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: (values.count + 7) / 8)
        for (index, value) in values.enumerated() where value { result[index >> 3] |= 1 << UInt8(index & 7) }
        return result
    }

    /// A column of numbers; nil is a missing one.
    static func numbers<T>(_ format: String, _ name: String, _ values: [T?], missing filler: T) -> ArrowFixture {
        let fixture = ArrowFixture(format, name, values.count, [nil, bytes(values.map { $0 ?? filler })])
        fixture.missing = Int64(values.count { $0 == nil })
        if fixture.missing > 0 { fixture.buffers[0] = bits(values.map { $0 != nil }) }
        return fixture
    }

    static func doubles(_ name: String, _ values: [Double?]) -> ArrowFixture {
        numbers("g", name, values, missing: 1e300)
    }

    /// A column of texts with offsets of 32 bits.
    static func texts(_ name: String, _ values: [String?]) -> ArrowFixture {
        var offsets: [Int32] = [0]
        var text: [UInt8] = []
        for value in values {
            text += Array((value ?? "").utf8)
            offsets.append(Int32(text.count))
        }
        let fixture = ArrowFixture("u", name, values.count, [nil, bytes(offsets), text])
        fixture.missing = Int64(values.count { $0 == nil })
        if fixture.missing > 0 { fixture.buffers[0] = bits(values.map { $0 != nil }) }
        return fixture
    }

    /// A table of columns.
    static func table(_ columns: [ArrowFixture], rows: Int? = nil) -> ArrowFixture {
        let fixture = ArrowFixture("+s", "", rows ?? columns.first.map { Int($0.length) } ?? 0, [nil])
        fixture.children = columns
        return fixture
    }

    // MARK: C structures

    /// The number of arrays that were released.
    nonisolated(unsafe) static var released = 0

    /// Memory that lives as long as the process: the tests are few and their arrays small.
    private static func keep<T>(_ values: [T]) -> UnsafeMutablePointer<T> {
        let memory = UnsafeMutablePointer<T>.allocate(capacity: max(values.count, 1))
        memory.initialize(from: values, count: values.count)
        return memory
    }

    func schema() -> ArrowSchema {
        var result = ArrowSchema()
        result.format = UnsafePointer(strdup(format))
        result.name = UnsafePointer(strdup(name))
        result.n_children = Int64(children.count)
        result.children = Self.keep(children.map { Self.keep([$0.schema()]) })
        if let dictionary { result.dictionary = Self.keep([dictionary.schema()]) }
        result.release = { $0?.pointee.release = nil }
        return result
    }

    /// The array; its buffers start where 64 divides the address.
    func array() -> ArrowArray {
        var result = ArrowArray()
        result.length = length
        result.null_count = missing
        result.offset = offset
        result.n_buffers = Int64(buffers.count)
        result.buffers = Self.keep(
            buffers.map { bytes in
                bytes.map { bytes in
                    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 64), alignment: 64)
                    memory.copyMemory(from: bytes, byteCount: bytes.count)
                    return UnsafeRawPointer(memory)
                }
            }
        )
        result.n_children = statedChildren ?? Int64(children.count)
        result.children = Self.keep(children.map { Self.keep([$0.array()]) })
        if let dictionary { result.dictionary = Self.keep([dictionary.array()]) }
        result.release = { array in
            ArrowFixture.released += 1
            array?.pointee.release = nil
        }
        return result
    }

    /// The data frame that a copy of this table becomes.
    func copied() throws -> DataFrame {
        var (schema, array) = (schema(), array())
        return try DataFrame(copyingArrowArray: &array, schema: &schema)
    }
}

/// A stream of batches of one schema.
final class ArrowFixtureStream {
    let schema: ArrowFixture
    let batches: [ArrowFixture]
    var next = 0
    var fails = false

    init(_ batches: [ArrowFixture], schema: ArrowFixture? = nil) {
        (self.batches, self.schema) = (batches, schema ?? batches[0])
    }

    private static func of(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) -> ArrowFixtureStream? {
        stream?.pointee.private_data.map { Unmanaged<ArrowFixtureStream>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The data frame of all batches.
    func frame() throws -> DataFrame {
        var stream = ArrowArrayStream()
        stream.private_data = Unmanaged.passUnretained(self).toOpaque()
        stream.get_schema = { stream, schema in
            guard let source = ArrowFixtureStream.of(stream) else { return 22 }
            schema?.pointee = source.schema.schema()
            return 0
        }
        stream.get_next = { stream, array in
            guard let source = ArrowFixtureStream.of(stream), !source.fails else { return 5 }
            array?.pointee = source.next < source.batches.count ? source.batches[source.next].array() : ArrowArray()
            source.next += 1
            return 0
        }
        stream.get_last_error = { _ in UnsafePointer(strdup("the disk is gone")) }
        stream.release = { $0?.pointee.release = nil }
        return try withExtendedLifetime(self) { try DataFrame(arrowStream: &stream) }
    }
}
