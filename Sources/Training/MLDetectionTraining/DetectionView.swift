import Glibc
package import MLImages
package import MLNumerics

/// An image in the network's size, with its objects.
package struct DetectionView: Sendable {
    package var image: Bitmap
    package var objects: [DetectionObject]

    /// The share of the views that are not turned where others are.
    static let uprightShare = 0.4
    /// The least share of an object that a view shows for the object to count.
    static let minimumShare = 0.3
    /// The value of the colours around the image.
    static let margin: UInt8 = 127

    /// The whole image, stretched to the network's size.
    package static func whole(_ image: Bitmap, _ objects: [DetectionObject] = []) -> DetectionView {
        let side = DetectionGrid.side
        let fitted = image.converted(to: .rgba).fitted(.scaleFill, width: side, height: side)
        return DetectionView(image: fitted, objects: objects)
    }

    /// A random view of an image: a part of it, or all of it with a margin, in other light.
    ///
    /// With `mirrors` half of the views are mirrored. With `turns` most are turned by zero to three quarter turns, and half of
    /// these by up to 45° more or less.
    package static func random(
        _ image: Bitmap,
        _ objects: [DetectionObject],
        mirrors: Bool,
        turns: Bool,
        _ source: inout SplitMix64
    ) -> DetectionView {
        let bitmap = image.converted(to: .rgba)
        func unit() -> Double { Double(source.next() >> 11) * 0x1p-53 }
        func uniform(_ low: Double, _ high: Double) -> Double { low + (high - low) * unit() }
        var frame = DetectionBox.whole
        if unit() < 0.85 {
            // Of the image's sides: the part that is seen, larger than 1 with a margin.
            let size = exp(uniform(log(0.6), log(1.2)))
            let ratio = exp(uniform(-0.15, 0.15))
            let (width, height) = (size * ratio, size / ratio)
            let left = uniform(min(0, 1 - width), max(0, 1 - width))
            let top = uniform(min(0, 1 - height), max(0, 1 - height))
            frame = DetectionBox(left: left, top: top, right: left + width, bottom: top + height)
        }
        var view: DetectionView
        let isTurned = turns && unit() >= uprightShare
        let quarters = isTurned ? Int(unit() * 4) : 0
        let tilt = isTurned && unit() < 0.5 ? uniform(-.pi / 4, .pi / 4) : 0
        if quarters == 0, tilt == 0 {
            view = DetectionView(image: crop(bitmap, frame), objects: objects.compactMap { visiblePart($0, frame) })
        } else {
            let (width, height) = (frame.width * Double(bitmap.width), frame.height * Double(bitmap.height))
            var turned = TurnedFrame(width: width, height: height, quarters: quarters, tilt: tilt)
            turned.place(in: bitmap, unit(), unit())
            view = DetectionView(
                image: turned.image(of: bitmap, side: DetectionGrid.side, margin: margin),
                objects: objects.compactMap { object in
                    let (box, isExact) = turned.box(of: object.box, in: bitmap)
                    var result = DetectionObject(label: object.label, box: box)
                    result.isExact = isExact
                    return visiblePart(result, .whole)
                }
            )
        }
        if unit() < 0.5, mirrors {
            view.image = view.image.upright(fromExifOrientation: 2)
            for index in view.objects.indices {
                let box = view.objects[index].box
                (view.objects[index].box.left, view.objects[index].box.right) = (1 - box.right, 1 - box.left)
            }
        }
        let adjustment = ColorAdjustment(
            brightness: unit() < 0.5 ? uniform(-0.12, 0.12) : 0,
            contrast: unit() < 0.5 ? uniform(0.7, 1.3) : 1,
            saturation: unit() < 0.5 ? uniform(0.6, 1.4) : 1
        )
        adjustment.apply(to: &view.image)
        return view
    }

    /// The part of an image in `frame`, in fractions of the image, in the network's size.
    private static func crop(_ bitmap: Bitmap, _ frame: DetectionBox) -> Bitmap {
        let side = DetectionGrid.side
        let (width, height) = (Double(bitmap.width), Double(bitmap.height))
        // The pixels of the view that the image covers.
        func position(_ value: Double, _ start: Double, _ extent: Double) -> Int {
            min(max(Int(((value - start) / extent * Double(side)).rounded()), 0), side)
        }
        let left = position(0, frame.left, frame.width)
        let right = max(position(1, frame.left, frame.width), left + 1)
        let top = position(0, frame.top, frame.height)
        let bottom = max(position(1, frame.top, frame.height), top + 1)
        func source(_ pixel: Int, _ start: Double, _ extent: Double, _ size: Double) -> Double {
            min(max((start + Double(pixel) / Double(side) * extent) * size, 0), size)
        }
        let (x0, x1) = (
            source(left, frame.left, frame.width, width), source(right, frame.left, frame.width, width)
        )
        let (y0, y1) = (
            source(top, frame.top, frame.height, height), source(bottom, frame.top, frame.height, height)
        )
        guard x1 > x0, y1 > y0 else { return whole(bitmap).image }
        let part = bitmap.resampled(
            from: Bitmap.Box(x: x0, y: y0, width: x1 - x0, height: y1 - y0),
            width: right - left,
            height: bottom - top
        )
        if part.width == side, part.height == side { return part }
        var canvas = Bitmap(width: side, height: side, layout: .rgba)
        for index in canvas.pixels.indices { canvas.pixels[index] = index % 4 == 3 ? 255 : margin }
        return canvas.overwritten(by: part, x: left, y: top)
    }

    /// An object as the view shows it; `nil` if it shows too little of it.
    private static func visiblePart(_ object: DetectionObject, _ frame: DetectionBox) -> DetectionObject? {
        let visible = object.box.intersection(frame)
        guard visible.area > minimumShare * object.box.area else { return nil }
        let box = DetectionBox(
            left: (visible.left - frame.left) / frame.width,
            top: (visible.top - frame.top) / frame.height,
            right: (visible.right - frame.left) / frame.width,
            bottom: (visible.bottom - frame.top) / frame.height
        )
        var result = object
        result.box = box
        return result
    }
}

/// A change of an image's colours.
private struct ColorAdjustment {
    var brightness: Double
    var contrast: Double
    var saturation: Double

    func apply(to image: inout Bitmap) {
        guard brightness != 0 || contrast != 1 || saturation != 1 else { return }
        let (shift, factor, share) = (
            Float(brightness * 255 + 127.5 * (1 - contrast)), Float(contrast), Float(saturation)
        )
        image.pixels.withUnsafeMutableBufferPointer { pixels in
            for position in Swift.stride(from: 0, to: pixels.count, by: 4) {
                let (red, green, blue) = (
                    Float(pixels[position]), Float(pixels[position + 1]), Float(pixels[position + 2])
                )
                let grey = 0.299 * red + 0.587 * green + 0.114 * blue
                func changed(_ value: Float) -> UInt8 {
                    let result = (grey + (value - grey) * share) * factor + shift
                    return UInt8(min(max(result, 0), 255))
                }
                pixels[position] = changed(red)
                pixels[position + 1] = changed(green)
                pixels[position + 2] = changed(blue)
            }
        }
    }
}
