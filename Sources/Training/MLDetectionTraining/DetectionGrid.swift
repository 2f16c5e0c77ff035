/// The sizes of a detector: a square image, and the cells of a grid over it.
package enum DetectionGrid {
    /// The side of the image that the network takes, in pixels.
    package static let side = 320
    /// The side of a cell, in pixels.
    package static let stride = 8
    /// The number of cells in a row or column.
    package static let cells = side / stride
}
