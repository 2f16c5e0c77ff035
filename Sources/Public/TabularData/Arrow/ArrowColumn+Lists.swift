import CTabular

extension ArrowColumn {
    /// The offsets of rows in what follows, one more than there are rows, ascending and not negative.
    func offsets<Offset: FixedWidthInteger & BitwiseCopyable>(
        _ part: ArrowPart,
        _: Offset.Type
    ) throws(ArrowError) -> [Int] {
        guard part.count > 0 else { return [0] }
        let memory = try part.values(Offset.self)
        var result = [Int](repeating: 0, count: part.count + 1)
        for row in 0...part.count {
            result[row] = Int(
                memory.loadUnaligned(fromByteOffset: row * MemoryLayout<Offset>.stride, as: Offset.self)
            )
            guard result[row] >= (row == 0 ? 0 : result[row - 1]), result[row] <= 1 << 48 else {
                throw .column(
                    field.name,
                    "has the offset \(result[row]) at row \(row)\(row == 0 ? "" : ", after \(result[row - 1])")"
                )
            }
        }
        return result
    }

    /// The offsets of rows of one size.
    func offsets(_ part: ArrowPart, size: Int) throws(ArrowError) -> [Int] {
        let (_, overflows) = (part.start + part.count).multipliedReportingOverflow(by: size)
        guard !overflows else { throw .column(field.name, "has lists of \(size) elements, which is too many") }
        return (0...part.count).map { (part.start + $0) * size }
    }

    /// Lists of numbers or texts.
    func lists(_ part: ArrowPart, offsets: [Int]) throws(ArrowError) -> any ErasedColumn {
        if case .fixedList = field.type {
            try part.expect(buffers: 1, children: 1)
        } else {
            try part.expect(buffers: 2, children: 1)
        }
        let child = ArrowField("\(field.name)[]", like: field.children[0])
        let elements = try ArrowColumn(child).column(
            ArrowPart(
                child.name,
                part.array.pointee.children[0],
                rows: offsets[0]..<offsets[part.count],
                owner: part.owner
            )
        )
        let presence = try part.presence()
        if let column = elements.typed(Double.self)?.column {
            return try lists(column, offsets, presence, missing: .nan)
        }
        if let column = elements.typed(Float.self)?.column {
            return try lists(column, offsets, presence, missing: .nan)
        }
        if let column = elements.typed(Int.self)?.column { return try lists(column, offsets, presence, missing: nil) }
        if let column = elements.typed(String.self)?.column {
            return try lists(column, offsets, presence, missing: nil)
        }
        throw .column(
            field.name,
            "holds lists of \(typeName(elements.elementType)); lists hold numbers or text: flatten or convert them"
        )
    }

    private func lists<T>(
        _ elements: Column<T>,
        _ offsets: [Int],
        _ presence: [Bool]?,
        missing: T?
    ) throws(ArrowError) -> any ErasedColumn {
        var storage = ColumnStorage<[T]>(capacity: offsets.count - 1)
        for row in 0..<offsets.count - 1 {
            guard presence?[row] ?? true else {
                storage.append(nil)
                continue
            }
            var list: [T] = []
            list.reserveCapacity(offsets[row + 1] - offsets[row])
            for position in offsets[row]..<offsets[row + 1] {
                guard let element = elements.storage[position - offsets[0]] ?? missing else {
                    throw .column(field.name, "has a list with a missing element in row \(row); fill it")
                }
                list.append(element)
            }
            storage.append(list)
        }
        return typed(storage)
    }

    // MARK: Dictionaries

    /// Maps from texts or integers to numbers.
    func maps(_ part: ArrowPart) throws(ArrowError) -> any ErasedColumn {
        try part.expect(buffers: 2, children: 1)
        let entries = field.children[0]
        guard case .structure = entries.type, entries.children.count == 2 else {
            throw .column(field.name, "is a map whose entries are not pairs")
        }
        let offsets = try self.offsets(part, Int32.self)
        let pairs = try ArrowPart(
            "\(field.name){}",
            part.array.pointee.children[0],
            rows: offsets[0]..<offsets[part.count],
            owner: part.owner
        )
        try pairs.expect(buffers: 1, children: 2)
        let columns = try children(of: entries, pairs)
        let values = try numbers(columns[1])
        let presence = try part.presence()
        func dictionaries<Key: Hashable>(_ keys: Column<Key>) throws(ArrowError) -> any ErasedColumn {
            var storage = ColumnStorage<[Key: Double]>(capacity: part.count)
            for row in 0..<part.count {
                guard presence?[row] ?? true else {
                    storage.append(nil)
                    continue
                }
                var entry: [Key: Double] = [:]
                for position in offsets[row]..<offsets[row + 1] {
                    guard let key = keys.storage[position - offsets[0]], let value = values[position - offsets[0]]
                    else {
                        throw .column(field.name, "has a map with a missing key or value in row \(row); remove it")
                    }
                    guard entry.updateValue(value, forKey: key) == nil else {
                        throw .column(field.name, "has a map with the key '\(key)' twice in row \(row)")
                    }
                }
                storage.append(entry)
            }
            return typed(storage)
        }
        if let keys = columns[0].typed(String.self)?.column { return try dictionaries(keys) }
        if let keys = columns[0].typed(Int.self)?.column { return try dictionaries(keys) }
        throw .column(field.name, "is a map whose keys are neither text nor integers")
    }

    /// Structures of numbers, as dictionaries of the fields that are present.
    func structures(_ part: ArrowPart) throws(ArrowError) -> any ErasedColumn {
        try part.expect(buffers: 1, children: field.children.count)
        var columns: [[Double?]] = []
        for column in try children(of: field, part) { columns.append(try numbers(column)) }
        let presence = try part.presence()
        var storage = ColumnStorage<[String: Double]>(capacity: part.count)
        for row in 0..<part.count {
            guard presence?[row] ?? true else {
                storage.append(nil)
                continue
            }
            var entry: [String: Double] = [:]
            for (child, values) in zip(field.children, columns) { entry[child.name] = values[row] }
            storage.append(entry)
        }
        return typed(storage)
    }

    /// The columns of a structure.
    private func children(of structure: ArrowField, _ part: ArrowPart) throws(ArrowError) -> [any ErasedColumn] {
        var result: [any ErasedColumn] = []
        for (index, child) in structure.children.enumerated() {
            let named = ArrowField("\(field.name).\(child.name)", like: child)
            let rows = part.start..<part.start + part.count
            result.append(
                try ArrowColumn(named).column(
                    ArrowPart(named.name, part.array.pointee.children[index], rows: rows, owner: part.owner)
                )
            )
        }
        return result
    }

    private func numbers(_ column: any ErasedColumn) throws(ArrowError) -> [Double?] {
        if let column = column.typed(Double.self)?.column { return (0..<column.count).map { column.storage[$0] } }
        if let column = column.typed(Float.self)?.column {
            return (0..<column.count).map { column.storage[$0].map(Double.init) }
        }
        if let column = column.typed(Int.self)?.column {
            return (0..<column.count).map { column.storage[$0].map(Double.init) }
        }
        if let column = column.typed(Bool.self)?.column {
            return (0..<column.count).map { column.storage[$0].map { $0 ? 1 : 0 } }
        }
        throw .column(
            column.name,
            "holds \(typeName(column.elementType)); structures and maps hold numbers: give each field a column"
        )
    }
}
