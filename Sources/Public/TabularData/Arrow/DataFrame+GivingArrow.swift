import CTabular
import Foundation

extension DataFrame {
    /// Gives a copy of the table as an Arrow stream of one record batch.
    ///
    /// Columns of `Double`, `Float`, `Int`, `Bool`, `String`, and lists of strings, doubles and integers have a form
    /// there.
    /// - Parameter stream: The address of an `ArrowArrayStream` that is overwritten; its receiver releases it.
    /// - Throws: `ArrowError` for other columns, naming the first.
    package func give(arrowStream stream: UnsafeMutableRawPointer) throws(ArrowError) {
        var nodes: [ArrowNode] = []
        for column in columns { nodes.append(try ArrowNode(column)) }
        let table = ArrowNode("+s", "", shape.rows, 0, children: nodes)
        table.addValidity { _ in false }
        let source = ArrowSource(table)
        let stream = stream.assumingMemoryBound(to: ArrowArrayStream.self)
        stream.pointee = ArrowArrayStream()
        stream.pointee.private_data = Unmanaged.passRetained(source).toOpaque()
        stream.pointee.get_schema = { stream, schema in
            guard let source = ArrowSource.of(stream), let schema else { return EINVAL }
            source.table.describe(schema)
            return 0
        }
        stream.pointee.get_next = { stream, array in
            guard let source = ArrowSource.of(stream), let array else { return EINVAL }
            if source.isRead {
                array.pointee = ArrowArray()
            } else {
                source.table.give(array)
                source.isRead = true
            }
            return 0
        }
        stream.pointee.get_last_error = { _ in nil }
        stream.pointee.release = { stream in
            guard let stream else { return }
            if let source = stream.pointee.private_data { Unmanaged<ArrowSource>.fromOpaque(source).release() }
            stream.pointee.private_data = nil
            stream.pointee.release = nil
        }
    }
}

/// The table that a stream exports, and whether it was read.
private final class ArrowSource {
    let table: ArrowNode
    var isRead = false

    init(_ table: ArrowNode) { self.table = table }

    static func of(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) -> ArrowSource? {
        stream?.pointee.private_data.map { Unmanaged<ArrowSource>.fromOpaque($0).takeUnretainedValue() }
    }
}
