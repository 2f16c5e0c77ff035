import CoreML
package import Foundation
package import MLImages

/// The position of an image in a model's square input, in fractions with the origin at the top left.
package struct Placement {
    /// The image's rectangle in the input; larger than the unit square when the image was cropped.
    private let frame: CGRect
    private let isTurned: Bool

    /// Places an image.
    ///
    /// - Parameters:
    ///   - fitting: How the image is fitted to the input.
    ///   - aspect: The image's width divided by its height.
    ///   - targetAspect: The input's width divided by its height.
    package init(_ fitting: Bitmap.Fitting, aspect: Double, targetAspect: Double) {
        isTurned = fitting == .scaleFitRotate90CCW || fitting == .scaleFillRotate90CCW
        let ratio = (isTurned ? 1 / aspect : aspect) / targetAspect
        var width = 1.0
        var height = 1.0
        switch fitting {
        case .scaleFill, .scaleFillRotate90CCW: break
        case .scaleFit, .scaleFitRotate90CCW: if ratio > 1 { height = 1 / ratio } else { width = ratio }
        case .centerCrop: if ratio > 1 { width = ratio } else { height = 1 / ratio }
        }
        frame = CGRect(x: (1 - width) / 2, y: (1 - height) / 2, width: width, height: height)
    }

    /// Converts a box that the model found to fractions of the image with the origin at the bottom left.
    package func original(_ box: CGRect) -> CGRect {
        var inner = CGRect(
            x: (box.minX - frame.minX) / frame.width,
            y: (box.minY - frame.minY) / frame.height,
            width: box.width / frame.width,
            height: box.height / frame.height
        )
        if isTurned {
            // The model saw the picture's right edge on top.
            inner = CGRect(x: 1 - inner.maxY, y: inner.minX, width: inner.height, height: inner.width)
        }
        return CGRect(x: inner.minX, y: 1 - inner.maxY, width: inner.width, height: inner.height)
    }
}
