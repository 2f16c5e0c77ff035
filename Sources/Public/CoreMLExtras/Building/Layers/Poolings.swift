import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// The function that reduces a window of an image to one element.
    public enum Pooling: Hashable, Sendable {
        /// The greatest element.
        case max
        /// The mean.
        case average
        /// The square root of the sum of squares.
        case l2
    }

    /// The function that reduces a window of a volume to one element.
    public enum Pooling3D: Hashable, Sendable { case max, average }

    /// The padding of an image that is pooled.
    public enum PoolingPadding: Hashable, Sendable {
        /// No padding: the window stays inside.
        case valid
        /// Padding such that the result has ⌈extent / stride⌉ elements, with an odd one at the bottom and right.
        case same
        /// The same as `same`, with an odd one at the top and left.
        case sameTopLeft
        /// Amounts at each side.
        case amounts(top: Int, bottom: Int, left: Int, right: Int)
        /// An amount at both sides of each axis, and a last window that may lie partly outside.
        case includingLastPixel(height: Int, width: Int)
    }

    /// Pools [… H, W] by windows.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - kind: The function that reduces a window.
    ///   - input: The value to process.
    ///   - kernel: The window's height and width.
    ///   - stride: The distance between windows in both directions; 1 by default.
    ///   - padding: The padding of the image; none by default.
    ///   - excludesPadding: Whether averages divide by the number of elements inside the image; false by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func pooling(
        _ name: String,
        _ kind: Pooling,
        _ input: Value,
        kernel: (height: Int, width: Int),
        stride: (height: Int, width: Int) = (1, 1),
        padding: PoolingPadding = .valid,
        excludesPadding: Bool = false,
        output: Value? = nil
    ) -> Value {
        var layer = SpecPoolingLayerParams.with { $0.type = kind.specification }
        layer.kernelSize = natural(name, "the kernel's size", [kernel.height, kernel.width], atLeast: 1)
        layer.stride = natural(name, "the stride", [stride.height, stride.width], atLeast: 1)
        layer.avgPoolExcludePadding = excludesPadding
        switch padding {
        case .valid: layer.valid.paddingAmounts = borders(name, 0, 0, 0, 0)
        case .same: layer.same.asymmetryMode = .bottomRightHeavy
        case .sameTopLeft: layer.same.asymmetryMode = .topLeftHeavy
        case .amounts(let top, let bottom, let left, let right):
            layer.valid.paddingAmounts = borders(name, top, bottom, left, right)
        case .includingLastPixel(let height, let width):
            layer.includeLastPixel.paddingAmounts = natural(name, "the padding", [height, width])
        }
        return add(name, [input], output, .pooling(layer))
    }

    /// Pools [… H, W] to one element.
    @discardableResult
    public mutating func globalPooling(_ name: String, _ kind: Pooling, _ input: Value, output: Value? = nil) -> Value {
        var layer = SpecPoolingLayerParams.with { $0.type = kind.specification }
        layer.globalPooling = true
        layer.kernelSize = [1, 1]
        layer.stride = [1, 1]
        layer.valid.paddingAmounts = borders(name, 0, 0, 0, 0)
        return add(name, [input], output, .pooling(layer))
    }

    /// Pools [… D, H, W] by windows.
    @discardableResult
    public mutating func pooling3D(
        _ name: String,
        _ kind: Pooling3D,
        _ input: Value,
        kernel: (depth: Int, height: Int, width: Int),
        stride: (depth: Int, height: Int, width: Int) = (1, 1, 1),
        padding: Padding3D = .valid,
        excludesPadding: Bool = false,
        output: Value? = nil
    ) -> Value {
        var layer = SpecPooling3DLayerParams()
        layer.type = kind == .max ? .max : .average
        layer.kernelDepth = natural32(name, "the kernel's depth", kernel.depth, atLeast: 1)
        layer.kernelHeight = natural32(name, "the kernel's height", kernel.height, atLeast: 1)
        layer.kernelWidth = natural32(name, "the kernel's width", kernel.width, atLeast: 1)
        layer.strideDepth = natural32(name, "the stride", stride.depth, atLeast: 1)
        layer.strideHeight = natural32(name, "the stride", stride.height, atLeast: 1)
        layer.strideWidth = natural32(name, "the stride", stride.width, atLeast: 1)
        layer.countExcludePadding = excludesPadding
        switch padding {
        case .valid: layer.paddingType = .valid
        case .same: layer.paddingType = .same
        case .amounts(let front, let back, let top, let bottom, let left, let right):
            layer.paddingType = .custom
            layer.customPaddingFront = natural32(name, "the padding", front)
            layer.customPaddingBack = natural32(name, "the padding", back)
            layer.customPaddingTop = natural32(name, "the padding", top)
            layer.customPaddingBottom = natural32(name, "the padding", bottom)
            layer.customPaddingLeft = natural32(name, "the padding", left)
            layer.customPaddingRight = natural32(name, "the padding", right)
        }
        return add(name, [input], output, .pooling3D(layer))
    }

    /// Pools [… D, H, W] to one element.
    @discardableResult
    public mutating func globalPooling3D(
        _ name: String,
        _ kind: Pooling3D,
        _ input: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [input], output, .globalPooling3D(.with { $0.type = kind == .max ? .max : .average }))
    }
}

extension NeuralNetworkBuilder.Pooling {
    fileprivate var specification: SpecPoolingLayerParams.PoolingType {
        switch self {
        case .max: .max
        case .average: .average
        case .l2: .l2
        }
    }
}
