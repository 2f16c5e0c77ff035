extension Bitmap {
    /// A rectangle in pixels of the source, not necessarily at whole pixels.
    package struct Box: Sendable, Equatable {
        package var x: Double
        package var y: Double
        package var width: Double
        package var height: Double

        package init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }

    /// The picture, or the `box` of it, scaled to the given size with a triangle filter.
    ///
    /// Enlarging interpolates linearly; shrinking averages over the whole area that a new pixel covers (the filter is
    /// as wide as the factor), so it does not alias. Columns are filtered first, to 8 bits, then rows: the same
    /// arithmetic as Pillow's `BILINEAR`. `box` must lie inside the picture; sizes are at least 1.
    package func resampled(from box: Box? = nil, width newWidth: Int, height newHeight: Int) -> Bitmap {
        precondition(newWidth > 0 && newHeight > 0 && width > 0 && height > 0)
        let box = box ?? Box(x: 0, y: 0, width: Double(width), height: Double(height))
        let columns = Weights(source: width, start: box.x, extent: box.width, target: newWidth)
        let rows = Weights(source: height, start: box.y, extent: box.height, target: newHeight)
        var current = self
        var rowOffset = 0
        if !columns.isIdentity {
            rowOffset = rows.firstUsed
            current = current.filteredColumns(columns, rows: rows.firstUsed..<rows.lastUsed)
        }
        if !rows.isIdentity { current = current.filteredRows(rows, offset: rowOffset) }
        return current
    }

    /// The `box` of the picture, scaled without interpolation: each pixel takes the source pixel at its centre.
    ///
    /// `box` must lie inside the picture; sizes are at least 1.
    package func nearest(from box: Box, width newWidth: Int, height newHeight: Int) -> Bitmap {
        precondition(newWidth > 0 && newHeight > 0 && width > 0 && height > 0)
        func sources(_ start: Double, _ extent: Double, _ count: Int, of size: Int) -> [Int] {
            (0..<count).map { index in
                let position = start + (Double(index) + 0.5) * extent / Double(count)
                return min(max(Int(position.rounded(.down)), 0), size - 1)
            }
        }
        let columns = sources(box.x, box.width, newWidth, of: width)
        let pixel = layout.bytesPerPixel
        var copied: [UInt8] = []
        copied.reserveCapacity(newWidth * newHeight * pixel)
        for row in sources(box.y, box.height, newHeight, of: height) {
            for column in columns {
                let from = row * bytesPerRow + column * pixel
                copied += pixels[from..<from + pixel]
            }
        }
        return Bitmap(width: newWidth, height: newHeight, layout: layout, pixels: copied)
    }

    /// For each new pixel, which old ones it blends and how much of each; fixed point.
    private struct Weights {
        static let precision: Int32 = 22
        /// First source index of each target, and how many follow.
        var starts: [Int] = []
        var counts: [Int] = []
        /// `stride` weights for each target.
        var values: [Int32] = []
        let stride: Int
        let isIdentity: Bool

        var firstUsed: Int { starts.first ?? 0 }
        var lastUsed: Int { (starts.last ?? 0) + (counts.last ?? 0) }

        init(source: Int, start: Double, extent: Double, target: Int) {
            let scale = extent / Double(target)
            let support = max(scale, 1)
            stride = Int(support.rounded(.up)) * 2 + 1
            isIdentity = source == target && start == 0 && extent == Double(source)
            if isIdentity {
                starts = [0]
                counts = [source]
                return
            }
            starts.reserveCapacity(target)
            counts.reserveCapacity(target)
            values.reserveCapacity(target * stride)
            var weights = [Double](repeating: 0, count: stride)
            for index in 0..<target {
                let center = start + (Double(index) + 0.5) * scale
                let first = max(Int(center - support + 0.5), 0)
                let last = max(min(Int(center + support + 0.5), source), first + 1)
                let count = min(last - first, stride)
                var sum = 0.0
                for tap in 0..<count {
                    let distance = abs((Double(tap + first) - center + 0.5) / support)
                    weights[tap] = distance < 1 ? 1 - distance : 0
                    sum += weights[tap]
                }
                let clampedFirst = min(first, source - 1)
                starts.append(clampedFirst)
                counts.append(min(count, source - clampedFirst))
                for tap in 0..<stride {
                    let weight = tap < count && sum > 0 ? weights[tap] / sum : 0
                    values.append(Int32((weight * Double(1 << Self.precision)).rounded(.toNearestOrAwayFromZero)))
                }
            }
        }
    }

    /// Scales the width of the given rows.
    private func filteredColumns(_ weights: Weights, rows: Range<Int>) -> Bitmap {
        let newWidth = weights.starts.count
        let pixel = layout.bytesPerPixel
        let count = newWidth * rows.count * pixel
        let filtered = [UInt8](unsafeUninitializedCapacity: count) { result, initialized in
            pixels.withUnsafeBufferPointer { source in
                weights.values.withUnsafeBufferPointer { values in
                    for (newRow, row) in rows.enumerated() {
                        for column in 0..<newWidth {
                            let first = (row * width + weights.starts[column]) * pixel
                            let to = (newRow * newWidth + column) * pixel
                            let base = column * weights.stride
                            if pixel == 4 {
                                var sum = SIMD4<Int32>(repeating: 1 << (Weights.precision - 1))
                                for tap in 0..<weights.counts[column] {
                                    let from = first + tap * 4
                                    let value = SIMD4<Int32>(
                                        Int32(source[from]),
                                        Int32(source[from + 1]),
                                        Int32(source[from + 2]),
                                        Int32(source[from + 3])
                                    )
                                    sum &+= value &* values[base + tap]
                                }
                                sum &>>= Weights.precision
                                sum.clamp(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
                                for component in 0..<4 {
                                    result[to + component] = UInt8(truncatingIfNeeded: sum[component])
                                }
                            } else {
                                var sum: Int32 = 1 << (Weights.precision - 1)
                                for tap in 0..<weights.counts[column] {
                                    sum &+= Int32(source[first + tap]) &* values[base + tap]
                                }
                                result[to] = UInt8(truncatingIfNeeded: min(max(sum >> Weights.precision, 0), 255))
                            }
                        }
                    }
                }
            }
            initialized = count
        }
        return Bitmap(width: newWidth, height: rows.count, layout: layout, pixels: filtered)
    }

    /// Scales the height; row indices in `weights` count from `offset`.
    private func filteredRows(_ weights: Weights, offset: Int) -> Bitmap {
        let newHeight = weights.starts.count
        let bytes = bytesPerRow
        let count = newHeight * bytes
        let filtered = [UInt8](unsafeUninitializedCapacity: count) { result, initialized in
            pixels.withUnsafeBufferPointer { source in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: bytes) { sums in
                    for row in 0..<newHeight {
                        sums.initialize(repeating: 1 << (Weights.precision - 1))
                        for tap in 0..<weights.counts[row] {
                            let weight = weights.values[row * weights.stride + tap]
                            let from = (weights.starts[row] - offset + tap) * bytes
                            for index in 0..<bytes { sums[index] &+= Int32(source[from + index]) &* weight }
                        }
                        for index in 0..<bytes {
                            let value = min(max(sums[index] >> Weights.precision, 0), 255)
                            result[row * bytes + index] = UInt8(truncatingIfNeeded: value)
                        }
                    }
                }
            }
            initialized = count
        }
        return Bitmap(width: width, height: newHeight, layout: layout, pixels: filtered)
    }
}
