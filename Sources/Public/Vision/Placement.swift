import CoreML
package import Foundation
package import MLImages

/// Where a picture lies in the square that a model sees, in fractions with the origin at the top left.
package struct Placement {
    /// The picture's rectangle in what the model sees; beyond the unit square when the picture was cropped.
    private let frame: CGRect
    private let isTurned: Bool

    /// - Parameters:
    ///   - aspect: width by height of the picture.
    ///   - targetAspect: width by height of what the model sees.
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

    /// A box that the model found, in fractions of the picture with the origin at the bottom left.
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
