extension MLDataColumn {
    /// All elements.
    /// - Throws: The column's error if it is invalid, or `MLCreateError.generic` naming a row without an element.
    func present(_ role: String) throws -> [Element] {
        if let error { throw error }
        return try elements.enumerated().map { row, element in
            guard let element else {
                throw MLCreateError.generic(
                    reason: "the \(role) column has no value in row \(row); remove the row or fill it in"
                )
            }
            return element
        }
    }
}
