public import CoreMLPython
import CreateML
import Foundation
import MLImages

/// A picture that Python passed, or that a model drew.
final class Picture {
    let bitmap: Bitmap

    init(_ bitmap: Bitmap) { self.bitmap = bitmap }

    /// The greatest side of a picture.
    private static let limit = 1 << 16

    /// - Parameters:
    ///   - pixels: Rows without gaps of bytes: grey, red, green and blue, or these with alpha.
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    ///   - channels: 1, 3 or 4.
    /// - Throws: `TrainingError` for another number of channels, and for a picture that is empty or too large.
    convenience init(_ pixels: UnsafeRawPointer, width: Int, height: Int, channels: Int) throws {
        guard 1...Self.limit ~= width, 1...Self.limit ~= height, [1, 3, 4].contains(channels) else {
            throw TrainingError("an image of \(width) × \(height) pixels of \(channels) bytes cannot be used")
        }
        let bytes = UnsafeRawBufferPointer(start: pixels, count: width * height * channels)
        guard channels > 1 else {
            self.init(Bitmap(width: width, height: height, layout: .gray, pixels: Array(bytes)))
            return
        }
        var bitmap = Bitmap(width: width, height: height, layout: .rgba)
        for pixel in 0..<width * height {
            let (source, target) = (pixel * channels, pixel * 4)
            let alpha = channels == 4 ? bytes[source + 3] : 255
            for channel in 0..<3 {
                bitmap.pixels[target + channel] = Bitmap.premultiplied(bytes[source + channel], alpha)
            }
            bitmap.pixels[target + 3] = alpha
        }
        self.init(bitmap)
    }
}

/// Copies a picture of rows without gaps, with 1 (grey), 3 (RGB) or 4 (RGBA) bytes for each pixel, and returns its handle.
@c(coreml_picture_from_pixels)
public func pictureFromPixels(
    _ pixels: UnsafeRawPointer,
    _ width: Int,
    _ height: Int,
    _ channels: Int,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(try Picture(pixels, width: width, height: height, channels: channels)) }
}

/// Reads a picture's file, upright, and returns its handle.
@c(coreml_picture_from_file)
public func pictureFromFile(_ path: UnsafePointer<CChar>, _ failure: Failure) -> UnsafeMutableRawPointer? {
    reporting(failure) { handle(Picture(try ImageReader.bitmap(at: URL(fileURLWithPath: String(cString: path))))) }
}

/// The width of a picture.
@c(coreml_picture_width)
public func pictureWidth(_ picture: UnsafeMutableRawPointer) -> Int { object(picture, as: Picture.self).bitmap.width }

/// The height of a picture.
@c(coreml_picture_height)
public func pictureHeight(_ picture: UnsafeMutableRawPointer) -> Int { object(picture, as: Picture.self).bitmap.height }

/// Writes a picture's pixels without alpha into memory for width × height × 3 bytes.
@c(coreml_picture_read)
public func readPicture(_ picture: UnsafeMutableRawPointer, _ pixels: UnsafeMutableRawPointer) {
    let bitmap = object(picture, as: Picture.self).bitmap.converted(to: .rgba)
    let target = UnsafeMutableRawBufferPointer(start: pixels, count: bitmap.width * bitmap.height * 3)
    for pixel in 0..<bitmap.width * bitmap.height {
        for channel in 0..<3 { target[3 * pixel + channel] = bitmap.pixels[4 * pixel + channel] }
    }
}

/// The handle of a table of predictions for pictures; `options` is a JSON object.
@c(coreml_trained_predict_pictures)
public func predictPictures(
    _ model: UnsafeMutableRawPointer,
    _ options: UnsafePointer<CChar>,
    _ pictures: UnsafePointer<UnsafeMutableRawPointer>,
    _ count: Int,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        let model = object(model, as: Model.self).model
        guard let predict = model.predictPictures else {
            throw TrainingError("\(model.facts.task) does not predict from images")
        }
        let bitmaps = (0..<count).map { object(pictures[$0], as: Picture.self).bitmap }
        return handle(Frame(try predict(bitmaps, Options(json: String(cString: options), of: "predict"))))
    }
}

/// The handle of a picture that is drawn in the style of a model.
@c(coreml_trained_stylize)
public func stylizePicture(
    _ model: UnsafeMutableRawPointer,
    _ picture: UnsafeMutableRawPointer,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        let model = object(model, as: Model.self).model
        guard let stylize = model.stylize else { throw TrainingError("\(model.facts.task) does not draw images") }
        return handle(Picture(try stylize(object(picture, as: Picture.self).bitmap)))
    }
}
