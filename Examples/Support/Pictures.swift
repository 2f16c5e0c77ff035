import CoreML

extension Drawing {
    /// The drawing of a picture file, scaled to 28 × 28; dark ink on light paper is inverted.
    public init(contentsOf url: URL) throws {
        guard let source = CGImageSourceCreateWithURL(url as CFURL, nil),
            let image = CGImageSourceCreateImageAtIndex(source, 0, nil)
        else { throw Unexpected("\(url.path) is not an image: pass a PNG or JPEG file") }
        var gray = [UInt8](repeating: 0, count: Drawing.side * Drawing.side)
        gray.withUnsafeMutableBytes { bytes in
            let context = CGContext(
                data: bytes.baseAddress,
                width: Drawing.side,
                height: Drawing.side,
                bitsPerComponent: 8,
                bytesPerRow: Drawing.side,
                space: CGColorSpaceCreateDeviceGray(),
                bitmapInfo: CGImageAlphaInfo.none.rawValue
            )
            context?.interpolationQuality = .high
            context?.draw(image, in: CGRect(x: 0, y: 0, width: Drawing.side, height: Drawing.side))
        }
        let last = Drawing.side - 1
        let border = (0...last).flatMap { [$0, last * Drawing.side + $0, $0 * Drawing.side, $0 * Drawing.side + last] }
        let isLight = border.reduce(0) { $0 + Int(gray[$1]) } > 127 * border.count
        self.init(pixels: isLight ? gray.map { 255 - $0 } : gray)
    }

    /// The drawing for a terminal: 7 lines of 14 characters.
    public var lines: [String] {
        func isInk(_ row: Int, _ column: Int) -> Bool {
            let place = row * Drawing.side + column
            let places = [place, place + 1, place + Drawing.side, place + Drawing.side + 1]
            return places.reduce(0) { $0 + Int(pixels[$1]) } >= 440
        }
        return stride(from: 0, to: Drawing.side, by: 4).map { row in
            String(
                stride(from: 0, to: Drawing.side, by: 2).map { column -> Character in
                    switch (isInk(row, column), isInk(row + 2, column)) {
                    case (true, true): "█"
                    case (true, false): "▀"
                    case (false, true): "▄"
                    case (false, false): " "
                    }
                }
            )
        }
    }
}

/// Prints drawings side by side, each with a caption below it.
public func show(_ drawings: [(drawing: Drawing, caption: String)]) {
    let width = Drawing.side / 2 + 2
    func printed(_ cells: [String]) {
        var line = cells.map { $0.padding(toLength: max(width, $0.count), withPad: " ", startingAt: 0) }.joined()
        while line.hasSuffix(" ") { line.removeLast() }
        print("  \(line)")
    }
    let pictures = drawings.map(\.drawing.lines)
    for row in 0..<Drawing.side / 4 { printed(pictures.map { $0[row] }) }
    printed(drawings.map(\.caption))
}

/// Writes sheets of drawings side by side as a PNG file, a drawing with a green frame where the model is right and a red one
/// where it is wrong.
public func write(_ sheets: [[(drawing: Drawing, isRight: Bool)]], columns: Int, to url: URL) throws {
    let (scale, frame, gap) = (2, 3, 24)
    let cell = Drawing.side * scale + 2 * frame
    let rows = sheets.map { ($0.count + columns - 1) / columns }.max() ?? 0
    let width = sheets.count * columns * cell + (sheets.count - 1) * gap
    let height = rows * cell
    var pixels = [UInt8](repeating: 255, count: width * height * 4)
    for (number, sheet) in sheets.enumerated() {
        for (index, (drawing, isRight)) in sheet.enumerated() {
            let left = number * (columns * cell + gap) + index % columns * cell
            let top = index / columns * cell
            let color: [UInt8] = isRight ? [40, 160, 70] : [220, 50, 47]
            for y in 0..<cell {
                for x in 0..<cell {
                    let (column, row) = (x - frame, y - frame)
                    let isInside =
                        (0..<Drawing.side * scale).contains(column) && (0..<Drawing.side * scale).contains(row)
                    let place = ((top + y) * width + left + x) * 4
                    for channel in 0..<3 {
                        pixels[place + channel] =
                            isInside ? drawing.pixels[row / scale * Drawing.side + column / scale] : color[channel]
                    }
                }
            }
        }
    }
    let image = pixels.withUnsafeMutableBytes { bytes in
        CGContext(
            data: bytes.baseAddress,
            width: width,
            height: height,
            bitsPerComponent: 8,
            bytesPerRow: width * 4,
            space: CGColorSpaceCreateDeviceRGB(),
            bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue
        )?.makeImage()
    }
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    guard let image, let file = CGImageDestinationCreateWithURL(url as CFURL, "public.png" as CFString, 1, nil) else {
        throw Unexpected("the image \(url.path) cannot be made")
    }
    CGImageDestinationAddImage(file, image, nil)
    guard CGImageDestinationFinalize(file) else { throw Unexpected("the image \(url.path) cannot be written") }
}

/// The folder of the pictures that the demos write: `.build/demos` of the checkout.
public let pictures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent(".build/demos")

/// Closes a demo: how it runs on the reader's own input.
public func printOwnInput(_ command: String, _ what: String) { print("\nYour own: \(command)\n  \(what)") }
