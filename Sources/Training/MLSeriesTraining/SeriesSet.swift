package import MLNumerics

/// Time series of equal length: numbers by series, channel and time.
package struct SeriesSet: Sendable {
    package let count: Int
    package let channelCount: Int
    package let length: Int
    /// [count, channels, length], row-major.
    package private(set) var values: [Float]

    /// Takes series of equal length.
    ///
    /// - Parameters:
    ///   - values: The values of all series [count, channels, length], row-major.
    ///   - channelCount: The number of channels of a series.
    ///   - length: The number of values in a channel.
    /// - Throws: `.invalidInput` when there is no series, the numbers do not fit, or one of them is not finite.
    package init(values: [Float], channelCount: Int, length: Int) throws(ModelError) {
        guard channelCount > 0, length > 0, !values.isEmpty, values.count % (channelCount * length) == 0 else {
            throw ModelError(
                .invalidInput,
                "\(values.count) numbers are not series of \(channelCount) channels and \(length) points; check the shape"
            )
        }
        self.values = values
        self.channelCount = channelCount
        self.length = length
        count = values.count / (channelCount * length)
        if let position = values.firstIndex(where: { !$0.isFinite }) {
            let size = channelCount * length
            throw ModelError(
                .invalidInput,
                "series \(position / size) is \(values[position]) in channel \(position % size / length) at point "
                    + "\(position % length); fill or remove missing values"
            )
        }
    }

    /// The series at `indices`.
    package func subset(_ indices: [Int]) -> SeriesSet {
        let size = channelCount * length
        var chosen: [Float] = []
        chosen.reserveCapacity(indices.count * size)
        for index in indices { chosen += values[index * size..<(index + 1) * size] }
        return SeriesSet(unchecked: chosen, channelCount, length)
    }

    private init(unchecked values: [Float], _ channelCount: Int, _ length: Int) {
        self.values = values
        self.channelCount = channelCount
        self.length = length
        count = values.count / (channelCount * length)
    }
}
