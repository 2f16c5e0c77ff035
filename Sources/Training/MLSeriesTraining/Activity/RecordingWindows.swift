package import MLNumerics
package import MLSpecification

/// How a recording becomes the windows of a classifier of activities, in training and for a file's predictions alike.
///
/// The windows follow one another without overlap; the last one begins in the recording and ends with what fills it up.
package struct RecordingWindows: Sendable, Hashable {
    /// What stands behind the last row of a recording.
    package enum Filling: String, Sendable, CaseIterable {
        case zeros
        case lastRow
    }

    /// Rows of a window, at least 1.
    package let size: Int
    package let filling: Filling

    package init(size: Int, filling: Filling) {
        self.size = size
        self.filling = filling
    }

    /// How many windows a recording has.
    package func count(rows: Int) -> Int { (rows + size - 1) / size }

    /// The rows that are left at the end of a recording: less than a window.
    func rest(rows: Int) -> Int { rows % size }

    /// A sensor's samples in the window that begins at a row.
    /// - Precondition: the row is one of the recording.
    package func samples(of values: [Float], from first: Int) -> [Float] {
        let own = values[first..<Swift.min(first + size, values.count)]
        let filler = filling == .lastRow ? own[own.endIndex - 1] : 0
        return own + [Float](repeating: filler, count: size - own.count)
    }

    /// What is said of windows, row by row.
    package func byRow<Value>(_ windows: [Value], rows: Int) -> [Value] { (0..<rows).map { windows[$0 / size] } }
}

extension RecordingWindows.Filling {
    /// The key of a file's metadata whose value is the filling.
    package static let key = "windowFilling"

    /// What the file of a classifier says of its state; files of ours have said it since before they had the key.
    static let aboutState = "What the prediction before left"

    /// How a classifier was trained: as the key says; without it zeros, as Create ML and Turi Create, but the last row in
    /// files of ours.
    /// - Throws: `.invalidModel` for a key with another value.
    package init(of interface: SpecModelDescription) throws(ModelError) {
        if let value = interface.metadata.userDefined[Self.key] {
            guard let filling = Self(rawValue: value) else {
                throw ModelError(
                    .invalidModel,
                    "the metadata say '\(Self.key)': '\(value)'; it is one of "
                        + Self.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
                )
            }
            self = filling
        } else {
            self = interface.input.contains { $0.shortDescription == Self.aboutState } ? .lastRow : .zeros
        }
    }
}
