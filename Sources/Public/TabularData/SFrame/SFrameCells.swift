import Foundation

/// The values read of a column whose type is not stored in plain memory.
protocol SFrameCells: AnyObject {
    /// Adds a value.
    ///
    /// - Parameter value: The value, which is not missing.
    /// - Returns: Whether it is of the right type.
    /// - Throws: `SFrameReadingError` when the value has no form in Swift.
    func add(_ value: SFrameValue) throws(SFrameReadingError) -> Bool
    func addMissing()
    /// Returns the values of `parts`, which are all of this type, as a column.
    func column(named name: String, _ parts: [any SFrameCells]) -> AnyColumn
}

private final class SFrameCellList<Element>: SFrameCells {
    private var cells: [Element?] = []
    private let element: (SFrameValue) throws(SFrameReadingError) -> Element?

    init(_ element: @escaping (SFrameValue) throws(SFrameReadingError) -> Element?) { self.element = element }

    func add(_ value: SFrameValue) throws(SFrameReadingError) -> Bool {
        guard let element = try element(value) else { return false }
        cells.append(element)
        return true
    }

    func addMissing() { cells.append(nil) }

    func column(named name: String, _ parts: [any SFrameCells]) -> AnyColumn {
        var column = Column<Element>(name: name, capacity: 0)
        for case let part as SFrameCellList<Element> in parts { column.append(contentsOf: part.cells) }
        return AnyColumn(column)
    }
}

/// Returns an empty collection for a type that is not stored in plain memory, nil for other types.
func makeSFrameCells(_ kind: SFrameKind) -> (any SFrameCells)? {
    switch kind {
    case .integer, .float, .string, .undefined, .image: nil
    case .vector:
        SFrameCellList<[Double]> { (value) throws(SFrameReadingError) in
            if case .vector(let value) = value { value } else { nil }
        }
    case .list:
        SFrameCellList<[Any?]> { (value) throws(SFrameReadingError) in
            guard case .list(let values) = value else { return nil }
            return try SFrameValue.elements(values)
        }
    case .dictionary:
        SFrameCellList<[AnyHashable: Any?]> { (value) throws(SFrameReadingError) in
            guard case .dictionary(let entries) = value else { return nil }
            return try SFrameValue.entries(entries)
        }
    case .date:
        SFrameCellList<Date> { (value) throws(SFrameReadingError) in
            if case .date(let value) = value { value } else { nil }
        }
    case .array:
        SFrameCellList<ShapedData<Double>> { (value) throws(SFrameReadingError) in
            if case .array(let value) = value { value } else { nil }
        }
    }
}
