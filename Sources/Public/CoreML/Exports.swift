// A generated model class imports `CoreML` alone: pixel buffers, pictures, orientations and Foundation come with it.
@_exported public import CoreGraphics
@_exported public import CoreVideo
@_exported public import Foundation
@_exported public import ImageIO
