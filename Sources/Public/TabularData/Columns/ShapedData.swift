/// A multidimensional array, as a single element of a column.
public struct ShapedData<Element> {
    /// The extent of each dimension.
    public let shape: [Int]
    /// The distance in `contents` between neighbours along each dimension, in elements.
    public let strides: [Int]
    /// The elements of the array.
    public let contents: [Element]

    /// Creates an array whose element [i, j, …] is `contents[i * strides[0] + j * strides[1] + …]`.
    ///
    /// - Parameters:
    ///   - shape: The extent of each dimension.
    ///   - strides: As many distances as there are extents, in elements; a different number is a fatal error.
    ///   - contents: The elements; their number is not compared with `shape`.
    public init(shape: [Int], strides: [Int], contents: [Element]) {
        require(shape.count == strides.count, "\(shape.count) extents have \(strides.count) strides")
        self.shape = shape
        self.strides = strides
        self.contents = contents
    }

    /// The element at one index per dimension, each counted from 0; an index outside `shape` is a fatal error.
    public subscript(indices: Int...) -> Element {
        require(indices.count == shape.count, "\(shape.count) dimensions take the same number of indices")
        var offset = 0
        for (axis, index) in indices.enumerated() {
            require(index >= 0 && index < shape[axis], "index \(index) is not in dimension \(axis)")
            offset += index * strides[axis]
        }
        return contents[offset]
    }
}

extension ShapedData: Equatable where Element: Equatable {}
extension ShapedData: Hashable where Element: Hashable {}
extension ShapedData: Sendable where Element: Sendable {}
