package import MLNumerics
package import MLSpecification

/// Divides recordings into an activity classifier's windows, in training and in prediction alike.
///
/// The windows do not overlap; the last one starts within the recording and is padded.
package struct RecordingWindows: Sendable, Hashable {
    /// The padding of the last window behind the end of a recording.
    package enum Padding: String, Sendable, CaseIterable {
        case zeros
        case lastRow
    }

    /// The number of rows in a window, at least 1.
    package let size: Int
    package let padding: Padding

    package init(size: Int, padding: Padding) {
        self.size = size
        self.padding = padding
    }

    /// The number of windows in a recording.
    package func count(rows: Int) -> Int { (rows + size - 1) / size }

    /// The number of rows left at the end of a recording: less than a window.
    func rest(rows: Int) -> Int { rows % size }

    /// A sensor's samples in the window that starts at a row.
    ///
    /// - Precondition: The recording has that row.
    package func samples(of values: [Float], from first: Int) -> [Float] {
        let own = values[first..<Swift.min(first + size, values.count)]
        let paddingValue = padding == .lastRow ? own[own.endIndex - 1] : 0
        return own + [Float](repeating: paddingValue, count: size - own.count)
    }

    /// Repeats each window's value for every one of its rows.
    package func byRow<Value>(_ windows: [Value], rows: Int) -> [Value] { (0..<rows).map { windows[$0 / size] } }
}

extension RecordingWindows.Padding {
    /// The key of the model file's metadata whose value is the padding.
    package static let key = "windowFilling"

    /// The description of a classifier's state input in our model files, including those from before the key existed.
    static let aboutState = "What the prediction before left"

    /// The padding that a classifier was trained with.
    ///
    /// That is the value of the metadata key. Without the key it is the last row in our own model files, and zeros in
    /// others, as in Create ML and Turi Create.
    ///
    /// - Throws: `.invalidModel` for a key with another value.
    package init(of interface: SpecModelDescription) throws(ModelError) {
        if let value = interface.metadata.userDefined[Self.key] {
            guard let padding = Self(rawValue: value) else {
                throw ModelError(
                    .invalidModel,
                    "the metadata say '\(Self.key)': '\(value)'; it is one of "
                        + Self.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
                )
            }
            self = padding
        } else {
            self = interface.input.contains { $0.shortDescription == Self.aboutState } ? .lastRow : .zeros
        }
    }
}
