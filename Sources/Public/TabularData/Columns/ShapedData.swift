/// Elements in several dimensions, as one element of a frame.
public struct ShapedData<Element> {
    public let shape: [Int]
    public let strides: [Int]
    public let contents: [Element]

    /// Element [i, j, …] is `contents[i * strides[0] + j * strides[1] + …]`.
    public init(shape: [Int], strides: [Int], contents: [Element]) {
        require(shape.count == strides.count, "\(shape.count) extents have \(strides.count) strides")
        self.shape = shape
        self.strides = strides
        self.contents = contents
    }

    public subscript(indices: Int...) -> Element {
        require(indices.count == shape.count, "\(shape.count) dimensions take as many indices")
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
