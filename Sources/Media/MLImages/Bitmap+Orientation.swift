extension Bitmap {
    /// The picture turned upright, given its orientation as Exif counts it (1…8; other numbers mean 1).
    package func upright(fromExifOrientation orientation: UInt32) -> Bitmap {
        guard (2...8).contains(orientation) else { return self }
        let swaps = orientation >= 5
        let newWidth = swaps ? height : width
        let newHeight = swaps ? width : height
        let pixel = layout.bytesPerPixel
        let rotated = [UInt8](unsafeUninitializedCapacity: pixels.count) { result, initialized in
            pixels.withUnsafeBufferPointer { source in
                for y in 0..<newHeight {
                    for x in 0..<newWidth {
                        let (sourceX, sourceY) =
                            switch orientation {
                            case 2: (width - 1 - x, y)
                            case 3: (width - 1 - x, height - 1 - y)
                            case 4: (x, height - 1 - y)
                            case 5: (y, x)
                            case 6: (y, height - 1 - x)
                            case 7: (width - 1 - y, height - 1 - x)
                            default: (width - 1 - y, x)
                            }
                        let from = (sourceY * width + sourceX) * pixel
                        let to = (y * newWidth + x) * pixel
                        for component in 0..<pixel { result[to + component] = source[from + component] }
                    }
                }
            }
            initialized = pixels.count
        }
        return Bitmap(width: newWidth, height: newHeight, layout: layout, pixels: rotated)
    }
}
