import CoreGraphics
import CoreVideo
import Foundation
import ImageIO
import MLImages
import MLNumerics
import Testing

/// Pictures made by `Fixtures/make-fixtures.py`, read by Pillow there and by ImageIO here.
enum Fixtures {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")

    static func url(_ name: String) -> URL { folder.appendingPathComponent(name) }

    static func image(_ name: String) throws -> CGImage {
        let source = try #require(CGImageSourceCreateWithURL(url(name) as CFURL, nil), "\(name)")
        return try #require(CGImageSourceCreateImageAtIndex(source, 0, nil), "\(name)")
    }
}

/// The largest difference of two pictures' bytes; `nil` when their forms differ.
func largestDifference(_ a: Bitmap, _ b: Bitmap) -> Int? {
    guard a.width == b.width, a.height == b.height, a.layout == b.layout else { return nil }
    return zip(a.pixels, b.pixels).map { abs(Int($0) - Int($1)) }.max() ?? 0
}

struct DecodingTests {
    @Test(arguments: [
        ("rgb.png", 0), ("rgba.png", 0), ("gray.png", 0), ("gray-alpha.png", 0), ("palette.png", 0),
        ("palette-transparent.png", 0), ("one-bit.png", 0), ("rgb16.png", 0), ("gray16.png", 0), ("baseline.jpg", 1),
        ("progressive.jpg", 1), ("gray.jpg", 1), ("cmyk.jpg", 3), ("lossy.webp", 1), ("lossless.webp", 0),
        ("alpha.webp", 0), ("rgb.tif", 0), ("rgba.tif", 0), ("gray.tif", 0), ("palette.tif", 0), ("one-bit.tif", 0),
        ("cmyk.tif", 1), ("jpeg.tif", 1), ("pages.tif", 0), ("gray16.tif", 0), ("rgb16.tif", 0), ("planes.tif", 0),
        ("tiles.tif", 0), ("palette.gif", 0), ("interlaced.gif", 0), ("gray.gif", 0), ("transparent.gif", 0),
        ("animated.gif", 0), ("offset.gif", 0), ("rgb.bmp", 0), ("gray.bmp", 0), ("palette.bmp", 0), ("one-bit.bmp", 0),
        ("rgba.bmp", 0), ("four-bit.bmp", 0), ("runs.bmp", 0), ("fields.bmp", 1), ("top-down.bmp", 0),
        ("color.heic", 1),
        ("subsampled.heic", 2), ("alpha.heic", 1), ("orientation-6.heic", 1),
    ])
    func decodesLikePillow(name: String, tolerance: Int) throws {
        let difference = largestDifference(
            try Fixtures.image(name).bitmap,
            try Fixtures.image("expected/\(name).png").bitmap
        )
        #expect(try #require(difference, "\(name) has another form") <= tolerance, "\(name)")
    }

    @Test(arguments: 1...8)
    func orientationIsReadAndApplied(orientation: Int) throws {
        let name = "orientation-\(orientation).png"
        let source = try #require(CGImageSourceCreateWithURL(Fixtures.url(name) as CFURL, nil))
        let properties = try #require(CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any])
        #expect(properties[kCGImagePropertyOrientation] as? Int == orientation)
        let upright = try Fixtures.image(name).bitmap.upright(fromExifOrientation: UInt32(orientation))
        #expect(upright == (try Fixtures.image("expected/\(name).png").bitmap))
    }

    /// Premultiplied pixels of a file stay so.
    @Test func associatedAlphaIsNotMultipliedAgain() throws {
        let expected = try Fixtures.image("expected/rgba.tif.png").bitmap
        let difference = largestDifference(try Fixtures.image("associated.tif").bitmap, expected)
        #expect(try #require(difference) <= 1)
    }

    /// A HEIF file turns its picture itself: nothing is left for others to do.
    @Test func heifPicturesComeUpright() throws {
        let source = try #require(CGImageSourceCreateWithURL(Fixtures.url("orientation-6.heic") as CFURL, nil))
        let properties = try #require(CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any])
        #expect(properties[kCGImagePropertyOrientation] as? Int == 1)
        #expect(properties[kCGImagePropertyPixelWidth] as? Int == 23)
        #expect(CGImageSourceGetType(source).map { "\($0)" } == "public.heic")
    }

    /// Samples that no eight bits hold without a range of their own are refused by name.
    @Test func picturesOfFloatsAreRefused() throws {
        let file = try ImageFile(Data(contentsOf: Fixtures.url("float.tif")))
        let error = #expect(throws: ModelError.self) { try file.bitmap() }
        #expect(
            "\(try #require(error))".contains("tiff image cannot be decoded: Sorry, can not handle images with 32-bit")
        )
    }

    @Test func whatIsNoPictureIsSaid() {
        for text in ["GIF8", "BM is no bitmap, but a text", "....ftypmp42....", "II*", ""] {
            let error = #expect(throws: ModelError.self) { try ImageFile(Data(text.utf8)) }
            #expect(error.map { "\($0)" }?.contains("PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC") == true)
        }
    }

    @Test(arguments: ["orientation-6.jpg", "orientation-6.webp", "orientation-6.tif"])
    func otherKindsCarryOrientation(name: String) throws {
        let source = try #require(CGImageSourceCreateWithURL(Fixtures.url(name) as CFURL, nil))
        let properties = try #require(CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any])
        #expect(properties[kCGImagePropertyOrientation] as? Int == 6)
        let options =
            [kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceCreateThumbnailWithTransform: true]
            as CFDictionary
        let thumbnail = try #require(CGImageSourceCreateThumbnailAtIndex(source, 0, options))
        #expect((thumbnail.width, thumbnail.height) == (23, 37))
    }

    /// Damaged files give `nil`, whatever is changed in them.
    @Test(arguments: [
        "rgba.png", "palette.png", "progressive.jpg", "cmyk.jpg", "alpha.webp", "orientation-6.jpg", "rgb.tif",
        "tiles.tif",
        "jpeg.tif", "one-bit.tif", "orientation-6.tif", "interlaced.gif", "offset.gif", "animated.gif", "palette.bmp",
        "runs.bmp", "fields.bmp", "top-down.bmp", "alpha.heic", "orientation-6.heic",
    ])
    func damagedFilesDoNotTrap(name: String) throws {
        let original = try Data(contentsOf: Fixtures.url(name))
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func random(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        var survivors = 0
        for round in 0..<400 {
            var bytes = original
            if round % 4 == 0 { bytes = bytes.prefix(random(bytes.count)) }
            for _ in 0...random(4) where !bytes.isEmpty { bytes[random(bytes.count)] = UInt8(random(256)) }
            guard let source = CGImageSourceCreateWithData(bytes as CFData, nil) else { continue }
            _ = CGImageSourceCopyPropertiesAtIndex(source, 0, nil)
            guard
                let header = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any],
                let width = header[kCGImagePropertyPixelWidth] as? Int,
                let height = header[kCGImagePropertyPixelHeight] as? Int, width * height < 1 << 22
            else { continue }
            if CGImageSourceCreateImageAtIndex(source, 0, nil) != nil { survivors += 1 }
        }
        #expect(survivors < 400)
    }

    @Test func hugeClaimsAreRefused() throws {
        var bytes = try Data(contentsOf: Fixtures.url("rgb.png"))
        bytes.replaceSubrange(16..<24, with: [0, 0xFF, 0xFF, 0xFF, 0, 0xFF, 0xFF, 0xFF])
        let source = try #require(CGImageSourceCreateWithData(bytes as CFData, nil))
        #expect(CGImageSourceCreateImageAtIndex(source, 0, nil) == nil)
        #expect(CGImageSourceCreateWithData(Data("RIFF".utf8) as CFData, nil) == nil)
        // Places of extents in the files' headers, and what is written there.
        for (name, place, claim) in [
            ("rgb.bmp", 18, [0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F]), ("gray16.tif", 0, []),
            ("palette.gif", 6, [0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [(String, Int, [UInt8])] {
            var bytes = try Data(contentsOf: Fixtures.url(name))
            var place = place
            var claim = claim
            if name.hasSuffix(".tif") {
                // The first entry of the directory at the end is the width; a great height would contradict the strips.
                place = Int(bytes[4]) | Int(bytes[5]) << 8
                claim = [bytes[place], bytes[place + 1], 0, 1, 4, 0, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F]
            }
            bytes.replaceSubrange(place..<place + claim.count, with: claim)
            let file = try ImageFile(bytes)
            let error = #expect(throws: ModelError.self, "\(name)") { try file.bitmap() }
            #expect(
                error.map { "\($0)" }?.contains("pixels are more than") == true,
                "\(name): \(error.map { "\($0)" } ?? "")"
            )
        }
    }
}

struct ResamplingTests {
    @Test(arguments: ["224x224", "64x48", "37x23", "3x200", "185x20", "20x115", "1x1", "370x230"])
    func scalesLikePillow(size: String) throws {
        let parts = size.split(separator: "x").compactMap { Int($0) }
        let large = try Fixtures.image("large.png").bitmap
        let color = large.resampled(width: parts[0], height: parts[1])
        let gray = large.converted(to: .gray).resampled(width: parts[0], height: parts[1])
        let expectedColor = try Fixtures.image("expected/large-\(size).png").bitmap
        let expectedGray = try Fixtures.image("expected/large-gray-\(size).png").bitmap
        #expect(try #require(largestDifference(color, expectedColor)) <= 1)
        #expect(try #require(largestDifference(gray, expectedGray)) <= 1)
    }

    @Test func scalesPartOfThePicture() throws {
        let box = Bitmap.Box(x: 10.5, y: 7.25, width: 90.25, height: 82.75)
        let part = try Fixtures.image("large.png").bitmap.resampled(from: box, width: 50, height: 40)
        let difference = largestDifference(part, try Fixtures.image("expected/large-box.png").bitmap)
        #expect(try #require(difference) <= 1)
    }
}

struct EncodingTests {
    @Test(arguments: ["rgb.png", "rgba.png", "gray.png"])
    func pngIsLossless(name: String) throws {
        let image = try Fixtures.image(name)
        let data = NSMutableData()
        let destination = try #require(CGImageDestinationCreateWithData(data, "public.png" as CFString, 1, nil))
        CGImageDestinationAddImage(destination, image, nil)
        #expect(CGImageDestinationFinalize(destination))
        let source = try #require(CGImageSourceCreateWithData(data, nil))
        let read = try #require(CGImageSourceCreateImageAtIndex(source, 0, nil))
        // Straight alpha of 8 bits cannot hold every premultiplied colour exactly.
        #expect(try #require(largestDifference(read.bitmap, image.bitmap)) <= (name == "rgba.png" ? 1 : 0))
    }

    @Test func jpegIsClose() throws {
        let image = try Fixtures.image("expected/large-64x48.png")
        let data = NSMutableData()
        let destination = try #require(CGImageDestinationCreateWithData(data, "public.jpeg" as CFString, 1, nil))
        CGImageDestinationAddImage(
            destination,
            image,
            [kCGImageDestinationLossyCompressionQuality: 1.0] as CFDictionary
        )
        #expect(CGImageDestinationFinalize(destination))
        let source = try #require(CGImageSourceCreateWithData(data, nil))
        let read = try #require(CGImageSourceCreateImageAtIndex(source, 0, nil))
        #expect(try #require(largestDifference(read.bitmap, image.bitmap)) <= 40)
    }

    /// A JPEG file has at most 65,500 pixels a side. The destination takes one image, so no other one replaces it.
    @Test func anImageThatCannotBeEncodedFailsTheDestination() throws {
        let data = NSMutableData()
        let destination = try #require(CGImageDestinationCreateWithData(data, "public.jpeg" as CFString, 1, nil))
        CGImageDestinationAddImage(destination, CGImage(Bitmap(width: 65_501, height: 1, layout: .gray)), nil)
        CGImageDestinationAddImage(destination, CGImage(Bitmap(width: 2, height: 2, layout: .gray)), nil)
        #expect(!CGImageDestinationFinalize(destination))
        #expect(data.length == 0)
    }
}

struct DrawingTests {
    /// The usual way from a picture to a pixel buffer in client code.
    @Test func contextDrawsIntoPixelBuffer() throws {
        let image = try Fixtures.image("rgb.png")
        var buffer: CVPixelBuffer?
        let attributes = [kCVPixelBufferCGImageCompatibilityKey: kCFBooleanTrue!] as CFDictionary
        let status = CVPixelBufferCreate(
            kCFAllocatorDefault,
            image.width,
            image.height,
            kCVPixelFormatType_32ARGB,
            attributes,
            &buffer
        )
        #expect(status == kCVReturnSuccess)
        let pixels = try #require(buffer)
        CVPixelBufferLockBaseAddress(pixels, CVPixelBufferLockFlags(rawValue: 0))
        let context = try #require(
            CGContext(
                data: CVPixelBufferGetBaseAddress(pixels),
                width: image.width,
                height: image.height,
                bitsPerComponent: 8,
                bytesPerRow: CVPixelBufferGetBytesPerRow(pixels),
                space: CGColorSpaceCreateDeviceRGB(),
                bitmapInfo: CGImageAlphaInfo.noneSkipFirst.rawValue
            )
        )
        context.draw(image, in: CGRect(x: 0, y: 0, width: image.width, height: image.height))
        CVPixelBufferUnlockBaseAddress(pixels, [])
        let address = try #require(CVPixelBufferGetBaseAddress(pixels)).assumingMemoryBound(to: UInt8.self)
        let expected = image.bitmap
        for (x, y) in [(0, 0), (36, 22), (5, 11)] {
            let at = y * CVPixelBufferGetBytesPerRow(pixels) + 4 * x
            let from = 4 * (y * 37 + x)
            #expect((0..<3).allSatisfy { address[at + 1 + $0] == expected.pixels[from + $0] })
        }
        #expect(context.makeImage()?.width == 37)
    }

    @Test func rectanglesLieFromTheBottom() throws {
        let context = try #require(
            CGContext(
                data: nil,
                width: 4,
                height: 3,
                bitsPerComponent: 8,
                bytesPerRow: 0,
                space: CGColorSpaceCreateDeviceGray(),
                bitmapInfo: CGImageAlphaInfo.none.rawValue
            )
        )
        context.setFillColor(gray: 1, alpha: 1)
        context.fill(CGRect(x: 1, y: 0, width: 2, height: 1))
        let bitmap = try #require(context.makeImage()).bitmap
        #expect(bitmap.pixels == [0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0])
    }

    private func grayContext(width: Int, height: Int) throws -> CGContext {
        try #require(
            CGContext(
                data: nil,
                width: width,
                height: height,
                bitsPerComponent: 8,
                bytesPerRow: 0,
                space: CGColorSpaceCreateDeviceGray(),
                bitmapInfo: CGImageAlphaInfo.none.rawValue
            )
        )
    }

    @Test func theWholeGraphicsStateIsRestored() throws {
        let context = try grayContext(width: 3, height: 1)
        context.setFillColor(gray: 1, alpha: 1)
        context.interpolationQuality = .high
        context.saveGState()
        context.translateBy(x: 1, y: 0)
        context.setFillColor(gray: 0, alpha: 1)
        context.interpolationQuality = .none
        context.restoreGState()
        #expect(context.interpolationQuality == .high)
        context.fill(CGRect(x: 0, y: 0, width: 1, height: 1))
        #expect(try #require(context.makeImage()).bitmap.pixels == [255, 0, 0])
        // Nothing is left to restore.
        context.restoreGState()
        #expect(context.interpolationQuality == .high)
    }

    @Test func imagesAreScaledWithoutInterpolationOnRequest() throws {
        let image = CGImage(Bitmap(width: 2, height: 1, layout: .gray, pixels: [0, 200]))
        let context = try grayContext(width: 6, height: 1)
        let all = CGRect(x: 0, y: 0, width: 6, height: 1)
        context.draw(image, in: all)
        #expect(try #require(context.makeImage()).bitmap.pixels != [0, 0, 0, 200, 200, 200])
        context.interpolationQuality = .none
        context.draw(image, in: all)
        #expect(try #require(context.makeImage()).bitmap.pixels == [0, 0, 0, 200, 200, 200])
        // A part of a larger image, and an image that shrinks.
        context.draw(image, in: CGRect(x: -6, y: 0, width: 8, height: 1))
        #expect(try #require(context.makeImage()).bitmap.pixels == [200, 200, 0, 200, 200, 200])
        let wide = CGImage(Bitmap(width: 6, height: 1, layout: .gray, pixels: [10, 20, 30, 40, 50, 60]))
        context.draw(wide, in: CGRect(x: 0, y: 0, width: 2, height: 1))
        #expect(try #require(context.makeImage()).bitmap.pixels == [20, 50, 0, 200, 200, 200])
    }

    /// Sizes below 1 have one code, whichever function creates the buffer.
    @Test func sizesBelowOneAreRefusedAlike() throws {
        var buffer: CVPixelBuffer?
        var bytes = [UInt8](repeating: 0, count: 64)
        let format = kCVPixelFormatType_OneComponent8
        for (width, height) in [(0, 4), (4, 0), (-1, 4)] {
            #expect(CVPixelBufferCreate(nil, width, height, format, nil, &buffer) == kCVReturnInvalidSize)
            let status = bytes.withUnsafeMutableBytes {
                CVPixelBufferCreateWithBytes(
                    nil,
                    width,
                    height,
                    format,
                    $0.baseAddress!,
                    8,
                    nil,
                    nil,
                    nil,
                    &buffer
                )
            }
            #expect(status == kCVReturnInvalidSize && buffer == nil)
            var pool: CVPixelBufferPool?
            #expect(CVPixelBufferPoolCreate(nil, nil, attributes(width, height, format), &pool) == kCVReturnInvalidSize)
            #expect(pool == nil)
        }
    }

    private func attributes(_ width: Int, _ height: Int, _ format: OSType, alignment: Int = 64) -> CFDictionary {
        [
            kCVPixelBufferWidthKey: NSNumber(value: width), kCVPixelBufferHeightKey: NSNumber(value: height),
            kCVPixelBufferPixelFormatTypeKey: NSNumber(value: format),
            kCVPixelBufferBytesPerRowAlignmentKey: NSNumber(value: alignment),
        ] as CFDictionary
    }

    @Test func poolsKeepTheAlignmentOfRows() throws {
        let format = kCVPixelFormatType_32BGRA
        for alignment in [16, 256] {
            var pool: CVPixelBufferPool?
            let status = CVPixelBufferPoolCreate(nil, nil, attributes(3, 2, format, alignment: alignment), &pool)
            #expect(status == kCVReturnSuccess)
            var buffer: CVPixelBuffer?
            let source = try #require(pool)
            #expect(CVPixelBufferPoolCreatePixelBuffer(nil, source, &buffer) == kCVReturnSuccess)
            let made = try #require(buffer)
            #expect(CVPixelBufferGetBytesPerRow(made) == alignment)
            #expect(CVPixelBufferGetWidth(made) == 3 && CVPixelBufferGetHeight(made) == 2)
        }
        var pool: CVPixelBufferPool?
        #expect(CVPixelBufferPoolCreate(nil, nil, attributes(3, 2, 1), &pool) == kCVReturnInvalidPixelFormat)
        #expect(CVPixelBufferPoolCreate(nil, nil, nil, &pool) == kCVReturnInvalidPixelBufferAttributes)
        #expect(pool == nil)
    }

    @Test(arguments: [
        kCVPixelFormatType_32BGRA, kCVPixelFormatType_32ARGB, kCVPixelFormatType_32RGBA, kCVPixelFormatType_32ABGR,
        kCVPixelFormatType_24RGB, kCVPixelFormatType_24BGR, kCVPixelFormatType_OneComponent8,
        kCVPixelFormatType_OneComponent16, kCVPixelFormatType_OneComponent16Half,
        kCVPixelFormatType_OneComponent32Float,
    ])
    func pixelBuffersKeepPictures(format: OSType) throws {
        let bitmap = try Fixtures.image("rgb.png").bitmap
        let buffer = try #require(CVBuffer(bitmap, pixelFormatType: format))
        let read = try #require(buffer.bitmap)
        #expect(read == bitmap.converted(to: read.layout))
    }
}
