extension Bitmap {
    /// The method that fits a picture to a size of another aspect ratio; numbers as in Vision.
    package enum Fitting: UInt, Sendable {
        /// Scaled so that the shorter side fits; what hangs over on both ends of the other is cut off.
        case centerCrop = 0
        /// Scaled so that all of it fits; the rest, on both ends, is black.
        case scaleFit = 1
        /// Stretched.
        case scaleFill = 2
        /// `scaleFit` after a quarter turn to the left.
        case scaleFitRotate90CCW = 0x101
        /// `scaleFill` after a quarter turn to the left.
        case scaleFillRotate90CCW = 0x102
    }

    /// The picture, or the `region` of it, at the given size.
    package func fitted(_ fitting: Fitting, region: Box? = nil, width newWidth: Int, height newHeight: Int) -> Bitmap {
        let whole = Box(x: 0, y: 0, width: Double(width), height: Double(height))
        switch fitting {
        case .scaleFitRotate90CCW, .scaleFillRotate90CCW:
            let part = region.map { resampledCrop($0) } ?? self
            return part.upright(fromExifOrientation: 8)
                .fitted(
                    fitting == .scaleFitRotate90CCW ? .scaleFit : .scaleFill,
                    width: newWidth,
                    height: newHeight
                )
        case .scaleFill: return resampled(from: region, width: newWidth, height: newHeight)
        case .centerCrop:
            var box = region ?? whole
            let factor = max(Double(newWidth) / box.width, Double(newHeight) / box.height)
            let cutWidth = min(Double(newWidth) / factor, box.width)
            let cutHeight = min(Double(newHeight) / factor, box.height)
            box = Box(
                x: box.x + (box.width - cutWidth) / 2,
                y: box.y + (box.height - cutHeight) / 2,
                width: cutWidth,
                height: cutHeight
            )
            return resampled(from: box, width: newWidth, height: newHeight)
        case .scaleFit:
            let box = region ?? whole
            let factor = min(Double(newWidth) / box.width, Double(newHeight) / box.height)
            let inner = resampled(
                from: box,
                width: min(max(Int((box.width * factor).rounded()), 1), newWidth),
                height: min(max(Int((box.height * factor).rounded()), 1), newHeight)
            )
            return Bitmap(width: newWidth, height: newHeight, layout: layout)
                .overwritten(by: inner, x: (newWidth - inner.width) / 2, y: (newHeight - inner.height) / 2)
        }
    }

    private func resampledCrop(_ box: Box) -> Bitmap {
        resampled(from: box, width: max(Int(box.width.rounded()), 1), height: max(Int(box.height.rounded()), 1))
    }
}
