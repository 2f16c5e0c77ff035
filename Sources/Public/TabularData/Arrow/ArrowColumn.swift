import CTabular
import Foundation

/// Makes columns of the arrays of a field.
struct ArrowColumn {
    let field: ArrowField

    init(_ field: ArrowField) { self.field = field }

    /// The column of some rows.
    func column(_ part: ArrowPart) throws(ArrowError) -> any ErasedColumn {
        switch field.type {
        case .null: return typed(try missing(part))
        case .boolean: return typed(.plain(try booleans(part)))
        case .integer(let bits, let isSigned): return typed(.plain(try integers(part, bits, isSigned)))
        case .half:
            return typed(.plain(try converted(part, UInt16.self) { Float(Float16(bitPattern: $0)) }))
        case .float: return typed(.plain(try numbers(part, Float.self)))
        case .double: return typed(.plain(try numbers(part, Double.self)))
        case .text(false): return typed(ColumnStorage<String>.text(try texts(part, Int32.self)))
        case .text(true): return typed(ColumnStorage<String>.text(try texts(part, Int64.self)))
        case .textView: return typed(ColumnStorage<String>.text(try textViews(part)))
        case .days:
            return typed(.plain(try converted(part, Int32.self) { Date(timeIntervalSince1970: Double($0) * 86400) }))
        case .timestamp(let scale):
            return typed(
                .plain(try converted(part, Int64.self) { Date(timeIntervalSince1970: Double($0) / scale) })
            )
        case .list(false): return try lists(part, offsets: try offsets(part, Int32.self))
        case .list(true): return try lists(part, offsets: try offsets(part, Int64.self))
        case .fixedList(let size): return try lists(part, offsets: try offsets(part, size: size))
        case .map: return try maps(part)
        case .structure: return try structures(part)
        case .dictionary(let indices, let values): return try gathered(part, indices, values)
        }
    }

    /// A column without rows.
    static func empty(_ field: ArrowField) -> any ErasedColumn {
        func make<T>(_: T.Type) -> any ErasedColumn { TypedColumn(Column<T>(name: field.name, capacity: 0)) }
        return switch field.type {
        case .boolean: make(Bool.self)
        case .integer: make(Int.self)
        case .half, .float: make(Float.self)
        case .double: make(Double.self)
        case .null, .text, .textView: make(String.self)
        case .days, .timestamp: make(Date.self)
        case .structure: make([String: Double].self)
        case .map, .list, .fixedList: make([Double].self)
        case .dictionary(_, let values): empty(ArrowField(field.name, like: values))
        }
    }

    func typed<T>(_ storage: ColumnStorage<T>) -> any ErasedColumn {
        TypedColumn(Column<T>(name: field.name, storage: storage))
    }

    private func missing(_ part: ArrowPart) throws(ArrowError) -> ColumnStorage<String> {
        try part.expect(buffers: 0)
        var storage = ColumnStorage<String>(capacity: part.count)
        storage.appendMissing(part.count)
        return storage
    }

    // MARK: Numbers

    /// The elements where they are, or copied.
    private func numbers<T>(_ part: ArrowPart, _: T.Type) throws(ArrowError) -> PlainBuffer<T> {
        try part.expect(buffers: 2)
        guard part.count > 0 else { return PlainBuffer(capacity: 0) }
        let memory = try part.values(T.self)
        let isAligned = UInt(bitPattern: memory) % UInt(MemoryLayout<T>.alignment) == 0
        if let owner = part.owner, isAligned, try part.missingCount() == 0 {
            return PlainBuffer(borrowing: memory.assumingMemoryBound(to: T.self), count: part.count, of: owner)
        }
        let result = PlainBuffer<T>(count: part.count)
        memcpy(result.values, memory, part.count * MemoryLayout<T>.stride)
        try part.forEachMissing(result.clear)
        return result
    }

    private func converted<S: BitwiseCopyable, T>(
        _ part: ArrowPart,
        _: S.Type,
        _ convert: (S) -> T
    ) throws(ArrowError) -> PlainBuffer<T> {
        try part.expect(buffers: 2)
        guard part.count > 0 else { return PlainBuffer(capacity: 0) }
        let memory = try part.values(S.self)
        let result = PlainBuffer<T>(count: part.count)
        for row in 0..<part.count {
            (result.values + row).initialize(
                to: convert(memory.loadUnaligned(fromByteOffset: row * MemoryLayout<S>.stride, as: S.self))
            )
        }
        try part.forEachMissing(result.clear)
        return result
    }

    private func booleans(_ part: ArrowPart) throws(ArrowError) -> PlainBuffer<Bool> {
        try part.expect(buffers: 2)
        guard part.count > 0 else { return PlainBuffer(capacity: 0) }
        let bits = try part.buffer(1).assumingMemoryBound(to: UInt8.self)
        let result = PlainBuffer<Bool>(count: part.count)
        for row in 0..<part.count {
            let position = part.start + row
            (result.values + row).initialize(to: bits[position >> 3] >> UInt8(position & 7) & 1 == 1)
        }
        try part.forEachMissing(result.clear)
        return result
    }

    func integers(_ part: ArrowPart, _ bits: Int, _ isSigned: Bool) throws(ArrowError) -> PlainBuffer<Int> {
        switch (bits, isSigned) {
        case (8, true): return try converted(part, Int8.self) { Int($0) }
        case (8, false): return try converted(part, UInt8.self) { Int($0) }
        case (16, true): return try converted(part, Int16.self) { Int($0) }
        case (16, false): return try converted(part, UInt16.self) { Int($0) }
        case (32, true): return try converted(part, Int32.self) { Int($0) }
        case (32, false): return try converted(part, UInt32.self) { Int($0) }
        case (_, true): return try numbers(part, Int.self)
        case (_, false):
            let result = try numbers(part, Int.self)
            if let row = result.elements.firstIndex(where: { $0 < 0 }) {
                throw .column(
                    field.name,
                    "has \(UInt(bitPattern: result.values[row])) in row \(row); integers go up to \(Int.max): "
                        + "convert them to doubles or text"
                )
            }
            return result
        }
    }

    // MARK: Dictionaries

    private func gathered(
        _ part: ArrowPart,
        _ indices: ArrowType,
        _ values: ArrowField
    ) throws(ArrowError) -> any ErasedColumn {
        guard case .integer(let bits, let isSigned) = indices else { preconditionFailure("indices are integers") }
        let positions = try integers(part, bits, isSigned)
        guard let dictionary = part.array.pointee.dictionary else {
            throw .column(field.name, "has indices, but no dictionary")
        }
        let whole = try ArrowPart(field.name, dictionary, owner: part.owner)
        guard whole.count < Int(missingRow) else {
            throw .column(field.name, "has a dictionary of \(whole.count) values; there may be \(missingRow - 1)")
        }
        let column = try ArrowColumn(ArrowField(field.name, like: values)).column(whole)
        var rows = [UInt32](repeating: missingRow, count: part.count)
        for row in 0..<part.count where !positions.isMissing(row) {
            let position = positions.values[row]
            guard (0..<whole.count).contains(position) else {
                throw .column(
                    field.name,
                    "refers to value \(position) of its dictionary in row \(row); there are \(whole.count)"
                )
            }
            rows[row] = UInt32(position)
        }
        return column.gathered(rows.span)
    }
}

extension PlainBuffer {
    /// Makes an element missing.
    fileprivate func clear(_ row: Int) { replace(row, with: nil) }
}
